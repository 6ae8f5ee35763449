//! The kinds that a program knows, by name.

use hanok_core::Stored;
use serde::{Deserialize, Serialize};

use super::{
    error::LearningError,
    evidence::{Evidence, EvidenceHead, Lesson},
    kind::MemoryKind,
    names,
};

/// A record, as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StoredRecord<R> {
    /// Its name.
    pub(super) key: String,
    pub(super) record: R,
    /// The text that a search finds.
    pub(super) text: String,
}

/// The evidence of a record, as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StoredEvidence<B> {
    pub(super) kind: String,
    /// The name of the record.
    pub(super) key: String,
    pub(super) evidence: Evidence<B>,
}

/// Stored evidence without its body.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct StoredHead {
    pub(super) kind: String,
    pub(super) key: String,
    pub(super) evidence: EvidenceHead,
}

/// A lesson that may count.
#[derive(Debug, Clone)]
pub(super) struct Checked {
    /// The id of the evidence.
    pub(super) id: String,
    /// The user that it is of.
    pub(super) user: String,
    /// The name of the record.
    pub(super) key: String,
    /// The [`StoredEvidence`].
    pub(super) evidence: Stored,
}

/// What a kind does, without its types.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// Reads a handed-out lesson of the thread.
    pub(super) read: fn(&Stored, thread: &str) -> Result<Checked, LearningError>,
    /// Reads a line of an export, as evidence of `user`.
    pub(super) import: fn(&str, line: usize, user: &str) -> Result<Checked, LearningError>,
    /// Writes a line of an export.
    pub(super) export: fn(&Stored) -> Result<String, LearningError>,
    /// Folds evidence into the record that there is, or into a new one.
    pub(super) fold: fn(Option<&Stored>, &[Stored]) -> Result<Stored, LearningError>,
}

impl Kind {
    pub(super) fn of<K: MemoryKind>() -> Self {
        Self {
            name: K::NAME,
            read: read::<K>,
            import: import::<K>,
            export: export::<K>,
            fold: fold::<K>,
        }
    }
}

/// Checks that `evidence` counts and can be stored; gives the name of its record.
pub(super) fn checked<K: MemoryKind>(
    evidence: &Evidence<K::Body>,
) -> Result<String, LearningError> {
    let refused = |why| LearningError::Refused { id: evidence.id.clone(), why };
    K::admit(evidence).map_err(refused)?;
    let labels = names::user(names::Side::Evidence, &evidence.user, Some(K::NAME))?;
    let (tenant, key) = (hanok_core::Tenant::default(), K::key(evidence));
    names::item(&tenant, &labels, "evidence", &evidence.id)?;
    names::item(&tenant, &labels, "record", &key)?;
    Ok(key)
}

fn prepared<K: MemoryKind>(evidence: Evidence<K::Body>) -> Result<Checked, LearningError> {
    let key = checked::<K>(&evidence)?;
    let stored = StoredEvidence { kind: K::NAME.to_owned(), key, evidence };
    let encoded = Stored::encode(&stored)?;
    let StoredEvidence { key, evidence: Evidence { id, user, .. }, .. } = stored;
    Ok(Checked { id, user, key, evidence: encoded })
}

fn read<K: MemoryKind>(lesson: &Stored, thread: &str) -> Result<Checked, LearningError> {
    let mut lesson: Lesson<K::Body> = lesson.decode()?;
    lesson.evidence.source.thread = thread.to_owned();
    prepared::<K>(lesson.evidence)
}

fn import<K: MemoryKind>(text: &str, line: usize, user: &str) -> Result<Checked, LearningError> {
    let mut lesson: Lesson<K::Body> =
        serde_json::from_str(text).map_err(|why| LearningError::Line { line, why })?;
    lesson.evidence.user = user.to_owned();
    prepared::<K>(lesson.evidence)
}

fn export<K: MemoryKind>(stored: &Stored) -> Result<String, LearningError> {
    let StoredEvidence::<K::Body> { kind, evidence, .. } = stored.decode()?;
    serde_json::to_string(&Lesson { kind, evidence }).map_err(LearningError::Export)
}

fn fold<K: MemoryKind>(
    record: Option<&Stored>,
    evidence: &[Stored],
) -> Result<Stored, LearningError> {
    let stored = record.map(Stored::decode::<StoredRecord<K::Record>>).transpose();
    let stored = stored.map_err(|why| LearningError::Record { kind: K::NAME, why })?;
    let (mut key, mut record) =
        stored.map(|stored| (stored.key, stored.record)).unwrap_or_default();
    for stored in evidence {
        let stored: StoredEvidence<K::Body> = stored.decode()?;
        record = K::fold(record, &stored.evidence);
        key = stored.key;
    }
    let text = K::text(&record);
    Ok(Stored::encode(&StoredRecord { key, record, text })?)
}
