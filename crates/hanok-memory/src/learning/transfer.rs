//! What was learned of a user as lines of JSON.

use hanok_checkpoint::Filter;
use hanok_core::Timestamp;

use super::{
    error::LearningError,
    evidence::LessonHead,
    memories::{Forgotten, Learned},
    names::Side,
    registry::StoredHead,
    user::UserMemories,
};

impl UserMemories {
    /// All evidence of the user, a line of JSON for each piece, ordered by kind and id. Records are not among it: they are made of it.
    ///
    /// # Errors
    ///
    /// [`LearningError::UnknownKind`] when there is evidence of such a kind, [`LearningError::Store`] when the store fails.
    pub async fn export(&self, now: Timestamp) -> Result<String, LearningError> {
        let labels = self.labels(Side::Evidence, None)?;
        let all = Filter::Exists("kind".into());
        let mut lines = String::new();
        for hit in self.memories.list(&self.tenant, labels, all, now).await? {
            let StoredHead { kind, .. } = hit.item.value.decode()?;
            lines.push_str(&(self.memories.kind_named(&kind)?.export)(&hit.item.value)?);
            lines.push('\n');
        }
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
        let mut checked = Vec::new();
        for (at, text) in lines.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let line = at + 1;
            let LessonHead { kind } =
                serde_json::from_str(text).map_err(|why| LearningError::Line { line, why })?;
            let kind = self.memories.kind_named(&kind)?;
            checked.push((kind, (kind.import)(text, line, &self.user)?));
        }
        let mut new = 0;
        for (kind, checked) in &checked {
            let learned =
                self.memories.count(&self.tenant, *kind, checked, Forgotten::Returns, now).await?;
            new += usize::from(learned == Learned::New);
        }
        Ok(new)
    }
}
