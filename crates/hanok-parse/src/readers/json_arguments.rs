//! The JSON arguments of a call whose name stands before them.

use crate::{
    declared::CallKind,
    json::scan::{Dialect, Ends, Read, Scan},
    readers::{
        reader::{Next, Reader},
        skip::{Skip, Then},
        trailer::Trailer,
        walk::Walk,
    },
    reply::{
        called::Called,
        draft::Draft,
        error::{ErrorKind, Expected},
        event::Event,
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
    /// Nothing once it is read.
    scan: Option<Box<Scan>>,
    closes: &'static [&'static str],
    id: Option<String>,
}

impl JsonArguments {
    /// The object at byte `from`, for the call of `name` whose marker stands at `start`.
    pub(crate) fn new(
        walk: &mut Walk,
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
            scan: Some(Scan::reusing(&mut walk.spare, from, ends)),
            closes: ends.tags,
            id: None,
        }
    }

    /// The same with the id that stood before.
    pub(crate) fn id(self, id: Option<String>) -> Self {
        Self { id, ..self }
    }

    /// The same, where the object is written in another way.
    pub(crate) fn dialect(mut self, dialect: Dialect) -> Self {
        if let Some(scan) = &mut self.scan {
            scan.dialect = dialect;
        }
        self
    }

    fn done(&mut self, walk: &mut Walk, look: Look<'_>, mut scan: Box<Scan>) -> Next {
        let (span, written) = (self.start..scan.at, self.from..scan.at);
        walk.draft.spelled(written.clone(), scan.escaped);
        walk.draft.repaired(written.clone(), std::mem::take(&mut scan.repairs));
        let json = Input::Object(scan.take_out());
        let called = Called::of(self.kind, &self.name, span, written).id(self.id.take());
        let called = called.resolved(self.declared_name.as_deref()).members(Some(scan.all()));
        walk.call(look, called, json);
        let end = scan.at;
        walk.spare = Some(scan);
        Trailer::object(self.from, end, self.closes).begin(walk, look)
    }

    /// The name without its decoration.
    fn plain_name(&self, look: Look<'_>) -> String {
        names::plain(&look.setup.declared, self.kind, &self.name)
    }
}

impl Reader for JsonArguments {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        let Some(mut scan) = self.scan.take() else { return Next::Inline(walk.at) };
        match scan.read(look.text, look.ended) {
            Read::More => {
                if let Some(declared_name) = &self.declared_name {
                    let id = || self.id.clone().or_else(|| names::index(&self.name));
                    walk.draft.tell_part(self.kind, declared_name, &scan.out, id);
                }
                self.scan = Some(scan);
                Next::More
            }
            Read::Done | Read::Member => self.done(walk, look, scan),
            Read::Cut => {
                let name = self.plain_name(look);
                Next::truncated(walk, look, self.start, Some(&name))
            }
            Read::Bad => {
                let name = self.plain_name(look);
                let span = self.start..scan.at;
                walk.draft.fail(ErrorKind::Malformed, Expected::Object, Some(&name), span);
                Skip::new(&scan, self.from, Then::Close(self.closes)).begin(walk, look)
            }
        }
    }

    #[inline]
    fn takes(&mut self, draft: &mut Draft, text: &str, out: &mut Vec<Event>) -> bool {
        let Some(scan) = &mut self.scan else { return false };
        let taken = scan.takes(text);
        if taken && self.declared_name.is_some() {
            draft.tell_more_to(out, &scan.out);
        }
        taken
    }
}
