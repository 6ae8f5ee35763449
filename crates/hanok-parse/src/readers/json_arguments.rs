//! The JSON arguments of a call whose name stands before them.

use crate::{
    declared::{CallKind, Declared},
    json::scan::{Dialect, Ends, Read, Scan},
    readers::{
        reader::{Next, Reader},
        skip::{Skip, Then},
        trailer::Trailer,
        walk::{Called, Walk},
    },
    reply::{
        draft::Draft,
        error::{ErrorKind, Expected},
        input::Input,
    },
    text::{look::Look, names},
};

#[derive(Debug, Clone)]
pub(crate) struct JsonArguments {
    kind: CallKind,
    name: String,
    /// The name as it is declared, once it is declared_name to be.
    declared_name: Option<String>,
    start: usize,
    from: usize,
    scan: Scan,
    closes: &'static [&'static str],
    id: Option<String>,
}

impl JsonArguments {
    /// The object at byte `from`, for the call of `name` whose marker stands at `start`.
    pub(crate) fn new(
        look: Look<'_>,
        kind: CallKind,
        name: String,
        start: usize,
        from: usize,
        ends: Ends,
    ) -> Self {
        let declared_name = names::resolve(&look.setup.declared, kind, &name).ok();
        Self {
            kind,
            name,
            declared_name,
            start,
            from,
            scan: Scan::new(from, ends),
            closes: ends.tags,
            id: None,
        }
    }

    /// The same with the id that stood before.
    pub(crate) fn id(self, id: Option<String>) -> Self {
        Self { id, ..self }
    }

    /// The same, where the object is written in another way.
    pub(crate) fn dialect(self, dialect: Dialect) -> Self {
        Self { scan: self.scan.dialect(dialect), ..self }
    }

    fn done(self, walk: &mut Walk, look: Look<'_>) -> Next {
        let Self { kind, name, start, from, scan, closes, id, .. } = self;
        let end = scan.at;
        walk.draft.spelled(from..scan.at, scan.escaped);
        walk.draft.repaired(from..scan.at, scan.repairs);
        let called = Called { kind, name: &name, span: start..scan.at, written: from..scan.at, id };
        walk.call(look, called, Input::Object(scan.out));
        Trailer::object(from, end, closes).begin(walk, look)
    }
}

impl Reader for JsonArguments {
    fn read(mut self: Box<Self>, walk: &mut Walk, look: Look<'_>) -> Next {
        match self.scan.read(look.text, look.ended) {
            Read::More => {
                if let Some(declared_name) = &self.declared_name {
                    walk.draft.tell_part(self.kind, declared_name, &self.scan.out);
                }
                Next::More(self)
            }
            Read::Done | Read::Member => self.done(walk, look),
            Read::Cut => {
                let name = names::plain(&look.setup.declared, self.kind, &self.name);
                Next::truncated(walk, look, self.start, Some(&name))
            }
            Read::Bad => {
                let name = names::plain(&look.setup.declared, self.kind, &self.name);
                let span = self.start..self.scan.at;
                walk.draft.fail(ErrorKind::Malformed, Expected::Object, Some(&name), span);
                Next::then(Skip::new(&self.scan, self.from, Then::Close(self.closes)))
            }
        }
    }

    fn takes(&mut self, draft: &mut Draft, text: &str, _declared: &Declared) -> bool {
        let taken = self.scan.takes(text);
        if taken {
            if let Some(declared_name) = &self.declared_name {
                draft.tell_part(self.kind, declared_name, &self.scan.out);
            }
        }
        taken
    }
}
