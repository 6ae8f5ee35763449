//! Groups of tasks that run at the same time.

use std::{
    future::poll_fn,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
};

use futures_util::task::AtomicWaker;
use hanok_core::{BoxFuture, Spawned, Spawner};

use crate::node::attempt::locked;

/// The number of tasks from which on one task starts the others. Started where tasks run, each is queued on that very
/// thread, and no other thread has to be woken.
const STARTED_BY_ONE: usize = 5;

/// Tasks that run at the same time.
pub(crate) struct Group<T> {
    ended: Mutex<Vec<(usize, T)>>,
    /// The number of tasks without a result.
    running: AtomicUsize,
    waker: AtomicWaker,
    handles: Mutex<Handles>,
}

#[derive(Default)]
struct Handles {
    spawned: Vec<Spawned>,
    /// True when nobody waits any more: no further task starts.
    closed: bool,
}

/// One task of a group. Dropped before its end, it has no result.
pub(crate) struct Part<T> {
    group: Arc<Group<T>>,
    index: usize,
}

/// A group that is waited for. Dropping it aborts its running tasks.
pub(crate) struct Started<T> {
    group: Arc<Group<T>>,
    ended: std::vec::IntoIter<(usize, T)>,
}

impl<T: Send + 'static> Group<T> {
    /// A group of this many tasks.
    pub(crate) fn of(tasks: usize) -> Arc<Self> {
        Arc::new(Self {
            ended: Mutex::new(Vec::with_capacity(tasks)),
            running: AtomicUsize::new(0),
            waker: AtomicWaker::new(),
            handles: Mutex::default(),
        })
    }

    /// The task with this index.
    pub(crate) fn part(self: &Arc<Self>, index: usize) -> Part<T> {
        self.running.fetch_add(1, Ordering::SeqCst);
        Part { group: self.clone(), index }
    }

    /// Starts the tasks, in this order.
    pub(crate) fn start(
        group: &Arc<Self>,
        spawner: &Arc<dyn Spawner>,
        works: Vec<BoxFuture<'static, ()>>,
    ) -> Started<T> {
        let started = Started { group: group.clone(), ended: Vec::new().into_iter() };
        if works.len() < STARTED_BY_ONE {
            group.spawn(&**spawner, works);
            return started;
        }
        let (starting, by) = (group.clone(), spawner.clone());
        let start = async move { starting.spawn(&*by, works) };
        let start = spawner.spawn(Box::pin(start));
        locked(&group.handles).spawned.push(start);
        started
    }

    fn spawn(&self, spawner: &dyn Spawner, works: Vec<BoxFuture<'static, ()>>) {
        let mut handles = locked(&self.handles);
        if !handles.closed {
            handles.spawned.extend(works.into_iter().map(|work| spawner.spawn(work)));
        }
    }
}

impl<T> Part<T> {
    /// Ends the task. An `urgent` result is delivered before the last task has ended.
    pub(crate) fn end(self, with: T, urgent: bool) {
        locked(&self.group.ended).push((self.index, with));
        if urgent {
            self.group.waker.wake();
        }
    }
}

impl<T> Drop for Part<T> {
    fn drop(&mut self) {
        if self.group.running.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.group.waker.wake();
        }
    }
}

impl<T> Started<T> {
    /// The result of the next task, with its index; `None` when no more come.
    pub(crate) async fn next(&mut self) -> Option<(usize, T)> {
        poll_fn(|cx| {
            if let Some(ended) = self.ended.next() {
                return Poll::Ready(Some(ended));
            }
            self.group.waker.register(cx.waker());
            let over = self.group.running.load(Ordering::SeqCst) == 0;
            self.ended = std::mem::take(&mut *locked(&self.group.ended)).into_iter();
            match self.ended.next() {
                Some(ended) => Poll::Ready(Some(ended)),
                None if over => Poll::Ready(None),
                None => Poll::Pending,
            }
        })
        .await
    }
}

impl<T> Drop for Started<T> {
    fn drop(&mut self) {
        let spawned = {
            let mut handles = locked(&self.group.handles);
            handles.closed = true;
            std::mem::take(&mut handles.spawned)
        };
        // Aborting a task may drop it, and its part, here.
        drop(spawned);
    }
}
