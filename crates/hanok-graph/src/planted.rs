//! Bugs that are planted, for the simulator to show that it finds them. Without the feature `__planted` there are none.

/// One way in which the engine could be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "their names say what is wrong; nobody else sees them")]
#[cfg_attr(not(feature = "__planted"), allow(unreachable_pub, reason = "it is exported with it"))]
pub enum Planted {
    AnswerTwice,
    BudgetAnew,
    ChildAnew,
    ClaimKept,
    CompletionOrder,
    DeferredEarly,
    DoubtIgnored,
    EndForgotten,
    InputForgotten,
    IntentForgotten,
    JoinForgotten,
    MemoForgotten,
    MemoRenamed,
    RetryForgets,
    SnapshotEarly,
    TaskIdsAnew,
    VoidForgotten,
    WriteForgotten,
}

#[cfg(feature = "__planted")]
mod planting {
    use std::cell::Cell;

    use super::Planted;

    thread_local! {
        static PLANTED: Cell<Option<Planted>> = const { Cell::new(None) };
    }

    /// Plants a bug in all graphs that run on this thread, or takes it out.
    pub fn plant(bug: Option<Planted>) {
        PLANTED.set(bug);
    }

    pub(crate) fn planted(bug: Planted) -> bool {
        PLANTED.get() == Some(bug)
    }
}

#[cfg(feature = "__planted")]
pub use planting::plant;
#[cfg(feature = "__planted")]
pub(crate) use planting::planted;

#[cfg(not(feature = "__planted"))]
pub(crate) const fn planted(_: Planted) -> bool {
    false
}
