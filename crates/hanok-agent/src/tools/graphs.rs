//! Graphs that tools run: what their ends are to the call.

use hanok_core::Chain;
use hanok_graph::SubgraphError;
use hanok_model::ToolError;

/// The error of a tool, if it is a graph's that the tool [ran](hanok_graph::RunGraph) and handed on, as what it is to the run: a
/// graph that waits or stops is no failure that a model is told.
pub(crate) fn of_run(error: ToolError) -> ToolError {
    let cause = match error {
        ToolError::Failed(cause) => cause,
        error => return error,
    };
    // The outermost: those below it are that graph's own affair.
    let ran = Chain(&*cause).causes().find_map(|cause| cause.downcast_ref::<SubgraphError>());
    match ran {
        Some(SubgraphError::Cancelled { .. }) => ToolError::Cancelled,
        Some(SubgraphError::TimedOut { after, .. }) => ToolError::TimedOut { after: *after },
        Some(ran) if ran.suspends() || ran.is_of_store() => ToolError::Suspended(cause),
        _ => ToolError::Failed(cause),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hanok_checkpoint::CheckpointError;
    use hanok_core::{AskError, RequestId};
    use hanok_graph::RunError;

    use super::*;
    use crate::tools::execution::suspends;

    fn kind(cause: SubgraphError) -> (&'static str, bool) {
        let error = of_run(ToolError::failed(cause));
        let kind = match &error {
            ToolError::Failed(_) => "failed",
            ToolError::Suspended(_) => "suspended",
            ToolError::Cancelled => "cancelled",
            ToolError::TimedOut { .. } => "timed out",
            _ => "another",
        };
        (kind, suspends(&error))
    }

    #[test]
    fn only_a_graph_that_failed_is_a_failure_of_its_tool() {
        let graph = || "inner".to_owned();
        let waiting = || SubgraphError::Waiting(AskError::Waiting(RequestId("7".into())));
        assert_eq!(kind(waiting()), ("suspended", true));
        assert_eq!(kind(SubgraphError::Stopped { graph: graph() }), ("suspended", true));
        assert_eq!(kind(SubgraphError::Commanded { graph: graph() }), ("suspended", true));
        assert_eq!(kind(SubgraphError::Cancelled { graph: graph() }), ("cancelled", true));
        let after = Duration::from_secs(3);
        assert_eq!(kind(SubgraphError::TimedOut { graph: graph(), after }), ("timed out", false));
        assert_eq!(kind(SubgraphError::TooDeep { graph: graph() }), ("failed", false));
        let down = CheckpointError::Unavailable { reason: "down", source: "down".into() };
        let source = Box::new(RunError::Checkpoint(down));
        assert_eq!(kind(SubgraphError::Run { graph: graph(), source }), ("suspended", true));
        // What stopped within a graph that failed does not stop the run.
        let source = Box::new(RunError::State(waiting().into()));
        assert_eq!(kind(SubgraphError::Run { graph: graph(), source }), ("failed", false));
    }
}
