//! Where a person types, or a program writes: the lines of the input, and the answers in them.

use std::io::{self, BufRead, Read};

use futures::{SinkExt, StreamExt, channel::mpsc, executor::block_on};
use hanok_core::Printable;
use serde_json::Value;

use crate::{
    Screen,
    elicitation::{self, ServerQuestion},
    failure::Failure,
    form::Field,
    interrupts::Interrupts,
    typed::{TypedLine, Typist},
};

/// The longest line that is read, in bytes.
const LONGEST: u64 = 16 * 1024 * 1024;

/// The input of a conversation.
#[derive(Debug)]
pub(crate) struct Keyboard {
    pub(crate) interrupts: Interrupts,
    lines: Option<mpsc::Receiver<io::Result<String>>>,
    typist: Option<Typist>,
    /// What is completed.
    commands: Vec<String>,
}

/// What was read of the input.
#[derive(Debug)]
pub(crate) enum Line {
    Text(String),
    End,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

impl Keyboard {
    /// Listens from now on. `commands` are completed.
    pub(crate) fn new(commands: Vec<String>) -> Self {
        Self { interrupts: Interrupts::new(), lines: None, typist: None, commands }
    }

    /// The next line of the input, which a person is asked for with `prompt`.
    pub(crate) async fn line(&mut self, prompt: &str, screen: &Screen) -> Result<Line, Failure> {
        if self.interrupts.is_ending() {
            return Ok(Line::Interrupted);
        }
        if screen.is_asking() {
            let typist = self.typist.get_or_insert_with(|| Typist::new(self.commands.clone()));
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
    pub(crate) async fn reply_line(
        &mut self,
        prompt: &str,
        screen: &Screen,
    ) -> Result<Line, Failure> {
        screen.pause();
        self.line(&format!("{}: ", Printable(prompt)), screen).await
    }

    /// The values of `fields`, asked for one after the other; `None` when the person stops.
    pub(crate) async fn values(
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

    /// The answer of the person who types to a server's question; `None` when they stop.
    pub(crate) async fn elicited(
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
