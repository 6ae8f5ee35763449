//! The word that labels of calls carry.

use hanok_core::TaskId;

/// The first word of a conversation's labels ([`keyed_labels`](crate::ReactAgentBuilder::keyed_labels)): a letter and a digit, and both
/// again, by the task that needs it first. A task's id comes of what was drawn when its thread began, so nobody outside knows the word,
/// and a run that begins again finds the same.
///
/// ```
/// use hanok_agent::label_key;
/// use hanok_core::TaskId;
///
/// assert_eq!(label_key(TaskId::from_bytes([7; 16])).len(), 4);
/// ```
#[must_use]
pub fn label_key(task: TaskId) -> String {
    /// Of the vowels none, so that no key is a word.
    const LETTERS: [char; 20] = [
        'b', 'c', 'd', 'f', 'g', 'h', 'j', 'k', 'm', 'n', 'p', 'q', 'r', 's', 't', 'v', 'w', 'x',
        'y', 'z',
    ];
    let letter = |byte: u8| LETTERS.get(usize::from(byte) % LETTERS.len()).copied();
    let digit = |byte: u8| char::from_digit(u32::from(byte) % 10, 10);
    let [a, b, c, d, ..] = blake3::derive_key("hanok label key", task.as_bytes());
    [letter(a), digit(b), letter(c), digit(d)].into_iter().flatten().collect()
}
