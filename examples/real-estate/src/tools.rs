//! The ten tools.
