//! Who ran how often, and how many at once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

/// Counts what ran, says what fails, and knows how many were inside at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    counts: BTreeMap<String, u32>,
    /// How often each is to fail yet.
    failing: BTreeMap<String, u32>,
    inside: usize,
    most: usize,
}

/// Somebody is inside, until it is dropped.
#[derive(Debug)]
pub(crate) struct Inside(Ledger);

impl Ledger {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap()
    }

    /// Notes that `what` ran; the how manieth time it is.
    pub(crate) fn note(&self, what: &str) -> u32 {
        let mut book = self.book();
        let count = book.counts.entry(what.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// Notes that `node` ran, and fails if it is to.
    pub(crate) fn ran(&self, node: &str) -> Result<(), String> {
        let count = self.note(node);
        let mut book = self.book();
        match book.failing.get_mut(node) {
            Some(left) if *left > 0 => {
                *left -= 1;
                Err(format!("{node} is out of order {count}"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn of(&self, what: &str) -> u32 {
        self.book().counts.get(what).copied().unwrap_or_default()
    }

    /// Everything that ran, as `name count`.
    pub(crate) fn all(&self) -> Vec<String> {
        self.book().counts.iter().map(|(what, count)| format!("{what} {count}")).collect()
    }

    /// Forgets what ran.
    pub(crate) fn clear(&self) {
        self.book().counts.clear();
    }

    /// Has `node` fail the next so many times.
    pub(crate) fn fail(&self, node: &str, times: u32) {
        self.book().failing.insert(node.to_owned(), times);
    }

    pub(crate) fn enter(&self) -> Inside {
        let mut book = self.book();
        book.inside += 1;
        book.most = book.most.max(book.inside);
        Inside(self.clone())
    }

    /// The most that were inside at once.
    pub(crate) fn most(&self) -> usize {
        self.book().most
    }

    /// How many are inside now.
    pub(crate) fn inside(&self) -> usize {
        self.book().inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.book().inside -= 1;
    }
}
