//! A program of somebody else: only what it depends on counts.
