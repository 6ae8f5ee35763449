//! LangGraph's API, version 1, as its SDKs for Python and JavaScript speak it.

use axum::Router;

use crate::http::service::Service;

mod assistants;
pub(crate) mod events;
mod history;
pub(crate) mod ids;
pub(crate) mod interrupts;
mod known;
mod listing;
mod params;
mod picture;
mod run_body;
pub(crate) mod runs;
mod state;
mod store;
mod thread_search;
mod threads;

pub(crate) fn routes() -> Router<Service> {
    let routes = Router::new().merge(assistants::routes()).merge(store::routes());
    let routes = routes.merge(threads::routes()).merge(thread_search::routes());
    let routes = routes.merge(state::routes()).merge(history::routes());
    routes.merge(runs::routes())
}
