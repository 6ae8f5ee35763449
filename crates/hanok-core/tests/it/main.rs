//! What is stored, and how deep it may be.

mod depth;
mod stored;
