//! The way from the schema that a state is stored in to that of this build.
//!
//! [compare] finds the differences, [upgrade] brings stored fields to this version, [translate] does so with changes that are not
//! yet merged, and [unknown] picks the parts that this build does not know, which ride along.
//!
//! Invariants
//!
//! - Nothing that a build does not know is lost: it stays stored, at every depth.
//! - Fields keep the names that they are stored under until they are read.
//! - A change that has no certain translation has none. It is never guessed.
//!
//! The room imports nothing but the ground.

pub(crate) mod compare;
mod translate;
mod unknown;
pub(crate) mod upgrade;
