//! Two builds at work on one store at once: what one of them left pending the other goes on with, and back.

use hanok_checkpoint::SharedCheckpointer;
use hanok_core::Call;
use hanok_graph::{
    BoxError, Context, Doubt, END, Graph, Outcome, Resolution, RunError, START, Snapshot, Thread,
};
use hanok_state::{List, State};

use crate::asking::{Ledger, key, memory};

#[derive(State, Debug, Clone, Default, PartialEq)]
struct Old {
    #[reduce(append)]
    log: List<String>,
}

/// It has a field more.
#[derive(State, Debug, Clone, Default, PartialEq)]
struct New {
    #[reduce(append)]
    log: List<String>,
    reviewed: u32,
}

/// What both builds write.
trait Logs: State {
    fn says(text: String) -> Self::Update;
    fn log(&self) -> Vec<&str>;
}

impl Logs for Old {
    fn says(text: String) -> Self::Update {
        Self::update().push_log(text)
    }

    fn log(&self) -> Vec<&str> {
        self.log.iter().map(String::as_str).collect()
    }
}

impl Logs for New {
    fn says(text: String) -> Self::Update {
        Self::update().push_log(text).reviewed(1)
    }

    fn log(&self) -> Vec<&str> {
        self.log.iter().map(String::as_str).collect()
    }
}

/// What the first run of a turn leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Left {
    Question,
    Doubt,
    Note,
    /// The write of one of two tasks, and the failure of the other.
    Write,
}

async fn pays<S: Logs>(left: Left, cx: Context<Ledger>) -> Result<S::Update, BoxError> {
    let ledger = cx.services().clone();
    if left == Left::Question {
        let by = cx.interrupt::<String>("who pays?").await?;
        ledger.note("paid");
        return Ok(S::says(by));
    }
    let work = |call: Call| async move {
        let noted = call.noted::<String>()?.is_some();
        if !noted {
            ledger.note("paid");
        }
        if left == Left::Note {
            call.note(&"paid").await?;
        }
        match ledger.fails("line") {
            true => Err(BoxError::from("the line broke")),
            false => Ok("paid".to_owned()),
        }
    };
    Ok(S::says(cx.once("pay", "{}", Doubt::Ask, work).await?))
}

fn graph<S: Logs>(left: Left) -> Graph<S, Ledger> {
    let pay = move |_: Snapshot<S>, cx: Context<Ledger>| async move {
        match left {
            Left::Write => {
                cx.services().note("paid");
                Ok(S::says("paid".to_owned()))
            }
            _ => pays::<S>(left, cx).await,
        }
    };
    let beside = move |_: Snapshot<S>, cx: Context<Ledger>| async move {
        match left == Left::Write && cx.services().fails("line") {
            true => Err(BoxError::from("the line broke")),
            false => Ok::<_, BoxError>(S::update()),
        }
    };
    let graph = Graph::<S, Ledger>::builder("paying").node("pay", pay).node("beside", beside);
    let graph = graph.edge(START, "pay").edge(START, "beside").edge("pay", END);
    graph.edge("beside", END).build().unwrap()
}

fn thread<S: Logs>(left: Left, store: &SharedCheckpointer) -> Thread<S, Ledger> {
    graph::<S>(left).checkpointer(store.clone()).thread(key("t"))
}

/// A turn that `First` begins and `Second` ends, while both try; what was left then is said once.
async fn turn<First: Logs, Second: Logs>(left: Left, store: &SharedCheckpointer, ledger: &Ledger) {
    let (first, second) = (thread::<First>(left, store), thread::<Second>(left, store));
    ledger.fail(&["line"]);
    drop(first.invoke(First::update(), ledger.clone()).await);
    // Both builds look at it, one of them first.
    if left != Left::Write {
        let (one, other) =
            tokio::join!(first.resume(ledger.clone()), second.resume(ledger.clone()));
        let is_conflict = |error: &RunError| matches!(error, RunError::Conflict { .. });
        assert!(!matches!(&one, Ok(Outcome::Done(_))) && !matches!(&other, Ok(Outcome::Done(_))));
        assert!(!(one.is_err_and(|e| is_conflict(&e)) && other.is_err_and(|e| is_conflict(&e))));
    }
    ledger.fail(&[]);
    let ended = match (left, second.resume(ledger.clone()).await.unwrap()) {
        (Left::Question, Outcome::Interrupted(asked)) => {
            second.answer(asked[0].id.clone(), &"ann", ledger.clone()).await.unwrap()
        }
        (Left::Doubt, Outcome::InDoubt(asked)) => {
            let made = Resolution::made("paid").unwrap();
            second.settle(asked[0].id.clone(), made, ledger.clone()).await.unwrap()
        }
        (_, ended) => ended,
    };
    ended.done().unwrap();
}

/// P2, P4, P13, P14: a rolling deploy.
#[tokio::test(start_paused = true)]
async fn what_one_build_left_the_other_goes_on_with() {
    for left in [Left::Question, Left::Doubt, Left::Note, Left::Write] {
        let (store, ledger) = (memory(), Ledger::default());
        turn::<Old, New>(left, &store, &ledger).await;
        turn::<New, Old>(left, &store, &ledger).await;
        turn::<Old, Old>(left, &store, &ledger).await;
        let said = if left == Left::Question { "ann" } else { "paid" };
        let state = thread::<Old>(left, &store).state(None).await.unwrap().unwrap();
        assert_eq!(state.log(), [said; 3], "{left:?}");
        let state = thread::<New>(left, &store).state(None).await.unwrap().unwrap();
        assert_eq!((state.log(), state.reviewed), (vec![said; 3], 1), "{left:?}");
        assert_eq!(ledger.of("paid"), 3, "{left:?}");
    }
}
