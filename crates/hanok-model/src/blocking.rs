//! Threads for tools that block.

use std::{
    collections::{BTreeSet, VecDeque},
    fmt,
    future::poll_fn,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
    thread,
};

use crate::ToolError;

/// The default number of calls that run at once.
const THREADS: usize = 8;

/// The default number of threads that may be given up.
const LEAKED: usize = 16;

/// A bounded pool of threads for tools that block. Clones are the same pool.
///
/// So many calls run at once, those that come then wait for a thread. A call whose time is over is abandoned: nothing can
/// stop its thread, which counts as *leaked*, and a new one takes its place. When as many have leaked as may, calls are
/// refused at once ([`ToolError::PoolExhausted`]) until one of those comes back. There are never more threads than both
/// numbers together.
///
/// Threads start when they are needed, and end when the last clone is gone. What runs on them is outside of a simulated
/// schedule.
///
/// ```
/// use hanok_core::Call;
/// use hanok_model::{BlockingPool, FnTool, ToolError};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Name {
///     /// Which rule.
///     name: String,
/// }
///
/// let pool = BlockingPool::new(4, 8);
/// let rule = FnTool::blocking_in(&pool, "rule", "Reads a rule", |rule: Name, _call: Call| {
///     let path = format!("rules/{}.md", rule.name.replace(['/', '.'], ""));
///     Ok(std::fs::read_to_string(path).map_err(ToolError::failed)?.into())
/// })?;
/// assert_eq!(pool.leaked(), 0);
/// # drop(rule);
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[derive(Clone)]
pub struct BlockingPool {
    shared: Arc<Shared>,
    /// Closes the pool when the last handle is gone. The threads hold none.
    _open: Arc<PoolHandle>,
}

struct PoolHandle(Arc<Shared>);

struct Shared {
    threads: usize,
    may_leak: usize,
    state: Mutex<State>,
    /// Something is queued, or the pool is closed.
    ready: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<(u64, Job)>,
    next: u64,
    /// The jobs that run and that somebody waits for.
    running: BTreeSet<u64>,
    /// The threads that have not leaked.
    live: usize,
    /// The number of those that wait for a job.
    idle: usize,
    leaked: usize,
    closed: bool,
}

/// The instruction to a thread about a job.
enum Instruction {
    Run,
    /// Nobody is left to run it.
    Refuse {
        leaked: usize,
    },
}

/// Does its work and hands over how to tell whoever waits, which is done when the pool knows that the thread is free.
type Job = Box<dyn FnOnce(Instruction) -> Deliver + Send>;
type Deliver = Box<dyn FnOnce() + Send>;

impl BlockingPool {
    /// A pool that runs `threads` calls at once, of whose threads `leaked` may be given up; at least one each.
    pub fn new(threads: usize, leaked: usize) -> Self {
        let shared = Arc::new(Shared {
            threads: threads.max(1),
            may_leak: leaked.max(1),
            state: Mutex::default(),
            ready: Condvar::new(),
        });
        Self { _open: Arc::new(PoolHandle(shared.clone())), shared }
    }

    /// The number of threads that are given up and have not come back.
    pub fn leaked(&self) -> usize {
        self.shared.state().leaked
    }

    /// Runs `work` on a thread of the pool. A panic stays inside it.
    ///
    /// # Errors
    ///
    /// [`ToolError::PoolExhausted`] when too many threads have leaked; [`ToolError::Panicked`]; [`ToolError::Failed`] when
    /// the system starts no thread; what `work` says.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future abandons the work: it is not begun, or its thread leaks until it ends.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let answer = ResultSlot::new();
        let delivered = answer.clone();
        let job: Job = Box::new(move |instruction| {
            let result = match instruction {
                Instruction::Run => {
                    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(ToolError::Panicked))
                }
                Instruction::Refuse { leaked } => Err(ToolError::PoolExhausted { leaked }),
            };
            Box::new(move || delivered.set(result))
        });
        let waiting = AwaitedJob { shared: &self.shared, job: self.shared.submit(job)? };
        let result = answer.wait().await;
        drop(waiting);
        result
    }
}

/// Eight calls at once, sixteen leaked threads.
impl Default for BlockingPool {
    fn default() -> Self {
        Self::new(THREADS, LEAKED)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues `job`; its number.
    fn submit(self: &Arc<Self>, job: Job) -> Result<u64, ToolError> {
        let mut state = self.state();
        if state.leaked >= self.may_leak {
            return Err(ToolError::PoolExhausted { leaked: state.leaked });
        }
        let id = state.next;
        state.next += 1;
        state.queue.push_back((id, job));
        if let Err(error) = self.staff(&mut state)
            && state.live == 0
        {
            let job = state.unqueue(id);
            drop(state);
            drop(job);
            return Err(ToolError::failed(error));
        }
        self.ready.notify_one();
        Ok(id)
    }

    /// Starts a thread when more is queued than threads wait for it, and there may be one more.
    fn staff(self: &Arc<Self>, state: &mut State) -> io::Result<()> {
        if state.queue.len() <= state.idle || state.live >= self.threads {
            return Ok(());
        }
        let shared = self.clone();
        let work = move || shared.work();
        thread::Builder::new().name("hanok-blocking".to_owned()).spawn(work)?;
        state.live += 1;
        Ok(())
    }

    /// Runs jobs until the pool closes or the thread is not needed any more.
    fn work(&self) {
        while let Some((id, job)) = self.take() {
            let deliver = job(Instruction::Run);
            let is_needed = self.finished(id);
            deliver();
            if !is_needed {
                break;
            }
        }
    }

    /// The next job, once there is one; `None` when the pool is closed.
    fn take(&self) -> Option<(u64, Job)> {
        let mut state = self.state();
        loop {
            if let Some((id, job)) = state.queue.pop_front() {
                state.running.insert(id);
                return Some((id, job));
            }
            if state.closed {
                state.live -= 1;
                return None;
            }
            state.idle += 1;
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// Says that the job `id` is done, and whether its thread is needed any more. One that had leaked is back, and takes
    /// its place again if nobody else has it.
    fn finished(&self, id: u64) -> bool {
        let mut state = self.state();
        if state.running.remove(&id) {
            return true;
        }
        state.leaked -= 1;
        let is_needed = state.live < self.threads;
        state.live += usize::from(is_needed);
        is_needed
    }

    /// Nobody waits for the job `id` any more.
    fn abandon(self: &Arc<Self>, id: u64) {
        let mut state = self.state();
        let queued = state.unqueue(id);
        if !state.running.remove(&id) {
            // What a job holds is a tool's own, and is dropped where it may ask the pool.
            drop(state);
            drop(queued);
            return;
        }
        state.leaked += 1;
        state.live -= 1;
        // Those in the queue were taken on before, so the thread that is gone is replaced for them even at the cap.
        let is_replaced = state.leaked <= self.may_leak && self.staff(&mut state).is_ok();
        let leaked = state.leaked;
        let refused = match is_replaced || state.live > 0 {
            true => VecDeque::new(),
            false => std::mem::take(&mut state.queue),
        };
        drop(state);
        for (_, job) in refused {
            job(Instruction::Refuse { leaked })();
        }
    }
}

impl State {
    /// Takes the job `id` out of the queue.
    fn unqueue(&mut self, id: u64) -> Option<Job> {
        let at = self.queue.iter().position(|(queued, _)| *queued == id)?;
        self.queue.remove(at).map(|(_, job)| job)
    }
}

impl Drop for PoolHandle {
    fn drop(&mut self) {
        self.0.state().closed = true;
        self.0.ready.notify_all();
    }
}

/// A job that somebody waits for.
struct AwaitedJob<'a> {
    shared: &'a Arc<Shared>,
    job: u64,
}

impl Drop for AwaitedJob<'_> {
    fn drop(&mut self) {
        self.shared.abandon(self.job);
    }
}

/// Hands one result from a thread to the task that waits for it.
struct ResultSlot<T>(Arc<Mutex<(Option<T>, Option<Waker>)>>);

impl<T> ResultSlot<T> {
    fn new() -> Self {
        Self(Arc::new(Mutex::new((None, None))))
    }

    fn set(self, value: T) {
        let mut answer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answer.0 = Some(value);
        let waker = answer.1.take();
        drop(answer);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    async fn wait(&self) -> T {
        poll_fn(|cx| {
            let mut answer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match answer.0.take() {
                Some(value) => Poll::Ready(value),
                None => {
                    answer.1 = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl<T> Clone for ResultSlot<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl fmt::Debug for BlockingPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.state();
        f.debug_struct("BlockingPool")
            .field("threads", &self.shared.threads)
            .field("live", &state.live)
            .field("leaked", &state.leaked)
            .field("queued", &state.queue.len())
            .finish_non_exhaustive()
    }
}
