//! The tables: what makes a schema a store, and how one begins.

use std::fmt;

use deadpool_postgres::{Object, Transaction};
use hanok_checkpoint::{CheckpointError, Safety};
use thiserror::Error;
use tokio_postgres::types::Type;

use crate::{
    failure::{Failure, Outlook},
    server::pool::{Access, Pool, Query},
};

/// The format that this build reads and writes.
const FORMAT: i32 = 4;

/// The oldest format that is read. Of what earlier ones hold, nothing says in which life of its thread a task was.
const OLDEST: i32 = 4;

/// The oldest server: its transaction ids have 64 bits.
const OLDEST_SERVER: i32 = 130_000;

/// Why a schema is no store.
#[derive(Debug, Error)]
enum Unfit {
    #[error("a schema's name has 1 to 63 bytes and no control characters")]
    Name,
    #[error("it holds the table `{0}`, which is not ours")]
    Table(String),
    #[error("its format is {0}, which no build writes")]
    Format(i32),
    #[error(
        "its format is {0}, of a build before 0.1; this one reads format {FORMAT} and does not upgrade it: begin a new store in another schema"
    )]
    Older(i32),
    #[error("the database's encoding is {0}; make one with UTF8")]
    Encoding(String),
    #[error("the server has version {0}; version 13 is the oldest that will do")]
    Server(i32),
}

/// A schema's name, quoted: any name is an identifier.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    name: String,
    quoted: String,
}

impl Schema {
    /// The schema `name`.
    pub(crate) fn new(name: &str) -> Result<Self, Failure> {
        // The server cuts a longer name, and two of them might be one.
        if name.is_empty() || name.len() > 63 || name.contains(char::is_control) {
            return Err(unfit(Unfit::Name));
        }
        Ok(Self { name: name.to_owned(), quoted: format!("\"{}\"", name.replace('"', "\"\"")) })
    }
}

impl Schema {
    /// The name as a text within a statement.
    pub(crate) fn literal(&self) -> String {
        format!("E'{}'", self.name.replace('\\', "\\\\").replace('\'', "''"))
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.quoted.fmt(f)
    }
}

/// The statements that make a store out of nothing, in this build's format.
///
/// Names are compared by bytes, whatever the database's collation. Half of a page of threads stays free, so that a head
/// moves within its page and no index is touched.
const STEPS: [&str; 2] = [
    "
    CREATE TABLE {s}.threads (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        tenant text COLLATE \"C\" NOT NULL,
        thread text COLLATE \"C\" NOT NULL,
        life bytea NOT NULL,
        head bigint NOT NULL,
        epoch bigint NOT NULL,
        run bytea,
        holder bytea,
        beat bigint,
        beaten timestamptz,
        floor bigint NOT NULL DEFAULT 0,
        origin text COLLATE \"C\",
        expires bigint,
        link bytea,
        seal bytea,
        updated bigint,
        UNIQUE (tenant, thread)
    ) WITH (fillfactor = 50);
    CREATE INDEX threads_claimed ON {s}.threads (tenant, thread) WHERE run IS NOT NULL;
    CREATE INDEX threads_forks ON {s}.threads (tenant, origin) WHERE origin IS NOT NULL;
    CREATE INDEX threads_expiring ON {s}.threads (expires) WHERE expires IS NOT NULL;
    CREATE TABLE {s}.records (
        thread_id bigint NOT NULL,
        position bigint NOT NULL,
        append_id bytea NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (thread_id, position)
    );
    CREATE TABLE {s}.labels (
        thread_id bigint NOT NULL,
        name text COLLATE \"C\" NOT NULL,
        value text COLLATE \"C\" NOT NULL,
        PRIMARY KEY (thread_id, name)
    );
    CREATE INDEX labels_named ON {s}.labels (name, value);
    CREATE TABLE {s}.snapshots (
        thread_id bigint NOT NULL,
        position bigint NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (thread_id, position)
    );
    CREATE TABLE {s}.outbox (
        xact bigint NOT NULL,
        seq bigint GENERATED ALWAYS AS IDENTITY,
        topic bytea NOT NULL,
        thread_id bigint NOT NULL,
        position bigint NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (topic, xact, seq)
    );
    CREATE INDEX outbox_threads ON {s}.outbox (thread_id);
    CREATE TABLE {s}.consumers (
        topic bytea NOT NULL,
        consumer bytea NOT NULL,
        xact bigint NOT NULL,
        seq bigint NOT NULL,
        PRIMARY KEY (topic, consumer)
    );
    CREATE TABLE {s}.hanok_format (
        version integer NOT NULL,
        server text NOT NULL,
        xact_base bigint NOT NULL
    );
    INSERT INTO {s}.hanok_format
    SELECT 0, system_identifier::text, 0 FROM pg_control_system();
",
    super::tables::TABLES,
];

/// The tables of [`STEPS`], but for the one that names the format.
const TABLES: [&str; 9] = [
    "threads",
    "records",
    "labels",
    "snapshots",
    "outbox",
    "consumers",
    "tenants",
    "items",
    "vectors",
];

/// The states of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Missing,
    Empty,
    Store(i32),
}

/// Makes `schema` a store of this build's format, unless it is one.
pub(crate) async fn prepare(pool: &Pool, schema: &Schema) -> Result<(), Failure> {
    let mut trying = pool.trying();
    loop {
        match step(pool, schema).await {
            Ok(true) => return go_on_counting(pool, schema).await,
            Ok(false) => {}
            Err(failure) if failure.outlook() == Outlook::Hopeless => return Err(failure),
            Err(failure) => trying.pause(failure).await?,
        }
    }
}

/// The schema of the extension `name`, if the database has it.
pub(crate) async fn of_extension(pool: &Pool, name: &str) -> Result<Option<Schema>, Failure> {
    let sql = "SELECT nspname::text FROM pg_catalog.pg_extension e
               JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE extname = $1";
    let parameters = [(&name as _, Type::TEXT)];
    let answers = pool.ask(Access::Read, &[Query { sql, parameters: &parameters }]).await?;
    let row = answers.iter().flatten().next();
    row.map(|row| Schema::new(row.try_get(0)?)).transpose()
}

/// Transactions are counted by each server in its own way. Where the tables were moved to another server, as a dump, they go on
/// to be counted above all that they hold: an item that is sent there follows what was sent before.
async fn go_on_counting(pool: &Pool, schema: &Schema) -> Result<(), Failure> {
    let s = schema;
    let here = "(SELECT system_identifier::text FROM pg_control_system())";
    let moved = format!("SELECT FROM {s}.hanok_format WHERE server <> {here}");
    let answers = pool.ask(Access::Read, &[Query { sql: &moved, parameters: &[] }]).await?;
    if answers.iter().all(Vec::is_empty) {
        return Ok(());
    }
    // A consumer may say that it is done with whatever will ever come.
    let go_on = format!(
        "UPDATE {s}.hanok_format SET server = {here}, xact_base = 1 + greatest(
             xact_base,
             (SELECT max(xact) FROM {s}.outbox),
             (SELECT max(xact) FROM {s}.consumers WHERE xact < 1::bigint << 62)
         ) WHERE server <> {here}"
    );
    let query = Query { sql: &go_on, parameters: &[] };
    pool.ask(Access::Write(Safety::Machine), &[query]).await.map(|_| ())
}

/// Makes the tables where they are missing; says whether there was nothing to do.
async fn step(pool: &Pool, schema: &Schema) -> Result<bool, Failure> {
    // Who may only use the tables of a store needs no right to make them.
    if kind_alone(pool, schema).await? == Kind::Store(FORMAT) {
        return Ok(true);
    }
    let mut client = pool.connection().await?;
    // Two may take their time: who waits for another process, and who makes the tables.
    let made = pool.in_time(2, make(pool, schema, &mut client)).await;
    Pool::give_back(client, made).map(|()| false)
}

async fn make(pool: &Pool, schema: &Schema, client: &mut Object) -> Result<(), Failure> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(pool.settings(Access::Write(Safety::Machine))).await?;
    // Of several processes that come at once, one goes on; the others find its work.
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
    transaction.query_typed(lock, &[(&schema.name, Type::TEXT)]).await?;
    let found = kind(&transaction, schema).await?;
    if found == Kind::Missing {
        transaction.batch_execute(&format!("CREATE SCHEMA {schema}")).await?;
    }
    if !matches!(found, Kind::Store(_)) {
        for text in STEPS {
            transaction.batch_execute(&text.replace("{s}", &schema.quoted)).await?;
        }
        let version = format!("UPDATE {schema}.hanok_format SET version = {FORMAT}");
        transaction.batch_execute(&version).await?;
    }
    Ok(transaction.commit().await?)
}

const LOOK: &str = "
    SELECT current_setting('server_version_num')::integer,
           current_setting('server_encoding'),
           EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1),
           ARRAY(
               SELECT relname::text FROM pg_catalog.pg_class c
               JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
               WHERE nspname = $1 AND relkind IN ('r', 'p', 'v', 'm', 'f')
           )";

async fn kind_alone(pool: &Pool, schema: &Schema) -> Result<Kind, Failure> {
    let mut client = pool.connection().await?;
    let found = async {
        let transaction = client.build_transaction().read_only(true).start().await?;
        let kind = kind(&transaction, schema).await?;
        transaction.commit().await?;
        Ok(kind)
    };
    let found = pool.in_time(1, found).await;
    Pool::give_back(client, found)
}

async fn kind(transaction: &Transaction<'_>, schema: &Schema) -> Result<Kind, Failure> {
    let row = transaction.query_typed_one(LOOK, &[(&schema.name, Type::TEXT)]).await?;
    let (server, encoding): (i32, String) = (row.try_get(0)?, row.try_get(1)?);
    if server < OLDEST_SERVER {
        return Err(unfit(Unfit::Server(server)));
    }
    if encoding != "UTF8" {
        return Err(unfit(Unfit::Encoding(encoding)));
    }
    let tables: Vec<String> = row.try_get(3)?;
    if !tables.iter().any(|table| table == "hanok_format") {
        if let Some(table) = tables.into_iter().find(|table| TABLES.contains(&table.as_str())) {
            return Err(unfit(Unfit::Table(table)));
        }
        return Ok(if row.try_get(2)? { Kind::Empty } else { Kind::Missing });
    }
    let version = format!("SELECT version FROM {schema}.hanok_format");
    let row = transaction.query_typed_opt(&version, &[]).await?;
    let format: i32 = row.map_or(Ok(0), |row| row.try_get(0))?;
    match format {
        OLDEST..=FORMAT => Ok(Kind::Store(format)),
        1..OLDEST => Err(unfit(Unfit::Older(format))),
        ..1 => Err(unfit(Unfit::Format(format))),
        _ => Err(CheckpointError::TooNew {
            format: format.unsigned_abs(),
            supported: FORMAT.unsigned_abs(),
        }
        .into()),
    }
}

fn unfit(unfit: Unfit) -> Failure {
    Failure::Damaged(unfit.into())
}
