//! The kinds that a program knows, by name.

use hanok_core::{Panicked, Stored, Tenant};
use serde::{Deserialize, Serialize};

use super::{
    days::Days,
    error::LearningError,
    evidence::{Evidence, EvidenceHead, EvidenceSource, Lesson},
    kind::MemoryKind,
    names::{self, Side},
    recalled::RecordOrigin,
};

/// A record, as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StoredRecord<R> {
    pub(super) kind: String,
    /// Its name.
    pub(super) key: String,
    pub(super) record: R,
    /// The text that a search finds.
    pub(super) text: String,
    /// The places that its newest evidence comes from, the newest first: a fold of it, too.
    pub(super) origins: Vec<RecordOrigin>,
}

/// A stored record without its content.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct StoredHeading {
    pub(super) kind: String,
}

/// A record, as it is recalled.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) key: String,
    pub(super) text: String,
    pub(super) origins: Vec<RecordOrigin>,
}

/// The number of places that a record names.
const ORIGINS: usize = 3;

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

/// The record that a piece of evidence belongs to, under its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredId {
    /// The name of the record.
    pub(super) key: String,
}

/// Names a record of any user of a tenant, which a turn taught something of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct RecordName {
    pub(super) user: String,
    pub(super) kind: String,
    pub(super) key: String,
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
    /// The place that it comes from.
    pub(super) source: EvidenceSource,
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
    /// Reads a record, for a question.
    pub(super) show: fn(&Stored, Days) -> Result<Shown, LearningError>,
    /// Folds evidence into the record that there is, or into a new one.
    pub(super) fold: fn(Option<&Stored>, &[Stored]) -> Result<Stored, LearningError>,
}

impl Kind {
    pub(super) fn of<K: MemoryKind>() -> Self {
        Self {
            name: K::NAME,
            read: |lesson, thread| guarded(K::NAME, || read::<K>(lesson, thread)),
            import: |text, line, user| guarded(K::NAME, || import::<K>(text, line, user)),
            export: |stored| guarded(K::NAME, || export::<K>(stored)),
            show: |record, days| guarded(K::NAME, || show::<K>(record, days)),
            fold: |before, evidence| guarded(K::NAME, || fold::<K>(before, evidence)),
        }
    }
}

/// Does the `work` of a kind, whose panic is an error.
fn guarded<T>(
    kind: &'static str,
    work: impl FnOnce() -> Result<T, LearningError>,
) -> Result<T, LearningError> {
    Panicked::catch(work)
        .unwrap_or_else(|Panicked(what)| Err(LearningError::Panicked { kind, what }))
}

/// Checks that `evidence` counts and can be stored; gives the name of its record.
pub(super) fn checked<K: MemoryKind>(
    evidence: &Evidence<K::Body>,
) -> Result<String, LearningError> {
    let refused = |why| LearningError::Refused { id: evidence.id.clone(), why };
    K::admit(evidence).map_err(refused)?;
    let key = K::key(evidence);
    let (tenant, of) = (Tenant::default(), |side| names::user(side, &evidence.user, Some(K::NAME)));
    let place = names::evidence(&evidence.user, K::NAME, &key)?;
    names::item(&tenant, &place, "evidence", &evidence.id)?;
    names::item(&tenant, &of(Side::Records)?, "record", &key)?;
    Ok(key)
}

fn prepared<K: MemoryKind>(mut evidence: Evidence<K::Body>) -> Result<Checked, LearningError> {
    evidence.source.servers.extend(K::servers(&evidence.body));
    let key = checked::<K>(&evidence)?;
    let stored = StoredEvidence { kind: K::NAME.to_owned(), key, evidence };
    let encoded = Stored::encode(&stored)?;
    let StoredEvidence { key, evidence: Evidence { id, user, source, .. }, .. } = stored;
    Ok(Checked { id, user, key, source, evidence: encoded })
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

/// A record of the kind `K`, as it is stored.
pub(super) fn record<K: MemoryKind>(
    value: &Stored,
) -> Result<StoredRecord<K::Record>, LearningError> {
    value.decode().map_err(|why| LearningError::Record { kind: K::NAME, why })
}

fn show<K: MemoryKind>(value: &Stored, days: Days) -> Result<Shown, LearningError> {
    let StoredRecord { key, record, origins, .. } = record::<K>(value)?;
    Ok(Shown { key, text: K::recalled(&record, days), origins })
}

fn fold<K: MemoryKind>(
    before: Option<&Stored>,
    evidence: &[Stored],
) -> Result<Stored, LearningError> {
    let before = before.map(record::<K>).transpose()?;
    let (mut key, mut record, mut origins) =
        before.map(|it| (it.key, it.record, it.origins)).unwrap_or_default();
    for stored in evidence {
        let stored: StoredEvidence<K::Body> = stored.decode()?;
        record = K::fold(record, &stored.evidence);
        key = stored.key;
        let Evidence { id, at, actor, source, .. } = stored.evidence;
        let EvidenceSource { thread, message, .. } = source;
        origins.push(RecordOrigin { at, evidence: id, actor, thread, message });
        origins.sort_by(|a, b| b.cmp(a));
        origins.truncate(ORIGINS);
    }
    let (kind, text) = (K::NAME.to_owned(), K::text(&record));
    Ok(Stored::encode(&StoredRecord { kind, key, record, text, origins })?)
}
