//! gpt-oss's messages: a header with channel and recipient, and what it opens.
//!
//! `<|start|>assistant<|channel|>commentary to=functions.find <|constrain|>json<|message|>{…}<|call|>`: the channel
//! `analysis` is reasoning, `final` the answer, and a recipient makes any message a call. A table says these words.

use crate::{
    readers::{
        reader::{Next, Reader},
        separator::Separator,
        think::Think,
        walk::{Mode, Walk},
    },
    reply::note::NoteKind,
    text::{
        grammar::Headers,
        look::{Look, Until},
        presence::{More, Presence},
        table::Grammar,
    },
};

/// A text that ends so soon behind a header's mark ends in the header.
const SHORT: usize = 64;
/// The longest header.
const LONGEST: usize = 512;

/// A header that is being read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    words: &'static Headers,
    /// Where its first mark begins, and where that ends.
    start: usize,
    mark: usize,
    ahead: usize,
}

impl Header {
    /// A header whose first mark stands from `start` to `mark`.
    pub(crate) fn new(start: usize, mark: usize, words: &'static Headers) -> Self {
        Self { words, start, mark, ahead: start }
    }

    /// The text ended in the header, or it is none.
    fn cut(self, walk: &mut Walk, look: Look<'_>) -> Next {
        let header = look.slice(self.start, look.text.len());
        if recipient(header, self.words).is_some() {
            walk.leave(look);
            return Next::truncated(walk, look, self.start, None);
        }
        let rest = look.slice(self.mark, look.text.len());
        let is_short = rest.len() < SHORT && !rest.contains('\n');
        match is_short {
            true => Next::Done(look.text.len()),
            false => self.none(),
        }
    }

    /// It is no header. One without a mark of its own is not looked for again where it stands.
    fn none(self) -> Next {
        Next::text(self.mark, self.mark > self.start)
    }

    fn open(self, walk: &mut Walk, look: Look<'_>) -> Next {
        let Self { words, .. } = self;
        let header = look.slice(self.start, self.ahead);
        let body = self.ahead + words.message.len();
        if !is_own(header, words) {
            walk.of_other(look);
            return Next::Inline(self.start);
        }
        if let Some(name) = recipient(header, words) {
            if !walk.reads_bare(Grammar::Headers) {
                walk.draft.note(NoteKind::OtherFormat, self.start..body);
                walk.push(look, self.start, body);
                return Next::Inline(body);
            }
            if !walk.leave(look) {
                return Next::Done(body);
            }
            let name = name.to_owned();
            let separator = Separator::new(self.start, body, name, words.call_ends);
            return separator.of_header(words.tags).between(words.between).begin(walk, look);
        }
        walk.addressee = None;
        match channel(header, words) {
            // Messages without channels: what the model says to itself, and to the user, ends with a mark of its own.
            "" if is_for(header, "self", words) => {
                return Think::new(body, words.ends, words.until).begin(walk, look);
            }
            "" if is_for(header, "user", words) => {
                walk.leave(look);
                if let Some(end) = words.ends.first() {
                    walk.show_from(body, end, false);
                }
            }
            name if name == words.reasoning => {
                return Think::new(body, words.closes, words.until).begin(walk, look);
            }
            name if name == words.answer && walk.leave(look) => {
                walk.mode = Mode::Answer(self.start)
            }
            _ => {
                walk.leave(look);
            }
        }
        Next::Done(body)
    }
}

impl Reader for Header {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        loop {
            let rest = look.rest(self.ahead);
            let len = rest.bytes().position(|byte| byte == b'<');
            self.ahead += len.unwrap_or(rest.len());
            if self.ahead > self.start + LONGEST {
                return self.none();
            }
            let seen = if len.is_some() {
                look.presence(self.ahead, self.words.message)
            } else {
                Presence::More
            };
            match seen {
                Presence::Yes if look.is_special(self.ahead, self.words.message.len()) => {
                    return self.open(walk, look);
                }
                Presence::More if look.ended => return self.cut(walk, look),
                Presence::More => return Next::More,
                Presence::Yes | Presence::No => self.ahead += 1,
            }
        }
    }
}

/// The tool that a message is for.
fn recipient<'a>(header: &'a str, words: &Headers) -> Option<&'a str> {
    let at = header.find(words.to)?;
    let name = header.get(at + words.to.len()..)?;
    let end = name.find(|letter: char| letter.is_whitespace() || letter == '<');
    let name = end.and_then(|end| name.get(..end)).unwrap_or(name);
    let tool = !matches!(name, "" | "user" | "assistant" | "all" | "self");
    tool.then_some(name)
}

/// Whether the model speaks for itself.
fn is_own(header: &str, words: &Headers) -> bool {
    let Some(role) = header.strip_prefix(words.start) else { return true };
    let role = role.trim_start();
    role.starts_with(words.role) || role.starts_with(words.to) || role.starts_with('<')
}

/// Whether the message is for `whom`.
fn is_for(header: &str, whom: &str, words: &Headers) -> bool {
    header.split(words.to).skip(1).any(|name| name.starts_with(whom))
}

fn channel<'a>(header: &'a str, words: &Headers) -> &'a str {
    let name = header.split(words.channel).nth(1).unwrap_or_default().trim_start();
    name.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default()
}

/// Whether a header stands at the start of the text, whose first mark the chat template wrote:
/// ` to=functions.find<|channel|>`.
pub(crate) fn begins(look: Look<'_>, at: usize, words: &Headers) -> Result<bool, More> {
    const LONGEST: usize = 128;
    let first = look.rest(at).bytes().next();
    if first != Some(b' ') && first != words.to.bytes().next() {
        return Ok(false);
    }
    let to = look.behind_white(at);
    if to > at + 1 {
        return Ok(false);
    }
    match look.presence(to, words.to) {
        Presence::Yes => {}
        Presence::No => return Ok(false),
        Presence::More => return Err(More),
    }
    match look.until(to, LONGEST, |letter| matches!(letter, '<' | '\n')) {
        Until::At(end) => {
            let marks = [words.channel, words.message];
            let tail = look.rest(to + end);
            let mut all = marks.iter().chain(words.others);
            let cut = look.ended
                && all.any(|mark| mark.starts_with(tail))
                && look.is_special(to + end, tail.len());
            let [one, other] = [&marks, words.others].map(|marks| look.any(to + end, marks));
            let mark = one?.or(other?);
            Ok(cut || mark.is_some_and(|len| look.is_special(to + end, len)))
        }
        Until::More => Err(More),
        Until::Ended => Ok(!look.rest(to).contains(char::is_whitespace)),
        Until::Beyond => Ok(false),
    }
}
