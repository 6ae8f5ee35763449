//! The state at a position, written once so that a read costs what the state holds and not what was ever said.

use std::collections::BTreeMap;

use hanok_core::{
    Changes, Fields, Namespace, Position, Reader, RunId, StoredError, StoredSchema, ThreadKey,
    Timestamp, Writer,
};

use crate::{
    Epoch, Frontier, Persistence, RunEnd, RunFold, StepRecords, ThreadFold,
    frontier::{read_texts, texts},
    wire::{
        id, malformed, namespace, option_task, small, spent, thread, value, write_namespace,
        write_option_task, write_spent, write_thread,
    },
};

/// What a snapshot holds: per namespace the state and what is due. It is taken where nothing is pending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    runs: BTreeMap<Namespace, RunFold>,
    identity: Option<ThreadKey>,
}

const VERSION: u64 = 1;

/// Room for what a graph's state has besides its fields: enough for most.
const PARTS: usize = 4096;

impl Snapshot {
    /// The snapshot of a fold in which nothing is pending; what is pending is not part of it.
    pub fn of(fold: &ThreadFold) -> Self {
        let runs = fold.runs.iter().map(|(namespace, run)| {
            let kept =
                RunFold { records: StepRecords::default(), added: Vec::new(), ..run.clone() };
            (namespace.clone(), kept)
        });
        Self { runs: runs.collect(), identity: fold.identity.clone() }
    }

    /// The snapshot of a fold whose calls go on: what they added to the state that they share is part of it.
    pub(crate) fn of_calls(fold: &ThreadFold) -> Self {
        let mut snapshot = Self::of(fold);
        for (path, run) in &mut snapshot.runs {
            if let Some(called) = fold.runs.get(path) {
                run.added.clone_from(&called.added);
            }
        }
        snapshot
    }

    /// The fold that the snapshot is of.
    pub fn to_fold(&self, position: Position) -> ThreadFold {
        ThreadFold { position, runs: self.runs.clone(), identity: self.identity.clone() }
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
        match &self.identity {
            Some(thread) => write_thread(writer.array(2), thread),
            None => {
                writer.nil();
            }
        }
        writer.array(self.runs.len());
        for (namespace, run) in &self.runs {
            writer.array(2);
            write_namespace(&mut writer, namespace);
            run.write(&mut writer);
        }
        writer.into_bytes()
    }

    /// Reads what [`Snapshot::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StoredError> {
        let mut reader = Reader::new(bytes);
        if reader.array()? != 3 || reader.uint()? != VERSION {
            return malformed(&reader, "a snapshot of this build");
        }
        let identity = if reader.is_nil() {
            reader.nil()?;
            None
        } else {
            reader.array()?;
            Some(thread(&mut reader)?)
        };
        let runs = (0..reader.array()?)
            .map(|_| {
                reader.array()?;
                Ok((namespace(&mut reader)?, RunFold::read(&mut reader)?))
            })
            .collect::<Result<_, StoredError>>()?;
        if !reader.is_at_end() {
            return malformed(&reader, "the end of the snapshot");
        }
        Ok(Self { runs, identity })
    }
}

impl RunFold {
    fn write(&self, to: &mut Writer) {
        to.array(18);
        match self.run {
            Some(run) => to.bin(&run.0.to_be_bytes()),
            None => to.nil(),
        };
        to.uint(self.epoch.0).bool(self.open);
        write_option_task(to, self.parent);
        to.bool(self.persistence == Persistence::PerThread);
        self.fields.write(to);
        self.schema.write(to);
        to.uint(self.graph);
        self.frontier.write(to);
        to.uint(self.since.0);
        texts(to.uint(self.turn.0), &self.last);
        write_spent(to, self.spent);
        to.uint(u64::from(self.takeovers)).bool(self.paused).bool(self.shared);
        to.str(self.ended.as_ref().map_or("", RunEnd::as_str));
        to.array(self.added.len());
        self.added.iter().for_each(|changes| changes.write(to));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        if from.array()? != 18 {
            return malformed(from, "the parts of a graph's state");
        }
        let run = if from.is_nil() {
            from.nil()?;
            None
        } else {
            Some(RunId(id(from)?))
        };
        Ok(Self {
            run,
            epoch: Epoch(from.uint()?),
            open: from.bool()?,
            parent: option_task(from)?,
            persistence: match from.bool()? {
                true => Persistence::PerThread,
                false => Persistence::PerCall,
            },
            fields: Fields::from_stored(&value(from)?)?,
            schema: StoredSchema::read(from)?.into(),
            graph: from.uint()?,
            frontier: Frontier::read(from)?,
            since: Timestamp(from.uint()?),
            turn: Position(from.uint()?),
            last: read_texts(from)?,
            spent: spent(from)?,
            takeovers: small(from)?,
            paused: from.bool()?,
            shared: from.bool()?,
            ended: Some(from.str()?).filter(|end| !end.is_empty()).map(RunEnd::from),
            added: (0..from.array()?).map(|_| Changes::read(from)).collect::<Result<_, _>>()?,
            ..Self::default()
        })
    }
}
