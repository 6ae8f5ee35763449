//! Polls the tasks of a world, one at a time, in an order that the dice say.

use std::{
    collections::BTreeMap,
    sync::Arc,
    task::{Context, Waker},
};

use hanok_core::BoxFuture;

use crate::{
    core::{Core, TaskWaker},
    numbers::{Process, TaskNumber},
};

/// The tasks of all processes.
pub(crate) struct Executor {
    core: Arc<Core>,
    tasks: BTreeMap<TaskNumber, ScheduledTask>,
}

struct ScheduledTask {
    process: Process,
    future: BoxFuture<'static, ()>,
    flag: Arc<TaskWaker>,
    waker: Waker,
}

impl Executor {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core, tasks: BTreeMap::new() }
    }

    /// Polls one task, or lets time pass if none is ready. False if nothing can ever happen.
    pub(crate) fn turn(&mut self) -> bool {
        self.settle();
        let tasks = &self.tasks;
        let frozen = self.core.frozen();
        let may =
            |number| tasks.get(&number).is_none_or(|task| !frozen.contains_key(&task.process));
        let Some(number) = self.core.choose(may) else { return self.core.pass() };
        let Some(task) = self.tasks.get_mut(&number) else { return true };
        self.core.inner().note("poll", [number, u64::from(task.process), 0], String::new);
        task.flag.polled();
        let ended = task.future.as_mut().poll(&mut Context::from_waker(&task.waker)).is_ready();
        if ended {
            drop(self.tasks.remove(&number));
        }
        self.settle();
        self.core.tick();
        true
    }

    /// Starts what was started and drops what was aborted, until neither is left.
    pub(crate) fn settle(&mut self) {
        loop {
            let mut inner = self.core.inner();
            let started = std::mem::take(&mut inner.started);
            let aborted = std::mem::take(&mut inner.aborted);
            drop(inner);
            if started.is_empty() && aborted.is_empty() {
                return;
            }
            for (number, process, future) in started {
                let flag = self.core.waker(number);
                let waker = Waker::from(Arc::clone(&flag));
                self.tasks.insert(number, ScheduledTask { process, future, flag, waker });
            }
            // What is dropped may abort others.
            for number in aborted {
                drop(self.tasks.remove(&number));
            }
        }
    }

    /// Drops all tasks of `process`.
    pub(crate) fn kill(&mut self, process: Process) {
        self.settle();
        let of_process = |(number, task): (&TaskNumber, &ScheduledTask)| {
            (task.process == process).then_some(*number)
        };
        let numbers: Vec<_> = self.tasks.iter().filter_map(of_process).collect();
        for number in numbers {
            drop(self.tasks.remove(&number));
        }
        // Whatever the drops have started is part of the process, too.
        let mut inner = self.core.inner();
        let started = std::mem::take(&mut inner.started);
        let (dead, rest): (Vec<_>, Vec<_>) =
            started.into_iter().partition(|(_, of, _)| *of == process);
        inner.started = rest;
        drop(inner);
        drop(dead);
        self.settle();
    }

    /// The process of a task that is not over.
    pub(crate) fn process(&self, number: TaskNumber) -> Option<Process> {
        self.tasks.get(&number).map(|task| task.process)
    }

    /// Drops one task.
    pub(crate) fn abort(&mut self, number: TaskNumber) {
        self.core.inner().aborted.push(number);
        self.settle();
    }

    /// The number of tasks.
    pub(crate) fn count(&self) -> usize {
        self.tasks.len()
    }
}
