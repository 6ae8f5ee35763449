//! Connections for stores of other crates, which say what they ask in SQL of their own.

use std::{fmt, sync::Arc};

use hanok_checkpoint::{CheckpointError, Safety};
use tokio_postgres::{
    Row,
    types::{ToSql, Type},
};

use crate::{
    config::Config,
    database::schema::{self, Schema},
    failure::Failure,
    server::pool::{Access, Pool, Query},
};

/// A value on its way to the server or from it.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub enum Value {
    Null,
    Int(i64),
    Ints(Vec<i64>),
    Float(f64),
    Floats(Vec<f64>),
    Text(String),
    Bytes(Vec<u8>),
}

/// One statement, whose parameters `$1`, `$2`, … are `values`.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The text. What comes from outside has no place in it.
    pub sql: String,
    /// The parameters.
    pub values: Vec<Value>,
}

impl Statement {
    /// A statement with these parameters.
    ///
    /// ```
    /// use hanok_postgres::{Statement, Value};
    ///
    /// let name = "Robert'); DROP TABLE people; --".to_owned();
    /// let find = Statement::new("SELECT id FROM people WHERE name = $1", [Value::Text(name)]);
    /// assert!(!find.sql.contains("Robert"));
    /// ```
    #[must_use]
    pub fn new(sql: impl Into<String>, values: impl IntoIterator<Item = Value>) -> Self {
        Self { sql: sql.into(), values: values.into_iter().collect() }
    }
}

/// The rows that every statement of a transaction gave.
pub type Rows = Vec<Vec<Vec<Value>>>;

/// Connections to a database, for a store of another crate that keeps something else than threads: with TLS, time-outs and
/// attempts as [`Postgres`](crate::Postgres) has them. Clones share them.
#[derive(Clone)]
pub struct Connections {
    pool: Pool,
    schema: Schema,
    name: Arc<str>,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connections").field(&self.name).finish()
    }
}

impl Connections {
    /// Prepares to connect; the first transaction does. Within a tokio runtime.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::NotAStore`] when the URL cannot be read or the schema's name is none.
    ///
    /// ```
    /// use hanok_checkpoint::CheckpointError;
    /// use hanok_postgres::Connections;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # let _within = runtime.enter();
    /// assert!(Connections::new("postgresql://db.example/agents").is_ok());
    /// assert!(matches!(Connections::new("db example"), Err(CheckpointError::NotAStore { .. })));
    /// ```
    pub fn new(config: impl Into<Config>) -> Result<Self, CheckpointError> {
        let config = config.into();
        // Errors name the schema and never the URL: it may hold a password.
        let name = format!("PostgreSQL, schema {}", config.schema);
        let schema = Schema::new(&config.schema).map_err(|failure| failure.into_error(&name))?;
        Ok(Self { pool: Pool::new(&config)?, schema, name: name.into() })
    }

    /// The schema's name, quoted, to be part of a statement.
    #[must_use]
    pub fn schema(&self) -> String {
        self.schema.to_string()
    }

    /// The quoted name of the schema that has the extension `name`, if the database has it.
    ///
    /// # Errors
    ///
    /// As those of [`read`](Self::read).
    pub async fn extension(&self, name: &str) -> Result<Option<String>, CheckpointError> {
        let schema = schema::of_extension(&self.pool, name).await;
        Ok(schema.map_err(|failure| failure.into_error(&self.name))?.map(|it| it.to_string()))
    }

    /// The rows of `statements`, which all see one moment and change nothing.
    ///
    /// # Errors
    ///
    /// [`CheckpointError`], as the server refuses or does not answer.
    pub async fn read(&self, statements: &[Statement]) -> Result<Rows, CheckpointError> {
        self.ask(Access::Read, statements).await
    }

    /// Makes one transaction of `statements`: after `Ok` it survives a crash of the server. While the server is away, it is
    /// tried again, so it has to be one that may be made twice.
    ///
    /// # Errors
    ///
    /// As those of [`read`](Self::read). It may have been made all the same.
    pub async fn write(&self, statements: &[Statement]) -> Result<Rows, CheckpointError> {
        self.ask(Access::Write(Safety::Machine), statements).await
    }

    async fn ask(&self, mode: Access, statements: &[Statement]) -> Result<Rows, CheckpointError> {
        let parameters: Vec<Vec<_>> =
            statements.iter().map(|it| it.values.iter().map(parameter).collect()).collect();
        let each = statements.iter().zip(&parameters);
        let queries: Vec<Query<'_>> =
            each.map(|(it, parameters)| Query { sql: &it.sql, parameters }).collect();
        let read = |rows: Vec<Row>| rows.iter().map(values).collect::<Result<_, _>>();
        let answers = self.pool.ask(mode, &queries).await;
        let rows = answers.and_then(|all| all.into_iter().map(read).collect());
        rows.map_err(|failure: Failure| failure.into_error(&self.name))
    }
}

fn parameter(value: &Value) -> (&(dyn ToSql + Sync), Type) {
    match value {
        Value::Null => (&None::<i64>, Type::INT8),
        Value::Int(value) => (value, Type::INT8),
        Value::Ints(value) => (value, Type::INT8_ARRAY),
        Value::Float(value) => (value, Type::FLOAT8),
        Value::Floats(value) => (value, Type::FLOAT8_ARRAY),
        Value::Text(value) => (value, Type::TEXT),
        Value::Bytes(value) => (value, Type::BYTEA),
    }
}

fn values(row: &Row) -> Result<Vec<Value>, Failure> {
    let value = |at: usize| {
        let kind = row.columns().get(at).map(|column| column.type_().clone());
        let value = match kind.unwrap_or(Type::UNKNOWN) {
            Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map(Value::Int),
            Type::INT8_ARRAY => row.try_get::<_, Option<Vec<i64>>>(at)?.map(Value::Ints),
            Type::FLOAT8 => row.try_get::<_, Option<f64>>(at)?.map(Value::Float),
            Type::FLOAT8_ARRAY => row.try_get::<_, Option<Vec<f64>>>(at)?.map(Value::Floats),
            Type::TEXT => row.try_get::<_, Option<String>>(at)?.map(Value::Text),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at)?.map(Value::Bytes),
            // What a statement gives that is asked for nothing.
            Type::VOID => None,
            other => {
                return Err(Failure::Damaged(format!("a column of the type `{other}`").into()));
            }
        };
        Ok(value.unwrap_or(Value::Null))
    };
    (0..row.len()).map(value).collect()
}
