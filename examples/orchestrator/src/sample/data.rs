//! The data of the server, in one file that is replaced as a whole, by one process at a time.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All that the server knows.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Data {
    pub(super) notes: Vec<Entry>,
    pub(super) events: Vec<Event>,
    pub(super) bookings: Vec<Booking>,
    /// The reports under way and done, by the ids of their tasks.
    pub(super) reports: BTreeMap<String, Report>,
    /// What each call that writes came to, by its key: it is made once.
    pub(super) made: BTreeMap<String, Value>,
}

/// A note.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) text: String,
}

/// Something on a day, at a time or not.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Event {
    pub(super) day: String,
    pub(super) time: Option<String>,
    pub(super) title: String,
}

/// A room that is taken.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Booking {
    pub(super) room: String,
    pub(super) people: u32,
    pub(super) purpose: String,
}

/// A report.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) topic: String,
    /// When it began, in milliseconds of UNIX time.
    pub(super) began: i64,
    pub(super) cancelled: bool,
}

/// The error with the file that it is about.
fn of(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

/// The data in `folder`, which are none where there is no file.
fn read(folder: &Path) -> io::Result<Data> {
    let file = folder.join("desk.json");
    match fs::read(&file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| of(&file, error.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Data::default()),
        Err(error) => Err(of(&file, error)),
    }
}

/// The file of the data, and the ledger of the calls beside it.
#[derive(Debug)]
pub(super) struct Store {
    folder: Option<PathBuf>,
    pub(super) data: Data,
}

impl Store {
    /// The data in `folder`, which is made where it is not there.
    pub(super) fn open(folder: Option<PathBuf>) -> io::Result<Self> {
        let Some(folder) = folder else { return Ok(Self { folder: None, data: Data::default() }) };
        fs::create_dir_all(&folder).map_err(|error| of(&folder, error))?;
        let data = read(&folder)?;
        Ok(Self { folder: Some(folder), data })
    }

    /// Reads what other processes have written, which do no call until the file is dropped that is returned.
    pub(super) fn hold(&mut self) -> io::Result<Option<File>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let path = folder.join("desk.lock");
        let open = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let lock = |file: File| file.lock().map(|()| file);
        let held = open.and_then(lock).map_err(|error| of(&path, error))?;
        self.data = read(folder)?;
        Ok(Some(held))
    }

    /// Writes the data, so that a reader sees all of it or what was there before.
    pub(super) fn save(&self) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let (file, part) = (folder.join("desk.json"), folder.join("desk.json.part"));
        let bytes = serde_json::to_vec_pretty(&self.data).map_err(io::Error::other)?;
        let write = || {
            let mut out = File::create(&part)?;
            out.write_all(&bytes)?;
            out.sync_all()?;
            fs::rename(&part, &file)
        };
        write().map_err(|error| of(&file, error))
    }

    /// The tools that are not offered for now, a line each: whoever keeps the desk writes them into `closed.txt` beside its data.
    pub(super) fn closed(&self) -> String {
        let folder = self.folder.as_ref();
        folder
            .and_then(|folder| fs::read_to_string(folder.join("closed.txt")).ok())
            .unwrap_or_default()
    }

    /// Adds a line to the ledger: each request that reached the server and does something.
    pub(super) fn ledger(&self, what: &str, key: &str) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let file = folder.join("ledger.txt");
        let open = OpenOptions::new().create(true).append(true).open(&file);
        let line = format!("{what} {key}\n");
        let written = open.and_then(|mut open| open.write_all(line.as_bytes()));
        written.map_err(|error| of(&file, error))
    }
}
