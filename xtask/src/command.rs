//! Child processes: without standard input, with their output kept until it is known to matter.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::result::{Error, Result};

/// A model server named here would make tests and examples talk to it.
const MODEL_VARIABLES: [&str; 5] = [
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_MODEL",
    "OPENAI_EMBEDDING_MODEL",
    "OPENAI_TIMEOUT",
];

/// A program about to be run.
#[derive(Debug)]
pub(crate) struct Tool {
    command: Command,
    input: Vec<u8>,
    limit: Option<Duration>,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Both of its outputs, in the order it was written.
    pub(crate) output: String,
    /// `None` when a signal or the time limit ended it.
    pub(crate) code: Option<i32>,
    /// True if the time limit ended it.
    pub(crate) late: bool,
}

impl Ended {
    pub(crate) fn succeeded(&self) -> bool {
        self.code == Some(0)
    }
}

impl Tool {
    /// The Cargo that runs this very program, or the one on the path.
    pub(crate) fn cargo() -> Self {
        Self::named(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    /// The program `name` of the path.
    pub(crate) fn named(name: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(name);
        for variable in MODEL_VARIABLES {
            command.env_remove(variable);
        }
        Self { command, input: Vec::new(), limit: None }
    }

    /// Lets the program talk to the model's server that the environment names. Default: it knows of none.
    pub(crate) fn with_model(mut self) -> Self {
        for variable in MODEL_VARIABLES {
            if let Some(value) = std::env::var_os(variable) {
                self.command.env(variable, value);
            }
        }
        self
    }

    pub(crate) fn arguments<A: AsRef<OsStr>, I: IntoIterator<Item = A>>(mut self, all: I) -> Self {
        self.command.args(all);
        self
    }

    /// Runs the program in `folder`. Default: where this one runs.
    pub(crate) fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// The standard input of the program. Default: nothing.
    pub(crate) fn input(self, input: &str) -> Self {
        Self { input: input.into(), ..self }
    }

    /// When the program is ended by force. Default: never.
    pub(crate) fn limit(self, limit: Duration) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Runs the program to its end. It is no error if it fails.
    pub(crate) fn run(mut self) -> Result<Ended> {
        let (mut reader, writer) = std::io::pipe()?;
        self.command.stdout(writer.try_clone()?).stderr(writer);
        self.command.stdin(if self.input.is_empty() { Stdio::null() } else { Stdio::piped() });
        let mut child = self.command.spawn().map_err(|error| self.not_started(error))?;
        // The command holds the other end of the pipe: while it lives, reading never ends.
        drop(self.command);
        if let Some(mut stdin) = child.stdin.take() {
            // A program may end without reading; that is its right.
            thread::spawn(move || drop(stdin.write_all(&self.input)));
        }
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What could be read is worth more than the error that ended it.
            drop(reader.read_to_end(&mut bytes));
            drop(sender.send(bytes));
        });

        let end = self.limit.map(|limit| Instant::now() + limit);
        let mut late = false;
        let status = loop {
            match end {
                None => break child.wait()?,
                Some(_) if let Some(status) = child.try_wait()? => break status,
                Some(end) if Instant::now() >= end && !late => {
                    late = true;
                    child.kill()?;
                }
                Some(_) => thread::sleep(Duration::from_millis(20)),
            }
        };
        // A grandchild that outlives a killed program keeps the pipe open: do not wait for it.
        let patience = if late { Duration::from_secs(1) } else { Duration::from_secs(60) };
        let bytes = receiver.recv_timeout(patience).unwrap_or_default();
        let output = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Ended { output, code: status.code().filter(|_| !late), late })
    }

    /// Runs the program and shows its output meanwhile. Returns true if it succeeded.
    pub(crate) fn shown(self) -> Result<bool> {
        Ok(self.shown_code()? == Some(0))
    }

    /// Runs the program and shows its output meanwhile. Returns its exit code, `None` when a signal ended it.
    pub(crate) fn shown_code(mut self) -> Result<Option<i32>> {
        let status = self.command.stdin(Stdio::null()).status();
        Ok(status.map_err(|error| self.not_started(error))?.code())
    }

    /// Runs the program and returns its standard output alone. It is an error if it fails.
    pub(crate) fn text(mut self) -> Result<String> {
        let output = self.command.stdin(Stdio::null()).output();
        let output = output.map_err(|error| self.not_started(error))?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{:?} failed:\n{errors}", self.command).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    fn not_started(&self, error: std::io::Error) -> Error {
        format!("{}: {error}", self.command.get_program().display()).into()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Tool {
        Tool::named("sh").arguments(["-c", script])
    }

    #[test]
    fn a_program_has_its_input_its_exit_code_and_both_outputs_in_order() {
        let ended = shell("echo one; echo two >&2; echo three; exit 3").run().unwrap();
        assert_eq!((ended.output.as_str(), ended.code), ("one\ntwo\nthree\n", Some(3)));
        assert_eq!(shell("cat").input("질문\n").run().unwrap().output, "질문\n");
        assert_eq!(shell("cat").run().unwrap().output, "");
        assert_eq!(shell("exit 3").shown_code().unwrap(), Some(3));
        assert_eq!(shell("kill -9 $$").shown_code().unwrap(), None);
        let error = Tool::named("hanok-no-such-program").run().unwrap_err().to_string();
        assert!(error.starts_with("hanok-no-such-program: "), "{error}");
    }

    #[test]
    fn a_program_past_its_limit_is_ended_and_its_output_kept() {
        // A slow machine may need more time to begin: only one that never gets there has printed nothing.
        let outputs = [200, 2_000, 20_000, 100_000].into_iter().map(|limit| {
            let limit = Duration::from_millis(limit);
            let ended = shell("echo begun; exec sleep 999").limit(limit).run().unwrap();
            assert!(ended.late && ended.code.is_none());
            ended.output
        });
        let mut outputs = outputs.skip_while(String::is_empty);
        assert_eq!(outputs.next().as_deref(), Some("begun\n"));
    }
}
