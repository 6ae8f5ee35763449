//! The terms that were asked for, kept in memory.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tantivy::Term;

use super::{
    parts::{Parts, Span, WINDOW},
    weights::Norms,
    windows::Windows,
};
use crate::error::BoxError;

/// So many bytes of terms are kept,
const KEPT: usize = 64 << 20;

/// and so many more for each window, so that the frequent terms of a question have room in an index of any size.
const EACH: usize = 32 * WINDOW;

/// What a term takes beside its windows.
const BESIDE: usize = 200;

/// A term in all of the index.
#[derive(Debug)]
pub(super) struct List {
    pub(super) windows: Windows,
    /// How many entries have it that are not removed.
    pub(super) found: u64,
    spans: Arc<[Span]>,
}

/// The lists of the terms that were asked for last. Readers hold its lock as long as looking up takes.
#[derive(Debug, Default)]
pub(super) struct Lists(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    lists: HashMap<Term, Used>,
    size: usize,
    asked: u64,
}

#[derive(Debug)]
struct Used {
    list: Arc<List>,
    /// The question that asked for it last.
    asked: u64,
}

impl Lists {
    /// The lists of `terms` in `parts`, in their order. Without `norms`, nothing is counted.
    pub(super) fn of(
        &self,
        terms: &[Term],
        parts: &Parts,
        norms: Option<&Norms>,
    ) -> Result<Vec<Arc<List>>, BoxError> {
        let known = self.known().ask(terms);
        let fits = |list: &List| {
            let same = Arc::ptr_eq(&list.spans, &parts.spans);
            same && norms.is_none_or(|norms| list.windows.fits(norms.mean()))
        };
        let mut lists = Vec::with_capacity(terms.len());
        for (term, known) in terms.iter().zip(known) {
            lists.push(match known {
                Some(list) if fits(&list) => list,
                old => {
                    let old = old.as_ref().map(|old| (&old.windows, old.spans.as_ref()));
                    let windows = Windows::read(term, parts, norms, old)?;
                    let found = windows.found(&parts.alive);
                    let spans = Arc::clone(&parts.spans);
                    let list = Arc::new(List { windows, found, spans });
                    self.known().keep(term, &list, KEPT + parts.windows() * EACH);
                    list
                }
            });
        }
        Ok(lists)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn ask(&mut self, terms: &[Term]) -> Vec<Option<Arc<List>>> {
        self.asked += 1;
        let asked = self.asked;
        let one = |term| {
            let used: &mut Used = self.lists.get_mut(term)?;
            used.asked = asked;
            Some(Arc::clone(&used.list))
        };
        terms.iter().map(one).collect()
    }

    fn keep(&mut self, term: &Term, list: &Arc<List>, room: usize) {
        let used = Used { list: Arc::clone(list), asked: self.asked };
        self.size += size(term, &used);
        if let Some(old) = self.lists.insert(term.clone(), used) {
            self.size = self.size.saturating_sub(size(term, &old));
        }
        if self.size > room {
            self.forget();
        }
    }

    /// Forgets the half that was not asked for the longest.
    fn forget(&mut self) {
        let mut asked: Vec<u64> = self.lists.values().map(|used| used.asked).collect();
        asked.sort_unstable();
        let middle = asked.get(asked.len() / 2).copied().unwrap_or_default();
        self.lists.retain(|_, used| used.asked > middle);
        self.size = self.lists.iter().map(|(term, used)| size(term, used)).sum();
    }
}

fn size(term: &Term, used: &Used) -> usize {
    BESIDE + term.serialized_value_bytes().len() + used.list.windows.size()
}

#[cfg(test)]
mod tests {
    use tantivy::schema::Field;

    use super::*;

    #[test]
    fn what_was_asked_for_last_is_kept_in_the_room_there_is() {
        let list = List { windows: Windows::default(), found: 0, spans: Arc::default() };
        let (list, mut known) = (Arc::new(list), Known::default());
        let term = |at: u32| Term::from_field_text(Field::from_field_id(0), &at.to_string());
        let room = 20 * size(&term(10), &Used { list: Arc::clone(&list), asked: 0 });
        for at in 0..1_000 {
            assert!(known.ask(&[term(at)])[0].is_none());
            known.keep(&term(at), &list, room);
            assert!(known.size <= room, "{} {room}", known.size);
            assert!(known.ask(&[term(at)])[0].is_some());
        }
        let kept = (0..1_000).filter(|at| known.lists.contains_key(&term(*at))).collect::<Vec<_>>();
        assert!(kept.len() >= 9 && kept.first() >= Some(&980), "{kept:?}");
        let sizes: usize = known.lists.iter().map(|(term, used)| size(term, used)).sum();
        assert_eq!(known.size, sizes);
    }
}
