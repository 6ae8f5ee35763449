//! Connections: how a transaction is sent, how long it is waited for, and when it is sent again.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, RecyclingMethod, Runtime, Timeouts};
use futures_util::future::{join_all, join3};
use hanok_checkpoint::{CheckpointError, Safety};
use tokio::time::{self, Instant};
use tokio_postgres::{
    Client, Connection, Row, Socket,
    config::SslMode,
    types::{ToSql, Type},
};

use super::tls::{Stream, Tls};
use crate::{
    config::Config,
    failure::{Failure, Outlook},
};

/// The longest pause between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// The time that a client waits longer than the server, for the way there and back.
const WAY: Duration = Duration::from_secs(5);

/// One statement, with its parameters and their types: so the server need not be asked for them, and the statement has no
/// name that a pooler's other connections would not know.
pub(crate) struct Query<'a> {
    pub(crate) sql: &'a str,
    pub(crate) parameters: &'a [(&'a (dyn ToSql + Sync), Type)],
}

/// The kinds of transactions.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Access {
    /// It sees one moment of the store.
    Read,
    /// It writes, and is so safe.
    Write(Safety),
}

/// The rows of each query.
pub(crate) type Answers = Vec<Vec<Row>>;

/// Connections to one database.
#[derive(Clone)]
pub(crate) struct Pool {
    pool: deadpool_postgres::Pool,
    postgres: tokio_postgres::Config,
    tls: Tls,
    statement: Duration,
    acquire: Duration,
    patience: Duration,
    /// The statements in front of a read, and of a write for each safety.
    begin: [String; 3],
}

impl Pool {
    /// A pool in which no connection is made yet. Within a tokio runtime.
    pub(crate) fn new(config: &Config) -> Result<Self, CheckpointError> {
        let unfit = |source| CheckpointError::NotAStore { what: "the URL".into(), source };
        let url = config.url.expose().replace("sslmode=verify-full", "sslmode=require");
        let mut postgres: tokio_postgres::Config =
            url.parse().map_err(|error: tokio_postgres::Error| unfit(error.into()))?;
        if postgres.get_application_name().is_none() {
            postgres.application_name("hanok");
        }
        if postgres.get_connect_timeout().is_none() {
            postgres.connect_timeout(config.acquire);
        }
        let tls = match (postgres.get_ssl_mode(), &config.authorities) {
            (SslMode::Disable, _) => Tls::none(),
            (_, authorities) => Tls::new(authorities.as_deref()),
        }
        .map_err(|error| unfit(error.into()))?;
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let wait = Some(config.acquire);
        let pool = deadpool_postgres::Pool::builder(Manager::from_config(
            postgres.clone(),
            tls.clone(),
            recycling,
        ))
        .max_size(config.connections)
        .timeouts(Timeouts { wait, create: wait, recycle: wait })
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| unfit(error.into()))?;
        let timeout =
            format!("SET LOCAL statement_timeout = {}", config.statement.as_millis().max(1));
        let write = |commit| {
            format!(
                "BEGIN ISOLATION LEVEL READ COMMITTED; {timeout}; SET LOCAL synchronous_commit = {commit}"
            )
        };
        let read = format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {timeout}");
        let begin = [read, write("local"), write("on")];
        let (statement, acquire, patience) = (config.statement, config.acquire, config.patience);
        Ok(Self { pool, postgres, tls, statement, acquire, patience, begin })
    }

    /// The statements in front of a transaction. With `off` an append that was answered would be gone after a crash of the server,
    /// and a run that lives on would find its thread behind itself: so `local` is the least.
    fn begin(&self, mode: Access) -> &str {
        let [read, process, machine] = &self.begin;
        match mode {
            Access::Read => read,
            Access::Write(Safety::Process) => process,
            Access::Write(Safety::Machine) => machine,
        }
    }

    /// The settings of a transaction that has begun.
    pub(crate) fn settings(&self, mode: Access) -> &str {
        self.begin(mode).split_once("; ").map_or("", |(_, settings)| settings)
    }

    /// Runs `work`, of so many statements; a failure when that takes longer than the server may take over them.
    pub(crate) async fn in_time<T>(
        &self,
        statements: usize,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let longest = self.statement.saturating_mul(statements as u32).saturating_add(WAY);
        time::timeout(longest, work).await.unwrap_or(Err(Failure::Late))
    }

    /// Begins to try.
    pub(crate) fn trying(&self) -> Trying {
        Trying { until: Instant::now() + self.patience, pause: Duration::ZERO }
    }

    /// A connection, for what is more than a few statements.
    pub(crate) async fn connection(&self) -> Result<Object, Failure> {
        Ok(self.pool.get().await?)
    }

    /// Gives `client` back after what was done with it in time. One whose answer may still come ends instead: nobody else is to
    /// wait on it.
    pub(crate) fn give_back<T>(client: Object, done: Result<T, Failure>) -> Result<T, Failure> {
        if done.as_ref().is_err_and(|failure| failure.outlook() == Outlook::Unknown) {
            drop(Object::take(client));
        }
        done
    }

    /// A connection that is not of the pool, to be driven by whoever asks.
    pub(crate) async fn apart(
        &self,
    ) -> Result<(Client, Connection<Socket, Stream<Socket>>), Failure> {
        let connected = time::timeout(self.acquire, self.postgres.connect(self.tls.clone())).await;
        Ok(connected.or(Err(Failure::Late))??)
    }

    /// Makes one transaction of `queries`, again while the server is away: for what may be done twice.
    pub(crate) async fn ask(
        &self,
        mode: Access,
        queries: &[Query<'_>],
    ) -> Result<Answers, Failure> {
        let mut trying = self.trying();
        loop {
            match self.ask_once(mode, queries).await {
                Err(failure) if failure.outlook() != Outlook::Hopeless => {
                    trying.pause(failure).await?;
                }
                answers => return answers,
            }
        }
    }

    /// Makes one transaction of `queries`. All of it is sent at once: one way there and back.
    pub(crate) async fn ask_once(
        &self,
        mode: Access,
        queries: &[Query<'_>],
    ) -> Result<Answers, Failure> {
        let client = self.connection().await?;
        let answers = async {
            // Each is sent when it is polled first, in this order. After one that fails the server does nothing more, and the
            // commit is a rollback.
            let begin = client.batch_execute(self.begin(mode));
            let sent = queries.iter().map(|query| client.query_typed(query.sql, query.parameters));
            let commit = client.batch_execute("COMMIT");
            let (opened, answers, committed) = join3(begin, join_all(sent), commit).await;
            opened?;
            let answers = answers.into_iter().collect::<Result<_, _>>()?;
            committed?;
            Ok(answers)
        };
        let answers = self.in_time(queries.len(), answers).await;
        Self::give_back(client, answers)
    }
}

/// Attempts, with ever longer pauses between them.
#[derive(Debug)]
pub(crate) struct Trying {
    until: Instant,
    pause: Duration,
}

impl Trying {
    /// Waits before the next attempt; the failure of the last one when the time is up.
    pub(crate) async fn pause(&mut self, failure: Failure) -> Result<(), Failure> {
        if Instant::now() + self.pause >= self.until {
            return Err(failure);
        }
        // The first pause is none: a connection that broke while nobody used it says nothing about the server.
        time::sleep(self.pause).await;
        self.pause = (self.pause * 2).clamp(Duration::from_millis(20), PAUSE);
        Ok(())
    }
}
