//! What was learned of a user as lines of JSON.

use hanok_core::Timestamp;

use super::{
    count::{Forgotten, Prepared},
    error::LearningError,
    evidence::LessonHead,
    memories::Learned,
    names::Side,
    registry::StoredHead,
    user::UserMemories,
};

/// The number of lines that are learned in one batch.
const GROUP: usize = 100;

impl UserMemories {
    /// All evidence of the user, a line of JSON for each piece, ordered by kind and id. Records are not among it: they are made of it.
    ///
    /// # Errors
    ///
    /// [`LearningError::UnknownKind`] when there is evidence of such a kind, [`LearningError::Store`] when the store fails.
    pub async fn export(&self, now: Timestamp) -> Result<String, LearningError> {
        let labels = self.labels(Side::Evidence, None)?;
        let mut all = Vec::new();
        for hit in self.memories.list(&self.tenant, labels, now).await? {
            let StoredHead { kind, evidence, .. } = hit.item.value.decode()?;
            let line = (self.memories.kind_named(&kind)?.export)(&hit.item.value)?;
            all.push((kind, evidence.id, line));
        }
        all.sort();
        let lines = all.into_iter().fold(String::new(), |lines, (.., line)| lines + &line + "\n");
        Ok(lines)
    }

    /// Learns the lines of an [`export`](Self::export), as evidence of *this* user, whoever they name; says how many are new. What was
    /// forgotten and is among them is learned again.
    ///
    /// # Errors
    ///
    /// [`LearningError::Line`], [`LearningError::UnknownKind`], [`LearningError::Refused`] and [`LearningError::Name`]: nothing of
    /// it was stored. [`LearningError::Store`] when the store fails: import it again, what was learned counts once.
    pub async fn import(&self, lines: &str, now: Timestamp) -> Result<usize, LearningError> {
        let mut lessons = Vec::new();
        for (at, text) in lines.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let line = at + 1;
            let LessonHead { kind } =
                serde_json::from_str(text).map_err(|why| LearningError::Line { line, why })?;
            let kind = self.memories.kind_named(&kind)?;
            let checked = (kind.import)(text, line, &self.user)?;
            lessons.push(Prepared { tenant: self.tenant.clone(), kind, checked });
        }
        let mut new = 0;
        for group in lessons.chunks(GROUP) {
            let learned = self.memories.count(group, Forgotten::Returns, now).await?;
            new += learned.iter().filter(|learned| **learned == Learned::New).count();
        }
        Ok(new)
    }
}
