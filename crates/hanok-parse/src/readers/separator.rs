//! What stands between a name and its JSON arguments.

use std::ops::Range;

use crate::{
    declared::CallKind,
    json::{
        json_text,
        scan::{Dialect, Ends},
    },
    readers::{
        fence,
        json_arguments::JsonArguments,
        params::Params,
        reader::{Next, Reader},
        tag_words::Words,
        walk::Walk,
    },
    reply::{
        called::Called,
        error::{ErrorKind, Expected},
        input::Input,
    },
    text::{
        look::{Look, Until},
        marks::{self, Lookup},
        names,
        presence::{More, Presence},
        rule::Tags,
    },
};

/// Tokens that say that JSON follows.
const SKIPS: &[&str] = &["[ARGS]", "<|tool_call_argument_begin|>", ":", "：", ">"];
/// The longest id or name that may stand here.
const WORD: usize = 256;

/// Behind a name.
#[derive(Debug, Clone)]
pub(crate) struct Separator {
    start: usize,
    ahead: usize,
    name: String,
    closes: &'static [&'static str],
    /// What the format has besides that says that JSON follows.
    between: &'static [&'static str],
    /// What stood before may have been a type: the name comes now.
    typed: bool,
    dialect: Dialect,
    /// An id may stand here.
    id: bool,
    /// A header named the tool: what follows may be calls of another format.
    header: bool,
    /// Parameters in these tags may stand in place of JSON.
    tags: Option<&'static Tags>,
    /// The id that was read.
    call_id: Option<String>,
    /// Words that are no JSON begin here.
    words: Option<usize>,
}

impl Separator {
    pub(crate) fn new(
        start: usize,
        behind: usize,
        name: String,
        closes: &'static [&'static str],
    ) -> Self {
        let (typed, dialect) = (false, Dialect::Json);
        Self {
            start,
            ahead: behind,
            name,
            closes,
            between: &[],
            typed,
            dialect,
            id: false,
            header: false,
            tags: None,
            call_id: None,
            words: None,
        }
    }

    /// The same, where these may stand before the arguments.
    pub(crate) fn between(self, between: &'static [&'static str]) -> Self {
        Self { between, ..self }
    }

    pub(crate) fn typed(self) -> Self {
        Self { typed: true, header: true, ..self }
    }

    /// The name comes now; what stood before was the call's id.
    pub(crate) fn named(self, id: String) -> Self {
        Self { typed: true, call_id: Some(id), ..self }
    }

    /// An id comes first.
    pub(crate) fn with_id(self) -> Self {
        Self { id: true, ..self }
    }

    /// The name stood in the header of a message, behind which these tags may stand.
    pub(crate) fn of_header(self, tags: Option<&'static Tags>) -> Self {
        Self { header: true, tags, ..self }
    }

    pub(crate) fn quoted(self, quote: &'static str) -> Self {
        Self { dialect: Dialect::Quoted(quote), ..self }
    }

    /// Takes one piece. `None` when more of it may stand behind.
    fn step(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<Option<Next>, More> {
        if let Some(from) = self.words {
            return self.words(walk, look, from);
        }
        self.ahead = look.behind_white(self.ahead);
        let rest = look.rest(self.ahead);
        if rest.is_empty() && !look.ended {
            return Err(More);
        }
        if rest.is_empty() {
            return Ok(Some(self.cut(walk, look)));
        }
        if rest.starts_with('{') {
            return Ok(Some(self.object(walk, look)));
        }
        if self.typed && !rest.starts_with(['`', '<']) {
            return self.name(walk, look, rest);
        }
        for words in [SKIPS, self.between] {
            if let Some(len) = look.any(self.ahead, words)? {
                self.ahead += len;
                return Ok(None);
            }
        }
        if look.any(self.ahead, self.closes)?.is_some() {
            self.call(walk, look, self.ahead..self.ahead, Input::Empty);
            return Ok(Some(Next::Inline(self.ahead)));
        }
        if let Some(tags) = self.tags {
            if look.any(self.ahead, &[tags.open])?.is_some() {
                let (name, tags) = (self.name.clone(), Words::new(tags));
                let params = Params::new(look, self.start, self.ahead, name, tags);
                return Ok(Some(params.begin(walk, look)));
            }
            if look.ended && tags.open.starts_with(rest) {
                return Ok(Some(self.cut(walk, look)));
            }
        }
        if self.header && rest.starts_with('<') {
            match look.setup.marks.at(rest) {
                Lookup::Mark(..) => {
                    walk.addressee = Some(self.name.clone());
                    return Ok(Some(Next::Done(self.ahead)));
                }
                Lookup::Prefix if !look.ended => return Err(More),
                _ => {}
            }
        }
        let mut words = SKIPS.iter().chain(self.between).chain(self.closes);
        if look.ended && words.any(|word| word.starts_with(rest)) {
            return Ok(Some(self.cut(walk, look)));
        }
        if let Some(len) = fence::opening(look, self.ahead)? {
            walk.fence.open();
            self.ahead += len;
            return Ok(None);
        }
        if self.id && self.id(look, rest)? {
            return Ok(look.is_end(self.ahead).then(|| self.cut(walk, look)));
        }
        if self.closes.is_empty() {
            return Ok(Some(self.malformed(walk, look)));
        }
        self.words = Some(self.ahead);
        Ok(None)
    }

    /// Reads words up to the end of the call: plain text in place of arguments.
    fn words(
        &mut self,
        walk: &mut Walk,
        look: Look<'_>,
        from: usize,
    ) -> Result<Option<Next>, More> {
        loop {
            let rest = look.rest(self.ahead);
            let len = rest.bytes().position(marks::may_begin).unwrap_or(rest.len());
            self.ahead += len;
            let rest = look.rest(self.ahead);
            if rest.is_empty() && !look.ended {
                return Err(More);
            }
            let close = look.any(self.ahead, self.closes)?;
            let opens = look.setup.marks.opens(rest);
            if opens == Presence::More && !look.ended {
                return Err(More);
            }
            if rest.is_empty() || close.is_some() || opens == Presence::Yes {
                return Ok(Some(self.plain(walk, look, from, close)));
            }
            self.ahead += json_text::letter(rest);
        }
    }

    fn plain(&self, walk: &mut Walk, look: Look<'_>, from: usize, close: Option<usize>) -> Next {
        let declared = &look.setup.declared;
        let is_known = names::resolve(declared, CallKind::Tool, &self.name).is_ok();
        // Only what begins as JSON may go on as JSON.
        let may_go_on = look.rest(from).starts_with(['"', '\'', '[', '`']);
        if close.is_none() && is_known && may_go_on && look.is_end(self.ahead) {
            return self.cut(walk, look);
        }
        let input = Input::from_text(look.slice(from, self.ahead)).announced();
        self.call(walk, look, from..self.ahead, input);
        Next::Done(self.ahead + close.unwrap_or_default())
    }

    /// Makes the call, which ends here.
    fn call(&self, walk: &mut Walk, look: Look<'_>, written: Range<usize>, input: Input) {
        let (span, id) = (self.start..self.ahead, self.call_id.clone());
        walk.call(look, Called::tool(&self.name, span, written).id(id), input);
    }

    fn object(&self, walk: &mut Walk, look: Look<'_>) -> Next {
        let ends = Ends { tags: self.closes, fence: true, ..Ends::default() };
        let name = self.name.clone();
        let written =
            JsonArguments::new(walk, look, CallKind::Tool, name, self.start, self.ahead, ends);
        written.dialect(self.dialect).id(self.call_id.clone()).begin(walk, look)
    }

    /// What stood before was a type. The name is the rest of the line.
    fn name(&mut self, walk: &mut Walk, look: Look<'_>, rest: &str) -> Result<Option<Next>, More> {
        match look.until(self.ahead, WORD, |letter| matches!(letter, '\n' | '{' | '<' | '`')) {
            Until::At(end) => {
                self.name = rest.get(..end).unwrap_or_default().to_owned();
                self.typed = false;
                self.ahead += end;
                Ok(None)
            }
            Until::More => Err(More),
            Until::Ended => Ok(Some(Next::truncated(walk, look, self.start, None))),
            Until::Beyond => Ok(Some(self.malformed(walk, look))),
        }
    }

    /// Skips an id: a word before the arguments.
    fn id(&mut self, look: Look<'_>, rest: &str) -> Result<bool, More> {
        let is_id = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        match look.until(self.ahead, WORD, |letter| !is_id(letter)) {
            Until::At(len) => {
                self.id = false;
                self.call_id = rest.get(..len).filter(|id| !id.is_empty()).map(str::to_owned);
                self.ahead += len;
                Ok(len > 0)
            }
            Until::More => Err(More),
            Until::Ended => {
                self.ahead += rest.len();
                Ok(true)
            }
            Until::Beyond => Ok(false),
        }
    }

    /// The text ended before the arguments did.
    fn cut(&self, walk: &mut Walk, look: Look<'_>) -> Next {
        Next::truncated(walk, look, self.start, Some(&self.written(look)))
    }

    /// The name without its decoration.
    fn written(&self, look: Look<'_>) -> String {
        names::plain(&look.setup.declared, CallKind::Tool, &self.name)
    }

    fn malformed(&self, walk: &mut Walk, look: Look<'_>) -> Next {
        let (name, span) = (self.written(look), self.start..self.ahead);
        walk.draft.fail(ErrorKind::Malformed, Expected::Object, Some(&name), span);
        Next::Done(self.ahead)
    }
}

impl Reader for Separator {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        loop {
            match self.step(walk, look) {
                Ok(None) => {}
                Ok(Some(next)) => return next,
                Err(More) => return Next::More,
            }
        }
    }
}
