//! The state at a position, written once so that a read costs what the state holds and not what was ever said.

use std::collections::BTreeMap;

use hanok_core::{Fields, Namespace, Position, Reader, StoredError, Writer};

use crate::{
    entry::fold::{RunFold, ThreadFold},
    entry::run_end::RunEnd,
    entry::state::ThreadLife,
    entry::step_records::StepRecords,
    wire::{Wire, malformed, record},
};

/// A snapshot: per namespace the state and what is due. It is taken where nothing is pending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    runs: BTreeMap<Namespace, RunFold>,
    identity: Option<ThreadLife>,
}

const VERSION: u64 = 2;

/// Room for what a graph's state has besides its fields: enough for most.
const PARTS: usize = 4096;

impl Snapshot {
    /// The snapshot of a fold in which nothing is pending; what is pending is not part of it.
    pub fn of(fold: &ThreadFold) -> Self {
        let mut snapshot = Self::of_calls(fold);
        snapshot.runs.values_mut().for_each(|run| run.added.clear());
        snapshot
    }

    /// The snapshot of a fold whose calls go on: what they added to the state that they share is part of it.
    pub(crate) fn of_calls(fold: &ThreadFold) -> Self {
        let ThreadFold { mut runs, identity, .. } = fold.clone();
        runs.values_mut().for_each(|run| run.records.clear());
        Self { runs, identity }
    }

    /// The fold that the snapshot is of.
    pub fn to_fold(&self, position: Position) -> ThreadFold {
        let Self { runs, identity } = self.clone();
        ThreadFold { position, runs, identity }
    }

    /// The snapshot as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.after(0)
    }

    /// The same after `room` bytes.
    pub(crate) fn after(&self, room: usize) -> Vec<u8> {
        let size: usize = self.runs.values().map(|run| run.fields.size() + PARTS).sum();
        let mut bytes = Vec::with_capacity(room + size);
        bytes.resize(room, 0);
        let mut writer = Writer::after(bytes);
        writer.array(3).uint(VERSION);
        self.identity.write(&mut writer);
        writer.array(self.runs.len());
        for (namespace, run) in &self.runs {
            writer.array(2);
            namespace.write(&mut writer);
            run.write(&mut writer);
        }
        writer.into_bytes()
    }

    /// Reads what [`Snapshot::to_bytes`] wrote.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// let snapshot = Snapshot::of(&ThreadFold::default());
    /// assert_eq!(Snapshot::from_bytes(&snapshot.to_bytes())?, snapshot);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StoredError> {
        let mut reader = Reader::new(bytes);
        if reader.array()? != 3 || reader.uint()? != VERSION {
            return malformed(&reader, "a snapshot of this build");
        }
        let identity = Option::read(&mut reader)?;
        let runs = (0..reader.array()?)
            .map(|_| {
                reader.array()?;
                Ok((Namespace::read(&mut reader)?, RunFold::read(&mut reader)?))
            })
            .collect::<Result<_, StoredError>>()?;
        if !reader.is_at_end() {
            return malformed(&reader, "the end of the snapshot");
        }
        Ok(Self { runs, identity })
    }
}

/// All but the records of tasks.
impl Wire for RunFold {
    fn write(&self, to: &mut Writer) {
        to.array(18);
        self.run.write(to);
        self.epoch.write(to);
        self.open.write(to);
        self.parent.write(to);
        self.persistence.write(to);
        self.fields.write(to);
        self.schema.write(to);
        self.graph.write(to);
        self.frontier.write(to);
        self.since.write(to);
        self.turn.write(to);
        self.last.write(to);
        self.spent.write(to);
        self.takeovers.write(to);
        self.paused.write(to);
        self.shared.write(to);
        to.str(self.ended.as_ref().map_or("", RunEnd::as_str));
        self.added.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        if from.array()? != 18 {
            return malformed(from, "the parts of a graph's state");
        }
        Ok(Self {
            run: Wire::read(from)?,
            epoch: Wire::read(from)?,
            open: Wire::read(from)?,
            parent: Wire::read(from)?,
            persistence: Wire::read(from)?,
            fields: Fields::from_stored(&Wire::read(from)?)?,
            schema: Wire::read(from)?,
            graph: Wire::read(from)?,
            frontier: Wire::read(from)?,
            since: Wire::read(from)?,
            turn: Wire::read(from)?,
            last: Wire::read(from)?,
            spent: Wire::read(from)?,
            takeovers: Wire::read(from)?,
            paused: Wire::read(from)?,
            shared: Wire::read(from)?,
            ended: Some(from.str()?).filter(|end| !end.is_empty()).map(RunEnd::from),
            added: Wire::read(from)?,
            records: StepRecords::default(),
        })
    }
}

record! {
    /// The origin of a fork.
    Origin {
        /// The thread it was forked from, of the same tenant.
        thread: String,
        /// The position there.
        position: Position,
        /// The state there.
        snapshot: Snapshot,
    }
}

/// The bytes of the snapshot, as one value.
impl Wire for Snapshot {
    fn write(&self, to: &mut Writer) {
        to.bin(&self.to_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        Self::from_bytes(from.bin()?)
    }
}
