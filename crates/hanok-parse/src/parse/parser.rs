//! The parser.

use std::{ops::Range, sync::Arc};

use crate::{
    declared::Declared,
    format::Format,
    parse::{pass::Pass, stream::Stream},
    policy::{Lock, Policy},
    readers::think::Reasoning,
    reply::{
        event::Event, finish::Finish, locked::Locked, note::NoteKind, outcome::Reply,
        types::Mistyped,
    },
    text::{
        look::View,
        setup::{Setup, Sought},
        table::{FormatTable, TableError},
    },
};

/// Reads what a model writes. Built once per agent; every text is some [`Reply`]. Clones share what is declared.
///
/// The format need not be chosen: all of them are looked for in one pass, whose time is linear in the text.
#[derive(Debug, Clone)]
pub struct Parser {
    setup: Arc<Setup>,
    sought: Sought,
    lock: Lock,
    locks: bool,
    reasoning: Reasoning,
    in_reasoning: bool,
    committed: bool,
    mistyped: Mistyped,
}

impl Parser {
    /// A parser for the calls in `declared`.
    #[must_use]
    pub fn new(declared: Declared) -> Self {
        Self {
            setup: Arc::new(Setup::new(declared, Sought::default())),
            sought: Sought::default(),
            lock: Lock::default(),
            locks: Policy::default().lock,
            reasoning: Reasoning::default(),
            in_reasoning: false,
            committed: false,
            mistyped: Mistyped::default(),
        }
    }

    /// What counts as a call. Default: what has a mark, and what the prompt [asks](Self::asked) for; and the format of the first
    /// call holds.
    #[must_use]
    pub fn policy(self, policy: impl Into<Policy>) -> Self {
        let policy = policy.into();
        let sought = Sought { bare: policy.bare, ..self.sought };
        Self { locks: policy.lock, ..self }.seeking(sought)
    }

    /// The formats whose forms without a mark the prompt asks the model for: ReAct's labels, delegations, JSON, Python's calls.
    /// Marked forms count as before.
    ///
    /// ```
    /// use hanok_parse::{Declared, Format, Parser};
    ///
    /// let parser = Parser::new(Declared::new().tool("find"));
    /// let text = "Action: find\nAction Input: {}";
    /// assert!(parser.parse(text).calls.is_empty());
    /// assert_eq!(parser.asked([Format::React]).parse(text).calls.len(), 1);
    /// ```
    #[must_use]
    pub fn asked(self, formats: impl IntoIterator<Item = Format>) -> Self {
        let sought = Sought { asked: formats.into_iter().collect(), ..self.sought };
        self.seeking(sought)
    }

    /// A label that calls or delegates counts only with `key` in square brackets behind it, which the prompt tells the model and
    /// nobody else knows. A label without it is text, and so is every other form without a mark. The key is made of letters and digits
    /// of ASCII.
    ///
    /// Marked forms count as before: tell the one [`format`](Self::format), so that labels alone do.
    ///
    /// ```
    /// use hanok_parse::{Declared, Format, Parser};
    ///
    /// let parser = Parser::new(Declared::new().tool("find")).format(Format::React).keyed("k7qx");
    /// assert_eq!(parser.parse("Action[k7qx]: find\nAction Input: {}").calls.len(), 1);
    /// assert!(parser.parse("The page says:\nAction: find\nAction Input: {}").calls.is_empty());
    /// ```
    #[must_use]
    pub fn keyed(self, key: impl Into<String>) -> Self {
        let key: String = key.into();
        let setup = Setup::clone(&self.setup).keyed(Some(key.into()));
        Self { setup: Arc::new(setup), ..self }
    }

    /// Nothing is a call, in any format: for text whose calls come another way. Reasoning and the turns of others are told apart as
    /// ever; all the rest is content, [whatever its labels](Self::without_labels).
    ///
    /// ```
    /// use hanok_parse::{Declared, Parser};
    ///
    /// let parser = Parser::new(Declared::new().tool("find")).without_calls();
    /// let text = "<tool_call>{\"name\": \"find\", \"arguments\": {}}</tool_call>\n\nAnswer: 42";
    /// assert_eq!(parser.parse(text).content, text);
    /// ```
    #[must_use]
    pub fn without_calls(self) -> Self {
        let setup = Arc::new(Setup::clone(&self.setup).without_calls());
        Self { setup, ..self }
    }

    /// No label such as `Thought:`, `Final Answer:` or `결과:` says which part of a text is the answer: prose has these words, too. For
    /// models whose prompt asks for none.
    ///
    /// ```
    /// use hanok_parse::Parser;
    ///
    /// let text = "I noted it.\n\n결과: 저장했습니다.";
    /// assert_eq!(Parser::default().parse(text).answer.as_deref(), Some("저장했습니다."));
    /// assert_eq!(Parser::default().without_labels().parse(text).content, text);
    /// ```
    #[must_use]
    pub fn without_labels(self) -> Self {
        let sought = Sought { is_plain: true, ..self.sought };
        self.seeking(sought)
    }

    /// Goes on with the formats that the conversation has settled on: those of [`Reply::lock`] of the reply before.
    #[must_use]
    pub fn locked(self, lock: &Lock) -> Self {
        Self { lock: lock.clone(), ..self }
    }

    fn seeking(self, sought: Sought) -> Self {
        let setup = match self.setup.is_fixed {
            true => self.setup,
            false => Arc::new(self.setup.seeking(sought)),
        };
        Self { setup, sought, ..self }
    }

    /// Whether calls may come out of the reasoning. Default: [`Reasoning::Ignore`].
    #[must_use]
    pub fn reasoning(self, reasoning: Reasoning) -> Self {
        Self { reasoning, ..self }
    }

    /// The one format that the model writes. What looks like another one is text. Default: all of them.
    #[must_use]
    pub fn format(self, format: Format) -> Self {
        self.formats([format])
    }

    /// The formats that the model may write. What looks like a call in another one is text; reasoning, results and the turns of
    /// others are what they are in every format. Without any, all are looked for.
    ///
    /// ```
    /// use hanok_parse::{Declared, Format, Formats, Parser};
    ///
    /// let parser = Parser::new(Declared::new().tool("rm")).formats([Format::Hermes, Format::Qwen3Xml]);
    /// assert!(parser.parse("Action: rm\nAction Input: {}").calls.is_empty());
    ///
    /// let template = "<tool_call>{\"name\": …, \"arguments\": …}</tool_call>";
    /// let parser = parser.formats(Formats::of_template(template));
    /// assert_eq!(parser.parse("<tool_call>{\"name\": \"rm\", \"arguments\": {}}</tool_call>").calls.len(), 1);
    /// ```
    #[must_use]
    pub fn formats(self, formats: impl IntoIterator<Item = Format>) -> Self {
        let sought = Sought { told: Some(formats.into_iter().collect()), ..self.sought };
        let setup = Arc::new(self.setup.seeking(sought));
        Self { setup, sought, ..self }
    }

    /// The formats that the model may write, as tables: those of a model that is not known, and of those that are
    /// ([`FormatTable::builtin`]). What looks like another one is text. What the tables hold stays as long as the process, so
    /// make a parser once.
    ///
    /// # Errors
    ///
    /// [`TableError::Ambiguous`], when a mark is the beginning of another one.
    pub fn tables<'a>(
        self,
        tables: impl IntoIterator<Item = &'a FormatTable>,
    ) -> Result<Self, TableError> {
        let tables: Vec<_> = tables.into_iter().collect();
        let setup = Setup::of_tables(self.setup.declared.clone(), &tables)?;
        let setup = setup.keyed(self.setup.key.clone());
        Ok(Self { setup: Arc::new(setup), ..self })
    }

    /// The one tool that the model had to call: its text is nothing but the arguments, behind reasoning perhaps.
    ///
    /// ```
    /// use hanok_parse::{Declared, Parser};
    ///
    /// let parser = Parser::new(Declared::new().tool("find")).named("find");
    /// let reply = parser.parse("<think>hm</think>\n{\"q\": 1}");
    /// assert_eq!((reply.calls[0].name.as_str(), reply.calls[0].arguments.as_str()), ("find", r#"{"q":1}"#));
    /// ```
    #[must_use]
    pub fn named(self, tool: impl Into<String>) -> Self {
        let setup = Arc::new(Setup::clone(&self.setup).named(tool.into()));
        Self { setup, ..self }
    }

    /// The prompt ends in an open `<think>`, or another mark of reasoning: the text begins inside it, and what the model
    /// thinks is told as reasoning from the beginning.
    ///
    /// ```
    /// use hanok_parse::{Declared, Parser};
    ///
    /// let reply = Parser::new(Declared::new()).in_reasoning().parse("hm</think>\nYes.");
    /// assert_eq!((reply.reasoning.as_deref(), reply.content.as_str()), (Some("hm"), "Yes."));
    /// ```
    #[must_use]
    pub fn in_reasoning(self) -> Self {
        Self { in_reasoning: true, ..self }
    }

    /// What is done with a call whose arguments contradict the declared types. Default: [`Mistyped::HandOn`].
    #[must_use]
    pub fn mistyped(self, mistyped: Mistyped) -> Self {
        Self { mistyped, ..self }
    }

    /// Nothing that a stream tells is taken back, for events that are sent on as they come: calls, errors and notes are told
    /// at the end, and a close mark of reasoning that was never opened leaves the text before it what it was told as. The
    /// calls before such a mark do not count.
    ///
    /// Where the formats were told ([`formats`](Self::formats)), calls are told as they come, and count whatever mark follows. One
    /// that breaks off is told as [dropped](Event::CallDropped).
    #[must_use]
    pub fn committed(self) -> Self {
        Self { committed: true, ..self }
    }

    /// What may be called.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.setup.declared
    }

    /// Reads a text that comes in pieces. The stream owns what it needs, and may outlive the parser.
    #[must_use]
    pub fn stream(&self) -> Stream {
        Stream::new(self.clone())
    }

    /// What `text` says. It has to be all that the model wrote: calls are final only at the end of the text, because a
    /// close tag may still turn everything before it into reasoning.
    #[must_use]
    pub fn parse(&self, text: &str) -> Reply {
        self.parse_finished(text, Finish::Stop)
    }

    /// What `text` says, which ended for this reason.
    #[must_use]
    pub fn parse_finished(&self, text: &str, finish: Finish) -> Reply {
        let mut pass = self.pass();
        pass.walk.draft.quiet = true;
        let cut = finish != Finish::Stop;
        pass.run(&View { text, ended: false, cut, special: None, setup: &self.setup });
        let view = View { text, ended: true, cut, special: None, setup: &self.setup };
        pass.run(&view);
        self.finish(pass, &view, finish, &mut Vec::new())
    }

    /// A pass that has read nothing.
    pub(crate) fn pass(&self) -> Pass {
        let mut pass = if self.in_reasoning { Pass::in_reasoning() } else { Pass::new(0) };
        pass.walk.draft.committed = self.committed;
        pass.walk.draft.lock = self.begun();
        pass.walk.draft.streams = self.committed && self.setup.is_told();
        pass.walk.draft.mistyped = self.mistyped;
        pass
    }

    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The reply of a walk that read all of the text.
    pub(crate) fn finish(
        &self,
        pass: Pass,
        view: &View<'_>,
        finish: Finish,
        out: &mut Vec<Event>,
    ) -> Reply {
        let (quiet, started) = (pass.walk.draft.quiet, pass.walk.draft.started);
        let last = pass.walk.draft.reasoned.last().cloned();
        let mut reply = pass.into_reply(view.text, finish, out);
        if let Some(span) = last {
            if self.reasoning == Reasoning::Promote && is_silent(&reply) {
                if let Some(promoted) = self.promoted(view, finish, &span, started, out) {
                    let (mut notes, mut parts) = (reply.notes, reply.parts);
                    notes.extend(promoted.notes);
                    parts.extend(promoted.parts);
                    parts.sort_by_key(|part| (part.span.start, part.kind));
                    reply = Reply { reasoning: reply.reasoning, notes, parts, ..promoted };
                }
            }
        }
        if !quiet {
            out.push(Event::Finished);
        }
        reply
    }

    /// The formats that count when a reply begins.
    fn begun(&self) -> Locked {
        let (told, kept) = (self.setup.told(self.sought.asked), *self.lock.formats());
        let both = told.and(kept);
        let formats = match (told.is_empty(), kept.is_empty()) {
            (false, false) if !both.is_empty() => both,
            (false, _) => told,
            (true, _) => kept,
        };
        Locked::new(formats, self.locks)
    }

    /// The calls inside `span`, if there are any.
    fn promoted(
        &self,
        view: &View<'_>,
        finish: Finish,
        span: &Range<usize>,
        started: usize,
        out: &mut Vec<Event>,
    ) -> Option<Reply> {
        let text = view.text.get(..span.end)?;
        // Reasoning that was closed is whole, whatever cut the text behind it.
        let cut = view.cut && span.end == view.text.len();
        let mut pass = Pass::new(span.start);
        pass.walk.draft.started = started;
        pass.walk.draft.mistyped = self.mistyped;
        pass.walk.draft.lock = self.begun();
        pass.run(&View { text, ended: true, cut, ..*view });
        pass.walk.draft.note(NoteKind::Promoted, span.clone());
        pass.walk.draft.tell_notes();
        let mut told = std::mem::take(&mut pass.walk.draft.events);
        // Another stray close mark in it takes nothing back that was told before.
        let last = told.iter().rposition(|event| matches!(event, Event::Retracted));
        told.drain(..last.map_or(0, |last| last + 1));
        let reply = pass.into_reply(text, finish, &mut told);
        let first = told.iter().find_map(|event| match event {
            Event::CallStarted { call, .. } => Some(*call),
            _ => None,
        });
        // Calls that were taken back there were never told, and do not count.
        let untold = first.map_or(0, |first| first.saturating_sub(started));
        told.iter_mut().filter_map(Event::call_mut).for_each(|call| *call -= untold.min(*call));
        let said = |event: &Event| matches!(event, Event::Content { .. } | Event::Reasoning { .. });
        told.retain(|event| !said(event));
        (!reply.calls.is_empty()).then(|| {
            out.extend(told);
            Reply { content: String::new(), ..reply }
        })
    }
}

/// Nothing stands outside the reasoning.
fn is_silent(reply: &Reply) -> bool {
    reply.calls.is_empty()
        && reply.answer.is_none()
        && reply.error.is_none()
        && reply.thought.is_none()
        && reply.content.is_empty()
}

impl Default for Parser {
    fn default() -> Self {
        Self::new(Declared::default())
    }
}

#[cfg(test)]
mod tests {
    use super::Parser;
    use crate::{declared::Declared, work};

    #[test]
    fn no_byte_is_scanned_often() {
        let parser = Parser::new(Declared::new().tool("f").agent("a"));
        for unit in [
            "{",
            "{\n",
            "[\n{",
            "{\"a\":",
            "{\"note: \n",
            "['\n{'a\n",
            "{“\n",
            "{/*\n",
            "{//\n",
            "Action: f\nAction Input: {",
            "Action: f\nAction Input: {\n",
            "Action: f\nAction Input: {\"a\":\"\n",
            "Action: f\nAction Input: {\"a\":[\"\",\"\n",
            "Action: f\nAction Input: {}\n",
            "<tool_call>{",
            "<tool_call>{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}",
            "<tool_call>f</tool_call><tool_input>{'",
            "<|python_tag|>{\"",
            "<|python_tag|>[{x},",
            "```json\n{",
            "{\"name\":\"f\",\"arguments\":{}};",
            "call:f{",
            "[Calling tool: f({",
            "[f(\"",
            "`<tool_call>",
            "“<tool_call>\n",
            "“a\n<tool_call>f</tool_call>\n",
            "“\n\n<tool_call>\n",
            "“‘「『<tool_call>(\n\n",
            "`“`` <tool_call>\n``` a <tool_call>\n",
            "\"\n{\"name\":\n",
            "“\nAction: f\n",
            "'<tool_call>{'\n\n",
            "Tool: f\nInput: {}\n",
            "Action: f\n<think>",
            "✿ARGS✿: Action:\n",
            "<|python_tag|><function_calls>",
            "<x>\n<tool_call>",
            "<x><tool_call></x>",
            "<x <tool_call>",
            "</x><x><y><tool_call>\n",
            "\\begin{x}<tool_call>",
            "<<EOF\n<tool_call>\n",
            "```log\n<tool_call>\n",
            "```\nx\n<tool_call>\n```\n",
            "[TOOL_RESULT]\n",
            "<parameter=x><tool_call>",
            "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call></tool>",
            "[f(<tool_call>",
        ] {
            let text = unit.repeat(100_000 / unit.len());
            assert!(parser.parse(&text).answer.is_none());
            let scanned = work::take();
            assert!(scanned <= 20 * text.len(), "{unit:?}: {scanned} of {}", text.len());
        }
    }

    /// What is asked of an object while it is read is asked of a few members.
    #[test]
    fn an_object_of_many_members_is_looked_at_once() {
        let parser = Parser::new(Declared::new().tool("f"));
        for member in ["\"id\": 1,", "\"name\": \"f\",", "\"arguments\": {},"] {
            let text = format!("{{\"name\": \"f\", {}", member.repeat(100_000 / member.len()));
            assert!(parser.parse(&text).calls.is_empty());
            let scanned = work::take();
            assert!(scanned <= 200 * text.len(), "{member:?}: {scanned} of {}", text.len());
        }
    }

    /// What a mark waits for stands near it, or nowhere.
    #[test]
    fn no_mark_looks_through_the_whole_text() {
        let parser = Parser::new(Declared::new().tool("f"));
        for unit in [
            "<tool_call>f<arg_key></tool_call>\n",
            "<ifm|tool_call>f<ifm|arg_key></ifm|tool_call>\n",
            "<function=f><parameter=</function>\n",
            "<invoke name=\"f\"",
            "<invoke  ",
            "<invoke f ",
            "<invoke id=\"1\" ",
            "<function x=\"",
            "“ <tool_call>",
            "\" <tool_call>x",
            "`` <tool_call>` ",
            "` <tool_call>",
            "“ [f(",
            "<｜DSML｜invoke name=\"f\" ",
            "]<]minimax[>[<invoke name=\"f\" ",
            "]<]minimax[>[<invoke name=\"f\">]<]minimax[>[<a ",
            "Thought: x <tool_call>",
            "<x y=\"",
            "<|x|><tool_call>",
            "<x><tool_call>",
        ] {
            let text = unit.repeat(200_000 / unit.len());
            assert!(parser.parse(&text).calls.is_empty(), "{unit:?}");
            let scanned = work::take();
            assert!(scanned <= 100 * text.len(), "{unit:?}: {scanned} of {}", text.len());
        }
    }

    /// The same when the text comes byte by byte: no look ahead begins anew with each piece, unless it is bounded.
    #[test]
    fn no_byte_is_scanned_often_in_pieces() {
        let plain = Parser::new(Declared::new().tool("f").agent("a"));
        let named = plain.clone().named("f");
        for head in [
            "",
            "x",
            "Action:",
            "Action: f\nAction Input:",
            "Delegate: a\nTask:",
            "<tool_call>",
            "“x <tool_call>{",
            "“\n<tool_call>\n",
            "<tool_call>f</tool_call>",
            "<tool_call>f</tool_call><tool_input>",
            "<tool_call>{\"name\": \"f\", \"arguments\": {}}",
            "<tool_call>{\"name\": \"f\", \"arguments\": {'a': 'b'",
            "<tool_call>f<arg_key>q</arg_key>",
            "<tool_call>f<arg_key>q</arg_key><arg_value>x</arg_value>",
            "<function=f><parameter=q>x</parameter>",
            "<function=f><parameter=q>x</function>",
            "<ifm|tool_call>f<ifm|arg_key>q</ifm|arg_key>",
            "<|python_start|>[f(",
            "<|python_start|>[f()",
            "[f()",
            "[",
            "```",
            "```json\n",
            "<|tool_call_begin|>f<|tool_call_argument_begin|>",
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
            "<|channel|>commentary to=f<|message|>",
            "]<]minimax[>[<invoke name=\"f\">]<]minimax[>[",
            "<|tool_calls_section_begin|>",
            "call:f{a:",
            "<|tool_call>call:f{a:b",
            "Action: f\nAction Input: {\"a\": x",
            "Action: f\nAction Input: {\"a\": \"x\"",
            "Action: f(a=",
            "<tool: f",
            "[Calling tool=\"f\" a=",
            "<x_tool_call",
            "<tool_response ",
            "<tool_response:x></tool_response:",
            "Here is my thought process:",
            "```tool_output\n",
            "</s>",
            "````\n",
            "<!--",
            "<|end|>",
            "<|end|><a><",
            "~~~\n",
            "```\n```json\n",
            "```\n```json\n```",
            "Action: f\nAction Input: ```\n",
            "<tool_call>f",
            "<tool_call>```json\n",
            "Action: f(",
            "<|recipient|>f\n",
            "{\"name\": \"f\", \"argu",
            "{\"name\": \"f\", \"arguments\":",
        ] {
            for unit in [
                " ", "\t", "\n", " \n", "}", "]", "<", ">", "|", "-", "'", "\"", "`", "~", "a ",
                "a:{",
            ] {
                let text = format!("{head}{}", unit.repeat(4_000 / unit.len()));
                for parser in [&plain, &named] {
                    work::take();
                    let mut stream = parser.stream();
                    for byte in text.as_bytes() {
                        stream.feed_bytes(&[*byte], &mut Vec::new());
                    }
                    stream.finish(&mut Vec::new());
                    let scanned = work::take();
                    assert!(
                        scanned <= 500 * text.len(),
                        "{head:?} {unit:?}: {scanned} of {}",
                        text.len()
                    );
                }
            }
        }
    }
}
