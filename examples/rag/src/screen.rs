//! What is printed where: answers on standard output, everything else on standard error.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use hanok_core::Printable;
use hanok_supervisor::Supervisor;

use crate::{Options, agents::Tools, brain::Brain, failure::Failure};

/// How often the spinner turns.
pub(crate) const TURN: Duration = Duration::from_millis(100);

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// What models, tools and documents say is printed so that nothing in it acts on the terminal.
#[derive(Debug)]
pub struct Screen {
    trace: bool,
    /// Whether a person watches: answers are shown while they are written.
    live: bool,
    /// Whether the spinner may turn.
    spins: bool,
    spinning: AtomicBool,
    turn: AtomicUsize,
}

impl Screen {
    /// The screen of this program; `trace` shows each step.
    pub fn new(trace: bool) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            trace,
            live: io::stdout().is_terminal(),
            spins: io::stderr().is_terminal() && !plain,
            spinning: AtomicBool::new(false),
            turn: AtomicUsize::new(0),
        }
    }

    /// Whether a person watches the answers.
    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    /// Says first what a reader should know: which model answers, what lasts, what was not read.
    pub fn notes(&self, brain: &Brain, tools: &Tools, options: &Options) {
        if options.db.is_none() {
            self.tell("대화는 저장되지 않습니다(--db 파일을 주면 이어집니다).");
        }
        self.tell(&brain.note());
        for skipped in &tools.report.skipped {
            self.tell(&format!("건너뜀: {skipped}"));
        }
        if tools.report.documents == 0 {
            self.tell("읽을 수 있는 문서가 없습니다(.txt, .md, .pdf).");
        }
    }

    /// Prints the drawing of what runs: the supervisor, then each agent.
    ///
    /// # Errors
    ///
    /// [`Failure::Output`] when it cannot be printed.
    pub fn graph(&self, supervisor: &Supervisor) -> Result<ExitCode, Failure> {
        let agents = supervisor.agents().iter().map(|agent| agent.graph().drawing());
        let whole = supervisor.graph().drawing();
        let whole = agents.fold(whole, |whole, agent| whole.calls("execute_agent", agent));
        let mut out = io::stdout().lock();
        write!(out, "{}", whole.mermaid())?;
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    /// Prints an answer, or a piece of one.
    pub(crate) fn answer(&self, text: &str) -> io::Result<()> {
        self.clear();
        let mut out = io::stdout().lock();
        write!(out, "{}", Printable(text))?;
        out.flush()
    }

    /// Says something about the work.
    pub fn tell(&self, line: &str) {
        self.clear();
        // Nobody is left to be told that standard error is closed.
        drop(writeln!(io::stderr().lock(), "{}", Printable(line)));
    }

    /// Says a step, if steps are shown.
    pub(crate) fn step(&self, line: &str) {
        if self.trace {
            self.tell(&format!("  {line}"));
        }
    }

    /// Whether steps are shown.
    pub(crate) fn is_tracing(&self) -> bool {
        self.trace
    }

    /// Asks for the next question, if a person types.
    pub(crate) fn prompt(&self) {
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            drop(write!(io::stderr().lock(), "\n질문> "));
        }
    }

    /// Turns the spinner once.
    pub(crate) fn spin(&self) {
        if !self.spins {
            return;
        }
        self.spinning.store(true, Ordering::Relaxed);
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % SPINNER.len();
        let sign = SPINNER.get(turn).copied().unwrap_or(' ');
        let mut err = io::stderr().lock();
        drop(write!(err, "\r{sign} 생각하는 중…").and_then(|()| err.flush()));
    }

    /// Takes the spinner off the line.
    fn clear(&self) {
        if self.spinning.swap(false, Ordering::Relaxed) {
            let mut err = io::stderr().lock();
            drop(write!(err, "\r\u{1b}[2K").and_then(|()| err.flush()));
        }
    }
}
