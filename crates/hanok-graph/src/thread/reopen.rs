//! Reopened questions: an answer is taken back.

use hanok_checkpoint::{Body, Reopen, Tip};
use hanok_core::{Position, RequestId};
use hanok_state::State;

use crate::{
    error::RunError,
    run::answer::{Closed, closed},
    thread::handle::Thread,
};

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// Takes the answer to `question` back, between runs. The question is open again, and its task runs again with
    /// another answer. The task's steps before the question stay done. Returns the position of the entry in the log.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Form { name: String, age: u32 }
    /// async fn ask(_: Snapshot<Form>, cx: Context) -> Result<FormUpdate, hanok_core::AskError> {
    ///     let name: String = cx.interrupt("name?").await?;
    ///     Ok(Form::update().name(name).age(cx.interrupt("age?").await?))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Form>::builder("form").node("ask", ask).edge(START, "ask").edge("ask", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let Outcome::Interrupted(requests) = thread.invoke(Form::update(), ()).await? else { panic!() };
    /// let name = &requests[0].id;
    /// thread.reply("Anm", ()).await?;
    /// thread.reopen(name).await?;
    /// thread.answer(name.clone(), "Ann", ()).await?;
    /// assert_eq!(thread.reply(&33, ()).await?.done()?.name, "Ann");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::NoSuchRequest`] for a question that never existed; [`RunError::Stale`] for one without an answer to
    /// take back, because it is open or its task is done; [`RunError::Conflict`] while a run owns the thread, or when
    /// another writer was first; [`RunError::NoSuchThread`].
    pub async fn reopen(&self, question: &RequestId) -> Result<Position, RunError> {
        let log = self.log();
        self.app.release_dead(&log).await?;
        let opened = log.open(None).await.map_err(RunError::Checkpoint)?;
        let opened = self.existing(opened)?;
        let id = &*question.0;
        let answered = opened.fold.runs.iter().find(|(_, run)| {
            let of_task = run.records.questions.iter().find(|question| question.id == id);
            let is_due =
                of_task.is_some_and(|question| !run.records.written().contains(&question.task));
            is_due && run.records.answers.contains_key(id)
        });
        let Some((path, _)) = answered else {
            let now = self.app.runtime().clock.now();
            return Err(match closed(&log, question.clone(), now).await? {
                Closed::Answered(_) | Closed::Expired { .. } => RunError::Stale(question.clone()),
                closed => closed.into_error(question.clone()),
            });
        };
        let again = Reopen { id: id.to_owned(), reason: "it was taken back".to_owned() };
        let entries = vec![(path.clone(), Body::Reopen(again))];
        self.append(Tip::of(&opened.head), opened.fold, entries).await
    }
}
