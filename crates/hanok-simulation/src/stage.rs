//! The stage of one run: processes that live on one core, and the faults that befall them.

use std::{sync::Arc, time::Duration};

use hanok_checkpoint::LEASE;

use crate::{
    core::Core,
    dice::Dice,
    executor::Executor,
    faults::{Fault, Faults},
    numbers::Process,
    play::{Ending, Played, Score},
    seams,
    world::World,
};

/// Three hours, in milliseconds: how far clocks may be apart.
const HOURS: usize = 3 * 3_600_000;

/// The polls that a run may take.
const POLLS: u64 = 2_000_000;

/// A process that lives, or stands still.
pub(crate) struct Alive<P> {
    pub(crate) number: Process,
    pub(crate) process: P,
}

/// The processes of one run, their tasks and the dice of their callers.
pub(crate) struct Stage<P> {
    pub(crate) core: Arc<Core>,
    pub(crate) executor: Executor,
    pub(crate) alive: Vec<Alive<P>>,
    /// The number of processes that were started so far.
    pub(crate) processes: Process,
    pub(crate) faults: Faults,
    pub(crate) dice: Dice,
    pub(crate) polls: u64,
}

impl<P> Stage<P> {
    pub(crate) fn new(score: &Score) -> Self {
        let Score { seed, faults, places, traced } = score.clone();
        let core = Core::new(seed, faults.clone(), places, traced);
        Self {
            executor: Executor::new(Arc::clone(&core)),
            core,
            alive: Vec::new(),
            processes: 0,
            faults,
            dice: Dice::new(seed, 5),
            polls: 0,
        }
    }

    /// True in a run in which nothing goes wrong.
    pub(crate) fn is_quiet(&self) -> bool {
        self.faults == Faults::none()
    }

    /// Polls one task, or lets time pass.
    pub(crate) fn turn(&mut self) -> Result<(), String> {
        self.polls += 1;
        if self.polls > POLLS {
            return Err("it does not come to its end".to_owned());
        }
        if self.executor.turn() { Ok(()) } else { Err("nothing can go on".to_owned()) }
    }

    /// Makes sure that something happens when `millis` have passed; when that is.
    pub(crate) fn alarm(&self, millis: u64) -> u64 {
        let sleep = seams::sleep(&self.core, Duration::from_millis(millis));
        let until = self.core.inner().now.saturating_add(millis);
        seams::start(&self.core, Process::MAX, Box::pin(sleep));
        until
    }

    /// Lets `millis` pass in which nothing befalls but what did already.
    pub(crate) fn wait(&mut self, millis: u64) -> Result<(), String> {
        let until = self.alarm(millis);
        while self.core.inner().now < until {
            self.turn()?;
            self.bury();
        }
        Ok(())
    }

    /// Ends the processes that are about to die; which they were.
    pub(crate) fn bury(&mut self) -> Vec<Process> {
        let dying = std::mem::take(&mut self.core.inner().dying);
        dying.iter().for_each(|process| self.kill(*process));
        dying.into_iter().collect()
    }

    pub(crate) fn kill(&mut self, process: Process) {
        // Whatever its drop starts is dropped with its tasks.
        self.alive.retain(|alive| alive.number != process);
        self.executor.kill(process);
        let mut inner = self.core.inner();
        inner.frozen.remove(&process);
        inner.misread.remove(&process);
    }

    /// A fault befalls `victim`; the processes whose calls are lost of it.
    pub(crate) fn strike(&mut self, victim: Process, fault: Fault) -> Vec<Process> {
        let mut inner = self.core.inner();
        inner.fate.befell(fault);
        inner.befell(victim, fault);
        drop(inner);
        match fault {
            Fault::Crash => {
                self.kill(victim);
                vec![victim]
            }
            Fault::MachineCrash => {
                let all: Vec<_> = self.alive.iter().map(|alive| alive.number).collect();
                all.iter().for_each(|process| self.kill(*process));
                self.core.inner().disk.lose(&mut self.dice);
                all
            }
            Fault::Freeze => {
                let long = LEASE.as_millis() as u64 + self.dice.below(20_000) as u64;
                let mut inner = self.core.inner();
                let until = inner.now + long;
                inner.frozen.insert(victim, until);
                vec![victim]
            }
            _ => Vec::new(),
        }
    }

    /// The places of those that `may` be called and do not stand still.
    pub(crate) fn able(&self, may: impl Fn(&P) -> bool) -> Vec<usize> {
        let frozen = self.core.frozen();
        let is_able = |alive: &Alive<P>| may(&alive.process) && !frozen.contains_key(&alive.number);
        (0..).zip(&self.alive).filter(|(_, alive)| is_able(alive)).map(|(at, _)| at).collect()
    }

    /// Starts one process more; its place.
    pub(crate) fn start(
        &mut self,
        start: impl FnOnce(&World) -> Result<P, String>,
    ) -> Result<usize, String> {
        let number = self.processes;
        self.processes += 1;
        self.set_clock(number);
        let process = start(&World::new(&self.core, number))?;
        self.alive.push(Alive { number, process });
        Ok(self.alive.len() - 1)
    }

    /// Some processes have a clock that is wrong by up to three hours.
    fn set_clock(&mut self, process: Process) {
        if !self.faults.has(Fault::Skew) || !self.dice.one_in(4) {
            return;
        }
        let apart = self.dice.below(2 * HOURS) as i64 - HOURS as i64;
        let mut inner = self.core.inner();
        inner.skews.insert(process, apart);
        inner.fate.befallen.push((Fault::Skew, format!("process {process}, {apart} ms")));
    }

    /// Ends all processes, and tells what came of the run.
    pub(crate) fn end(self, ended: Result<Ending, String>) -> Played {
        let (core, polls) = (Arc::clone(&self.core), self.polls);
        // Tasks hold the world that holds them.
        drop(self);
        let mut inner = core.inner();
        let started = std::mem::take(&mut inner.started);
        let trace = std::mem::take(&mut inner.trace);
        let (counts, faults) = (inner.fate.counts(), std::mem::take(&mut inner.fate.befallen));
        drop(inner);
        drop(started);
        Played { ended, faults, polls, counts, digest: trace.digest(), lines: trace.into_lines() }
    }
}
