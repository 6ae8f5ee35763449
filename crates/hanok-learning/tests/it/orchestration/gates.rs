//! Gates that a learned rule passes, or not.

use hanok_core::{Gate, Risk, Tenant};
use hanok_graph::Context;
use hanok_learning::{
    Actor, ApprovalPolicy, BehaviourMemory, ClarificationMemory, GateAction, GateReason,
    GateReport, LearningError, MemoryKind, OrchestratorMemory, OrchestratorPolicy, PlanMemory,
    Refusal, ToolMemory, ToolRef, WorkflowMemory, teach,
};

use super::reports::*;
use crate::support::{NOW, TOPIC, backends, memory};

/// `times` decisions of `actor`, from the `from`th on.
fn decided(from: u64, times: u64, actor: Actor, action: GateAction) -> Vec<Piece> {
    let one = |n: u64| {
        let report = GateReport::new(Gate::Step, "read a document", action);
        let report = report.tool(ToolRef::own("read_file"));
        piece::<BehaviourMemory>(&kims(format!("d{n}"), n, actor, report))
    };
    (from..from + times).map(one).collect()
}

fn learned(of: OrchestratorMemory) -> OrchestratorMemory {
    // Nothing is asked about at random, unless a test says so.
    let approval = ApprovalPolicy { enabled: true, asked_percent: 0, ..ApprovalPolicy::default() };
    of.policy(OrchestratorPolicy { approval, ..OrchestratorPolicy::default() })
}

/// Whether the gate passes for a call that does no harm, and the reasons.
async fn asked_for(of: &OrchestratorMemory, risk: Risk) -> (bool, Vec<GateReason>) {
    let tool = ToolRef::own("read_file");
    let (kind, key) = (" Read a DOCUMENT", "task/read_file/1");
    let verdict = of.gate(&Gate::Step, kind, Some(&tool), risk, key, NOW).await.unwrap();
    (verdict.passes(), verdict.reasons().to_vec())
}

/// B137: 20 decisions, a lower bound over 0.9, none rejected or skipped among the newest 20; what the program decided never counts.
#[tokio::test]
async fn a_gate_passes_when_the_person_has_always_approved() {
    use Actor::{Automatic, User};
    use GateAction::{Approved, Edited, Rejected, Skipped};
    type Decisions<'a> = &'a [(u64, Actor, GateAction)];
    let cases: [(Decisions, bool); 12] = [
        (&[], false),
        (&[(19, User, Approved)], false),
        (&[(34, User, Approved)], false),
        (&[(35, User, Approved)], true),
        (&[(34, User, Approved), (500, Automatic, Approved)], false),
        (&[(35, User, Approved), (500, Automatic, Rejected)], true),
        (&[(500, User, Approved), (1, User, Rejected), (19, User, Approved)], false),
        (&[(500, User, Approved), (1, User, Rejected), (20, User, Approved)], true),
        (&[(100, User, Approved), (1, User, Skipped)], false),
        (&[(500, User, Approved), (1, User, Skipped), (20, User, Approved)], true),
        (&[(100, User, Approved), (1, User, Edited)], true),
        (&[(100, User, Approved), (3, User, Edited), (4, User, Skipped)], false),
    ];
    for (decisions, passes) in cases {
        let (store, mut from) = (memory(), 0);
        for (times, actor, action) in decisions {
            learn(&store, &decided(from, *times, *actor, *action)).await;
            from += times;
        }
        let (passed, reasons) = asked_for(&learned(of_kim(&store)), Risk::Read).await;
        assert_eq!(passed, passes, "{decisions:?}: {reasons:?}");
    }
}

/// B137: off by default, never for what is destructive or external, and each reason is named.
#[tokio::test]
async fn habit_approves_nothing_that_is_off_destructive_or_external() {
    for (_, store) in backends().await {
        learn(&store, &decided(0, 40, Actor::User, GateAction::Approved)).await;
        let of = of_kim(&store);
        assert_eq!(asked_for(&of, Risk::Read).await, (false, vec![GateReason::Off]));
        let of = learned(of);
        let (passes, reasons) = asked_for(&of, Risk::Read).await;
        assert!(passes);
        assert_eq!(
            reasons[0].to_string(),
            "the user approved 40 of 40 alike, at least 0.912 of all"
        );
        for (risk, reason) in
            [(Risk::Destructive, GateReason::Destructive), (Risk::External, GateReason::External)]
        {
            assert_eq!(asked_for(&of, risk).await, (false, vec![reason]));
        }
        // The tool of a server is external whatever is said of it, and its name is another tool's.
        let tool = ToolRef::of_server("docs", "read_file");
        let verdict = of.gate(&Gate::Step, "read a document", Some(&tool), Risk::Read, "k", NOW);
        let few = GateReason::FewDecisions { decisions: 0, least: 20 };
        assert_eq!(verdict.await.unwrap().reasons(), [GateReason::External, few.clone()]);
        for (gate, kind, tool) in [
            (Gate::Step, "read a document", None),
            (Gate::Step, "read a document", Some(ToolRef::own("Read_file"))),
            (Gate::Plan, "read a document", Some(ToolRef::own("read_file"))),
            (Gate::Custom("step".to_owned()), "read a document", Some(ToolRef::own("read_file"))),
            (Gate::Step, "write a document", Some(ToolRef::own("read_file"))),
        ] {
            let verdict = of.gate(&gate, kind, tool.as_ref(), Risk::Read, "k", NOW).await.unwrap();
            assert_eq!(verdict.reasons(), std::slice::from_ref(&few), "{kind}");
        }
        let nobody = OrchestratorMemory::new(memories(&store), Tenant::default(), None);
        assert_eq!(asked_for(&nobody, Risk::Read).await, (false, vec![GateReason::NoUser]));
    }
}

/// B137: about five of a hundred calls the person is asked all the same, and a call that is made again is decided alike.
#[tokio::test]
async fn a_share_of_calls_is_asked_about_and_a_rerun_decides_the_same() {
    let store = memory();
    learn(&store, &decided(0, 40, Actor::User, GateAction::Approved)).await;
    let approval = ApprovalPolicy { enabled: true, ..ApprovalPolicy::default() };
    let policy = OrchestratorPolicy { approval, ..OrchestratorPolicy::default() };
    let of = of_kim(&store).policy(policy);
    let tool = ToolRef::own("read_file");
    let mut asked_about = Vec::new();
    for _ in 0..2 {
        let mut sampled = Vec::new();
        for n in 0..400 {
            let key = format!("task/{n}");
            let verdict =
                of.gate(&Gate::Step, "read a document", Some(&tool), Risk::Read, &key, NOW);
            let verdict = verdict.await.unwrap();
            if !verdict.passes() {
                assert_eq!(verdict.reasons(), [GateReason::Sampled { percent: 5 }]);
                sampled.push(n);
            }
        }
        asked_about.push(sampled);
    }
    assert_eq!(asked_about[0], asked_about[1]);
    assert!((8..=36).contains(&asked_about[0].len()), "{} of 400", asked_about[0].len());
}

/// B137
#[tokio::test]
async fn a_decision_that_is_taken_back_does_not_approve_any_more() {
    let store = memory();
    learn(&store, &decided(0, 35, Actor::User, GateAction::Approved)).await;
    let of = learned(of_kim(&store));
    assert!(asked_for(&of, Risk::Read).await.0);
    let kim = of.memories().unwrap();
    assert!(kim.undo::<BehaviourMemory>("d7", NOW).await.unwrap());
    assert!(!asked_for(&of, Risk::Read).await.0);
}

/// B137: a model never counts.
#[tokio::test]
async fn no_kind_takes_the_word_of_a_model() {
    fn refused<K: MemoryKind>(evidence: impl Fn(u64) -> hanok_learning::Evidence<K::Body>) {
        let context = Context::for_test(()).build().unwrap();
        for n in 0..40 {
            let mut evidence = evidence(n);
            assert!(teach::<K, _>(&context, TOPIC, &evidence).is_ok());
            evidence.actor = Actor::Model;
            let error = teach::<K, _>(&context, TOPIC, &evidence).unwrap_err();
            let LearningError::Refused { why, .. } = error else { panic!("{error}") };
            assert!(matches!(why, Refusal::Actor { actor: Actor::Model, .. }), "{why}");
        }
    }
    refused::<PlanMemory>(plan);
    refused::<ToolMemory>(use_of_tool);
    refused::<ClarificationMemory>(clarification);
    refused::<BehaviourMemory>(decision);
    refused::<WorkflowMemory>(workflow);
}

/// B137: what is too long or blank is refused with its length.
#[test]
fn reports_are_bounded() {
    let report = |kind: &str| GateReport::new(Gate::Plan, kind, GateAction::Approved);
    let admitted =
        |kind: &str| BehaviourMemory::admit(&kims("d".to_owned(), 1, Actor::User, report(kind)));
    assert_eq!(admitted(&"k".repeat(4_096)), Ok(()));
    for (kind, length) in [(" \n".to_owned(), 0), ("k".repeat(4_097), 4_097)] {
        let why = admitted(&kind).unwrap_err();
        assert_eq!(why, Refusal::Length { what: "kind", length, least: 1, most: 4_096 });
    }
}
