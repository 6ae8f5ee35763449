//! A run on a terminal, while it works.

use std::io::{self, Write};

use futures_util::StreamExt;
use hanok_core::{Printable, Stored, Token};
use hanok_state::{Message, Role, State};

use crate::observe::{
    event::{Event, EventKind},
    events::Events,
    tool_event::ToolEvent,
};

/// Prints events for people: tasks as they begin, fail and come from the cache, what models write piece by piece, answers that nodes write as a whole,
/// calls of tools, items of nodes, questions, and how
/// the run ended. What models, tools and people wrote cannot act on the terminal.
///
/// ```
/// # use {futures::StreamExt, hanok_graph::*};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
/// let mut printer = Printer::new(Vec::new());
/// let mut events = thread.stream(Input::New(Count::update()), ());
/// while let Some(event) = events.next().await {
///     printer.event(&event)?;
/// }
/// assert_eq!(String::from_utf8(printer.into_inner())?, "add …\ndone\n");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Printer<W> {
    to: W,
    /// The graph and the task whose text stands on the line that is not ended yet.
    line: Option<(String, u32)>,
}

impl<W: Write> Printer<W> {
    /// Prints to `to`.
    pub fn new(to: W) -> Self {
        Self { to, line: None }
    }

    /// Gives the writer back.
    pub fn into_inner(self) -> W {
        self.to
    }

    /// Prints what `event` says to people; of many kinds that is nothing.
    ///
    /// # Errors
    ///
    /// [`io::Error`] of the writer.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let node = event.node.as_deref().unwrap_or_default();
        let place = match event.path.is_root() {
            true => node.to_owned(),
            false => format!("{}/{node}", event.path),
        };
        match &event.kind {
            EventKind::TaskStarted { .. } => self.line(&format!("{place} …")),
            EventKind::TaskFinished { cached: true } => {
                self.line(&format!("{place} from the cache"))
            }
            EventKind::TaskRetried { error, .. } => self.line(&format!("{place} again: {error}")),
            EventKind::TaskFailed { error, .. } => self.line(&format!("{place} failed: {error}")),
            EventKind::Custom(item) => self.line(&format!("{place}: {}", words(item))),
            EventKind::Tool(ToolEvent::Started { arguments }) => {
                self.line(&format!("{place}: {}({arguments})", called(event)))
            }
            EventKind::Tool(ToolEvent::Output { item }) => {
                self.line(&format!("{place}: {}: {}", called(event), words(item)))
            }
            EventKind::Tool(ToolEvent::Failed { error }) => {
                self.line(&format!("{place}: {} failed: {error}", called(event)))
            }
            EventKind::Message(message) if answers(message) => {
                self.line(&format!("{place}: {}", message.text()))
            }
            EventKind::Request(request) => {
                self.line(&format!("{place} asks: {}", words(&request.payload)))
            }
            EventKind::AnswerVoided { reason, .. } => {
                self.line(&format!("{place} does not take the answer: {reason}"))
            }
            EventKind::UnknownFields { fields } => {
                self.line(&format!("unknown fields: {}", fields.join(", ")))
            }
            EventKind::Lagged(events) => self.line(&format!("({events} events were dropped)")),
            EventKind::Cut { error } => self.line(&format!("(no further events: {error})")),
            EventKind::Ended { outcome, error, .. } if event.path.is_root() => match error {
                Some(error) => self.line(&format!("{outcome}: {error}")),
                None => self.line(&outcome.to_string()),
            },
            EventKind::Token(Token::Text(text)) => self.piece(place, event.attempt, text),
            EventKind::Token(Token::Retracted) => self.line("(not that)"),
            _ => Ok(()),
        }
    }

    fn piece(&mut self, place: String, attempt: u32, text: &str) -> io::Result<()> {
        let line = Some((place, attempt));
        if self.line != line {
            self.end_line()?;
            self.line = line;
        }
        write!(self.to, "{}", Printable(text))?;
        self.to.flush()
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        writeln!(self.to, "{}", Printable(text))?;
        self.to.flush()
    }

    fn end_line(&mut self) -> io::Result<()> {
        if self.line.take().is_some() { writeln!(self.to) } else { Ok(()) }
    }
}

/// True for what is said to a person: no call of a tool and no result of one.
fn answers(message: &Message) -> bool {
    message.role() == Role::Assistant && message.tool_calls().is_empty()
}

/// The name of the tool that an event is of.
fn called(event: &Event) -> &str {
    event.call.as_ref().map_or("a tool", |call| &*call.name)
}

/// A value as people read it: a text as it is, anything else as JSON.
fn words(item: &Stored) -> String {
    item.as_str().map(str::to_owned).unwrap_or_else(|_| item.to_string())
}

impl<S: State> Events<S> {
    /// Prints the events to `to` until the run ends, as a [`Printer`] does; its outcome is still to be taken.
    ///
    /// ```
    /// # use hanok_graph::*;
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// let events = thread.stream(Input::New(Count::update()), ());
    /// let count = events.print(std::io::stdout()).await?.outcome().await?.done()?;
    /// assert_eq!(count.n, 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`io::Error`] of the writer. The run goes on without its observer then.
    pub async fn print(mut self, to: impl Write) -> io::Result<Self> {
        let mut printer = Printer::new(to);
        while let Some(event) = self.next().await {
            printer.event(&event)?;
        }
        Ok(self)
    }
}
