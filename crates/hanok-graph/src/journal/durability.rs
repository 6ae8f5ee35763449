//! When what a run did is safe.

/// When what a run did is safe from a crash. Whatever is lost, a thread resumes from a super-step that was committed: nothing
/// is ever stored in part.
///
/// In all three, these make everything before them safe and wait for it: the beginning and the end of a run, questions to
/// people and their answers, and every call that must not or should not be repeated ([`Context::once`], [`Context::barrier`]).
/// A position leaves the process only when it is safe: recorded events wait for that.
///
/// [`Context::once`]: crate::Context::once
/// [`Context::barrier`]: crate::Context::barrier
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Before the next super-step starts. A crash loses the work of the tasks that were running, nothing else.
    #[default]
    Sync,
    /// Soon, by a queue that is bounded, several super-steps in one append. A crash loses what the queue held: the last
    /// super-steps, which run again.
    Async,
    /// When the run ends, all its super-steps as one. A crash loses the run since its beginning or its last barrier, which
    /// runs again.
    Exit,
}
