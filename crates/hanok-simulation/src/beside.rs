//! Events that befall a thread while a turn goes on.

use hanok_checkpoint::{Body, CheckpointError};
use hanok_core::Changes;
use hanok_graph::RunError;

use crate::{
    act::Beside,
    client::{Action, Client},
    numbers::Process,
    play::Play,
};

/// Within so many polls of a turn it happens, or at the turn's end.
const MOMENTS: usize = 150;

/// The plans for a turn, each with the poll before which it happens, and the clients at work on them.
#[derive(Default)]
pub(crate) struct Besides {
    plans: Vec<(u64, Beside)>,
    clients: Vec<Client>,
    /// The updates that erase something between two runs.
    erasures: Vec<Changes>,
}

impl Play<'_> {
    /// Plans it for some moment of the next turn; it happens at once in a run in which nothing goes wrong.
    pub(crate) fn plan(&mut self, beside: Beside) -> Result<(), String> {
        if let Beside::Erase(update) = beside {
            self.besides.erasures.push(update?);
            return Ok(());
        }
        if self.stage.is_quiet() {
            self.begin(beside)?;
            return self.rest_beside();
        }
        let at = self.stage.polls + self.stage.dice.below(MOMENTS) as u64;
        self.besides.plans.push((at, beside));
        Ok(())
    }

    /// Begins what is due; the processes that die of it.
    pub(crate) fn beside(&mut self) -> Result<Vec<Process>, String> {
        let polls = self.stage.polls;
        let due: Vec<_> = self.besides.plans.extract_if(.., |(at, _)| *at <= polls).collect();
        let mut dead = Vec::new();
        for (_, beside) in due {
            dead.extend(self.begin(beside)?);
        }
        Ok(dead)
    }

    fn begin(&mut self, beside: Beside) -> Result<Vec<Process>, String> {
        match beside {
            Beside::Prune(keep) => {
                let at = self.process()?;
                let client = self.client(at, Action::Prune(keep))?;
                self.besides.clients.push(client);
                Ok(Vec::new())
            }
            Beside::Deploy => Ok(self.deploy()),
            Beside::Erase(update) => {
                self.besides.erasures.push(update?);
                Ok(Vec::new())
            }
        }
    }

    /// Tries to erase what is to be erased, between two runs of a turn: what is in doubt, and a run, are in the way.
    pub(crate) fn between(&mut self) -> Result<(), String> {
        let Some(erasure) = self.besides.erasures.first().cloned() else { return Ok(()) };
        if !self.stage.is_quiet() && self.stage.dice.one_in(2) {
            return Ok(());
        }
        let before = self.erased();
        for reply in self.call(vec![Action::Erase(erasure)])?.into_iter().flatten() {
            self.judge(reply, true)?;
        }
        if self.erased() > before {
            self.besides.erasures.remove(0);
        }
        Ok(())
    }

    /// The number of times that something was erased from the thread.
    fn erased(&self) -> usize {
        let entries = self.entries(&self.thread);
        entries.iter().filter(|entry| is_erased(&entry.entry.body)).count()
    }

    /// From here on processes are of the next build. The others die, but for those that stand still, or all finish their calls.
    fn deploy(&mut self) -> Vec<Process> {
        self.build += 1;
        self.stage.core.inner().note("deploy", [self.build as u64, 0, 0], String::new);
        if self.stage.is_quiet() || self.stage.dice.one_in(2) {
            return Vec::new();
        }
        let frozen = self.stage.core.frozen();
        let numbers = self.stage.alive.iter().map(|alive| alive.number);
        let dead: Vec<_> = numbers.filter(|number| !frozen.contains_key(number)).collect();
        dead.iter().for_each(|process| self.stage.kill(*process));
        dead
    }

    /// Begins what has not happened while the turn went on, and waits until all of it is over.
    pub(crate) fn rest_beside(&mut self) -> Result<(), String> {
        for (_, beside) in std::mem::take(&mut self.besides.plans) {
            self.begin(beside)?;
        }
        for erasure in std::mem::take(&mut self.besides.erasures) {
            self.until(is_erased, |_| Some(Action::Erase(erasure.clone())))?;
        }
        for client in std::mem::take(&mut self.besides.clients) {
            let lives = |play: &Self| {
                play.stage.alive.iter().any(|alive| alive.number == client.process)
                    && !play.stage.core.inner().frozen.contains_key(&client.process)
            };
            while lives(self) && !client.heard.has_reply() {
                self.stage.turn()?;
                self.stage.bury();
            }
            match client.heard.take_reply() {
                // It moves faster than it can be cut.
                None | Some(Err(RunError::Checkpoint(CheckpointError::Conflict { .. }))) => {}
                Some(reply) => drop(self.judge(reply, true)?),
            }
        }
        Ok(())
    }
}

fn is_erased(body: &Body) -> bool {
    matches!(body, Body::Erased(_))
}
