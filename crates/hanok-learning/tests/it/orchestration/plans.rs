//! What a planner reads: plans and workflows.

use hanok_core::{Gate, Tenant};
use hanok_learning::{
    Actor, BehaviourMemory, ClarificationEvent, ClarificationMemory, ClarificationReport,
    GateAction, GateReport, LongTerm, OrchestratorMemory, PlanEvent, PlanMemory, PlanReport,
    RunOutcome, Shortfall, ToolMemory, ToolRef, ToolReport, WorkflowMemory, WorkflowReport,
};

use super::reports::*;
use crate::support::{NOW, backends, memory};

/// B137: what people kept and what succeeded is shown with its score, what they decided against with the reason.
#[tokio::test]
async fn a_plan_that_people_accept_and_that_succeeds_is_a_candidate() {
    let query = "Compare the two leases";
    let ended = |of| PlanEvent::Ended(of);
    let edited = PlanEvent::Edited { from: vec!["guess".to_owned()] };
    let rejected = PlanEvent::Rejected { reason: "never mail anybody".to_owned() };
    let story: [(&[&str], Actor, PlanEvent); 9] = [
        (&["read both", "compare"], Actor::User, edited),
        (&["read both", "compare"], Actor::Automatic, ended(RunOutcome::Succeeded)),
        (&["Read both", "compare"], Actor::User, PlanEvent::Accepted),
        (&["read both", "compare"], Actor::Automatic, ended(RunOutcome::Succeeded)),
        (&["read both", "compare"], Actor::Automatic, ended(RunOutcome::Stopped)),
        (&["mail them"], Actor::Automatic, ended(RunOutcome::Succeeded)),
        (&["mail them"], Actor::Automatic, ended(RunOutcome::Succeeded)),
        (&["mail them"], Actor::User, rejected),
        (&["mail them"], Actor::Automatic, PlanEvent::Accepted),
    ];
    let piece = |(at, (steps, actor, event)): (usize, (&[&str], Actor, PlanEvent))| {
        let report = PlanReport::new(query, steps.iter().copied(), event);
        piece::<PlanMemory>(&kims(format!("p{at}"), at as u64, actor, report))
    };
    let pieces: Vec<_> = story.into_iter().enumerate().map(piece).collect();
    for (_, store) in backends().await {
        learn(&store, &pieces).await;
        // The same query in another spelling, and one like it.
        for (asked, relation) in [(" compare the TWO leases", true), ("Compare two leases", false)]
        {
            let plans = of_kim(&store).plans(asked, NOW).await.unwrap();
            let best = plans.best().unwrap();
            assert_eq!(best.value.steps.as_ref().unwrap().value, ["read both", "compare"]);
            assert_eq!(best.relation.is_some(), relation, "{asked}");
            assert!(best.score.similarity.letters > 0.75);
            assert_eq!((best.score.success, best.score.uses), (Some(1.0), 2));
            // 1 × (0.7 + 0.3 × 0.5)
            assert_eq!(best.score.confidence, Some(0.85));
            assert_eq!((best.value.people.accepted, best.value.people.edited_into), (1, 1));
            assert_eq!(best.origins.len(), 3);
            assert_eq!(plans.qualified().count(), 1);
            let of = |steps: &str| {
                let mut all = plans.iter();
                all.find(|it| it.value.steps.as_ref().unwrap().value == [steps]).unwrap().clone()
            };
            // The program accepted it since, and that is no decision of the user's.
            assert_eq!(of("mail them").shortfalls, [Shortfall::DecidedAgainst]);
            assert_eq!(of("mail them").value.automatic.accepted, 1);
            assert_eq!(of("mail them").value.objections[0].value, "never mail anybody");
            let guess = of("guess");
            assert_eq!((guess.score.success, guess.score.confidence), (None, None));
            assert_eq!(guess.shortfalls, [Shortfall::NeverUsed, Shortfall::DecidedAgainst]);
        }
        let others = of_kim(&store).plans("날씨 어때?", NOW).await.unwrap();
        assert_eq!(others.iter().len(), 0);
        // What was shown can be listed and taken back: without its second success it was used too rarely.
        let kim = memories(&store).of(Tenant::default(), "kim");
        let key = of_kim(&store).plans(query, NOW).await.unwrap().best().unwrap().key.clone();
        assert_eq!(kim.evidence::<PlanMemory>(&key, NOW).await.unwrap().len(), 9);
        assert!(kim.undo::<PlanMemory>("p3", NOW).await.unwrap());
        let plans = of_kim(&store).plans(query, NOW).await.unwrap();
        assert!(plans.best().is_none());
        let seldom = [Shortfall::RarelyUsed { uses: 1, least: 2 }];
        assert!(plans.iter().any(|plan| plan.shortfalls == seldom));
    }
}

/// B137
#[tokio::test]
async fn a_plan_that_fails_or_is_of_another_query_is_no_candidate_and_says_why() {
    let store = memory();
    let report = |n: u64, query: &str, of| {
        let report = PlanReport::new(query, ["read"], PlanEvent::Ended(of));
        piece::<PlanMemory>(&kims(format!("p{n}"), n, Actor::Automatic, report))
    };
    let fails = (0..10).map(|n| {
        let of = if n < 6 { RunOutcome::Succeeded } else { RunOutcome::Failed };
        report(n, "Find the lease of building A", of)
    });
    learn(&store, &fails.collect::<Vec<_>>()).await;
    let plans = of_kim(&store).plans("Find the lease of building A", NOW).await.unwrap();
    let reasons: Vec<_> = plans.iter().map(|plan| plan.shortfalls.clone()).collect();
    assert_eq!(reasons, [[Shortfall::Unsuccessful { success: 0.6, least: 0.7 }]]);
    let unlike = of_kim(&store).plans("lease", NOW).await.unwrap();
    let reasons = &unlike.iter().next().unwrap().shortfalls;
    assert!(matches!(reasons[0], Shortfall::Unlike { least: 0.75, .. }), "{reasons:?}");
}

/// B137
#[tokio::test]
async fn a_workflow_is_shown_with_the_tools_that_did_best() {
    let (search, read) = (ToolRef::own("search"), ToolRef::of_server("docs", "read"));
    let report = |n: u64, category: &str, tools: &[&ToolRef], outcome| {
        let mut report = WorkflowReport::new(category, "Is the rent increase legal?", outcome);
        report = report.step("find the article").step("compute the rate");
        report.tools = tools.iter().map(|tool| (*tool).clone()).collect();
        piece::<WorkflowMemory>(&kims(format!("w{n}"), n, Actor::Automatic, report))
    };
    let pieces = [
        report(0, "lease", &[&search], RunOutcome::Failed),
        report(1, "lease", &[&search, &read], RunOutcome::Succeeded),
        report(2, "Lease ", &[&search, &read], RunOutcome::Succeeded),
        report(3, "lease", &[&search, &read], RunOutcome::Succeeded),
        report(4, "tax", &[&read], RunOutcome::Failed),
    ];
    for (_, store) in backends().await {
        learn(&store, &pieces).await;
        let query = "is the rent increase legal";
        let all = of_kim(&store).workflows(query, None, NOW).await.unwrap();
        assert_eq!(all.iter().len(), 2);
        let best = all.best().unwrap();
        assert_eq!(best.value.steps, ["find the article", "compute the rate"]);
        assert_eq!(best.value.tools, [search.clone(), read.clone()]);
        assert_eq!((best.value.of_tools.successes, best.value.of_tools.failures), (3, 0));
        assert_eq!((best.score.success, best.score.uses), (Some(0.75), 4));
        let tax = of_kim(&store).workflows(query, Some(" TAX"), NOW).await.unwrap();
        assert!(tax.best().is_none());
        assert_eq!(tax.iter().map(|it| it.value.category.as_str()).collect::<Vec<_>>(), ["tax"]);
    }
}

/// B132, B137: nobody has no memories.
#[tokio::test]
async fn without_a_user_and_of_another_one_nothing_is_read() {
    let store = memory();
    learn(&store, &(0..100).map(any_piece).collect::<Vec<_>>()).await;
    for user in [None, Some("park")] {
        let of = OrchestratorMemory::new(memories(&store), Tenant::default(), user);
        let query = "Compare the two leases";
        assert_eq!(of.plans(query, NOW).await.unwrap().iter().len(), 0);
        assert_eq!(of.workflows(query, None, NOW).await.unwrap().iter().len(), 0);
        assert_eq!(of.tools(query, NOW).await.unwrap().iter().len(), 0);
        assert_eq!(of.clarification(query, NOW).await.unwrap().answers.iter().len(), 0);
    }
    assert!(of_kim(&store).plans("Compare the two leases", NOW).await.unwrap().iter().len() > 0);
}

/// B137: beside what else is remembered of the user, each kind is recalled as a line that a model can use.
#[tokio::test]
async fn what_an_orchestrator_learned_is_recalled_as_a_line_each() {
    let (actor, store) = (Actor::Automatic, memory());
    let ended = PlanEvent::Ended(RunOutcome::Succeeded);
    let plan = PlanReport::new("Compare leases", ["read", "compare"], ended);
    let rejected = PlanEvent::Rejected { reason: String::new() };
    let other = PlanReport::new("Compare leases", ["guess"], rejected);
    let took = std::time::Duration::from_secs(1);
    let tool = ToolReport::new("read leases", ToolRef::of_server("docs", "read"), false, took);
    let answer =
        ClarificationReport::new("Which leases?", "A and B", ClarificationEvent::Confirmed);
    let flow = WorkflowReport::new("leases", "Compare leases", RunOutcome::Failed).step("read");
    let gate = GateReport::new(Gate::Plan, "leases", GateAction::Edited);
    learn(
        &store,
        &[
            piece::<PlanMemory>(&kims("a".to_owned(), 1, actor, plan)),
            piece::<PlanMemory>(&kims("b".to_owned(), 2, Actor::User, other)),
            piece::<ToolMemory>(&kims("c".to_owned(), 3, actor, tool)),
            piece::<ClarificationMemory>(&kims("d".to_owned(), 4, Actor::User, answer)),
            piece::<WorkflowMemory>(&kims("e".to_owned(), 5, actor, flow)),
            piece::<BehaviourMemory>(&kims("f".to_owned(), 6, Actor::User, gate)),
        ],
    )
    .await;
    let of_kim = LongTerm::new(memories(&store), Tenant::default(), Some("kim"));
    let recalled = of_kim.recall("leases", NOW).await.unwrap();
    let mut lines: Vec<_> = recalled.iter().map(|one| one.text.as_str()).collect();
    lines.sort_unstable();
    let want = [
        "Compare leases: read > compare (1 of 1 succeeded)",
        "Which leases?: A and B [1970-01-01]",
        "leases > read (0 of 1 succeeded)",
        "plan: leases: 0 of 1 approved",
        "read leases: docs/read (0 of 1 succeeded)",
    ];
    assert_eq!(lines, want);
}
