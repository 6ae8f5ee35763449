//! Counts the bytes that are scanned, so that a test can see whether any are scanned too often.

#[cfg(test)]
thread_local!(static SCANNED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) });

#[cfg(test)]
pub(crate) fn count(bytes: usize) {
    SCANNED.set(SCANNED.get() + bytes);
}

#[cfg(not(test))]
pub(crate) fn count(_bytes: usize) {}

#[cfg(test)]
pub(crate) fn take() -> usize {
    SCANNED.take()
}
