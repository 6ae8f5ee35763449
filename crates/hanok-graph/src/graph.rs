//! The graph itself: how it is built, what is wrong with it, how it is drawn, and what became of earlier builds of it.
//!
//! A [`builder`] collects nodes, ways and settings; [`validate`] reports every fault at once; the [`definition`] that results
//! never changes. [`spec`] is the same from data, [`draw`] makes Mermaid of it, [`migration`] maps the names of nodes and joins that
//! earlier builds had to those of this one.
//!
//! What must hold:
//!
//! - A graph with a fault is not built; a fault that is usually a mistake can be allowed, by node and by name.
//! - The fingerprint changes whenever a node or a way is added, removed or renamed, and with nothing else.
//! - The same graph draws the same text, byte for byte.
//!
//! [`run`](crate::run) and [`thread`](crate::thread) read the definition. This room runs no node.

pub(crate) mod builder;
pub(crate) mod definition;
pub(crate) mod draw;
#[cfg(feature = "petgraph")]
mod exported;
pub(crate) mod migration;
mod paths;
pub(crate) mod spec;
pub(crate) mod structure;
pub(crate) mod validate;
