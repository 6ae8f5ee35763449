//! Which formats still count in a reply, and by which one the call at hand is read.

use crate::{
    format::Format,
    policy::{Lock, Mark},
    text::{
        formats::{self, Behind},
        marks::By,
        table::{self, Grammar},
        template::Formats,
    },
};

/// The formats that still count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Locked {
    /// None: nothing was called yet.
    formats: Formats,
    /// The same before the reply began.
    before: Formats,
    /// Whether the first call decides.
    locks: bool,
    by: By,
    /// The wrapper that ends at this byte, and the formats that have it.
    wrapper: Option<(usize, Formats)>,
}

impl Default for Locked {
    fn default() -> Self {
        Self::new(Formats::default(), false)
    }
}

impl Locked {
    /// Those that `formats` has, where the first call decides if it `locks`.
    pub(crate) fn new(formats: Formats, locks: bool) -> Self {
        Self { formats, before: formats, locks, by: By::NONE, wrapper: None }
    }

    /// The same as when the reply began.
    pub(crate) fn begun(&self) -> Self {
        Self::new(self.before, self.locks)
    }

    /// Whether all formats count.
    pub(crate) fn is_open(&self) -> bool {
        self.formats.is_empty()
    }

    /// Whether a call that is marked so counts.
    pub(crate) fn admits(&self, by: &By) -> bool {
        self.is_open() || by.list.is_empty() || !self.formats.and(by.formats).is_empty()
    }

    /// What is read next is read by this.
    pub(crate) fn reads(&mut self, by: By) {
        self.by = by;
    }

    /// What follows the mark says which of its formats it may be.
    pub(crate) fn goes_on(&mut self, behind: Behind<'_>) {
        let narrow = formats::narrowed(self.by, behind);
        if self.admits(&narrow) {
            self.by = narrow;
        }
    }

    /// What was read last wraps what begins at byte `at`.
    pub(crate) fn wraps(&mut self, at: usize) {
        self.wrapper = Some((at, self.of()));
    }

    /// The formats by which the call at hand is read.
    fn of(&self) -> Formats {
        let own = self.by.formats;
        let wrapped = self.wrapper.map(|(_, formats)| own.and(formats));
        wrapped.filter(|formats| !formats.is_empty()).unwrap_or(own)
    }

    /// A mark is entered at byte `at`: what a wrapper before it says holds only there.
    pub(crate) fn enters(&mut self, at: usize) {
        self.wrapper = self.wrapper.filter(|(end, _)| *end == at);
    }

    /// What was read is a call, or was to be one.
    pub(crate) fn settles(&mut self) {
        if !self.locks {
            return;
        }
        let of = self.of();
        let both = self.formats.and(of);
        if self.is_open() {
            self.formats = of;
        } else if !both.is_empty() {
            self.formats = both;
        }
    }

    /// The format of the call at hand.
    pub(crate) fn format(&self) -> Option<Format> {
        let of = self.of();
        let both = of.and(self.formats);
        let of = if both.is_empty() { of } else { both };
        self.by.list.iter().copied().find(|format| of.contains(*format))
    }

    /// Whether labels mark the call at hand.
    pub(crate) fn is_of_labels(&self) -> bool {
        std::ptr::eq(self.by.list, table::formats_of(Grammar::Labels))
    }

    pub(crate) fn mark(&self) -> Mark {
        self.by.mark
    }

    /// What the next reply of the conversation goes on with.
    pub(crate) fn lock(&self) -> Lock {
        Lock::of(self.formats)
    }
}
