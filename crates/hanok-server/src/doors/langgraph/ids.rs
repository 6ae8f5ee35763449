//! The ids by which clients name threads, runs, checkpoints and graphs: UUIDs, all of them.

use hanok_checkpoint::Life;
use hanok_core::{Position, RunId, Timestamp};
use uuid::Uuid;

use crate::{
    http::{auth::Signed, problem::Problem, service::Service},
    rows::{
        keys::{public_id, run_of},
        thread::ThreadRow,
    },
};

/// Where in the life of an input a checkpoint stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Phase {
    /// Before the input at this position was applied.
    Before,
    /// At this position.
    At,
}

/// Names a checkpoint of a thread. As text it is a UUID of version 8 that sorts as its position does, and fits no other thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CheckpointId {
    pub(crate) position: Position,
    pub(crate) phase: Phase,
}

/// The bits of a life that stand in the id of a checkpoint.
const LIFE: u128 = (1 << 62) - 1;

impl CheckpointId {
    /// The checkpoint at a position.
    pub(crate) fn at(position: Position) -> Self {
        Self { position, phase: Phase::At }
    }

    /// The id as a thread of this life has it.
    pub(crate) fn to_uuid(self, life: Life) -> Uuid {
        let position = u128::from(self.position.0 & 0xffff_ffff_ffff);
        let phase = u128::from(self.phase == Phase::At);
        let life = u128::from_be_bytes(life.to_bytes()) & LIFE;
        Uuid::from_u128(position << 80 | 0x8 << 76 | phase << 64 | 0x2 << 62 | life)
    }

    /// Reads the id of a checkpoint of a thread of this life; `None` for an id of another thread, or of none.
    pub(crate) fn read(text: &str, life: Life) -> Option<Self> {
        let id = Uuid::try_parse(text).ok()?;
        let bits = id.as_u128();
        let position = Position(u64::try_from(bits >> 80).ok()?);
        let phase = if bits >> 64 & 1 == 1 { Phase::At } else { Phase::Before };
        let read = Self { position, phase };
        (read.to_uuid(life) == id).then_some(read)
    }
}

/// The UUID of a run.
pub(crate) fn run_id(run: RunId) -> String {
    Uuid::from_u128(run.0).to_string()
}

/// Reads the UUID of a run.
pub(crate) fn read_run(text: &str) -> Result<RunId, Problem> {
    let id = Uuid::try_parse(text);
    id.map(run_of).map_err(|_malformed| Problem::unprocessable("Invalid run ID: must be a UUID"))
}

/// Reads the UUID of a thread.
pub(crate) fn read_thread(text: &str) -> Result<Uuid, Problem> {
    let id = Uuid::try_parse(text);
    id.map_err(|_malformed| Problem::unprocessable("Invalid thread ID: must be a UUID"))
}

/// The UUID of a graph, as an assistant.
pub(crate) fn assistant_id(graph: &str) -> String {
    public_id(graph).to_string()
}

/// A moment as clients write it: RFC 3339 in UTC, with microseconds.
pub(crate) fn moment(at: Timestamp) -> String {
    let at = jiff::Timestamp::try_from(at).unwrap_or(jiff::Timestamp::MAX);
    at.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string()
}

impl Service {
    /// The graph that a client names: by its name, or by the UUID of its assistant.
    pub(crate) fn graph_of(&self, assistant: &str) -> Result<&str, Problem> {
        let graphs = &self.runs.apps().0;
        if let Some((name, _)) = graphs.get_key_value(assistant) {
            return Ok(name);
        }
        let mut named = graphs.keys().filter(|name| assistant_id(name) == assistant);
        named.next().map(String::as_str).ok_or_else(|| {
            let names = graphs.keys().cloned().collect::<Vec<_>>().join(", ");
            Problem::unprocessable(format!(
                "there is no assistant `{assistant}`: name one of the graphs {names}, or give its UUID"
            ))
        })
    }

    /// The thread of a caller with this UUID, if there is one.
    pub(crate) async fn known_thread(
        &self,
        signed: &Signed,
        id: Uuid,
    ) -> Result<ThreadRow, Problem> {
        let row = self.runs.rows().thread(&signed.tenant, id).await?;
        row.map(|(row, _)| row).ok_or_else(Problem::no_thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_a_checkpoint_sorts_as_its_position_and_fits_no_other_thread() {
        let life = Life::new(7);
        let ids: Vec<_> =
            [(1, Phase::Before), (1, Phase::At), (2, Phase::Before), (300, Phase::At)]
                .map(|(position, phase)| CheckpointId { position: Position(position), phase })
                .into();
        let texts: Vec<_> = ids.iter().map(|id| id.to_uuid(life).to_string()).collect();
        assert!(texts.is_sorted(), "{texts:?}");
        assert_eq!(texts[0], "00000000-0001-8000-8000-000000000007");
        for (id, text) in ids.iter().zip(&texts) {
            assert_eq!(CheckpointId::read(text, life), Some(*id));
            assert_eq!(CheckpointId::read(text, Life::new(8)), None);
        }
        assert_eq!(CheckpointId::read("x", life), None);
        assert_eq!(CheckpointId::read("00000000-0001-4000-8000-000000000007", life), None);
    }

    #[test]
    fn a_moment_is_written_in_utc() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000000+00:00"),
            (951_782_400_000, "2000-02-29T00:00:00.000000+00:00"),
            (1_796_102_529_573, "2026-12-01T05:22:09.573000+00:00"),
            (1_798_761_599_999, "2026-12-31T23:59:59.999000+00:00"),
        ] {
            assert_eq!(moment(Timestamp(millis)), text);
        }
    }
}
