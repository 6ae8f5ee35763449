//! What is being read besides text: a state that waits for more of the text.

use std::fmt;

use crate::{declared::Declared, readers::walk::Walk, reply::draft::Draft, text::look::Look};

/// Whether reading came to where the text stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Moved,
    More,
}

/// Something that is being read.
pub(crate) trait Reader: Duplicate + fmt::Debug + Send + Sync {
    /// Reads on. What is left to read is in the walk afterwards.
    fn read(self: Box<Self>, walk: &mut Walk, look: Look<'_>) -> Progress;

    /// Takes a piece that is all of it more of what is read. `false` when it is more than that.
    fn takes(&mut self, _draft: &mut Draft, _text: &str, _declared: &Declared) -> bool {
        false
    }

    /// Whether the last call may still grow.
    fn may_extend(&self) -> bool {
        false
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
