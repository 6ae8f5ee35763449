//! The data of the server, in one file that is replaced as a whole, by one process at a time.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::server::{NewBooking, NewEvent};

/// All that the server knows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Data {
    pub(crate) notes: Vec<String>,
    pub(crate) events: Vec<NewEvent>,
    pub(crate) bookings: Vec<NewBooking>,
    /// The reports under way and done, by the ids of their tasks.
    pub(crate) reports: BTreeMap<String, Report>,
    /// What each call that writes came to, by its key: it is made once.
    made: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) topic: Option<String>,
    pub(crate) began: Timestamp,
    pub(crate) cancelled: bool,
}

/// The file of the data, and the ledger of the calls beside it.
#[derive(Debug)]
pub(crate) struct Store {
    folder: Option<PathBuf>,
    /// The data where there is no folder.
    memory: Mutex<Data>,
}

/// The error with the file that it is about.
fn of(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

impl Store {
    /// The data in `folder`, which is made where it is not there.
    pub(crate) fn open(folder: Option<PathBuf>) -> io::Result<Self> {
        if let Some(folder) = &folder {
            fs::create_dir_all(folder).map_err(of(folder))?;
        }
        let store = Self { folder, memory: Mutex::default() };
        store.read().map(|_| store)
    }

    /// The data as they are now.
    pub(crate) fn read(&self) -> io::Result<Data> {
        let Some(folder) = &self.folder else {
            return Ok(self.memory.lock().unwrap_or_else(PoisonError::into_inner).clone());
        };
        let file = folder.join("desk.json");
        match fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| of(&file)(error.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Data::default()),
            Err(error) => Err(of(&file)(error)),
        }
    }

    /// Changes the data, and keeps what that came to under `key`: a call that comes again under it has that, and changes nothing. One
    /// that is refused changes nothing either. Other processes wait meanwhile.
    pub(crate) fn change(
        &self,
        key: &str,
        change: impl FnOnce(&mut Data) -> Result<String, String>,
    ) -> Result<String, String> {
        let fault = |error: io::Error| error.to_string();
        let lock = self.folder.as_ref().map(|folder| folder.join("desk.lock"));
        let hold = |path: &PathBuf| {
            let open = OpenOptions::new().write(true).create(true).truncate(false).open(path);
            open.and_then(|file| file.lock().map(|()| file)).map_err(of(path))
        };
        let _held = lock.as_ref().map(hold).transpose().map_err(fault)?;
        let mut data = self.read().map_err(fault)?;
        if let Some(made) = data.made.get(key) {
            return Ok(made.clone());
        }
        let came = change(&mut data)?;
        if !key.is_empty() {
            data.made.insert(key.to_owned(), came.clone());
        }
        self.write(data).map_err(fault)?;
        Ok(came)
    }

    /// Writes the data, so that a reader sees all of it or what was there before.
    fn write(&self, data: Data) -> io::Result<()> {
        let Some(folder) = &self.folder else {
            *self.memory.lock().unwrap_or_else(PoisonError::into_inner) = data;
            return Ok(());
        };
        let (file, part) = (folder.join("desk.json"), folder.join("desk.json.part"));
        let write = || {
            let mut out = File::create(&part)?;
            out.write_all(&serde_json::to_vec_pretty(&data)?)?;
            out.sync_all()?;
            fs::rename(&part, &file)
        };
        write().map_err(of(&file))
    }

    /// Whether a tool is not offered for now: whoever keeps the desk writes such into `closed.txt` beside its data, a line each.
    pub(crate) fn is_closed(&self, tool: &str) -> bool {
        let folder = self.folder.as_ref();
        let closed = folder.and_then(|folder| fs::read_to_string(folder.join("closed.txt")).ok());
        closed.unwrap_or_default().lines().any(|line| line.trim() == tool)
    }

    /// Adds a line to the ledger, which has every request that came, also one whose result is at hand.
    pub(crate) fn ledger(&self, what: &str, key: &str) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let file = folder.join("ledger.txt");
        let open = OpenOptions::new().create(true).append(true).open(&file);
        open.and_then(|mut open| writeln!(open, "{what} {key}")).map_err(of(&file))
    }
}

#[cfg(test)]
mod tests {
    use std::{env, process, thread};

    use super::*;

    /// A folder of a test's own, which it takes away.
    fn folder(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("hanok-desk-{name}-{}", process::id()));
        drop(fs::remove_dir_all(&folder));
        folder
    }

    fn note(store: &Store, key: &str, text: &str) -> String {
        let change = |data: &mut Data| {
            data.notes.push(text.to_owned());
            Ok(format!("{text} {}", data.notes.len()))
        };
        store.change(key, change).unwrap()
    }

    /// Two processes on one folder: neither loses what the other wrote, and a call that one has made is not made by the other.
    #[test]
    fn two_servers_share_one_folder() {
        let folder = folder("shared");
        let open = || Store::open(Some(folder.clone())).unwrap();
        let (one, other) = (open(), open());
        assert_eq!(note(&one, "1", "우유"), "우유 1");
        assert_eq!(note(&other, "2", "빵"), "빵 2");
        for store in [&one, &other] {
            assert_eq!(note(store, "1", "물"), "우유 1");
            assert_eq!(store.read().unwrap().notes, ["우유", "빵"]);
        }
        let refused = one.change("3", |data| {
            data.notes.clear();
            Err("no".to_owned())
        });
        assert_eq!((refused, one.read().unwrap().notes.len()), (Err("no".to_owned()), 2));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn servers_that_write_at_once_wait_for_each_other() {
        let folder = folder("at-once");
        thread::scope(|scope| {
            for process in ["a", "b", "c"] {
                let folder = &folder;
                scope.spawn(move || {
                    let store = Store::open(Some(folder.clone())).unwrap();
                    for round in 0..10 {
                        note(&store, &format!("{process}{round}"), "빵");
                    }
                });
            }
        });
        let data = Store::open(Some(folder.clone())).unwrap().read().unwrap();
        assert_eq!((data.notes.len(), data.made.len()), (30, 30));
        fs::remove_dir_all(folder).unwrap();
    }
}
