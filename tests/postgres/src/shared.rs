//! The server that all tests of a run share.

use std::{
    env,
    fs::{self, File},
    net::TcpStream,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use crate::{Installation, Missing, Server, Stop, program::cache, server::keep};

/// The variable that names the server to test with.
pub const URL: &str = "HANOK_TEST_POSTGRES_URL";

/// How long the shared server lives after the last test that asked for it.
pub const IDLE_MINUTES: u32 = 3;

/// Stops the server `$2` once nobody has asked for it for `$1` minutes; `$3` is the file by which it is found, the rest
/// stops it. Who asks says so in `used` before looking at that file again, so that either they or this see the other.
const WHEN_IDLE: &str = r#"
    minutes=$1; folder=$2; found=$3; shift 3
    is_used() { [ -n "$(find "$folder/used" -mmin "-$minutes" 2>/dev/null)" ]; }
    while sleep 5; do
        is_used && continue
        case "$(cat "$found" 2>/dev/null)" in "$folder "*) rm -f "$found" ;; esac
        is_used || break
    done
    "$@" ; rm -rf "$folder"
"#;

/// The superuser's URL of the shared server; starts it if need be.
///
/// # Errors
///
/// Why there is none.
pub fn url() -> Result<String, Missing> {
    static FOUND: OnceLock<Result<String, Missing>> = OnceLock::new();
    FOUND
        .get_or_init(|| match env::var(URL) {
            Ok(url) if !url.is_empty() => Ok(url),
            _ => find(),
        })
        .clone()
}

fn find() -> Result<String, Missing> {
    let cache = cache()?;
    let lock = File::create(cache.join("shared.lock"))?;
    lock.lock()?;
    let found = cache.join("shared");
    if let Some(url) = running(&found) {
        return Ok(url);
    }
    let server = Server::make(&Installation::newest()?, &[])?;
    let folder = server.folder.to_string_lossy().into_owned();
    File::create(server.folder.join("used"))?;
    server.up()?;
    let mut keeper = vec![IDLE_MINUTES.to_string(), folder.clone()];
    keeper.push(found.to_string_lossy().into_owned());
    keeper.extend(server.stopping(Stop::Fast));
    keep(WHEN_IDLE, &keeper)?;
    fs::write(&found, format!("{folder} {}", server.port))?;
    let url = server.url("postgres");
    server.leave();
    Ok(url)
}

/// The server that `found` tells of, if it still runs.
fn running(found: &Path) -> Option<String> {
    let told = fs::read_to_string(found).ok()?;
    let (folder, port) = told.rsplit_once(' ')?;
    File::create(PathBuf::from(folder).join("used")).ok()?;
    let port: u16 = port.parse().ok()?;
    let is_still_found = fs::read_to_string(found).is_ok_and(|again| again == told);
    let answers = TcpStream::connect(("127.0.0.1", port)).is_ok();
    (is_still_found && answers).then(|| format!("postgresql://postgres@127.0.0.1:{port}/postgres"))
}
