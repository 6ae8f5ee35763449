//! The events of a stream, folded.

use std::collections::BTreeMap;

use hanok_parse::{CallKind, Event, Note, ParseError, Reply};

/// What was told, without what was taken back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Told {
    content: String,
    thought: Option<String>,
    reasoning: Option<String>,
    answer: Option<String>,
    calls: Vec<(CallKind, String, String)>,
    error: Option<ParseError>,
    notes: Vec<Note>,
}

/// A call that was told so far.
#[derive(Debug)]
struct Open {
    kind: CallKind,
    name: String,
    json: String,
    is_finished: bool,
}

impl Told {
    /// Folds the events of a whole stream.
    ///
    /// # Errors
    ///
    /// A sentence, when the events do not follow their rules: a call is numbered anew, told before it began or after it
    /// ended, or something follows the end.
    pub fn of(events: &[Event]) -> Result<Self, String> {
        let mut told = Self::default();
        let mut calls: BTreeMap<usize, Open> = BTreeMap::new();
        let mut begun = 0;
        let mut is_over = false;
        for event in events {
            if is_over {
                return Err(format!("{event:?} after the end"));
            }
            match event {
                Event::Content { text } => told.content.push_str(text),
                Event::Thought { text } => more(&mut told.thought, text),
                Event::Reasoning { text } => more(&mut told.reasoning, text),
                Event::Answer { text } => more(&mut told.answer, text),
                Event::CallStarted { call, kind, name, .. } => {
                    if *call != begun {
                        return Err(format!("call {call} begins, and should be {begun}"));
                    }
                    begun += 1;
                    let open = Open {
                        kind: *kind,
                        name: name.clone(),
                        json: String::new(),
                        is_finished: false,
                    };
                    calls.insert(*call, open);
                }
                Event::Arguments { call, json } => open(&mut calls, *call)?.json.push_str(json),
                Event::ArgumentsReset { call } => open(&mut calls, *call)?.json.clear(),
                Event::CallFinished { call } => open(&mut calls, *call)?.is_finished = true,
                Event::CallDropped { call } => {
                    let dropped = calls.remove(call);
                    dropped.ok_or_else(|| format!("call {call} is dropped and was not there"))?;
                    begun -= 1;
                }
                Event::Retracted => {
                    told = Self { reasoning: told.reasoning.take(), ..Self::default() };
                    calls.clear();
                    begun = 0;
                }
                Event::Failed { error } => {
                    let first =
                        told.error.as_ref().is_none_or(|first| error.span.start < first.span.start);
                    if first {
                        told.error = Some(error.clone());
                    }
                }
                Event::Noted { note } => told.notes.push(note.clone()),
                Event::Finished => is_over = true,
                _ => {}
            }
        }
        if !is_over {
            return Err("the end is not told".to_owned());
        }
        for (call, open) in calls {
            if !open.is_finished {
                return Err(format!("call {call} is neither finished nor dropped"));
            }
            told.calls.push((open.kind, open.name, open.json));
        }
        Ok(told)
    }

    /// What a reply says.
    #[must_use]
    pub fn reply(reply: &Reply) -> Self {
        let call = |call: &hanok_parse::Call| {
            (call.kind, call.name.clone(), call.arguments.as_str().to_owned())
        };
        Self {
            content: reply.content.clone(),
            thought: reply.thought.clone(),
            reasoning: reply.reasoning.clone(),
            answer: reply.answer.clone(),
            calls: reply.calls.iter().map(call).collect(),
            error: reply.error.clone(),
            notes: reply.notes.clone(),
        }
    }
}

impl Told {
    /// The first field in which two differ, with both values; nothing when they are the same.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        let fields = [
            ("content", format!("{:?}", self.content), format!("{:?}", other.content)),
            ("thought", format!("{:?}", self.thought), format!("{:?}", other.thought)),
            ("reasoning", format!("{:?}", self.reasoning), format!("{:?}", other.reasoning)),
            ("answer", format!("{:?}", self.answer), format!("{:?}", other.answer)),
            ("calls", format!("{:?}", self.calls), format!("{:?}", other.calls)),
            ("error", format!("{:?}", self.error), format!("{:?}", other.error)),
            ("notes", format!("{:?}", self.notes), format!("{:?}", other.notes)),
        ];
        let different = fields.into_iter().find(|(_, a, b)| a != b);
        different.map(|(name, a, b)| format!("{name}: {a}, not {b}"))
    }
}

fn more(text: &mut Option<String>, piece: &str) {
    text.get_or_insert_default().push_str(piece);
}

/// The call, which has begun and not ended.
fn open(calls: &mut BTreeMap<usize, Open>, call: usize) -> Result<&mut Open, String> {
    let open = calls.get_mut(&call).filter(|open| !open.is_finished);
    open.ok_or_else(|| format!("call {call} is told of, and is not open"))
}
