//! Values of a row's columns, checked.

use hanok_core::{BoxError, Tenant, ThreadKey};
use tokio_postgres::Row;

use crate::failure::Failure;

/// Reads `tenant, thread` from column `at` on.
pub(crate) fn read_key(row: &Row, at: usize) -> Result<ThreadKey, Failure> {
    let tenant = Tenant::new(row.try_get::<_, &str>(at)?).map_err(damaged)?;
    ThreadKey::new(tenant, row.try_get::<_, &str>(at + 1)?).map_err(damaged)
}

/// An array of exactly `N` bytes.
pub(crate) fn bytes<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Failure> {
    bytes.try_into().map_err(damaged)
}

/// The failure of a column that no build writes so.
pub(crate) fn damaged(error: impl Into<BoxError>) -> Failure {
    Failure::Damaged(error.into())
}
