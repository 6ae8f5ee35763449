//! The database, as the calls of a store use it.

use crate::{
    Config, config::Follow, failure::Failure, follow::Followers, pool::Pool, schema, schema::Schema,
};

/// Connections, and where in the database the store is.
pub(crate) struct Database {
    pub(crate) pool: Pool,
    pub(crate) schema: Schema,
    pub(crate) follow: Follow,
    pub(crate) followers: Followers,
}

impl Database {
    /// Connects, and makes the tables where they are missing.
    pub(crate) async fn connect(config: &Config) -> Result<Self, Failure> {
        let schema = Schema::new(&config.schema)?;
        let pool = Pool::new(config)?;
        schema::prepare(&pool, &schema).await?;
        Ok(Self { pool, schema, follow: config.follow, followers: Followers::default() })
    }

    /// Whether appends tell those who wait.
    pub(crate) fn notifies(&self) -> bool {
        self.follow == Follow::Listen
    }
}
