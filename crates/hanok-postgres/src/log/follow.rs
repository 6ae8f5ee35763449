//! Waiting for a thread to be beyond a position.

use hanok_core::{Position, ThreadKey};

use crate::{database::Database, failure::Failure};

impl Database {
    pub(crate) async fn beyond(
        &self,
        thread: &ThreadKey,
        after: Position,
    ) -> Result<Position, Failure> {
        loop {
            // Who waits first and looks then misses nothing in between.
            let (pool, schema) = (&self.pool, &self.schema);
            let moved = self.followers.wait(thread, after, pool, schema, self.follow);
            let head = self.head(thread).await?.map_or(Position::START, |head| head.position);
            if head > after {
                return Ok(head);
            }
            // Nobody notifies any more when looking failed: the next look says why.
            if let Ok(position) = moved.await {
                return Ok(position);
            }
        }
    }
}
