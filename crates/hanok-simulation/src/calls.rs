//! Calls of a thread, and whatever befalls them.

use std::time::Duration;

use hanok_core::Cancellation;

use crate::{
    act::Act,
    build::ThreadCall,
    client::{Action, Client, Heard},
    faults::Fault,
    numbers::Process,
    play::{Became, Deployed, Play},
    seams,
};

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
                let mut inner = self.stage.core.inner();
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
            let frozen = &play.stage.core.inner().frozen;
            let mut asked = play.stage.alive.iter().filter(|alive| {
                let number = alive.number;
                !frozen.contains_key(&number) && clients.iter().any(|one| one.process == number)
            });
            asked.any(|alive| alive.process.service.running() > 0)
        };
        while is_busy(self) {
            self.stage.turn()?;
            self.stage.bury();
        }
        Ok(())
    }

    pub(crate) fn client(&mut self, at: usize, action: Action) -> Result<Client, String> {
        let watched = self.stage.dice.one_in(2);
        let lag = watched.then(|| self.lag());
        let Some(alive) = self.stage.alive.get(at) else { return Err("no process".to_owned()) };
        let (process, runs, heard) = (alive.number, action.runs(), Heard::default());
        let (cancel, drain) = (Cancellation::default(), Cancellation::default());
        let call = alive.process.service.call(ThreadCall {
            thread: self.thread.clone(),
            action,
            new_input: self.script.settings.new_input,
            cancel: cancel.clone(),
            drain: drain.clone(),
            lag,
            heard: heard.clone(),
        });
        let task = seams::start(&self.stage.core, process, call);
        Ok(Client { task, process, runs, cancel, drain, heard })
    }

    /// For how long a caller lets its events wait.
    fn lag(&mut self) -> Duration {
        let lags = self.stage.faults.has(Fault::Lag) && self.stage.dice.one_in(4);
        if !lags {
            return Duration::ZERO;
        }
        let mut inner = self.stage.core.inner();
        inner.fate.befallen.push((Fault::Lag, "a reader".to_owned()));
        drop(inner);
        Duration::from_millis(1 + self.stage.dice.below(60_000) as u64)
    }

    /// Polls once, and lets befall what befalls.
    fn befall(&mut self, clients: &[Client]) -> Result<LostCalls, String> {
        self.stage.turn()?;
        let mut over = LostCalls::default();
        over.processes.extend(self.beside()?);
        over.processes.extend(self.stage.bury());
        let victim = clients.iter().find(|client| !client.heard.has_reply());
        let Some(victim) = victim.filter(|victim| !over.has(victim)) else { return Ok(over) };
        let Some(fault) = self.stage.core.inner().fate.poll() else { return Ok(over) };
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
        over.processes.extend(self.stage.strike(victim.process, fault));
        match fault {
            Fault::Drop => {
                self.stage.executor.abort(victim.task);
                over.clients.push(victim.task);
            }
            Fault::Cancel => victim.cancel.cancel(),
            Fault::Drain => victim.drain.cancel(),
            _ => {}
        }
        Ok(over)
    }

    /// A process of the newest build that can be called: any of them, or a new one.
    pub(crate) fn process(&mut self) -> Result<usize, String> {
        let (script, build) = (self.script, self.build);
        let able = self.stage.able(|deployed| deployed.build == build);
        let is_new = !self.stage.is_quiet() && self.stage.dice.one_in(8);
        if let (Some(at), false) = (self.stage.dice.pick(&able).copied(), is_new) {
            return Ok(at);
        }
        self.stage.start(|world| {
            let service = script.started(build, world, world.checkpointer())?;
            Ok(Deployed { build, service })
        })
    }

    /// Waits until every task of every process is over.
    pub(crate) fn settle(&mut self) -> Result<(), String> {
        let last = self.stage.core.inner().now + 3_600_000;
        self.stage.executor.settle();
        while self.stage.executor.count() > 0 {
            self.stage.turn()?;
            self.stage.bury();
            self.stage.executor.settle();
            if self.stage.core.inner().now > last {
                return Err(format!(
                    "{} tasks are left when all is over",
                    self.stage.executor.count()
                ));
            }
        }
        let running: usize =
            self.stage.alive.iter().map(|alive| alive.process.service.running()).sum();
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
