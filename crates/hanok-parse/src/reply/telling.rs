//! What is told of a draft.

use std::ops::Range;

use crate::{
    declared::CallKind,
    reply::{
        draft::{Announced, Draft, Saying},
        error::{ErrorKind, Expected},
        event::Event,
        note::NoteKind,
        outcome::{Part, PartKind},
    },
};

/// Room for the arguments of most calls.
const TOLD: usize = 512;

impl Draft {
    /// Sets the answer, unless a call came first.
    pub(crate) fn answer(&mut self, answer: String, span: Range<usize>) {
        if self.has_attempt() {
            self.note(NoteKind::DroppedAnswer, span);
        } else if answer.is_empty() {
            self.fail(ErrorKind::Truncated, Expected::Answer, None, span);
        } else {
            self.tell_answer(&answer);
            self.answer = Some(answer);
            self.parts.push(Part { kind: PartKind::Answer, span });
        }
    }

    /// Tells what is new in the answer so far.
    pub(crate) fn tell_answer(&mut self, answer: &str) {
        if self.has_attempt() {
            return;
        }
        if let Some(text) = answer.get(self.answer_told..).filter(|text| !text.is_empty()) {
            self.answer_told = answer.len();
            match self.events.last_mut() {
                Some(Event::Answer { text: told }) => told.push_str(text),
                _ => self.tell(Event::Answer { text: text.to_owned() }),
            }
        }
    }

    pub(crate) fn say_content(&mut self, text: &str) {
        self.turn_to(Saying::Content);
        self.content.push(text);
    }

    pub(crate) fn say_thought(&mut self, text: &str) {
        self.turn_to(Saying::Thought);
        self.thought.push(text);
    }

    pub(crate) fn say_reasoning(&mut self, text: &str) {
        self.turn_to(Saying::Reasoning);
        self.reasoning.push(text);
    }

    /// Tells what was said of another kind first.
    pub(crate) fn turn_to(&mut self, saying: Saying) {
        if self.saying != saying {
            self.flush();
            self.saying = saying;
        }
    }

    /// Tells the notes that were not told yet. They do not change any more.
    pub(crate) fn tell_notes(&mut self) {
        if self.quiet || self.committed || self.notes_told == self.notes.len() {
            return;
        }
        for note in self.notes.get(self.notes_told..).unwrap_or_default().to_vec() {
            self.tell(Event::Noted { note });
        }
        self.notes_told = self.notes.len();
    }

    /// Whether calls are told as they come.
    pub(crate) fn tells_calls(&self) -> bool {
        !self.quiet && (!self.committed || self.streams)
    }

    /// Tells of a call that is being read: its name, and its arguments so far.
    #[inline]
    pub(crate) fn tell_part(
        &mut self,
        kind: CallKind,
        name: &str,
        json: &str,
        id: impl FnOnce() -> Option<String>,
    ) {
        self.announce(kind, name, id);
        self.tell_more(json);
    }

    /// Tells the name of a call that is being read, and the id that stands before its arguments, unless that was told.
    pub(crate) fn announce(
        &mut self,
        kind: CallKind,
        name: &str,
        id: impl FnOnce() -> Option<String>,
    ) {
        if !self.tells_calls() {
            return;
        }
        // Names are short, and this is asked often.
        let is_told = |told: &Announced| told.kind == kind && told.name.bytes().eq(name.bytes());
        if !self.announced.as_ref().is_some_and(is_told) {
            self.abandon();
            self.start(kind, name, id());
        }
    }

    pub(crate) fn start(&mut self, kind: CallKind, name: &str, id: Option<String>) {
        let call = self.started;
        self.started += 1;
        self.tell(Event::CallStarted { call, kind, name: name.to_owned(), id });
        self.announced = Some(Announced {
            call,
            kind,
            name: name.to_owned(),
            json: String::with_capacity(TOLD),
        });
    }

    /// Tells what is new in the arguments of the call that is being read.
    pub(crate) fn tell_more(&mut self, json: &str) {
        self.flush();
        let mut events = std::mem::take(&mut self.events);
        self.tell_more_to(&mut events, json);
        self.events = events;
    }

    /// The same to `out`, where all text before was told.
    #[inline]
    pub(crate) fn tell_more_to(&mut self, out: &mut Vec<Event>, json: &str) {
        let Some(told) = &mut self.announced else { return };
        let Some(new) = json.get(told.json.len()..).filter(|new| !new.is_empty()) else { return };
        told.json.push_str(new);
        let call = told.call;
        match out.last_mut() {
            Some(Event::Arguments { call: last, json }) if *last == call => json.push_str(new),
            _ => push_text(out, new, |json| Event::Arguments { call, json }),
        }
    }

    /// Tells of a whole call, of which a part may have been told.
    pub(crate) fn tell_call(&mut self, kind: CallKind, name: &str, json: &str, id: Option<&str>) {
        if !self.tells_calls() {
            return;
        }
        self.tell_part(kind, name, "", || id.map(str::to_owned));
        let Some(told) = &mut self.announced else { return };
        let call = told.call;
        let goes_on = json.starts_with(told.json.as_str());
        if !goes_on && self.committed {
            // Nothing is taken back: that call is none, and this one is another.
            self.abandon();
            self.start(kind, name, id.map(str::to_owned));
        } else if !goes_on {
            told.json.clear();
            self.tell(Event::ArgumentsReset { call });
        }
        self.tell_more(json);
        let Some(Announced { call, .. }) = self.announced.take() else { return };
        if self.committed {
            self.finished.push(call);
        }
        self.tell(Event::CallFinished { call });
    }

    /// The call that was told is none.
    pub(crate) fn abandon(&mut self) {
        if let Some(told) = self.announced.take() {
            // Its number is free again: it does not depend on what was told of calls that are none. What stays told keeps its own.
            if !self.committed {
                self.started = self.started.saturating_sub(1);
            }
            self.push(Event::CallDropped { call: told.call });
        }
    }

    /// Tells what was kept for the end.
    pub(crate) fn commit(&mut self) {
        if !std::mem::take(&mut self.committed) || self.quiet {
            return;
        }
        self.flush();
        let untold = if self.streams { Vec::new() } else { std::mem::take(&mut self.calls) };
        for call in untold {
            self.tell_call(call.kind, &call.name, call.arguments.as_str(), call.id.as_deref());
            self.calls.push(call);
        }
        if let Some(error) = self.error.clone() {
            self.tell(Event::Failed { error });
        }
        self.tell_notes();
    }

    /// Tells something, after the text before it.
    pub(crate) fn tell(&mut self, event: Event) {
        self.flush();
        self.push(event);
    }

    pub(crate) fn push(&mut self, event: Event) {
        if !self.quiet {
            self.events.push(event);
        }
    }

    /// Tells the text that was not told yet. Only what was said last has any.
    #[inline]
    pub(crate) fn flush(&mut self) {
        let flow = match self.saying {
            Saying::Content => &self.content,
            Saying::Thought => &self.thought,
            Saying::Reasoning => &self.reasoning,
        };
        if flow.has_news() && !self.quiet {
            self.tell_news();
        }
    }

    pub(crate) fn tell_news(&mut self) {
        let news = match self.saying {
            Saying::Content => self.content.news(),
            Saying::Thought => self.thought.news(),
            Saying::Reasoning => self.reasoning.news(),
        };
        match (self.events.last_mut(), self.saying) {
            (Some(Event::Content { text }), Saying::Content)
            | (Some(Event::Thought { text }), Saying::Thought)
            | (Some(Event::Reasoning { text }), Saying::Reasoning) => text.push_str(news),
            (_, Saying::Content) => {
                push_text(&mut self.events, news, |text| Event::Content { text })
            }
            (_, Saying::Thought) => {
                push_text(&mut self.events, news, |text| Event::Thought { text })
            }
            (_, Saying::Reasoning) => {
                push_text(&mut self.events, news, |text| Event::Reasoning { text });
            }
        }
    }
}

/// Tells of `text`. The event is made where it stands: one that is moved there waits for its own bytes.
#[inline]
pub(crate) fn push_text(events: &mut Vec<Event>, text: &str, event: impl FnMut(String) -> Event) {
    events.extend(std::iter::once(text.to_owned()).map(event));
}
