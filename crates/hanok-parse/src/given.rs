//! The JSON arguments of a call whose name stands before them.

use crate::{
    CallKind, ErrorKind, Expected,
    after::After,
    draft::Draft,
    input::Input,
    look::Look,
    names,
    reading::{Progress, Reading},
    scan::{Dialect, Ends, Read, Scan},
    skip::{Skip, Then},
    walk::{Called, Walk},
};

#[derive(Debug, Clone)]
pub(crate) struct Given {
    kind: CallKind,
    name: String,
    /// The name as it is declared, once it is known to be.
    known: Option<String>,
    start: usize,
    from: usize,
    scan: Scan,
    closes: &'static [&'static str],
}

impl Given {
    /// The object at byte `from`, for the call of `name` whose marker stands at `start`.
    pub(crate) fn new(
        look: Look<'_>,
        kind: CallKind,
        name: String,
        start: usize,
        from: usize,
        ends: Ends,
    ) -> Self {
        let known = names::resolve(&look.setup.declared, kind, &name).ok();
        Self { kind, name, known, start, from, scan: Scan::new(from, ends), closes: ends.tags }
    }

    /// The same, where the object is written in another way.
    pub(crate) fn dialect(self, dialect: Dialect) -> Self {
        Self { scan: self.scan.dialect(dialect), ..self }
    }

    /// Takes a piece that is all of it more of the object. `false` when it is more than that.
    pub(crate) fn takes(&mut self, draft: &mut Draft, text: &str) -> bool {
        let taken = self.scan.takes(text);
        if taken && let Some(known) = &self.known {
            draft.tell_part(self.kind, known, &self.scan.out);
        }
        taken
    }

    pub(crate) fn read(mut self: Box<Self>, walk: &mut Walk, look: Look<'_>) -> Progress {
        match self.scan.read(look.text, look.ended) {
            Read::More => {
                if let Some(known) = &self.known {
                    walk.draft.tell_part(self.kind, known, &self.scan.out);
                }
                walk.reading = Reading::Given(self);
                return Progress::More;
            }
            Read::Done | Read::Member => self.done(walk, look),
            Read::Cut => {
                let name = names::plain(&look.setup.declared, self.kind, &self.name);
                walk.truncated(look, self.start, Some(&name), Expected::Rest);
            }
            Read::Bad => {
                let name = names::plain(&look.setup.declared, self.kind, &self.name);
                let span = self.start..self.scan.at;
                walk.draft.fail(ErrorKind::Malformed, Expected::Object, Some(&name), span);
                let skip = Skip::new(walk, &self.scan, self.from, Then::Close(self.closes));
                walk.reading = Reading::Skip(Box::new(skip));
            }
        }
        Progress::Moved
    }

    fn done(self, walk: &mut Walk, look: Look<'_>) {
        let Self { kind, name, start, from, scan, closes, .. } = self;
        walk.at = scan.at;
        walk.draft.spelled(from..scan.at, scan.escaped);
        walk.draft.repaired(from..scan.at, scan.repairs);
        let called = Called { kind, name: &name, span: start..scan.at, given: from..scan.at };
        walk.call(look, called, Input::Object(scan.out));
        walk.reading = Reading::After(After::object(from, walk.at, closes));
    }
}
