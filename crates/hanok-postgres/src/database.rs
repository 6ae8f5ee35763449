//! The database, as the calls of a store use it: a pool, the schema with its tables, and those who wait for threads.
//!
//! The rooms `log` and `items` add their statements as methods of `Database`. Nothing here knows them.

pub(crate) mod followers;
pub(crate) mod schema;
pub(crate) mod tables;

use self::{followers::Followers, schema::Schema};
use crate::{
    config::{Config, Follow},
    failure::Failure,
    server::pool::Pool,
};

/// Connections, and where in the database the store is.
pub(crate) struct Database {
    pub(crate) pool: Pool,
    pub(crate) schema: Schema,
    pub(crate) follow: Follow,
    pub(crate) followers: Followers,
    /// The schema of the extension pgvector, where the database has it.
    pub(crate) pgvector: Option<Schema>,
}

impl Database {
    /// Connects, and makes the tables where they are missing.
    pub(crate) async fn connect(config: &Config) -> Result<Self, Failure> {
        let schema = Schema::new(&config.schema)?;
        let pool = Pool::new(config)?;
        schema::prepare(&pool, &schema).await?;
        let pgvector = schema::of_extension(&pool, "vector").await?;
        let (follow, followers) = (config.follow, Followers::default());
        Ok(Self { pool, schema, follow, followers, pgvector })
    }

    /// True when appends notify those who wait.
    pub(crate) fn notifies(&self) -> bool {
        self.follow == Follow::Listen
    }
}
