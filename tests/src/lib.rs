//! What no single crate can show: the README's programs.

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// The programs of the Korean README.
#[cfg(doctest)]
#[doc = include_str!("../../README.ko.md")]
pub struct ReadmeKo;
