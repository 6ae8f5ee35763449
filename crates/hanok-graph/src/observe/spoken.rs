//! Whether a model wrote within a task, so that what it wrote is not told again as a whole.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Notes that tokens of an attempt were shown, and so of the attempts around it; only where somebody watches messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spoken(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    /// Of the task that runs the graph.
    parent: Spoken,
    any: AtomicBool,
}

impl Spoken {
    /// Of a task of a graph that a task runs.
    pub(crate) fn within(parent: &Self) -> Self {
        let parent = parent.clone();
        Self(Some(Arc::new(Inner { parent, any: AtomicBool::new(false) })))
    }

    /// Of another attempt of the same task.
    pub(crate) fn again(&self) -> Self {
        self.0.as_ref().map_or_else(Self::default, |inner| Self::within(&inner.parent))
    }

    /// Notes that a token was shown.
    pub(crate) fn note(&self) {
        let mut next = self.0.as_deref();
        while let Some(inner) = next {
            inner.any.store(true, Ordering::SeqCst);
            next = inner.parent.0.as_deref();
        }
    }

    /// True after a token was shown.
    pub(crate) fn any(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.any.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_within_is_shown_around_and_not_beside() {
        let outer = Spoken::within(&Spoken::default());
        let (one, other) = (Spoken::within(&outer), Spoken::within(&outer));
        one.note();
        assert_eq!([&outer, &one, &other].map(Spoken::any), [true, true, false]);
        let again = one.again();
        assert!(!again.any());
        outer.again().note();
        assert!(!again.any());
        let nobody = Spoken::default();
        nobody.note();
        assert!(!nobody.any() && !nobody.again().any());
    }
}
