//! A conversation: questions in, answers out, on a thread that may outlive the program.

use std::{
    io::{self, BufRead},
    process::ExitCode,
    time::Instant,
};

use futures::{SinkExt, StreamExt, channel::mpsc, executor::block_on, stream};
use hanok_agent::StopReason;
use hanok_checkpoint::{Memory, SharedCheckpointer};
use hanok_core::{Cancellation, Spent, Tenant, ThreadKey, Token};
use hanok_graph::{Event, EventKind, Input, Outcome, Thread};
use hanok_sqlite::Sqlite;
use hanok_supervisor::{Supervisor, SupervisorState};

use crate::{
    Options, Screen,
    failure::{Failure, INTERRUPTED, LIMIT},
    live::Live,
    screen::TURN,
    trace,
};

/// A conversation on one thread.
#[derive(Debug)]
pub struct Session {
    supervisor: Supervisor,
    thread: Thread<SupervisorState>,
}

impl Session {
    /// Opens the thread that `options` name.
    ///
    /// # Errors
    ///
    /// [`Failure::Database`] when the file cannot be used, [`Failure::Thread`] for a name that is none.
    pub async fn open(supervisor: Supervisor, options: &Options) -> Result<Self, Failure> {
        let store = match &options.db {
            None => SharedCheckpointer::new(Memory::new()),
            Some(path) => match Sqlite::open(path).await {
                Ok(store) => SharedCheckpointer::new(store),
                Err(source) => {
                    let source = Box::new(source);
                    return Err(Failure::Database { path: path.clone(), source });
                }
            },
        };
        let key = ThreadKey::new(Tenant::default(), &options.thread).map_err(Failure::Thread)?;
        let thread = supervisor.graph().checkpointer(store).thread(key);
        Ok(Self { supervisor, thread })
    }

    /// Answers one question.
    ///
    /// # Errors
    ///
    /// [`Failure`] when there is no answer.
    pub async fn ask(&self, question: &str, screen: &Screen) -> Result<ExitCode, Failure> {
        if question.trim().is_empty() {
            screen.tell("질문이 비어 있습니다.");
            return Ok(ExitCode::from(2));
        }
        self.turn(Input::New(self.supervisor.ask(question)), screen).await
    }

    /// Goes on with what an earlier run left, or shows the last answer of a thread that is done.
    ///
    /// # Errors
    ///
    /// [`Failure`] when there is no answer.
    pub async fn resume(&self, screen: &Screen) -> Result<ExitCode, Failure> {
        self.turn(Input::Resume, screen).await
    }

    /// Answers one question a line until the input ends.
    ///
    /// # Errors
    ///
    /// [`Failure`] when the input or the output breaks. A question that fails is told and does not end the conversation.
    pub async fn converse(&self, screen: &Screen) -> Result<ExitCode, Failure> {
        let mut lines = lines();
        loop {
            screen.prompt();
            let question = tokio::select! {
                biased;
                _ = tokio::signal::ctrl_c() => return Ok(ExitCode::from(INTERRUPTED)),
                line = lines.next() => match line {
                    Some(line) => line?,
                    None => return Ok(ExitCode::SUCCESS),
                },
            };
            if question.trim().is_empty() {
                continue;
            }
            match self.ask(question.trim(), screen).await {
                Ok(_) => {}
                Err(failure @ Failure::Output(_)) => return Err(failure),
                Err(failure) => screen.tell(&format!("오류: {}", failure.line())),
            }
        }
    }

    /// Runs one turn, shown as it goes. Ctrl-C stops the answer and keeps the thread.
    async fn turn(
        &self,
        input: Input<SupervisorState>,
        screen: &Screen,
    ) -> Result<ExitCode, Failure> {
        let stop = Cancellation::default();
        let thread = self.thread.clone().cancellation(stop.clone());
        let mut shown = Shown::new(screen);
        let mut events = thread.stream(input, ());
        let mut ticks = Box::pin(stream::unfold(tokio::time::interval(TURN), |mut ticks| async {
            ticks.tick().await;
            Some(((), ticks))
        }));
        loop {
            tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(event) => shown.event(&event)?,
                    None => break,
                },
                _ = tokio::signal::ctrl_c(), if !stop.is_cancelled() => stop.cancel(),
                _ = ticks.next() => shown.idle(),
            }
        }
        let outcome = events.outcome().await.map_err(|error| Failure::Run(Box::new(error)))?;
        shown.outcome(outcome)
    }
}

/// The lines of the standard input, read by a thread that does not keep the program from ending.
fn lines() -> mpsc::Receiver<io::Result<String>> {
    let (mut send, receive) = mpsc::channel(0);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = input.read_until(b'\n', &mut line);
            let said = match read {
                Ok(0) => return,
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

/// What of a run has been shown.
struct Shown<'s> {
    screen: &'s Screen,
    live: Live,
    began: Instant,
    spent: Spent,
    /// The answer of a turn that has ended: it is shown if another turn follows in the same run.
    finished: Option<String>,
    last: Option<String>,
}

impl<'s> Shown<'s> {
    fn new(screen: &'s Screen) -> Self {
        Self {
            screen,
            live: Live::default(),
            began: Instant::now(),
            spent: Spent::default(),
            finished: None,
            last: None,
        }
    }

    fn idle(&self) {
        if !self.live.is_showing() {
            self.screen.spin();
        }
    }

    fn event(&mut self, event: &Event) -> Result<(), Failure> {
        if let Some(answer) = self.finished.take() {
            self.screen.tell("끊긴 질문에 먼저 답했습니다:");
            self.finish(&answer)?;
        }
        match &event.kind {
            EventKind::Custom(item) => {
                if let Some(line) = trace::line(item) {
                    self.screen
                        .step(&format!("{:5.1}초 {line}", self.began.elapsed().as_secs_f32()));
                }
            }
            EventKind::Token(Token::Text(piece)) if event.path.is_root() => self.piece(piece)?,
            EventKind::TaskStarted { .. } if event.path.is_root() && !self.live.is_showing() => {
                self.live.restart();
            }
            EventKind::Values(state) if event.path.is_root() => {
                let state = state.get::<SupervisorState>().ok();
                self.last = state.and_then(|state| state.answer);
            }
            EventKind::Ended { spent, .. } => {
                self.spent = self.spent.plus(*spent);
                self.finished = self.last.take();
            }
            EventKind::Lagged(count) => self.screen.step(&format!("(사건 {count}개 생략)")),
            _ => {}
        }
        Ok(())
    }

    fn piece(&mut self, piece: &str) -> Result<(), Failure> {
        let text = self.live.take(piece);
        if self.screen.is_live() && !text.is_empty() {
            self.screen.answer(text)?;
        }
        Ok(())
    }

    /// Prints what of an answer was not printed yet.
    fn finish(&mut self, answer: &str) -> Result<(), Failure> {
        let rest = match self.screen.is_live() {
            true => self.live.rest(answer),
            false => answer.to_owned(),
        };
        self.screen.answer(&format!("{rest}\n"))?;
        self.live.restart();
        Ok(())
    }

    fn outcome(mut self, outcome: Outcome<SupervisorState>) -> Result<ExitCode, Failure> {
        let code = match outcome {
            Outcome::Done(state) => {
                self.finish(state.answer.as_deref().unwrap_or("답이 없습니다."))?;
                match state.stopped {
                    Some(StopReason::Answered) => 0,
                    Some(StopReason::MaxIterations) => {
                        self.screen.tell("라우팅 횟수의 한도에 이르러 멈췄습니다.");
                        LIMIT
                    }
                    _ => 1,
                }
            }
            Outcome::LimitReached { which, .. } => {
                self.screen.tell(&format!(
                    "한도({which})에 이르러 멈췄습니다. --resume으로 이어 갈 수 있습니다."
                ));
                LIMIT
            }
            Outcome::Cancelled => {
                self.screen.tell("답을 멈췄습니다. 대화는 남아 있습니다.");
                INTERRUPTED
            }
            _ => {
                self.screen.tell("사람의 답을 기다립니다.");
                1
            }
        };
        if self.screen.is_tracing() {
            let Spent { model_calls, tool_calls, input_tokens, output_tokens, .. } = self.spent;
            self.screen.tell(&format!(
                "  모델 {model_calls}회, 도구 {tool_calls}회, 토큰 {input_tokens} + {output_tokens}, {:.1}초",
                self.began.elapsed().as_secs_f32()
            ));
        }
        Ok(ExitCode::from(code))
    }
}
