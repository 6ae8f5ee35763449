//! The suite of a kind of memory, on each of the five.

use super::reports;

mod plans {
    use super::*;

    hanok_testkit::memory_kind_conforms!(
        hanok_learning::PlanMemory,
        (0..30).map(reports::plan).collect::<Vec<_>>()
    );
}

mod tools {
    use super::*;

    hanok_testkit::memory_kind_conforms!(
        hanok_learning::ToolMemory,
        (0..30).map(reports::use_of_tool).collect::<Vec<_>>()
    );
}

mod clarifications {
    use super::*;

    hanok_testkit::memory_kind_conforms!(
        hanok_learning::ClarificationMemory,
        (0..30).map(reports::clarification).collect::<Vec<_>>()
    );
}

mod behaviour {
    use super::*;

    hanok_testkit::memory_kind_conforms!(
        hanok_learning::BehaviourMemory,
        (0..30).map(reports::decision).collect::<Vec<_>>()
    );
}

mod workflows {
    use super::*;

    hanok_testkit::memory_kind_conforms!(
        hanok_learning::WorkflowMemory,
        (0..30).map(reports::workflow).collect::<Vec<_>>()
    );
}
