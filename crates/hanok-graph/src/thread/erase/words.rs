//! The words of stored values, by which erased values are found elsewhere.

use std::collections::BTreeSet;

use hanok_core::{Change, Changes, Fields, MessageChange, Stored};

/// The shortest word that tells one text from another, in bytes.
const SHORTEST: usize = 3;

/// Words, each a run of letters and digits, and numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::thread) struct Words(BTreeSet<String>);

impl Words {
    /// The words of a stored state.
    pub(super) fn of_state(fields: &Fields) -> Self {
        let mut words = Self::default();
        words.add_state(fields);
        words
    }

    /// The words of `text`.
    pub(in crate::thread) fn of_text(text: &str) -> Self {
        let mut words = Self::default();
        words.split(text);
        words
    }

    /// Adds those of a stored state.
    pub(in crate::thread) fn add_state(&mut self, fields: &Fields) {
        for (_, field) in fields.iter() {
            self.read(&field.to_stored());
        }
    }

    /// The words that `others` does not have.
    pub(super) fn without(&self, others: &Self) -> Self {
        Self(self.0.difference(&others.0).cloned().collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if one of the words is in `value`.
    pub(in crate::thread) fn are_in(&self, value: &Stored) -> bool {
        let mut words = Self::default();
        words.read(value);
        self.meet(&words)
    }

    /// True if one of the words is in `text`.
    pub(super) fn are_in_text(&self, text: &str) -> bool {
        self.meet(&Self::of_text(text))
    }

    /// True if one of the words is in a stored state.
    pub(super) fn are_in_state(&self, fields: &Fields) -> bool {
        !self.is_empty() && self.meet(&Self::of_state(fields))
    }

    /// True if one of the words is in the values of `changes`.
    pub(in crate::thread) fn are_in_changes(&self, changes: &Changes) -> bool {
        changes.0.iter().any(|(_, change)| match change {
            Change::Set(value) | Change::Input(value) => self.are_in(value),
            Change::Unset => false,
            Change::Append(items) | Change::RemoveKeys(items) => {
                items.iter().any(|i| self.are_in(i))
            }
            Change::Splice { insert, .. } => insert.iter().any(|item| self.are_in(item)),
            Change::Merge(entries) => {
                entries.iter().any(|(key, value)| self.are_in(key) || self.are_in(value))
            }
            Change::Nested(changes) => self.are_in_changes(changes),
            Change::Messages(messages) => messages.iter().any(|message| match message {
                MessageChange::Put(message) => self.are_in(message),
                MessageChange::Remove { id } => self.are_in_text(id),
                MessageChange::Clear => false,
            }),
        })
    }

    pub(in crate::thread) fn meet(&self, others: &Self) -> bool {
        others.0.iter().any(|word| self.0.contains(word))
    }

    /// Adds the words of `value`. A value that is neither a text nor a number has none.
    fn read(&mut self, value: &Stored) {
        if let Ok(text) = value.as_str() {
            self.split(text);
        } else if let Ok(entries) = value.to_entries() {
            for (key, value) in &entries {
                self.read(key);
                self.read(value);
            }
        } else if let Ok(items) = value.to_items() {
            items.iter().for_each(|item| self.read(item));
        } else if let Ok(number) = value.decode::<i64>() {
            self.split(&number.to_string());
        } else if let Ok(number) = value.decode::<u64>() {
            self.split(&number.to_string());
        }
    }

    fn split(&mut self, text: &str) {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        self.0.extend(words.filter(|word| word.len() >= SHORTEST).map(str::to_lowercase));
    }
}
