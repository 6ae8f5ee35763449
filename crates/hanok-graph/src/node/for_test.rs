//! A context outside of a run, so that a test calls a node as the function that it is.

use std::{fmt, sync::Arc};

use hanok_checkpoint::{Due, Life, ThreadLife};
use hanok_core::{
    BoxError, Budget, Cancellation, Meter, Namespace, Position, RunId, Spent, Stored, StoredError,
    ThreadKey,
};
use serde::Serialize;

use crate::{
    journal::journal::Journal,
    node::{
        attempt::{LazyStop, StoredSteps, TaskAttempt},
        context::Context,
        run_context::{Account, RunContext, RunParts},
        task_ref::TaskRef,
    },
    runtime::Runtime,
};

/// The thread of a context for a test.
const THREAD: &str = "test";

/// The super-steps that remain, unless the test says how many.
const REMAINING: u32 = 100;

/// What a node is to see in a test: made by [`Context::for_test`], and ended with [`TestContext::build`].
///
/// Memoised steps and calls that are made once work as in a run, within the context; nothing is stored. A question without an
/// answer is an error, [`AskError::Waiting`](hanok_core::AskError::Waiting), as it is in the run that asks it.
#[must_use]
pub struct TestContext<C> {
    services: C,
    runtime: Runtime,
    node: String,
    attempt: u32,
    remaining: u32,
    budget: Budget,
    cancellation: Cancellation,
    input: Option<Result<Stored, StoredError>>,
    answers: Vec<Result<(Stored, Stored), StoredError>>,
}

impl<C> Context<C> {
    /// Begins the context of a node that a test calls.
    ///
    /// ```
    /// use hanok_graph::{BoxError, Context, Snapshot};
    /// use hanok_state::{State, StateUpdate};
    ///
    /// #[derive(State, Clone, Debug, Default)]
    /// struct Payment {
    ///     cents: u64,
    ///     paid: bool,
    /// }
    ///
    /// async fn pay(payment: Snapshot<Payment>, context: Context) -> Result<PaymentUpdate, BoxError> {
    ///     let yes: bool = context.interrupt(&format!("pay {}?", payment.cents)).await?;
    ///     Ok(Payment::update().paid(yes))
    /// }
    ///
    /// # fn main() -> Result<(), BoxError> { futures::executor::block_on(async {
    /// let payment = Snapshot::new(Payment { cents: 250, paid: false });
    /// let asks = Context::for_test(()).build()?;
    /// assert!(pay(payment.clone(), asks).await.is_err());
    ///
    /// let answered = Context::for_test(()).answer("pay 250?", true).build()?;
    /// let mut after = Payment::clone(&payment);
    /// after.reduce(vec![("pay".into(), pay(payment, answered).await?)])?;
    /// assert!(after.paid);
    /// # Ok(()) }) }
    /// ```
    pub fn for_test(services: C) -> TestContext<C> {
        TestContext {
            services,
            runtime: Runtime::default(),
            node: THREAD.to_owned(),
            attempt: 1,
            remaining: REMAINING,
            budget: Budget::default(),
            cancellation: Cancellation::default(),
            input: None,
            answers: Vec::new(),
        }
    }
}

impl<C> TestContext<C> {
    /// Sets the node's name. Default: `test`.
    pub fn node(self, name: &str) -> Self {
        Self { node: name.to_owned(), ..self }
    }

    /// Sets the number of the attempt, counted from 1. Default: 1.
    pub fn attempt(self, attempt: u32) -> Self {
        Self { attempt, ..self }
    }

    /// Sets the number of super-steps that remain to the turn. Default: 100.
    pub fn remaining_steps(self, remaining: u32) -> Self {
        Self { remaining, ..self }
    }

    /// Sets the budget that the node's calls are counted against. Default: none.
    pub fn budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Sets the request to stop that the node may heed. Default: one that nobody makes.
    pub fn cancellation(self, cancellation: Cancellation) -> Self {
        Self { cancellation, ..self }
    }

    /// Sets the clock, the ids, the randomness and the spawner. Default: the system's.
    pub fn runtime(self, runtime: Runtime) -> Self {
        Self { runtime, ..self }
    }

    /// Sets the input that a [`SendTo`](crate::SendTo) carries.
    ///
    /// ```
    /// # use hanok_graph::Context;
    /// let context = Context::for_test(()).input("Berlin").attempt(2).build()?;
    /// assert_eq!(context.input::<String>()?.as_deref(), Some("Berlin"));
    /// assert_eq!(context.attempt(), 2);
    /// # Ok::<(), hanok_core::BoxError>(())
    /// ```
    pub fn input(self, input: impl Serialize) -> Self {
        Self { input: Some(Stored::encode(&input)), ..self }
    }

    /// Answers the next question with this payload. Equal questions take their answers in the order in which they were given.
    pub fn answer(mut self, question: impl Serialize, answer: impl Serialize) -> Self {
        let pair = Stored::encode(&question).and_then(|q| Ok((q, Stored::encode(&answer)?)));
        self.answers.push(pair);
        self
    }

    /// Makes the context.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the input, a question or an answer cannot be stored.
    pub fn build(self) -> Result<Context<C>, BoxError> {
        let Self { services, runtime, node, attempt, remaining, .. } = self;
        let answers = self.answers.into_iter().collect::<Result<_, _>>()?;
        let (at, since) = (runtime.clock.now(), runtime.clock.monotonic());
        let due = Due { input: self.input.transpose()?, ..Due::node(node) };
        let task = TaskRef::new(&Namespace::root(), Position::START, 0, &due, 0);
        let parts = RunParts {
            limited: self.cancellation.child(),
            cancellation: self.cancellation,
            drains: Vec::new(),
            sink: Default::default(),
            total: Meter::budgeted(self.budget, Spent::default()),
            slots: Vec::new(),
            limit: None,
            before: Spent::default(),
            memory: None,
            run: RunId(runtime.ids.id()),
            tags: Default::default(),
            breakpoints: Default::default(),
            doubts: Default::default(),
            voided: Default::default(),
            runtime: runtime.clone(),
        };
        let own = ThreadLife { thread: ThreadKey::named(THREAD)?, life: Life::default() };
        let env = RunContext {
            journal: Arc::new(Journal::nowhere(own, runtime)),
            parts: Arc::new(parts),
            retries: 0.into(),
            unsaved: false,
            account: Account::from(since).into(),
            readable: Default::default(),
            wrong: Default::default(),
        };
        let steps = StoredSteps { scripted: Some(answers), ..StoredSteps::default() };
        let attempt = TaskAttempt {
            env: Arc::new(env),
            task,
            within: None,
            remaining,
            alone: true,
            attempt,
            handling: false,
            past_limits: true,
            at,
            from: Position::START,
            deadline: None,
            stop: LazyStop::default(),
            waited: Default::default(),
            activity: Default::default(),
            spoken: Default::default(),
            held: Default::default(),
            meter: Default::default(),
            stored_steps: Arc::new(steps).into(),
            log: Default::default(),
        };
        Ok(Context::new(Arc::new(services), Arc::new(attempt)))
    }
}

impl<C> fmt::Debug for TestContext<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestContext")
            .field("node", &self.node)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}
