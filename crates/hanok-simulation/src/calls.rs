//! Calls of a thread, and whatever befalls them.

use std::time::Duration;

use hanok_checkpoint::LEASE;
use hanok_core::Cancellation;

use crate::{
    World,
    act::Act,
    build::ThreadCall,
    client::{Action, Client, Heard},
    faults::{Fault, Faults},
    numbers::Process,
    play::{Alive, Became, Play},
    seams,
};

/// Three hours, in milliseconds: how far clocks may be apart.
const HOURS: usize = 3 * 3_600_000;

/// The polls that a run may take.
const POLLS: u64 = 2_000_000;

impl Play<'_> {
    /// Acts, all at once, and waits until each has a reply or is lost.
    pub(crate) fn call(&mut self, actions: Vec<Action>) -> Result<Vec<Became>, String> {
        let mut clients = Vec::with_capacity(actions.len());
        for action in actions {
            let at = self.process()?;
            clients.push(self.client(at, action)?);
        }
        let mut lost = vec![false; clients.len()];
        loop {
            let open =
                clients.iter().zip(&lost).any(|(client, lost)| !lost && !client.heard.has_reply());
            if !open {
                break;
            }
            let ended = self.befall(&clients)?;
            for (client, lost) in clients.iter().zip(&mut lost) {
                *lost |= ended.has(client);
            }
        }
        // Who knows that all inputs were taken may come back at once, and who may give one twice.
        if !self.script.settings.names_runs && !self.has_all_inputs() {
            self.rest(&clients)?;
        }
        let mut became = Vec::with_capacity(clients.len());
        let alone = clients.len() == 1;
        for (client, lost) in clients.into_iter().zip(lost) {
            self.shown.push((self.thread.clone(), client.heard.events()));
            let reply = if lost { None } else { client.heard.take_reply() };
            let process = client.process;
            let misread = {
                let mut inner = self.core.inner();
                if lost {
                    inner.haunted.insert(process);
                }
                inner.misread.remove(&process) && !inner.haunted.contains(&process)
            };
            if let (true, true, Some(Ok(_))) = (misread, alone, &reply) {
                return Err("P7: a damaged record was read as if it were whole".to_owned());
            }
            became.push(reply);
        }
        Ok(became)
    }

    /// Waits until no process of `clients` appends any more for a call that was dropped: until then nobody knows
    /// whether its input was taken, and whoever gives it again gives it twice.
    fn rest(&mut self, clients: &[Client]) -> Result<(), String> {
        let is_busy = |play: &Self| {
            let frozen = &play.core.inner().frozen;
            let mut asked = play.alive.iter().filter(|alive| {
                let number = alive.number;
                !frozen.contains_key(&number) && clients.iter().any(|one| one.process == number)
            });
            asked.any(|alive| alive.service.running() > 0)
        };
        while is_busy(self) {
            self.turn()?;
            self.bury();
        }
        Ok(())
    }

    pub(crate) fn client(&mut self, at: usize, action: Action) -> Result<Client, String> {
        let watched = self.dice.one_in(2);
        let lag = watched.then(|| self.lag());
        let Some(alive) = self.alive.get(at) else { return Err("no process".to_owned()) };
        let (process, runs, heard) = (alive.number, action.runs(), Heard::default());
        let (cancel, drain) = (Cancellation::default(), Cancellation::default());
        let call = alive.service.call(ThreadCall {
            thread: self.thread.clone(),
            action,
            new_input: self.script.settings.new_input,
            cancel: cancel.clone(),
            drain: drain.clone(),
            lag,
            heard: heard.clone(),
        });
        let task = seams::start(&self.core, process, call);
        Ok(Client { task, process, runs, cancel, drain, heard })
    }

    /// For how long a caller lets its events wait.
    fn lag(&mut self) -> Duration {
        let lags = self.score.faults.has(Fault::Lag) && self.dice.one_in(4);
        if !lags {
            return Duration::ZERO;
        }
        let mut inner = self.core.inner();
        inner.fate.befallen.push((Fault::Lag, "a reader".to_owned()));
        drop(inner);
        Duration::from_millis(1 + self.dice.below(60_000) as u64)
    }

    /// Polls once, and lets befall what befalls.
    fn befall(&mut self, clients: &[Client]) -> Result<LostCalls, String> {
        self.turn()?;
        let mut over = LostCalls::default();
        over.processes.extend(self.beside()?);
        let dying = std::mem::take(&mut self.core.inner().dying);
        for process in dying {
            self.kill(process);
            over.processes.push(process);
        }
        let victim = clients.iter().find(|client| !client.heard.has_reply());
        let Some(victim) = victim.filter(|victim| !over.has(victim)) else { return Ok(over) };
        let Some(fault) = self.core.inner().fate.poll() else { return Ok(over) };
        let may = match fault {
            Fault::MachineCrash => self.script.settings.acts.iter().all(Act::is_input),
            // Whoever does not know whether an input was taken must not give it again while its process lives.
            Fault::Freeze => {
                victim.runs && (self.script.settings.names_runs || self.has_all_inputs())
            }
            Fault::Cancel | Fault::Drain => victim.runs,
            _ => true,
        };
        if !may {
            return Ok(over);
        }
        let mut inner = self.core.inner();
        inner.fate.befell(fault);
        inner.befell(victim.process, fault);
        drop(inner);
        match fault {
            Fault::Crash => {
                self.kill(victim.process);
                over.processes.push(victim.process);
            }
            Fault::MachineCrash => {
                let all: Vec<_> = self.alive.iter().map(|alive| alive.number).collect();
                all.iter().for_each(|process| self.kill(*process));
                over.processes.extend(all);
                let mut inner = self.core.inner();
                inner.disk.lose(&mut self.dice);
            }
            Fault::Freeze => {
                let long = LEASE.as_millis() as u64 + self.dice.below(20_000) as u64;
                let mut inner = self.core.inner();
                let until = inner.now + long;
                inner.frozen.insert(victim.process, until);
                drop(inner);
                over.processes.push(victim.process);
            }
            Fault::Drop => {
                self.executor.abort(victim.task);
                over.clients.push(victim.task);
            }
            Fault::Cancel => victim.cancel.cancel(),
            Fault::Drain => victim.drain.cancel(),
            _ => {}
        }
        Ok(over)
    }

    pub(crate) fn turn(&mut self) -> Result<(), String> {
        self.polls += 1;
        if self.polls > POLLS {
            return Err("it does not come to its end".to_owned());
        }
        if self.executor.turn() { Ok(()) } else { Err("nothing can go on".to_owned()) }
    }

    /// Lets `millis` pass.
    pub(crate) fn wait(&mut self, millis: u64) -> Result<(), String> {
        let sleep = seams::sleep(&self.core, Duration::from_millis(millis));
        let until = self.core.inner().now + millis;
        seams::start(&self.core, Process::MAX, Box::pin(sleep));
        while self.core.inner().now < until {
            self.turn()?;
            self.bury();
        }
        Ok(())
    }

    /// Ends the processes that are about to die.
    pub(crate) fn bury(&mut self) {
        let dying = std::mem::take(&mut self.core.inner().dying);
        dying.into_iter().for_each(|process| self.kill(process));
    }

    pub(crate) fn kill(&mut self, process: Process) {
        self.executor.kill(process);
        self.alive.retain(|alive| alive.number != process);
        let mut inner = self.core.inner();
        inner.frozen.remove(&process);
        inner.misread.remove(&process);
    }

    /// A process of the newest build that can be called: any of them, or a new one.
    pub(crate) fn process(&mut self) -> Result<usize, String> {
        let frozen = self.core.frozen();
        let is_able =
            |alive: &Alive| alive.build == self.build && !frozen.contains_key(&alive.number);
        let able: Vec<_> =
            (0..).zip(&self.alive).filter(|(_, alive)| is_able(alive)).map(|(at, _)| at).collect();
        let is_new = self.score.faults != Faults::none() && self.dice.one_in(8);
        if let (Some(at), false) = (self.dice.pick(&able).copied(), is_new) {
            return Ok(at);
        }
        let number = self.processes;
        self.processes += 1;
        self.set_clock(number);
        let world = World::new(&self.core, number);
        let service = self.started(&world, world.checkpointer())?;
        self.alive.push(Alive { number, build: self.build, service });
        Ok(self.alive.len() - 1)
    }

    /// Some processes have a clock that is wrong by up to three hours.
    fn set_clock(&mut self, process: Process) {
        if !self.score.faults.has(Fault::Skew) || !self.dice.one_in(4) {
            return;
        }
        let apart = self.dice.below(2 * HOURS) as i64 - HOURS as i64;
        let mut inner = self.core.inner();
        inner.skews.insert(process, apart);
        inner.fate.befallen.push((Fault::Skew, format!("process {process}, {apart} ms")));
    }

    /// Waits until every task of every process is over.
    pub(crate) fn settle(&mut self) -> Result<(), String> {
        let last = self.core.inner().now + 3_600_000;
        self.executor.settle();
        while self.executor.count() > 0 {
            self.turn()?;
            self.bury();
            self.executor.settle();
            if self.core.inner().now > last {
                return Err(format!("{} tasks are left when all is over", self.executor.count()));
            }
        }
        let running: usize = self.alive.iter().map(|alive| alive.service.running()).sum();
        match running {
            0 => Ok(()),
            running => Err(format!("{running} runs are under way when all is over")),
        }
    }
}

/// Which calls are lost.
#[derive(Debug, Default)]
struct LostCalls {
    processes: Vec<Process>,
    clients: Vec<u64>,
}

impl LostCalls {
    fn has(&self, client: &Client) -> bool {
        self.processes.contains(&client.process) || self.clients.contains(&client.task)
    }
}
