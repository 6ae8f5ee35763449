//! A server with a folder of its own.

use std::{
    env, fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
};

use crate::{
    Installation, Missing,
    program::{folder, rights, run, said_by, unprivileged, words},
};

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// In order: connections are ended, nothing has to be recovered.
    Fast,
    /// As if it died: nothing more is written, and the next start recovers from what is in the log.
    Immediate,
}

impl Stop {
    fn mode(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Immediate => "immediate",
        }
    }
}

/// Ends the server when the process that owns it is gone: `$1` is that process, `$2` the server's folder, the rest stops it.
const WHEN_OWNER_IS_GONE: &str = r#"
    owner=$1; folder=$2; shift 2
    while kill -0 "$owner" 2>/dev/null; do sleep 1; done
    "$@" ; rm -rf "$folder"
"#;

/// A running server with the superuser `postgres`, who needs no password. It stops when it is dropped, and soon after its
/// process is gone.
#[derive(Debug)]
pub struct Server {
    pub(crate) installation: Installation,
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
    owned: bool,
}

impl Server {
    /// Makes a server and starts it. `settings` are lines of its `postgresql.conf`.
    ///
    /// # Errors
    ///
    /// Why it does not start.
    pub fn start(installation: &Installation, settings: &[&str]) -> Result<Self, Missing> {
        let server = Self::make(installation, settings)?;
        keep_with_owner(&server.folder, server.stopping(Stop::Immediate))?;
        server.up()?;
        Ok(server)
    }

    /// A server that is not started yet.
    pub(crate) fn make(installation: &Installation, settings: &[&str]) -> Result<Self, Missing> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let name = format!("hanok-postgres-{}-{port}", process::id());
        let folder = folder(env::temp_dir().join(name))?;
        let server = Self { installation: installation.clone(), folder, port, owned: true };
        let data = server.data();
        let mut initdb = unprivileged(&installation.program("initdb"));
        initdb.arg("-D").arg(&data).args(["-U", "postgres", "-A", "trust", "--no-sync"]);
        said_by(initdb.args(["-E", "UTF8", "--locale=C.UTF-8"]))?;
        // Processes die here, machines do not: what the kernel holds is as good as on the disk.
        let mut lines = format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = '{}'\nfsync = off\n\
             shared_buffers = 16MB\nmax_connections = 200\nautovacuum_naptime = 5s\n",
            server.folder.display()
        );
        settings.iter().for_each(|line| lines.extend([line, "\n"]));
        let file = data.join("postgresql.conf");
        let defaults = fs::read_to_string(&file)?;
        fs::write(&file, defaults + &lines)?;
        Ok(server)
    }

    /// Starts it again after [`Server::stop`], and waits until it answers.
    ///
    /// # Errors
    ///
    /// Why it does not start.
    pub fn up(&self) -> Result<(), Missing> {
        let mut start = unprivileged(&self.installation.program("pg_ctl"));
        start.arg("-D").arg(self.data()).args(["-w", "-t", "60", "-s", "-l"]).arg(self.log());
        run(start.arg("start")).map_err(|why| {
            let log = fs::read_to_string(self.log()).unwrap_or_default();
            Missing::new(format!("{why}: {}", log.lines().last().unwrap_or_default()))
        })
    }

    /// Stops it, and waits until it is gone.
    ///
    /// # Errors
    ///
    /// Why it does not stop.
    pub fn stop(&self, how: Stop) -> Result<(), Missing> {
        let words = self.stopping(how);
        let mut command = Command::new(words.first().map_or("", String::as_str));
        run(command.args(words.iter().skip(1)).current_dir("/"))
    }

    /// The words that stop it.
    pub(crate) fn stopping(&self, how: Stop) -> Vec<String> {
        let mut words = words(&self.installation.program("pg_ctl"));
        let data = self.data().to_string_lossy().into_owned();
        let rest = ["-D", &data, "-w", "-t", "30", "-s", "-m", how.mode(), "stop"];
        words.extend(rest.map(str::to_owned));
        words
    }

    /// Leaves it running when it is dropped.
    pub(crate) fn leave(mut self) {
        self.owned = false;
    }

    /// Where a superuser of it reaches `database`; `postgres` is always there.
    pub fn url(&self, database: &str) -> String {
        format!("postgresql://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Where it listens, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its folder of data, with `postgresql.conf` and `pg_hba.conf`.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// A file in its folder that it may read and nobody else may, as a server's private key has to be.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn put(&self, name: &str, content: &str) -> Result<PathBuf, Missing> {
        let path = self.folder.join(name);
        fs::write(&path, content)?;
        rights::as_its_folder(&path)?;
        Ok(path)
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.owned {
            // One that is stopped already cannot be stopped.
            drop(self.stop(Stop::Immediate));
            drop(fs::remove_dir_all(&self.folder));
        }
    }
}

/// Runs `stop` and removes `folder` once this process is gone.
pub(crate) fn keep_with_owner(folder: &Path, stop: Vec<String>) -> Result<(), Missing> {
    let owner = [process::id().to_string(), folder.to_string_lossy().into_owned()];
    keep(WHEN_OWNER_IS_GONE, &[&owner[..], &stop].concat())
}

/// Runs a script that outlives this process.
pub(crate) fn keep(script: &str, arguments: &[String]) -> Result<(), Missing> {
    let mut keeper = Command::new("sh");
    keeper.args(["-c", script, "keeper"]).args(arguments).current_dir("/");
    rights::apart(&mut keeper);
    keeper.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    Ok(())
}
