//! gpt-oss's messages: a header with channel and recipient, and what it opens.
//!
//! `<|start|>assistant<|channel|>commentary to=functions.find <|constrain|>json<|message|>{…}<|call|>`: the channel
//! `analysis` is reasoning, `final` the answer, and a recipient makes any message a call.

use crate::{
    readers::{
        reader::{Next, Reader},
        separator::Separator,
        think::Think,
        walk::{Mode, Walk},
    },
    text::{
        look::{Look, Until},
        presence::{More, Presence},
    },
};

const MESSAGE: &str = "<|message|>";
/// What ends a message of reasoning, which may talk of other marks.
const ENDS: &[&str] = &["<|end|>"];
const UNTIL: &[&str] = &["<|return|>", "<|start|>assistant"];
/// What ends a message that has no channel.
const EOM: &[&str] = &["<|eom|>", "<|end|>"];
const CALL_ENDS: &[&str] = &["<|call|>", "<|end|>"];
/// A text that ends so soon behind a header's mark ends in the header.
const SHORT: usize = 64;
/// The longest header.
const LONGEST: usize = 512;

/// A header that is being read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    /// Where its first mark begins, and where that ends.
    start: usize,
    mark: usize,
    ahead: usize,
}

impl Header {
    /// A header whose first mark stands from `start` to `mark`.
    pub(crate) fn new(start: usize, mark: usize) -> Self {
        Self { start, mark, ahead: start }
    }

    /// The text ended in the header, or it is none.
    fn cut(self, walk: &mut Walk, look: Look<'_>) -> Next {
        let header = look.slice(self.start, look.text.len());
        if recipient(header).is_some() {
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
        let header = look.slice(self.start, self.ahead);
        let body = self.ahead + MESSAGE.len();
        if !is_assistant(header) {
            walk.invented(look);
            return Next::Inline(self.start);
        }
        if let Some(name) = recipient(header) {
            if !walk.leave(look) {
                return Next::Done(body);
            }
            let name = name.to_owned();
            return Separator::new(self.start, body, name, CALL_ENDS).of_header().begin(walk, look);
        }
        walk.addressee = None;
        match channel(header) {
            // Messages without channels: what the model says to itself, and to the user, ends with a mark of its own.
            "" if header.contains("to=self") => {
                return Think::new(body, EOM, UNTIL).begin(walk, look);
            }
            "" if header.contains("to=user") => {
                walk.leave(look);
                walk.show_from(body, "<|eom|>", false);
            }
            "analysis" => return Think::new(body, ENDS, UNTIL).begin(walk, look),
            "final" if walk.leave(look) => walk.mode = Mode::Answer(self.start),
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
            let seen =
                if len.is_some() { look.presence(self.ahead, MESSAGE) } else { Presence::More };
            match seen {
                Presence::Yes => return self.open(walk, look),
                Presence::More if look.ended => return self.cut(walk, look),
                Presence::More => return Next::More,
                Presence::No => self.ahead += 1,
            }
        }
    }
}

/// The tool that a message is for.
fn recipient(header: &str) -> Option<&str> {
    let at = header.find("to=")?;
    let name = header.get(at + 3..)?;
    let end = name.find(|letter: char| letter.is_whitespace() || letter == '<');
    let name = end.and_then(|end| name.get(..end)).unwrap_or(name);
    let tool = !matches!(name, "" | "user" | "assistant" | "all" | "self");
    tool.then_some(name)
}

/// Whether the model speaks for itself.
fn is_assistant(header: &str) -> bool {
    let Some(role) = header.strip_prefix("<|start|>") else { return true };
    let role = role.trim_start();
    role.starts_with("assistant") || role.starts_with("to=") || role.starts_with('<')
}

fn channel(header: &str) -> &str {
    let name = header.split("<|channel|>").nth(1).unwrap_or_default().trim_start();
    name.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default()
}

/// Whether a header stands at the start of the text, whose first mark the chat template wrote:
/// ` to=functions.find<|channel|>`.
pub(crate) fn begins(look: Look<'_>, at: usize) -> Result<bool, More> {
    const LONGEST: usize = 128;
    let to = look.behind_white(at);
    if to > at + 1 {
        return Ok(false);
    }
    match look.presence(to, "to=") {
        Presence::Yes => {}
        Presence::No => return Ok(false),
        Presence::More => return Err(More),
    }
    match look.until(to, LONGEST, |letter| matches!(letter, '<' | '\n')) {
        Until::At(end) => {
            let marks = ["<|channel|>", "<|constrain|>", "<|message|>"];
            let tail = look.rest(to + end);
            let cut = look.ended && marks.iter().any(|mark| mark.starts_with(tail));
            Ok(cut || look.any(to + end, &marks)?.is_some())
        }
        Until::More => Err(More),
        Until::Ended => Ok(!look.rest(to).contains(char::is_whitespace)),
        Until::Beyond => Ok(false),
    }
}
