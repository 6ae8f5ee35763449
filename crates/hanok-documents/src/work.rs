//! Counts what the reader of contracts looks at, so that a test can see whether any of it is looked at too often.

#[cfg(test)]
thread_local!(static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) });

/// Says that so many bytes, or lines or other parts of a text, are looked at.
#[cfg(test)]
pub(crate) fn count(parts: usize) {
    LOOKED_AT.set(LOOKED_AT.get() + parts);
}

#[cfg(not(test))]
pub(crate) fn count(_parts: usize) {}

/// `rest`, which is left of `text`: what is missing was looked at, and what stopped that.
pub(crate) fn stripped<'a>(text: &str, rest: &'a str) -> &'a str {
    count(text.len().saturating_sub(rest.len()) + 1);
    rest
}

#[cfg(test)]
pub(crate) fn take() -> usize {
    LOOKED_AT.take()
}
