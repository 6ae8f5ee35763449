//! The lock file: the tools that a person approved.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

use hanok_core::BoxError;
use serde::{Deserialize, Serialize};

use super::{
    change::Change,
    definition::ToolDefinition,
    snapshot::{Entry, ToolHash},
};
use crate::{connection::Identity, error::McpError, file::open_regular, id::ToolId};

/// The version of the file's format.
const VERSION: u32 = 1;

/// The most bytes of a lock file.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The tools that were approved, by server and name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lock {
    version: u32,
    servers: BTreeMap<String, BTreeMap<String, Locked>>,
}

/// One tool, as it was approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Locked {
    hash: ToolHash,
    identity: Identity,
    definition: ToolDefinition,
}

impl Lock {
    /// Holds the file at `path` against other processes, and clients of this one, until the answer is dropped. What is locked is a
    /// file beside it that stays: each [`write`](Self::write) puts another in its place.
    pub(crate) fn hold(path: &Path) -> Result<fs::File, McpError> {
        let held = || -> Result<fs::File, BoxError> {
            let mut name = path.file_name().ok_or("it has no name")?.to_owned();
            name.push(".lock");
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(false);
            let file = options.open(path.with_file_name(name))?;
            match file.lock() {
                // Where nothing can be locked, whoever approves has to be alone.
                Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error.into()),
                _ => Ok(file),
            }
        };
        held().map_err(|source| McpError::LockFile { path: path.to_owned(), source })
    }

    /// The lock in the file at `path`; an empty one where there is no file.
    pub(crate) fn read(path: &Path) -> Result<Self, McpError> {
        let unusable = |source: BoxError| McpError::LockFile { path: path.to_owned(), source };
        let file = match open_regular(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unusable(error.into())),
        };
        let mut text = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(file, LONGEST), &mut text)
            .map_err(|error| unusable(error.into()))?;
        Self::parse(&text).map_err(unusable)
    }

    fn parse(text: &[u8]) -> Result<Self, BoxError> {
        let lock: Self = serde_json::from_slice(text)?;
        if lock.version != VERSION {
            let version = lock.version;
            return Err(
                format!("it is of version {version}, and this build reads {VERSION}").into()
            );
        }
        for (server, tool, locked) in lock.all() {
            let id = ToolId::new(server, tool);
            if *locked.definition.id() != id
                || locked.definition.hash(&locked.identity) != locked.hash
            {
                return Err(format!(
                    "what stands there of `{id}` is not what was approved; remove it, then approve"
                )
                .into());
            }
        }
        Ok(lock)
    }

    /// Writes the lock to the file at `path`: all of it, or nothing.
    pub(crate) fn write(&self, path: &Path) -> Result<(), McpError> {
        let written = || -> Result<(), BoxError> {
            let mut text = serde_json::to_vec_pretty(&Self { version: VERSION, ..self.clone() })?;
            text.push(b'\n');
            let name = path.file_name().ok_or("it has no name")?.to_string_lossy();
            static DRAFTS: AtomicU32 = AtomicU32::new(0);
            let draft = DRAFTS.fetch_add(1, Ordering::Relaxed);
            let draft = path.with_file_name(format!(".{name}.{}.{draft}", std::process::id()));
            let mut file = fs::File::create(&draft)?;
            let moved = file
                .write_all(&text)
                .and_then(|()| file.sync_all())
                .and_then(|()| fs::rename(&draft, path));
            moved.inspect_err(|_| {
                // What is wrong is said; that a draft stays is not worth another word.
                let _ = fs::remove_file(&draft);
            })?;
            Ok(())
        };
        written().map_err(|source| McpError::LockFile { path: path.to_owned(), source })
    }

    fn all(&self) -> impl Iterator<Item = (&str, &str, &Locked)> {
        self.servers.iter().flat_map(|(server, tools)| {
            tools.iter().map(move |(tool, locked)| (server.as_str(), tool.as_str(), locked))
        })
    }

    /// The approved tools, by name.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (ToolId, Entry)> {
        self.all().map(|(server, tool, locked)| (ToolId::new(server, tool), locked.entry()))
    }

    /// The tool `id` as it was approved.
    pub(crate) fn entry(&self, id: &ToolId) -> Option<Entry> {
        Some(self.servers.get(id.server())?.get(id.tool())?.entry())
    }

    /// The lock after `change` was approved.
    pub(crate) fn approve(&mut self, change: &Change) {
        let gone = match &change.kind {
            super::ChangeKind::Renamed { from } | super::ChangeKind::Moved { from } => Some(from),
            super::ChangeKind::Removed => Some(&change.tool),
            _ => None,
        };
        if let Some(gone) = gone
            && let Some(tools) = self.servers.get_mut(gone.server())
        {
            tools.remove(gone.tool());
        }
        if let Some(is) = &change.is {
            let tools = self.servers.entry(change.tool.server().to_owned()).or_default();
            let Entry { definition, identity, hash } = is.clone();
            tools.insert(change.tool.tool().to_owned(), Locked { hash, identity, definition });
        }
    }
}

impl Locked {
    fn entry(&self) -> Entry {
        let Self { hash, identity, definition } = self.clone();
        Entry { definition, identity, hash }
    }
}
