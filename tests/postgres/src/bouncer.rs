//! pgbouncer, in front of a server.

use std::{
    fs::File,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use crate::{
    Missing,
    program::{folder, is_root, said, unprivileged},
    server::keep_with_owner,
};

/// A pgbouncer that pools transactions: two transactions of one client may run on different connections of the server. It
/// ends when it is dropped.
#[derive(Debug)]
pub struct Bouncer {
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl Bouncer {
    /// Starts one in front of `server`, a superuser's URL as [`url`](crate::url) gives it. For root, Debian's package is
    /// installed where it is missing.
    ///
    /// # Errors
    ///
    /// Why it does not start.
    pub fn start(server: &str) -> Result<Self, Missing> {
        let program = program()?;
        let (host, server_port) = address(server)
            .ok_or_else(|| Missing::new("pgbouncer is tested in front of a plain URL only"))?;
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let name = format!("hanok-pgbouncer-{}-{port}", std::process::id());
        let folder = folder(std::env::temp_dir().join(name))?;
        let users = folder.join("users");
        std::fs::write(&users, "\"postgres\" \"\"\n")?;
        let ini = folder.join("pgbouncer.ini");
        std::fs::write(
            &ini,
            format!(
                "[databases]\n* = host={host} port={server_port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
                 listen_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {}\n\
                 pool_mode = transaction\ndefault_pool_size = 4\nmax_client_conn = 200\n",
                users.display()
            ),
        )?;
        let log = File::create(folder.join("log"))?;
        let mut command = unprivileged(&program);
        command.arg(&ini).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let bouncer = Self { child: command.spawn()?, port, folder };
        keep_with_owner(&bouncer.folder, vec!["kill".into(), bouncer.child.id().to_string()])?;
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(bouncer);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(Missing::new("pgbouncer does not answer"))
    }

    /// Where `postgres`, who needs no password, reaches `database` through it.
    pub fn url(&self, database: &str) -> String {
        format!("postgresql://postgres@127.0.0.1:{}/{database}", self.port)
    }
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        // One that has ended cannot be ended, and its folder lies in the system's own for what may be lost.
        drop(self.child.kill());
        drop(self.child.wait());
        drop(std::fs::remove_dir_all(&self.folder));
    }
}

fn program() -> Result<PathBuf, Missing> {
    let places = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"];
    let find = || places.iter().map(PathBuf::from).find(|place| place.exists());
    if find().is_none() && is_root() {
        // Where it cannot be installed it is missing, which is what counts below.
        drop(said("apt-get", &["install", "-y", "-qq", "pgbouncer"]));
    }
    find().ok_or_else(|| Missing::new("pgbouncer is not installed"))
}

/// The host and port of `postgresql://postgres@host:port/database`.
fn address(url: &str) -> Option<(&str, u16)> {
    let (_, rest) = url.split_once("://postgres@")?;
    let (host, port) = rest.split('/').next()?.rsplit_once(':')?;
    Some((host, port.parse().ok()?))
}
