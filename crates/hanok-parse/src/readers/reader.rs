//! What is being read besides text: a state that waits for more of the text.

use std::fmt;

use crate::{
    readers::walk::Walk,
    reply::{draft::Draft, error::Expected, event::Event},
    text::look::Look,
};

/// What comes of reading on.
#[derive(Debug)]
pub(crate) enum Next {
    /// The text stops, and has to go on before this is read further.
    More,
    /// Text goes on at this byte, behind a mark: labels, fences and bare JSON may begin there.
    Done(usize),
    /// Text goes on at this byte, within its line.
    Inline(usize),
    /// Something else is read.
    Then(Box<dyn Reader>),
}

/// Something that is being read.
pub(crate) trait Reader: Duplicate + fmt::Debug + Send + Sync {
    /// Reads on as far as the text goes.
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next;

    /// Begins to read at once. What ends where the text goes on is never put on the heap.
    fn begin(mut self, walk: &mut Walk, look: Look<'_>) -> Next
    where
        Self: Sized + 'static,
    {
        match self.read(walk, look) {
            Next::More => Next::Then(Box::new(self)),
            next => next,
        }
    }

    /// Takes a piece that is all of it more of what is read, and tells it to `out`. `false` when there is more to it than that.
    fn takes(&mut self, _draft: &mut Draft, _text: &str, _out: &mut Vec<Event>) -> bool {
        false
    }

    /// Whether the last call may still grow.
    fn may_extend(&self) -> bool {
        false
    }
}

impl Next {
    /// Text goes on at byte `at`: behind a mark if it is `fresh`, within its line if not.
    pub(crate) fn text(at: usize, fresh: bool) -> Self {
        if fresh { Self::Done(at) } else { Self::Inline(at) }
    }

    /// The text ended inside the call that begins at `start`.
    pub(crate) fn truncated(
        walk: &mut Walk,
        look: Look<'_>,
        start: usize,
        name: Option<&str>,
    ) -> Self {
        walk.truncated(look, start, name, Expected::Rest);
        Self::Inline(look.text.len())
    }
}

/// A reader that can be cloned behind its pointer.
pub(crate) trait Duplicate {
    fn duplicate(&self) -> Box<dyn Reader>;
}

impl<T: Reader + Clone + 'static> Duplicate for T {
    fn duplicate(&self) -> Box<dyn Reader> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Reader> {
    fn clone(&self) -> Self {
        self.as_ref().duplicate()
    }
}
