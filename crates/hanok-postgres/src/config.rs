//! The settings of a store: its address, its schema, its limits.

use std::time::Duration;

use hanok_core::Secret;

/// The way in which those who wait for a thread learn that it moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// Appends notify them by `NOTIFY`; and they look once a second, in case that is lost. Commits that notify take turns on the
    /// whole server, and a pooler of transactions lets nobody listen.
    Listen,
    /// They look this often, all with one query, while anybody waits. Appends notify nobody: those of every process that shares
    /// the store.
    Poll(Duration),
}

/// The address and the settings of a store.
///
/// ```
/// use std::time::Duration;
///
/// use hanok_postgres::Config;
///
/// let config = Config::new("postgresql://agents:secret@db.example/agents?sslmode=require")
///     .schema("agents")
///     .connections(8)
///     .statement_timeout(Duration::from_secs(5));
/// assert!(!format!("{config:?}").contains("secret"));
/// ```
#[derive(Debug, Clone)]
pub struct Config {
    pub(crate) url: Secret<String>,
    pub(crate) schema: String,
    pub(crate) connections: usize,
    pub(crate) statement: Duration,
    pub(crate) acquire: Duration,
    pub(crate) patience: Duration,
    pub(crate) follow: Follow,
    pub(crate) authorities: Option<Vec<u8>>,
}

impl Config {
    /// The database at `url`, in libpq's form: `postgresql://user:password@host:port/database?sslmode=require`, or
    /// `host=… user=… dbname=…`.
    ///
    /// `sslmode` is `disable`, `prefer` (default: TLS if the server offers it), `require` or `verify-full`. Wherever TLS is
    /// spoken the server's certificate is verified, its name included: `require` and `verify-full` are the same.
    ///
    /// ```
    /// use hanok_postgres::Config;
    ///
    /// let config = Config::new("host=db.example user=agents dbname=agents sslmode=require");
    /// ```
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: Secret::new(url.into()),
            schema: "hanok".into(),
            connections: 16,
            statement: Duration::from_secs(10),
            acquire: Duration::from_secs(10),
            patience: Duration::from_secs(15),
            follow: Follow::Listen,
            authorities: None,
        }
    }

    /// The schema that holds the tables, made where it is missing. Any name of 1 to 63 bytes. Default: `hanok`.
    ///
    /// ```
    /// use hanok_postgres::{Config, Connections};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # let _within = runtime.enter();
    /// let config = Config::new("postgresql://db.example/agents").schema("agents");
    /// assert_eq!(Connections::new(config)?.schema(), "\"agents\"");
    /// # Ok::<(), hanok_checkpoint::CheckpointError>(())
    /// ```
    #[must_use]
    pub fn schema(self, schema: impl Into<String>) -> Self {
        Self { schema: schema.into(), ..self }
    }

    /// The number of connections at most. Default: 16.
    ///
    /// ```
    /// use hanok_postgres::Config;
    ///
    /// // Behind a server with 100 connections, for ten processes.
    /// let config = Config::new("postgresql://db.example/agents").connections(10);
    /// ```
    #[must_use]
    pub fn connections(self, connections: usize) -> Self {
        Self { connections, ..self }
    }

    /// The time that the server may take over one statement, waiting for others included. It holds behind a pooler too.
    /// Default: 10 seconds.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_postgres::Config;
    ///
    /// let config = Config::new("postgresql://db.example/agents").statement_timeout(Duration::from_secs(3));
    /// ```
    #[must_use]
    pub fn statement_timeout(self, statement: Duration) -> Self {
        Self { statement, ..self }
    }

    /// The time that an attempt of a call waits for a connection while all are in use, and for a new one to be made. Nothing was
    /// sent then, so the call is tried again as long as [`retry_for`](Config::retry_for) says. Default: 10 seconds.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_postgres::Config;
    ///
    /// let config = Config::new("postgresql://db.example/agents").acquire_timeout(Duration::from_secs(2));
    /// ```
    #[must_use]
    pub fn acquire_timeout(self, acquire: Duration) -> Self {
        Self { acquire, ..self }
    }

    /// The time for which a call is tried again, in ever longer pauses of at most a second, while the server is away or every connection
    /// is in use. Default: 15 seconds.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_postgres::Config;
    ///
    /// // A call outlives a restart of the server that takes a minute.
    /// let config = Config::new("postgresql://db.example/agents").retry_for(Duration::from_secs(60));
    /// ```
    #[must_use]
    pub fn retry_for(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The way in which those who wait for a thread learn that it moved. Default: [`Follow::Listen`].
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_postgres::{Config, Follow};
    ///
    /// // Behind a pooler of transactions, where nobody can listen.
    /// let follow = Follow::Poll(Duration::from_millis(250));
    /// let config = Config::new("postgresql://pooler.example/agents").follow(follow);
    /// ```
    #[must_use]
    pub fn follow(self, follow: Follow) -> Self {
        Self { follow, ..self }
    }

    /// The certificate authorities to trust, as PEM, in place of those that the system trusts.
    ///
    /// ```
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # let _within = runtime.enter();
    /// use hanok_postgres::{Config, Connections};
    ///
    /// let config = Config::new("postgresql://db.example/agents").certificate_authorities("no PEM");
    /// assert!(Connections::new(config).is_err());
    /// ```
    #[must_use]
    pub fn certificate_authorities(self, pem: impl Into<Vec<u8>>) -> Self {
        Self { authorities: Some(pem.into()), ..self }
    }
}

impl<U: Into<String>> From<U> for Config {
    fn from(url: U) -> Self {
        Self::new(url)
    }
}
