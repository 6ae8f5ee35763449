//! LangGraph's API, version 1, as its SDKs for Python and JavaScript speak it.

use axum::Router;

use crate::http::service::Service;

pub(crate) mod events;
pub(crate) mod ids;
pub(crate) mod run_body;
pub(crate) mod runs;

pub(crate) fn routes() -> Router<Service> {
    Router::new().merge(runs::routes())
}
