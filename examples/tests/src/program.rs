//! An example's program, run by its tests as somebody would run it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

pub mod broken;
pub mod http;

use std::{
    env,
    process::{Command, Output, Stdio},
};
#[cfg(unix)]
use std::{
    fs::{File, OpenOptions},
    io::Read,
    process::{Child, ExitStatus},
};

/// The program of the example `name`, which is built in the folder of the test's, with `arguments`, the offline model and nothing to read.
///
/// # Panics
///
/// The program is not built.
pub fn command(name: &str, arguments: &[&str]) -> Command {
    let test = env::current_exe().unwrap();
    let path = test.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(
        path.exists(),
        "{} is not there; build it first: cargo build --workspace --all-features --examples",
        path.display()
    );
    let mut command = Command::new(path);
    for name in [
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
        "OPENAI_MODEL",
        "OPENAI_EMBEDDING_MODEL",
        "OPENAI_TIMEOUT",
    ] {
        command.env_remove(name);
    }
    command.args(arguments).stdin(Stdio::null());
    command
}

/// How a program ended, and what it said.
#[derive(Debug)]
pub struct Said {
    /// Its exit.
    pub code: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

/// What `output` says.
///
/// # Panics
///
/// The program panicked, or printed what acts on a terminal, or no text.
pub fn said(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let said =
        Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
    assert!(!said.err.contains("panicked"), "{}", said.err);
    for text in [&said.out, &said.err] {
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
    said
}

/// A program on a terminal of its own, as a person sees it.
#[cfg(unix)]
#[derive(Debug)]
pub struct Watched {
    child: Child,
    screen: File,
    /// All that it has written.
    pub written: String,
    /// The beginning of a letter whose end has not come.
    rest: Vec<u8>,
    /// What was waited for ends before this byte.
    at: usize,
}

#[cfg(unix)]
impl Watched {
    /// Starts `command` with both of its outputs on a new terminal, and nothing to read.
    ///
    /// # Panics
    ///
    /// There is no terminal, or the program does not start.
    pub fn start(command: Command) -> Self {
        Self::of(command, false)
    }

    /// Starts `command` on a new terminal, at which somebody [types](Self::types).
    ///
    /// # Panics
    ///
    /// There is no terminal, or the program does not start.
    pub fn typing(command: Command) -> Self {
        Self::of(command, true)
    }

    /// Types `line`, and presses the key that sends it.
    ///
    /// # Panics
    ///
    /// The terminal takes nothing.
    pub fn types(&mut self, line: &str) {
        use std::io::Write;
        self.screen.write_all(format!("{line}\r").as_bytes()).unwrap();
    }

    fn of(mut command: Command, types: bool) -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap().into_string().unwrap();
        let terminal = OpenOptions::new().read(true).write(true).open(name).unwrap();
        let size = rustix::termios::Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&terminal, size).unwrap();
        command.env_remove("NO_COLOR").env("TERM", "xterm").stdin(match types {
            true => Stdio::from(terminal.try_clone().unwrap()),
            false => Stdio::null(),
        });
        command.stdout(terminal.try_clone().unwrap()).stderr(terminal);
        let child = command.spawn().unwrap();
        // Its copies of the terminal are the command's: with the last one closed, the reader comes to an end.
        drop(command);
        Self { child, screen: File::from(screen), written: String::new(), rest: Vec::new(), at: 0 }
    }

    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Reads until `is_there` finds what it looks for in all that was written.
    ///
    /// # Panics
    ///
    /// The program ends before.
    pub fn read_until(&mut self, is_there: impl Fn(&str) -> bool) {
        while !is_there(&self.written) {
            assert!(self.read(), "it has ended: {:?}", self.written);
        }
    }

    /// Reads until `words` stand behind those that were waited for before, however many pieces they come in.
    ///
    /// # Panics
    ///
    /// The program ends before.
    pub fn reads(&mut self, words: &str) {
        let at = self.at;
        let end = |written: &str| {
            let behind = written.get(at..).unwrap_or_default();
            behind.find(words).map(|place| at + place + words.len())
        };
        self.read_until(|written| end(written).is_some());
        self.at = end(&self.written).unwrap_or(at);
    }

    /// Reads to the end.
    ///
    /// # Panics
    ///
    /// The program cannot be waited for.
    pub fn end(mut self) -> (ExitStatus, String) {
        while self.read() {}
        (self.child.wait().unwrap(), self.written)
    }

    /// Reads on; false at the end, which is an error of a terminal whose other side is closed.
    fn read(&mut self) -> bool {
        let mut piece = [0; 4096];
        match self.screen.read(&mut piece) {
            Ok(0) | Err(_) => false,
            Ok(read) => {
                self.rest.extend(piece.get(..read).unwrap_or_default());
                let whole = match std::str::from_utf8(&self.rest) {
                    Err(error) if error.error_len().is_none() => error.valid_up_to(),
                    _ => self.rest.len(),
                };
                let whole: Vec<_> = self.rest.drain(..whole).collect();
                self.written += &String::from_utf8_lossy(&whole);
                true
            }
        }
    }
}

/// What stands on a terminal in the end on which `written` was written, line by line.
///
/// # Panics
///
/// It holds what an example does not write.
pub fn on_screen(written: &str) -> Vec<String> {
    let (mut lines, mut row, mut column) = (vec![Vec::<char>::new()], 0_usize, 0_usize);
    let mut chars = written.chars();
    while let Some(c) = chars.next() {
        match c {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{1b}' => {
                let mut number = String::new();
                let command = loop {
                    match chars.next() {
                        Some('[') => {}
                        Some(digit) if digit.is_ascii_digit() => number.push(digit),
                        other => break other,
                    }
                };
                match (command, number.parse::<usize>().unwrap_or(1)) {
                    (Some('A'), up) => row -= up,
                    (Some('J'), _) => {
                        lines.truncate(row + 1);
                        lines.iter_mut().skip(row).for_each(|line| line.truncate(column));
                    }
                    (Some('K'), 2) => lines.iter_mut().skip(row).take(1).for_each(Vec::clear),
                    other => panic!("no example writes {other:?}"),
                }
            }
            c => {
                if lines.len() <= row {
                    lines.resize(row + 1, Vec::new());
                }
                let line = &mut lines[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = c;
                column += 1;
            }
        }
    }
    lines.into_iter().map(|line| line.into_iter().collect()).collect()
}
