//! Reports of all five kinds, each made of a number, and stores that have learned them.

use std::{collections::BTreeSet, time::Duration};

use hanok_checkpoint::{SharedCheckpointer, SharedStore};
use hanok_core::{Gate, Stored, Tenant, Timestamp};
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_learning::{
    Actor, BehaviourMemory, ClarificationEvent, ClarificationMemory, ClarificationReport, Clarity,
    Evidence, EvidenceSource, GateAction, GateReport, Learned, Memories, MemoryKind,
    OrchestratorMemory, PlanEvent, PlanMemory, PlanReport, RunOutcome, ToolMemory, ToolRef,
    ToolReport, WorkflowMemory, WorkflowReport,
};
use hanok_state::State;
use serde_json::json;

use crate::support::*;

/// The server that turned out hostile.
pub(crate) const HOSTILE: &str = "hostile";

pub(crate) fn memories(store: &SharedStore) -> Memories {
    Memories::new(store.clone()).orchestration()
}

pub(crate) fn of_kim(store: &SharedStore) -> OrchestratorMemory {
    OrchestratorMemory::new(memories(store), Tenant::default(), Some("kim"))
}

/// A lesson, and what tests ask of it.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) thread: String,
    pub(crate) lesson: Stored,
    /// True if it rests on the hostile server.
    pub(crate) hostile: bool,
}

pub(crate) fn piece<K: MemoryKind>(evidence: &Evidence<K::Body>) -> Piece {
    let servers: BTreeSet<_> = K::servers(&evidence.body);
    let hostile = servers.contains(HOSTILE) || evidence.source.servers.contains(HOSTILE);
    let thread = evidence.source.thread.clone();
    Piece { thread, lesson: lesson(K::NAME, evidence), hostile }
}

/// Evidence of kim's.
pub(crate) fn kims<B>(id: String, at: u64, actor: Actor, body: B) -> Evidence<B> {
    let (user, at) = ("kim".to_owned(), Timestamp(at));
    let source = EvidenceSource { thread: "t".to_owned(), ..EvidenceSource::default() };
    Evidence { id, user, at, actor, source, body }
}

/// Evidence whose user, time and place are made of a number: many have one time, and each turn teaches several.
fn numbered<B>(kind: &str, n: u64, actor: Actor, body: B) -> Evidence<B> {
    let mut evidence = kims(format!("{kind}{n}"), n % 7, actor, body);
    evidence.user = pick(n / 5, ["kim", "kim", "lee"]).to_owned();
    evidence.source.thread = format!("t{}", n % 4);
    evidence.source.message = format!("m{}", n % 3);
    evidence
}

fn pick<T: Clone, const N: usize>(n: u64, of: [T; N]) -> T {
    of[(n % N as u64) as usize].clone()
}

fn tool(n: u64) -> ToolRef {
    let (hostile, maps) =
        (ToolRef::of_server(HOSTILE, "search"), ToolRef::of_server("maps", "search"));
    pick(n, [ToolRef::own("search"), ToolRef::own("read"), hostile, maps, ToolRef::own("Search")])
}

/// The same query in two spellings, and another one.
fn query(n: u64) -> String {
    pick(n, ["Compare the two leases", " compare  the two\nLEASES", "취득세는 얼마?"]).to_owned()
}

fn steps(n: u64) -> Vec<String> {
    let all = [vec!["read both", "compare"], vec!["Read both ", "compare"], vec!["search"]];
    pick(n, all).into_iter().map(str::to_owned).collect()
}

fn outcome(n: u64) -> RunOutcome {
    pick(n, [RunOutcome::Succeeded, RunOutcome::Failed, RunOutcome::Stopped, RunOutcome::Succeeded])
}

pub(crate) fn plan(n: u64) -> Evidence<PlanReport> {
    let text = pick(n / 2, ["", "too long", "too short", "wrong order", "too dear"]).to_owned();
    let event = match n / 3 % 6 {
        0 => PlanEvent::Accepted,
        1 => PlanEvent::Edited { from: steps(n / 11) },
        2 => PlanEvent::Revised { feedback: text },
        3 => PlanEvent::Rejected { reason: text },
        _ => PlanEvent::Ended(outcome(n / 17)),
    };
    let actor = match (&event, n / 4 % 4) {
        (PlanEvent::Ended(_), _) | (_, 0) => Actor::Automatic,
        _ => Actor::User,
    };
    let report = PlanReport::new(query(n), steps(n / 13), event).tool(tool(n / 6));
    numbered("plan", n, actor, report)
}

pub(crate) fn use_of_tool(n: u64) -> Evidence<ToolReport> {
    let took = Duration::from_millis(n * 37 % 1_000);
    let report = ToolReport::new(query(n), tool(n / 2), !(n / 3).is_multiple_of(4), took);
    let report = report.arguments(&json!({"top": n / 8 % 6, "area": "Mapo"}));
    numbered("tool", n, pick(n, [Actor::Tool, Actor::Automatic]), report)
}

pub(crate) fn clarification(n: u64) -> Evidence<ClarificationReport> {
    let (before, after) = (Clarity::new(n as f64 / 90.0 % 1.0), Clarity::new(0.9));
    let event = match n / 4 % 4 {
        0 => ClarificationEvent::Answered { before, after },
        1 => ClarificationEvent::Confirmed,
        2 => ClarificationEvent::Refuted,
        _ => ClarificationEvent::Applied,
    };
    let actor = if event == ClarificationEvent::Applied { Actor::Automatic } else { Actor::User };
    let answer = pick(n / 5, ["The one of building A", "the one of  building a", "건물 B"]);
    let evidence = numbered("answer", n, actor, ClarificationReport::new(query(n), answer, event));
    // No tool stands in it: whoever teaches it says what was read.
    if (n / 6).is_multiple_of(3) { evidence.of_server(HOSTILE) } else { evidence }
}

pub(crate) fn decision(n: u64) -> Evidence<GateReport> {
    let action = pick(
        n / 3,
        [
            GateAction::Approved,
            GateAction::Approved,
            GateAction::Edited,
            GateAction::Revised,
            GateAction::Skipped,
            GateAction::Rejected,
        ],
    );
    let gate = pick(n / 7, [Gate::Step, Gate::Plan]);
    let kind = pick(n, ["Read a document", "read a  DOCUMENT", "send a mail"]);
    let tool = (gate == Gate::Step).then(|| tool(n / 4));
    let mut report = GateReport::new(gate, kind, action);
    report.tool = tool;
    report.took = n.is_multiple_of(2).then(|| Duration::from_millis(n * 91));
    numbered("gate", n, pick(n / 9, [Actor::User, Actor::User, Actor::Automatic]), report)
}

pub(crate) fn workflow(n: u64) -> Evidence<WorkflowReport> {
    let mut report =
        WorkflowReport::new(pick(n / 3, ["lease", " LEASE"]), query(n), outcome(n / 2));
    report.steps = steps(n / 5);
    report.tools = (0..n % 3).map(|at| tool(n / 4 + at)).collect();
    numbered("flow", n, pick(n, [Actor::Automatic, Actor::Tool]), report)
}

/// The `n`th piece: its kind, too, is made of the number.
pub(crate) fn any_piece(n: u64) -> Piece {
    let of_kind = n / 5;
    match n % 5 {
        0 => piece::<PlanMemory>(&plan(of_kind)),
        1 => piece::<ToolMemory>(&use_of_tool(of_kind)),
        2 => piece::<ClarificationMemory>(&clarification(of_kind)),
        3 => piece::<BehaviourMemory>(&decision(of_kind)),
        _ => piece::<WorkflowMemory>(&workflow(of_kind)),
    }
}

/// Learns all of `pieces`, each in its thread; says how many are new.
pub(crate) async fn learn<'a>(
    store: &SharedStore,
    pieces: impl IntoIterator<Item = &'a Piece>,
) -> usize {
    let (memories, mut new) = (memories(store), 0);
    for Piece { thread, lesson, .. } in pieces {
        let learned = memories.learn(&key(thread), lesson, NOW).await.unwrap();
        new += usize::from(learned == Learned::New);
    }
    new
}

/// Runs a turn for each piece that hands it out.
pub(crate) async fn turns(threads: &SharedCheckpointer, pieces: &[Piece]) {
    for Piece { thread, lesson, .. } in pieces {
        let (thread, lesson) = (key(thread), lesson.clone());
        let node = move |_: Snapshot<Turn>, context: Context| {
            let handed = context.hand_out(TOPIC, &lesson);
            async move { handed.map(|()| Turn::update().done([1])) }
        };
        let graph = Graph::<Turn>::builder("turn").node("teach", node);
        let graph = graph.edge(START, "teach").edge("teach", END).build().unwrap();
        let thread = graph.checkpointer(threads.clone()).thread(thread);
        thread.invoke(Turn::update(), ()).await.unwrap().done().unwrap();
    }
}
