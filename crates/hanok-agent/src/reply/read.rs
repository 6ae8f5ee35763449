//! A reader of replies.

use std::collections::BTreeSet;

use hanok_model::{ChatReply, DataMark, Finish};
use hanok_parse::{Call, ErrorKind, Language, Mark, NoteKind, ParseError, Parser, Reply};
use hanok_state::{Arguments, ToolCall};

use super::native;
use crate::{
    observation::FaultKind, prompt, protocol::Protocol, state::Fault,
    structured::final_answer::FinalAnswer,
};

/// The most calls of one reply. A model's text has bounds.
const CALLS: usize = 64;

/// A reply as it was read: its calls and faults, or its answer.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ReadReply {
    /// The text of the model's message: an answer alone, or a reply with calls as it was written.
    pub(crate) text: String,
    pub(crate) thought: Option<String>,
    /// In the order of the text. Some may not be made: a fault says why.
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) answer: Option<String>,
    /// True for an answer that came as a call.
    pub(crate) by_tool: bool,
    /// The id of the model's message.
    pub(crate) id: String,
}

impl ReadReply {
    /// Makes the answer of a call that is one. Beside other calls it is not made.
    pub(crate) fn answer_by_tool(&mut self, form: &FinalAnswer) {
        let is_answer = |call: &ToolCall| form.is_answer(&call.name);
        let Some(first) = self.calls.iter().find(|call| is_answer(call)) else { return };
        if self.faults.is_empty() && self.calls.iter().all(is_answer) {
            let arguments = first.arguments.as_str().to_owned();
            self.text.clone_from(&arguments);
            self.answer = Some(arguments);
            self.by_tool = true;
            self.calls.clear();
            return;
        }
        let early = self.calls.iter().filter(|call| is_answer(call)).map(|call| Fault {
            call_id: Some(call.id.clone()),
            kind: FaultKind::NotMade,
            text: form.too_early(),
        });
        let early: Vec<_> = early.collect();
        self.faults.retain(|fault| early.iter().all(|other| other.call_id != fault.call_id));
        self.faults.extend(early);
    }

    /// True for a reply without a call, a fault or an answer.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.faults.is_empty() && self.answer.is_none()
    }
}

/// Reads replies.
#[derive(Debug)]
pub(crate) struct ReplyReader<'a> {
    pub(crate) parser: &'a Parser,
    pub(crate) protocol: Protocol,
    /// The tools that read only, where a call without a mark may name no other. `None` where the prompt asks for such calls.
    pub(crate) readers: Option<&'a BTreeSet<String>>,
    /// The parser of plain labels, where labels carry a key.
    pub(crate) unkeyed: Option<&'a Parser>,
    /// Whether a call that is not written as it has to be is answered by a sentence about that, which was not said just now.
    pub(crate) corrects: bool,
    pub(crate) language: Language,
    /// The beginning of the ids of calls without an id of their own.
    pub(crate) prefix: &'a str,
    /// The ids of earlier calls.
    pub(crate) taken: BTreeSet<&'a str>,
    /// The ids of the calls of this reply, so far.
    pub(crate) issued: BTreeSet<String>,
}

impl ReplyReader<'_> {
    /// Reads `reply`. Native calls win; without one the text is read, as far as the parser reads it for calls.
    ///
    /// A reply with neither call nor answer is an answer: what stands outside its labels, or else its thought.
    pub(crate) fn read(self, reply: &ChatReply) -> ReadReply {
        self.written(reply).restored()
    }

    fn written(mut self, reply: &ChatReply) -> ReadReply {
        let text = reply.message.text();
        let calls = reply.message.tool_calls();
        if calls.is_empty() {
            if self.corrects && self.has_marked_call(&text) {
                let text_call = prompt::text_call(self.language).to_owned();
                let fault = Fault { call_id: None, kind: FaultKind::TextCall, text: text_call };
                let text = text.into_owned();
                return ReadReply { text, faults: vec![fault], ..ReadReply::default() };
            }
            let read = match self.keyed(&text) {
                Ok(read) => read,
                Err(fault) => {
                    let text = text.into_owned();
                    return ReadReply { text, faults: vec![fault], ..ReadReply::default() };
                }
            };
            let turn = self.of_text(&text, read);
            return self.unless_lost(turn, reply.finish);
        }
        let cut = matches!(reply.finish, Finish::Length | Finish::ContentFilter);
        let (mut read, mut faults) = (Vec::new(), Vec::new());
        for call in calls {
            match native::understood(self.parser, call, cut) {
                (name, arguments) if native::is_name(&name) => {
                    read.push(ToolCall { id: self.id(&call.id), name, arguments });
                }
                // A server refuses a conversation that names what no function can be named.
                (name, _) => {
                    let known = self.parser.declared().tools();
                    let text = prompt::unknown_tool(&name, known, self.language);
                    faults.push(Fault { call_id: None, kind: FaultKind::UnknownTool, text });
                }
            }
        }
        let thought = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        self.bounded(ReadReply {
            text: text.into_owned(),
            thought,
            calls: read,
            faults,
            ..ReadReply::default()
        })
    }

    /// What the text says. Where labels carry a key, a reply with none but plain ones is a fault; where the model was told so just
    /// now, such labels call what reads only.
    fn keyed(&mut self, text: &str) -> Result<Reply, Fault> {
        let read = self.parser.parse(text);
        let Some(unkeyed) = self.unkeyed else { return Ok(read) };
        let plain = match read.calls.is_empty() && read.error.is_none() {
            true => unkeyed.parse(text),
            false => Reply::default(),
        };
        if plain.calls.is_empty() || read.answer.is_some() && !self.corrects {
            self.readers = None;
            return Ok(read);
        }
        if self.corrects {
            let (kind, text) = (FaultKind::UnkeyedLabel, prompt::unkeyed(self.language));
            return Err(Fault { call_id: None, kind, text: text.to_owned() });
        }
        Ok(plain)
    }

    /// Whether the text has a call of a tool that there is, by a mark, or breaks off in one.
    fn has_marked_call(&self, text: &str) -> bool {
        let read = Parser::new(self.parser.declared().clone()).parse(text);
        let breaks_off = |error: ParseError| error.kind == ErrorKind::Truncated;
        !read.calls.is_empty() || read.error.is_some_and(breaks_off)
    }

    /// `turn`, or a fault for the model where a call was announced or begun and did not come.
    fn unless_lost(&self, turn: ReadReply, finish: Finish) -> ReadReply {
        let none = turn.calls.is_empty() && turn.faults.is_empty();
        let text = match finish {
            Finish::ToolCalls if none => prompt::lost_call(self.language),
            Finish::Length if turn.is_empty() => prompt::cut_off(self.language),
            _ => return turn,
        };
        let fault = Fault { call_id: None, kind: FaultKind::Unreadable, text: text.to_owned() };
        ReadReply {
            thought: turn.answer.or(turn.thought),
            answer: None,
            faults: vec![fault],
            ..turn
        }
    }

    fn of_text(&mut self, text: &str, mut read: Reply) -> ReadReply {
        if read.answer.is_some() || (read.calls.is_empty() && read.error.is_none()) {
            let (answer, thought) = match read.answer {
                Some(answer) => (Some(answer), read.thought),
                None => (Some(read.content).filter(|text| !text.is_empty()).or(read.thought), None),
            };
            let answer = answer.map(DataMark::unmarked).filter(|text| !text.is_empty());
            let text = answer.clone().unwrap_or_default();
            return ReadReply { text, thought, answer, ..ReadReply::default() };
        }
        let written = before_inventions(text, &read).to_owned();
        let thought = read.thought.take();
        let (calls, faults) = self.attempts(read);
        self.bounded(ReadReply { text: written, thought, calls, faults, ..ReadReply::default() })
    }

    /// The calls, and what was meant as one, in the order of the text.
    fn attempts(&mut self, read: Reply) -> (Vec<ToolCall>, Vec<Fault>) {
        let Reply { calls, rejected, error, .. } = read;
        let lone = error.filter(|error| rejected.iter().all(|rejected| rejected.error != *error));
        let good = calls.into_iter().map(|call| {
            let refused = self.refused(&call);
            (call.span.start, Some((call.name, call.arguments.into_string())), refused)
        });
        let bad = rejected.into_iter().map(|rejected| {
            let call = (rejected.name, rejected.arguments.into_string());
            (rejected.error.span.start, Some(call), Some(self.said(&rejected.error)))
        });
        let lone = lone.into_iter().map(|error| (error.span.start, None, Some(self.said(&error))));
        let mut attempts: Vec<_> = good.chain(bad).chain(lone).collect();
        attempts.sort_by_key(|(start, ..)| *start);

        let (mut calls, mut faults) = (Vec::new(), Vec::new());
        for (_, call, error) in attempts {
            // A server refuses a conversation whose calls name what it was not given.
            let is_known =
                matches!(&error, None | Some((FaultKind::TextCall | FaultKind::UnkeyedLabel, _)));
            let call = call.filter(|_| is_known || self.protocol == Protocol::Text);
            let call_id = call.map(|(name, arguments)| {
                let id = self.id("");
                calls.push(ToolCall { id: id.clone(), name, arguments: Arguments::new(arguments) });
                id
            });
            faults.extend(error.map(|(kind, text)| Fault { call_id, kind, text }));
        }
        (calls, faults)
    }

    /// What the model is told of an error.
    fn said(&self, error: &ParseError) -> (FaultKind, String) {
        let kind = match error.kind {
            ErrorKind::UnknownTool => FaultKind::UnknownTool,
            _ => FaultKind::Unreadable,
        };
        (kind, error.observation(self.parser.declared(), self.language))
    }

    /// What the model is told of a call that is not made by itself: it has no mark, or not the key, and may write.
    fn refused(&self, call: &Call) -> Option<(FaultKind, String)> {
        let may_be_quoted = call.mark == Mark::Bare || self.unkeyed.is_some();
        let readers = self.readers.filter(|_| may_be_quoted)?;
        let refuses = !readers.contains(&call.name);
        refuses.then(|| match self.unkeyed {
            Some(_) => (FaultKind::UnkeyedLabel, prompt::unkeyed_call(&call.name, self.language)),
            None => (FaultKind::TextCall, prompt::unmarked_call(&call.name, self.language)),
        })
    }

    /// `id` if no call has it, or else a new one.
    fn id(&mut self, id: &str) -> String {
        let made = (0..).map(|n: u32| format!("{}-{n}", self.prefix));
        let own = Some(id.to_owned()).filter(|id| !id.is_empty());
        let is_free = |id: &String| !self.taken.contains(id.as_str()) && !self.issued.contains(id);
        let free = own.into_iter().chain(made).find(is_free).unwrap_or_default();
        self.issued.insert(free.clone());
        free
    }

    fn bounded(&self, mut turn: ReadReply) -> ReadReply {
        if turn.calls.len() > CALLS {
            turn.calls.truncate(CALLS);
            let kept: BTreeSet<_> = turn.calls.iter().map(|call| call.id.as_str()).collect();
            turn.faults.retain(|fault| fault.call_id.as_deref().is_none_or(|id| kept.contains(id)));
            let text = prompt::too_many(CALLS, self.language);
            turn.faults.push(Fault { call_id: None, kind: FaultKind::TooMany, text });
        }
        turn
    }
}

/// `text` up to what the model invents after its calls: observations, and answers that cannot know a result. Shown its
/// inventions again, a model would take them for true.
fn before_inventions<'a>(text: &'a str, read: &Reply) -> &'a str {
    let invented = read.notes.iter().filter(|note| {
        matches!(note.kind, NoteKind::InventedObservation | NoteKind::DroppedAnswer)
    });
    let after = read.calls.iter().map(|call| call.span.end).max().unwrap_or_default();
    let start = invented.map(|note| note.span.start).filter(|start| *start >= after).min();
    start.and_then(|start| text.get(..start)).unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use hanok_model::ChatReply;
    use hanok_parse::{Declared, Format, Language, ParamType, Parser};
    use hanok_state::{Message, ToolCall};

    use super::{ReadReply, ReplyReader};
    use crate::protocol::Protocol;

    fn read(text: &str, calls: &[&str], protocol: Protocol) -> ReadReply {
        let declared =
            Declared::new().tool_with("find", [("q".into(), ParamType::String, true)]).tool("now");
        let parser = Parser::new(declared).asked([Format::React]);
        let calls = calls.iter().map(|id| ToolCall {
            id: (*id).into(),
            name: "find".into(),
            arguments: Default::default(),
        });
        let reply = ChatReply::new(Message::assistant(text).with_tool_calls(calls), "m");
        let taken = ["c-0", "old"].into();
        let (language, prefix) = (Language::English, "c");
        let (readers, unkeyed, corrects) = (None, None, false);
        let issued = [].into();
        ReplyReader {
            parser: &parser,
            protocol,
            readers,
            unkeyed,
            corrects,
            language,
            prefix,
            taken,
            issued,
        }
        .read(&reply)
    }

    fn summary(turn: &ReadReply) -> String {
        let calls =
            turn.calls.iter().map(|call| format!("{}={}({})", call.id, call.name, call.arguments));
        let faults = turn.faults.iter().map(|fault| {
            format!("{} {}", fault.call_id.as_deref().unwrap_or("-"), fault.kind.code())
        });
        let answer = turn.answer.iter().map(|answer| format!("answer {answer:?}"));
        calls.chain(faults).chain(answer).collect::<Vec<_>>().join("; ")
    }

    /// A weak model copies the marks out of its prompt.
    #[test]
    fn marks_of_data_are_no_part_of_an_answer() {
        let (open, close) = ("<data-00000000000000ff>", "</data-00000000000000ff>");
        let turn = read(&format!("Final Answer: {open}\n15 days\n{close}"), &[], Protocol::Text);
        assert_eq!((turn.text.as_str(), turn.answer.as_deref()), ("15 days", Some("15 days")));
        assert!(read(open, &[], Protocol::Native).is_empty());
    }

    #[test]
    fn a_text_is_calls_in_order_or_an_answer() {
        use Protocol::{Native, Text};
        for (text, protocol, want) in [
            ("Thought: t\nAction: find\nAction Input: {\"q\":1}", Text, "c-1=find({\"q\":1})"),
            (
                "Action: find\nAction Input: {\"q\":\"a\"}\nAction: gone\nAction Input: {}\nAction: now\nAction Input: {}",
                Text,
                "c-1=find({\"q\":\"a\"}); c-2=gone({}); c-3=now({}); c-2 unknown_tool",
            ),
            (
                "Action: find\nAction Input: {\"q\":\"a\"}\nAction: gone\nAction Input: {}",
                Native,
                "c-1=find({\"q\":\"a\"}); - unknown_tool",
            ),
            (
                "Action: find\nAction Input: {\"q\":\"a\"}\nAction: find\nAction Input: {\"q\":",
                Text,
                "c-1=find({\"q\":\"a\"}); - unreadable",
            ),
            ("Thought: t\nFinal Answer: 15일", Text, "answer \"15일\""),
            ("그냥 답입니다.", Text, "answer \"그냥 답입니다.\""),
            ("Thought: 연차는 15일이다", Text, "answer \"연차는 15일이다\""),
            ("<think>Action: find</think>", Text, ""),
            (" \n", Native, ""),
        ] {
            assert_eq!(summary(&read(text, &[], protocol)), want, "{text:?}");
        }
    }

    #[test]
    fn native_calls_keep_their_ids_unless_those_are_taken() {
        for protocol in [Protocol::Native, Protocol::Text] {
            let turn = read("looking", &["x", "x", "", "old"], protocol);
            assert_eq!(
                turn.calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(),
                ["x", "c-1", "c-2", "c-3"]
            );
            assert_eq!(turn.thought.as_deref(), Some("looking"));
        }
    }

    #[test]
    fn inventions_after_a_call_are_dropped() {
        let call = "Action: find\nAction Input: {\"q\":\"a\"}";
        for invented in ["Observation: 99일\nFinal Answer: 99일", "Final Answer: 99일"] {
            let turn = read(&format!("{call}\n{invented}"), &[], Protocol::Text);
            assert_eq!((turn.text.as_str(), turn.calls.len()), (call, 1), "{invented}");
        }
    }

    #[test]
    fn a_reply_makes_so_many_calls_and_no_more() {
        let turn = read(&"Action: now\nAction Input: {}\n".repeat(70), &[], Protocol::Text);
        assert_eq!((turn.calls.len(), summary(&turn).ends_with("- too_many")), (64, true));
    }
}
