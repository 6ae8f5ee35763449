//! Tests of the server.

mod runs;
mod support;
