//! What a subscriber hears.

mod heard;
mod spans;
