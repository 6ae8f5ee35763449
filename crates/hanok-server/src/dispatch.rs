//! The dispatcher: it takes up runs, drives them, and writes how they ended.
//!
//! Every process of a server has one. They share the rows and nothing else: a run is taken up by whoever writes that first, and who
//! drives it is decided by the engine's claim on its thread.
//!
//! What must hold:
//!
//! - A run that was taken up is begun by its id: whoever is not sure whether it has begun begins it again, and it goes on.
//! - Its end is written when the log says it, and never before. What could not begin is refused once the log does not have it.
//! - A run that somebody drives is left alone.
//! - A run that is to be stopped is not begun, nor gone on with.
//!
//! The ways in call [`Dispatcher`]; it calls the rows and the apps.

pub(crate) mod apps;
pub(crate) mod dispatcher;
pub(crate) mod drive;
pub(crate) mod judge;
pub(crate) mod verdict;
