//! The lines of a person who types: edited in place, with those before them and completed commands.

use std::{io, thread};

use futures::{SinkExt, StreamExt, channel::mpsc, executor::block_on};
use rustyline::{
    Behavior, CompletionType, Config, Context, Editor, Helper, completion::Completer,
    error::ReadlineError, highlight::Highlighter, hint::Hinter, history::MemHistory,
    validate::Validator,
};

/// What a question is asked for with.
pub(crate) const QUESTION: &str = "질문> ";

/// What was typed.
#[derive(Debug)]
pub(crate) enum TypedLine {
    Text(String),
    /// Ctrl-D.
    End,
    /// Ctrl-C.
    Interrupted,
}

/// A person at a terminal. A line is read only when it is asked for: while nothing is asked, Ctrl-C is the program's.
#[derive(Debug)]
pub(crate) struct Typist {
    asked: mpsc::Sender<String>,
    typed: mpsc::Receiver<io::Result<TypedLine>>,
    /// How the terminal was before.
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

impl Typist {
    /// Begins to listen. `commands` are completed.
    pub(crate) fn new(commands: Vec<String>) -> Self {
        let (asked, mut questions) = mpsc::channel::<String>(0);
        let (mut answers, typed) = mpsc::channel(0);
        #[cfg(unix)]
        let before = rustix::termios::tcgetattr(io::stdin()).ok();
        // It does not keep the program from ending.
        thread::spawn(move || {
            let mut editor = editor(commands);
            while let Some(prompt) = block_on(questions.next()) {
                let line = match &mut editor {
                    Ok(editor) => read(editor, &prompt),
                    Err(error) => Err(io::Error::other(error.to_string())),
                };
                if block_on(answers.send(line)).is_err() {
                    return;
                }
            }
        });
        Self {
            asked,
            typed,
            #[cfg(unix)]
            before,
        }
    }

    /// The next line, asked for with `prompt`. A call that is dropped leaves its line to the next one.
    pub(crate) async fn line(&mut self, prompt: &str) -> io::Result<TypedLine> {
        // Whoever still reads for a call that was dropped is not asked again.
        let _ = self.asked.try_send(prompt.to_owned());
        self.typed.next().await.unwrap_or(Ok(TypedLine::End))
    }
}

/// A program that ends while somebody types leaves the terminal as it was.
#[cfg(unix)]
impl Drop for Typist {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let now = rustix::termios::OptionalActions::Now;
            // Where it cannot be set there is no terminal any more.
            let _ = rustix::termios::tcsetattr(io::stdin(), now, before);
        }
    }
}

/// Completes commands.
struct Commands(Vec<String>);

impl Completer for Commands {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let begin = line.get(..at).unwrap_or_default();
        let fits = |command: &&String| begin.starts_with('/') && command.starts_with(begin);
        Ok((0, self.0.iter().filter(fits).cloned().collect()))
    }
}

impl Hinter for Commands {
    type Hint = String;
}

impl Highlighter for Commands {}
impl Validator for Commands {}
impl Helper for Commands {}

type Lines = Editor<Commands, MemHistory>;

fn editor(commands: Vec<String>) -> rustyline::Result<Lines> {
    let config = Config::builder()
        .behavior(Behavior::PreferTerm)
        .completion_type(CompletionType::List)
        .build();
    let mut editor = Editor::with_history(config, MemHistory::new())?;
    editor.set_helper(Some(Commands(commands)));
    Ok(editor)
}

fn read(editor: &mut Lines, prompt: &str) -> io::Result<TypedLine> {
    match editor.readline(prompt) {
        Ok(line) => {
            if prompt == QUESTION && !line.trim().is_empty() {
                editor
                    .add_history_entry(line.as_str())
                    .map_err(|error| io::Error::other(error.to_string()))?;
            }
            Ok(TypedLine::Text(line))
        }
        Err(ReadlineError::Eof) => Ok(TypedLine::End),
        Err(ReadlineError::Interrupted) => Ok(TypedLine::Interrupted),
        Err(ReadlineError::Io(error)) => Err(error),
        Err(error) => Err(io::Error::other(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use rustyline::history::MemHistory;

    use super::*;

    #[test]
    fn a_command_is_completed_and_a_question_is_not() {
        let commands = ["/history", "/help", "/fork"].map(str::to_owned).to_vec();
        let (history, commands) = (MemHistory::new(), Commands(commands));
        for (line, want) in [
            ("/h", vec!["/history", "/help"]),
            ("/", vec!["/history", "/help", "/fork"]),
            ("h", vec![]),
        ] {
            let context = Context::new(&history);
            assert_eq!(commands.complete(line, line.len(), &context).unwrap().1, want, "{line}");
        }
    }
}
