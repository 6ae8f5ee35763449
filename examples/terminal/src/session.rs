//! A conversation: questions in, answers out, on a thread that may outlive the program.

use std::{
    io::{self, BufRead, Read},
    path::Path,
    process::ExitCode,
};

use futures::{SinkExt, StreamExt, channel::mpsc, executor::block_on, stream};
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{Cancellation, Tenant, ThreadKey};
use hanok_graph::{App, Graph, Input, Thread};
use hanok_sqlite::Sqlite;

use crate::{
    Options, Screen, Talk,
    failure::{Failure, INTERRUPTED},
    interrupts::Interrupts,
    screen::TURN,
    shown::Shown,
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
    json: bool,
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
        let app = graph.checkpointer(store);
        let thread = app.thread(key(&options.thread)?);
        Ok(Self { talk, app, thread, interrupts: Interrupts::new(), json: options.json })
    }

    /// Does what `options` say: goes on, answers the question, or holds a conversation.
    ///
    /// # Errors
    ///
    /// [`Failure`] when there is no answer.
    pub async fn run(mut self, options: &Options, screen: &Screen) -> Result<ExitCode, Failure> {
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
        let mut lines = lines();
        loop {
            screen.prompt();
            let line = tokio::select! {
                biased;
                () = self.interrupts.next() => return Ok(ExitCode::from(INTERRUPTED)),
                line = lines.next() => match line {
                    Some(line) => line.map_err(Failure::Input)?,
                    None => return Ok(ExitCode::SUCCESS),
                },
            };
            if line.trim().is_empty() {
                continue;
            }
            match self.say(&line, screen).await {
                Ok(_) => {}
                Err(failure @ Failure::Output(_)) => return Err(failure),
                Err(failure) => {
                    screen.tell(&format!("오류: {}", failure.line()));
                    if matches!(failure, Failure::Run(_)) {
                        screen.tell(
                            "이 질문은 대화에 남아 있습니다. /rewind 1로 되돌릴 수 있습니다.",
                        );
                    }
                }
            }
        }
    }

    /// Runs one turn, shown as it goes. Ctrl-C stops the answer and keeps the thread; a second one does not wait for it.
    async fn turn(&mut self, input: Input<T::State>, screen: &Screen) -> Result<ExitCode, Failure> {
        let stop = Cancellation::default();
        let thread = self.thread.clone().cancellation(stop.clone());
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
                    true => return Ok(ExitCode::from(INTERRUPTED)),
                    false => stop.cancel(),
                },
                event = events.next() => match event {
                    Some(event) => shown.event(&event)?,
                    None => break,
                },
                _ = ticks.next() => shown.idle(),
            }
        }
        let outcome = events.outcome().await?;
        shown.outcome(outcome)
    }
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
