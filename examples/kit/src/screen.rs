//! What is printed where: answers on standard output, everything else on standard error.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use hanok_core::Printable;

use crate::{Lane, Options, brain::Brain, lanes::Lanes};

/// How often the spinner turns.
pub(crate) const TURN: Duration = Duration::from_millis(100);

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// What models, tools and documents say is printed so that nothing in it acts on the terminal.
#[derive(Debug)]
pub struct Screen {
    trace: bool,
    /// Whether steps are shown.
    steps: bool,
    /// Whether a person watches: answers are shown while they are written.
    live: bool,
    /// Whether the spinner may turn.
    spins: bool,
    /// The lines that the spinner, or the lanes, take now.
    drawn: AtomicUsize,
    lanes: Mutex<Lanes>,
    /// Whether an answer that a person watches stands on the line.
    written: AtomicBool,
    turn: AtomicUsize,
}

/// Whether a person types, and reads what is asked.
#[must_use]
pub fn somebody_types() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

impl Screen {
    /// The screen of this program; `trace` shows each step.
    pub fn new(trace: bool) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            trace,
            steps: trace,
            live: io::stdout().is_terminal(),
            spins: io::stderr().is_terminal() && !plain,
            drawn: AtomicUsize::new(0),
            lanes: Mutex::default(),
            written: AtomicBool::new(false),
            turn: AtomicUsize::new(0),
        }
    }

    /// Shows steps to a person who watches, without being asked to.
    #[must_use]
    pub fn telling(self) -> Self {
        let steps = self.trace || self.live && io::stderr().is_terminal();
        Self { steps, ..self }
    }

    /// Whether a person watches the answers.
    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    /// Says first what a reader should know: whether anything lasts, and which model answers.
    pub fn notes(&self, brain: &Brain, options: &Options) {
        if options.db.is_none() {
            self.tell("대화는 저장되지 않습니다(--db 파일을 주면 이어집니다).");
        }
        self.tell(&brain.note());
    }

    /// Prints an answer, or a piece of one.
    pub fn answer(&self, text: &str) -> io::Result<()> {
        self.clear();
        let mut out = io::stdout().lock();
        write!(out, "{}", Printable(text))?;
        self.written.store(self.live && !text.ends_with('\n'), Ordering::Relaxed);
        out.flush()
    }

    /// Prints a line of JSON, so that nothing in it acts on the terminal and every reader reads it.
    pub(crate) fn json(&self, line: &str) -> io::Result<()> {
        let mut safe = String::with_capacity(line.len());
        for c in line.chars() {
            let mut units = [0; 2];
            match Printable(c.encode_utf8(&mut [0; 4])).to_string().chars().eq([c]) {
                true => safe.push(c),
                // Outside its strings JSON has no such character.
                false => c.encode_utf16(&mut units).iter().for_each(|unit| {
                    let _ = write!(safe, "\\u{unit:04x}");
                }),
            }
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{safe}")?;
        out.flush()
    }

    /// Ends the line that an answer stands on.
    pub(crate) fn end_line(&self) -> io::Result<()> {
        if self.written.load(Ordering::Relaxed) { self.answer("\n") } else { Ok(()) }
    }

    /// Says something about the work.
    pub fn tell(&self, line: &str) {
        self.clear();
        let begin = if self.written.swap(false, Ordering::Relaxed) { "\n" } else { "" };
        // Nobody is left to be told that standard error is closed.
        drop(writeln!(io::stderr().lock(), "{begin}{}", Printable(line)));
    }

    /// Says a step, if steps are shown.
    pub(crate) fn step(&self, line: &str) {
        if self.steps {
            self.tell(&format!("  {line}"));
        }
    }

    /// Whether a turn ends with what it cost.
    pub(crate) fn is_tracing(&self) -> bool {
        self.trace
    }

    /// Leaves room before the next question, if a person types.
    pub(crate) fn prompt(&self) {
        if self.is_asking() {
            drop(writeln!(io::stderr().lock()));
        }
    }

    /// Whether a person types, and reads what is asked.
    pub(crate) fn is_asking(&self) -> bool {
        somebody_types()
    }

    /// Takes what turns off the screen, because a person is asked.
    pub(crate) fn pause(&self) {
        self.clear();
    }

    /// Changes the lanes that a person sees.
    pub(crate) fn lane(&self, lane: Lane) {
        self.lanes().change(lane, Instant::now());
    }

    /// Takes all lanes away: nothing runs any more.
    pub(crate) fn end_lanes(&self) {
        self.lanes().clear();
        self.clear();
    }

    /// Turns the spinner once, or shows the lanes where there are some.
    pub(crate) fn spin(&self) {
        if !self.spins {
            return;
        }
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % SPINNER.len();
        let sign = SPINNER.get(turn).copied().unwrap_or(' ');
        let mut lines = self.lanes().lines(sign, Instant::now(), columns());
        if lines.is_empty() {
            lines.push(format!("{sign} 생각하는 중…"));
        }
        let before = self.drawn.swap(lines.len(), Ordering::Relaxed);
        let mut err = io::stderr().lock();
        let text = format!("{}{}", erased(before), lines.join("\r\n"));
        drop(write!(err, "{text}").and_then(|()| err.flush()));
    }

    /// Takes the spinner, or the lanes, off their lines.
    fn clear(&self) {
        let drawn = self.drawn.swap(0, Ordering::Relaxed);
        if drawn > 0 {
            let mut err = io::stderr().lock();
            drop(write!(err, "{}", erased(drawn)).and_then(|()| err.flush()));
        }
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What takes so many lines away, of which the cursor stands on the last, and leaves it on the first.
fn erased(lines: usize) -> String {
    match lines {
        0 => String::new(),
        1 => "\r\u{1b}[2K".to_owned(),
        lines => format!("\r\u{1b}[{}A\u{1b}[J", lines - 1),
    }
}

/// The columns of the terminal that is written to.
fn columns() -> Option<usize> {
    #[cfg(unix)]
    {
        let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    }
    #[cfg(not(unix))]
    None
}
