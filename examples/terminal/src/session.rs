//! A conversation: questions in, answers out, on a thread that may outlive the program.

use std::{
    io::{self, BufRead, Read},
    path::Path,
    process::ExitCode,
};

use futures::{SinkExt, StreamExt, channel::mpsc, executor::block_on, stream};
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{Answerer, Cancellation, Printable, RequestId, Stored, Tenant, ThreadKey};
use hanok_graph::{App, Graph, Input, Pending, RunError, Thread};
use hanok_sqlite::Sqlite;
use serde_json::Value;

use crate::{
    Options, Screen, Talk, aftermath,
    decision::{self, DecisionForm, Typed},
    elicitation::{self, ServerQuestion},
    failure::{Failure, INTERRUPTED, WAITS},
    form::{Field, Form},
    interrupts::Interrupts,
    json,
    screen::TURN,
    shown::{Shown, TurnResult},
    typed::{self, TypedLine, Typist},
};

/// The longest line that is read, in bytes.
const LONGEST: u64 = 16 * 1024 * 1024;

/// A conversation on one thread.
#[derive(Debug)]
pub struct Session<T: Talk> {
    pub(crate) talk: T,
    pub(crate) app: App<T::State>,
    pub(crate) thread: Thread<T::State>,
    interrupts: Interrupts,
    lines: Option<mpsc::Receiver<io::Result<String>>>,
    typist: Option<Typist>,
    json: bool,
    answerer: Option<Answerer>,
    /// Whether a task of the last turn ran.
    ran: bool,
}

impl<T: Talk> Session<T> {
    /// Opens the thread that `options` name.
    ///
    /// # Errors
    ///
    /// [`Failure::Database`] when the file cannot be used, [`Failure::Thread`] for a name that is none.
    pub async fn open(
        talk: T,
        graph: &Graph<T::State>,
        options: &Options,
    ) -> Result<Self, Failure> {
        let store = match &options.db {
            None => SharedCheckpointer::new(InMemoryCheckpointer::new()),
            Some(path) => kept(path).await?,
        };
        Self::on(store, talk, graph, options)
    }

    /// Opens the thread that `options` name in `store`.
    ///
    /// # Errors
    ///
    /// [`Failure::Thread`] for a name that is none.
    pub fn on(
        store: SharedCheckpointer,
        talk: T,
        graph: &Graph<T::State>,
        options: &Options,
    ) -> Result<Self, Failure> {
        let app = graph.checkpointer(store);
        let thread = app.thread(key(&options.thread)?);
        let interrupts = Interrupts::new();
        let json = options.json;
        Ok(Self {
            talk,
            app,
            thread,
            interrupts,
            lines: None,
            typist: None,
            json,
            answerer: None,
            ran: false,
        })
    }

    /// Answers questions as `answerer`. Default: as nobody.
    #[must_use]
    pub fn answering_as(self, answerer: Answerer) -> Self {
        Self { answerer: Some(answerer), ..self }
    }

    /// Does what `options` say: goes on, answers the question, or holds a conversation.
    ///
    /// # Errors
    ///
    /// [`Failure`] when there is no answer.
    pub async fn run(mut self, options: &Options, screen: &Screen) -> Result<ExitCode, Failure> {
        let answers = options.answers()?;
        if !answers.is_empty() {
            return self.turn(Input::Answers(answers), screen).await;
        }
        if options.resume {
            return self.turn(Input::Resume, screen).await;
        }
        match options.question() {
            Some(question) => self.say(&question, screen).await,
            None => self.converse(screen).await,
        }
    }

    /// Answers one question, or does one command.
    ///
    /// # Errors
    ///
    /// [`Failure`] when there is no answer.
    pub async fn say(&mut self, line: &str, screen: &Screen) -> Result<ExitCode, Failure> {
        let line = line.trim();
        if line.is_empty() {
            screen.tell("질문이 비어 있습니다.");
            return Ok(ExitCode::from(2));
        }
        match line.strip_prefix('/') {
            Some(command) => {
                let said = self.command(command).await?;
                screen.answer(&format!("{said}\n"))?;
                Ok(ExitCode::SUCCESS)
            }
            None => self.turn(Input::New(self.talk.ask(line)), screen).await,
        }
    }

    /// Answers one question a line until the input ends.
    async fn converse(&mut self, screen: &Screen) -> Result<ExitCode, Failure> {
        loop {
            screen.prompt();
            let line = match self.line(typed::QUESTION, screen).await? {
                Line::Text(line) => line,
                Line::End => return Ok(ExitCode::SUCCESS),
                Line::Interrupted => return Ok(ExitCode::from(INTERRUPTED)),
            };
            if line.trim().is_empty() {
                continue;
            }
            match self.say(&line, screen).await {
                // The next line is no answer to what was asked.
                Ok(code) if code == ExitCode::from(WAITS) => return Ok(code),
                Ok(_) => {}
                Err(failure @ Failure::Output(_)) => return Err(failure),
                Err(failure) => {
                    screen.tell(&format!("오류: {}", failure.line()));
                    // A command that failed asked nothing.
                    if let (Failure::Run(error), false) = (&failure, line.trim().starts_with('/'))
                        && let Some(advice) = aftermath::advice(&self.thread, error, self.ran).await
                    {
                        screen.tell(advice);
                    }
                }
            }
        }
    }

    /// The next line of the input, which a person is asked for with `prompt`.
    async fn line(&mut self, prompt: &str, screen: &Screen) -> Result<Line, Failure> {
        if screen.is_asking() {
            let commands = self.command_names();
            let typist = self.typist.get_or_insert_with(|| Typist::new(commands));
            return tokio::select! {
                biased;
                () = self.interrupts.next() => Ok(Line::Interrupted),
                typed = typist.line(prompt) => match typed.map_err(Failure::Input)? {
                    TypedLine::Text(line) => Ok(Line::Text(line)),
                    TypedLine::End => Ok(Line::End),
                    TypedLine::Interrupted => Ok(Line::Interrupted),
                },
            };
        }
        let lines = self.lines.get_or_insert_with(lines);
        tokio::select! {
            biased;
            () = self.interrupts.next() => Ok(Line::Interrupted),
            line = lines.next() => match line {
                Some(line) => line.map(Line::Text).map_err(Failure::Input),
                None => Ok(Line::End),
            },
        }
    }

    /// The line that a person types to `prompt`.
    async fn reply_line(&mut self, prompt: &str, screen: &Screen) -> Result<Line, Failure> {
        screen.pause();
        self.line(&format!("{}: ", Printable(prompt)), screen).await
    }

    /// Runs one turn to its end: what it asks is asked of the person who types, or printed where nobody does.
    async fn turn(
        &mut self,
        mut input: Input<T::State>,
        screen: &Screen,
    ) -> Result<ExitCode, Failure> {
        let mut before = Vec::new();
        loop {
            let questions = match self.run_once(input, screen).await {
                Ok(TurnResult::Over(code)) => return Ok(code),
                Ok(TurnResult::Waits(questions)) => questions,
                // What was answered to these does not fit as a whole: they are asked again.
                Err(Failure::Run(error))
                    if matches!(*error, RunError::WrongAnswer { .. }) && !before.is_empty() =>
                {
                    screen.tell(&Failure::Run(error).line());
                    std::mem::take(&mut before)
                }
                Err(failure) => return Err(failure),
            };
            if !screen.is_asking() || self.json {
                self.print(&questions, screen)?;
                return Ok(ExitCode::from(WAITS));
            }
            let Some(answers) = self.answers(&questions, screen).await? else {
                screen.tell("답하지 않고 멈췄습니다. 질문은 대화에 남아 있습니다.");
                return Ok(ExitCode::from(WAITS));
            };
            input = Input::Answers(answers);
            before = questions;
        }
    }

    /// Prints what a turn waits for, and how it is answered.
    fn print(&self, questions: &[Pending], screen: &Screen) -> Result<(), Failure> {
        if self.json {
            for question in questions {
                screen.json(&json::question(question, self.talk.question_event()))?;
            }
            screen.json(&json::ended(None, WAITS))?;
            return Ok(());
        }
        screen.tell("사람의 답을 기다립니다. 답: --answer ID JSON (같은 --db, --thread로)");
        for question in questions {
            let id = &question.id.0;
            if let Some(decision) = DecisionForm::of(question) {
                screen.tell(&format!("[{id}] {}", decision.shown()));
                screen.tell(&format!("  - 답: {}", decision.answers().join(" | ")));
                continue;
            }
            if let Some(asked) = ServerQuestion::of(question) {
                screen.tell(&format!("[{id}] {}", asked.shown));
                asked
                    .fields()
                    .iter()
                    .for_each(|field| screen.tell(&format!("  - {}", field.line())));
                screen.tell(&format!("  - 답: {}", asked.answers()));
                continue;
            }
            let form = Form::of(question);
            screen.tell(&format!("[{id}] {}", form.question));
            form.fields.iter().for_each(|field| screen.tell(&format!("  - {}", field.line())));
        }
        Ok(())
    }

    /// What the person who types answers; `None` when they stop.
    async fn answers(
        &mut self,
        questions: &[Pending],
        screen: &Screen,
    ) -> Result<Option<Vec<(RequestId, Stored)>>, Failure> {
        let mut answers = Vec::new();
        for question in questions {
            let answer = match (DecisionForm::of(question), ServerQuestion::of(question)) {
                (Some(form), _) => self.decision(question, &form, screen).await?,
                (None, Some(asked)) => self.elicited(&asked, screen).await?,
                (None, None) => {
                    let form = Form::of(question);
                    screen.tell(&form.question);
                    let values = self.values(&form.fields, screen).await?;
                    values.map(|values| form.answer(values))
                }
            };
            let Some(answer) = answer else { return Ok(None) };
            let answer = Stored::encode(&answer).map_err(Failure::wiring)?;
            answers.push((question.id.clone(), answer));
        }
        Ok(Some(answers))
    }

    /// The values of `fields`, asked for one after the other; `None` when the person stops.
    async fn values(
        &mut self,
        fields: &[Field],
        screen: &Screen,
    ) -> Result<Option<Vec<Option<Value>>>, Failure> {
        let mut values = Vec::new();
        for field in fields {
            let value = loop {
                let Line::Text(line) = self.reply_line(&field.prompt(), screen).await? else {
                    return Ok(None);
                };
                match field.read(&line) {
                    Ok(value) => break value,
                    Err(fault) => screen.tell(&fault),
                }
            };
            values.push(value);
        }
        Ok(Some(values))
    }

    /// The decision of the person who types; `None` when they stop.
    async fn decision(
        &mut self,
        question: &Pending,
        form: &DecisionForm,
        screen: &Screen,
    ) -> Result<Option<Value>, Failure> {
        screen.tell(&form.shown());
        loop {
            let Line::Text(line) = self.reply_line(&form.prompt(), screen).await? else {
                return Ok(None);
            };
            let typed = match form.read(&line) {
                Typed::Edits => {
                    let Line::Text(line) = self.reply_line("고친 JSON", screen).await? else {
                        return Ok(None);
                    };
                    form.edited(&line)
                }
                typed => typed,
            };
            match typed {
                Typed::Decided(decision) => return Ok(Some(decision)),
                Typed::Always(decision) => {
                    if let Some((tool, definition)) = decision::standing(question) {
                        let answerer = self.answerer.clone();
                        let said = self.talk.always(&tool, definition, answerer);
                        screen.tell(&said.await?);
                    }
                    return Ok(Some(decision));
                }
                Typed::Help(help) => screen.tell(&help),
                Typed::Edits => {}
            }
        }
    }

    /// The answer of the person who types to a server's question; `None` when they stop.
    async fn elicited(
        &mut self,
        asked: &ServerQuestion,
        screen: &Screen,
    ) -> Result<Option<Value>, Failure> {
        screen.tell(&asked.shown);
        loop {
            let Line::Text(line) = self.reply_line(elicitation::LETTERS, screen).await? else {
                return Ok(None);
            };
            if let Some(answer) = asked.letter(&line) {
                return Ok(Some(answer));
            }
            if asked.fills(&line) {
                let values = self.values(asked.fields(), screen).await?;
                return Ok(values.map(|values| asked.filled(values)));
            }
        }
    }

    /// Runs the thread once, shown as it goes. Ctrl-C stops the answer and keeps the thread; a second one does not wait for it.
    async fn run_once(
        &mut self,
        input: Input<T::State>,
        screen: &Screen,
    ) -> Result<TurnResult, Failure> {
        let stop = Cancellation::default();
        let thread = self.thread.clone().cancellation(stop.clone());
        let thread = match &self.answerer {
            Some(answerer) => thread.answering_as(answerer.clone()),
            None => thread,
        };
        self.ran = false;
        let mut shown = Shown::new(screen, &self.talk, self.json);
        let mut events = thread.stream(input, ());
        let mut ticks = Box::pin(stream::unfold(tokio::time::interval(TURN), |mut ticks| async {
            ticks.tick().await;
            Some(((), ticks))
        }));
        loop {
            tokio::select! {
                biased;
                () = self.interrupts.next() => match stop.is_cancelled() {
                    true => return Ok(TurnResult::Over(ExitCode::from(INTERRUPTED))),
                    false => stop.cancel(),
                },
                event = events.next() => match event {
                    Some(event) => shown.event(&event)?,
                    None => break,
                },
                _ = ticks.next() => shown.idle(),
            }
        }
        self.ran = shown.ran;
        match events.outcome().await {
            // A node that is stopped in its work may say so by an error.
            Err(_) if stop.is_cancelled() => shown.stopped(),
            outcome => shown.outcome(outcome?),
        }
    }
}

/// What was read of the input.
enum Line {
    Text(String),
    End,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

/// The store in the file at `path`.
async fn kept(path: &Path) -> Result<SharedCheckpointer, Failure> {
    match Sqlite::open(path).await {
        Ok(store) => Ok(SharedCheckpointer::new(store)),
        Err(source) => Err(Failure::Database { path: path.to_owned(), source: Box::new(source) }),
    }
}

/// The thread of this name.
pub(crate) fn key(name: &str) -> Result<ThreadKey, Failure> {
    ThreadKey::new(Tenant::default(), name).map_err(Failure::Thread)
}

/// The lines of the standard input, read by a thread that does not keep the program from ending.
fn lines() -> mpsc::Receiver<io::Result<String>> {
    let (mut send, receive) = mpsc::channel(0);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut line);
            let said = match read {
                Ok(0) => return,
                Ok(_) if line.len() as u64 == LONGEST => Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    format!("a line has more than {LONGEST} bytes"),
                )),
                Ok(_) => Ok(String::from_utf8_lossy(&line).into_owned()),
                Err(error) => Err(error),
            };
            // Nobody reads any more.
            if block_on(send.send(said)).is_err() {
                return;
            }
        }
    });
    receive
}
