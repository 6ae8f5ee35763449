//! The ways in: protocols that clients speak already.
//!
//! Each is a file that makes of a body a [`Post`](crate::Post), and of the events of its run an answer. What they share is the room
//! of HTTP.

pub(crate) mod approve;
pub(crate) mod chat;
pub(crate) mod health;
pub(crate) mod langgraph;
pub(crate) mod openai;
pub(crate) mod session;
pub(crate) mod socket;
mod todo;

use axum::Router;

use crate::http::{problem::Problem, service::Service};

/// The routes of all ways in.
pub(crate) fn routes() -> Router<Service> {
    let routes = Router::new().merge(health::routes()).merge(openai::routes());
    let routes = routes.merge(langgraph::routes()).merge(chat::routes());
    let routes = routes.merge(approve::routes()).merge(socket::routes());
    routes.fallback(|| async { Problem::no_way() })
}
