//! Choices out of bytes.

/// Bytes that are taken one after the other; without end, for after the last one all are 0.
#[derive(Debug)]
pub(crate) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.next()) % end.max(1)
    }

    pub(crate) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        let index = self.below(of.len());
        let Some(one) = of.get(index) else { panic!("nothing to choose from") };
        *one
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        // What is left when the bytes have ended is the plain case.
        self.below(times) == times - 1
    }

    /// Some of the bytes as text, at most `most`.
    pub(crate) fn text(&mut self, most: usize) -> String {
        let len = self.below(most + 1).min(self.0.len());
        let (text, rest) = self.0.split_at(len);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }
}
