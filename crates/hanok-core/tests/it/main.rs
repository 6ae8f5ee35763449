//! What is stored, and how deep it may be; names and values in text and JSON.

mod depth;
mod names;
mod stored;
