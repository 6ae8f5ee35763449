//! Claims about any conversation: calls and results stay together, the last turn stays, the budget is kept.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::collections::{BTreeMap, BTreeSet};

use hanok_memory::{
    Action, Compaction, ConversationMemory, KeepRecent, NotApplied, Overflow, PromptParts, Trigger,
    stated_facts, turn_data,
};
use hanok_model::{DataMark, TokenCounter};
use hanok_parse::Language;
use hanok_state::{Message, Messages, Role, ToolCall};
use hanok_testkit::shortened;
use proptest::prelude::*;

/// One turn: how long the user speaks, the rounds of calls (how long each result is, `None` for one that never came), by which
/// protocol, and how long the answer is, if there is one.
#[derive(Debug, Clone)]
struct Turn {
    said: usize,
    rounds: Vec<Vec<Option<usize>>>,
    text: bool,
    answer: Option<usize>,
    /// What was found for it.
    data: bool,
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 1..60usize, 1 => 200..2_000usize, 1 => 5_000..9_000usize]
}

fn turn() -> impl Strategy<Value = Turn> {
    let result = prop_oneof![9 => length().prop_map(Some), 1 => Just(None)];
    let rounds = prop::collection::vec(prop::collection::vec(result, 1..4), 0..3);
    let answer = prop_oneof![9 => length().prop_map(Some), 1 => Just(None)];
    let turn = (length(), rounds, any::<bool>(), answer, prop::bool::weighted(0.3));
    turn.prop_map(|(said, rounds, text, answer, data)| Turn { said, rounds, text, answer, data })
}

fn words(count: usize) -> String {
    ["연차", "rule", "15일", "and", "규정"]
        .iter()
        .cycle()
        .take(count)
        .copied()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The conversation of `turns`, each message with an id.
fn conversation(system: bool, turns: &[Turn]) -> Vec<Message> {
    let mut all = Vec::new();
    if system {
        all.push(Message::system("친절하게"));
    }
    let (mut call, mut results_end) = (0, false);
    for turn in turns {
        // Some state something, and some write as a tool does. Directly after results of the text protocol nobody could tell
        // that from one more of them.
        let said = match turn.said % 7 {
            0 => format!("예산은 {}억원이야", turn.said),
            1 if turns.len() > 3 && !results_end => format!("관찰: {}", words(turn.said)),
            _ => words(turn.said),
        };
        results_end = turn.text && !turn.rounds.is_empty() && turn.answer.is_none();
        all.push(Message::user(said));
        if turn.data {
            all.extend(turn_data(&words(30), Language::Korean, &DataMark::from_code("00ff")));
        }
        for round in &turn.rounds {
            match turn.text {
                false => native(round, &mut call, &mut all),
                true => textual(round, &mut all),
            }
        }
        all.extend(turn.answer.map(|answer| Message::assistant(words(answer))));
    }
    let named = (0..).zip(all).map(|(n, message): (usize, _)| message.with_id(format!("m{n}")));
    named.collect()
}

fn native(round: &[Option<usize>], call: &mut usize, all: &mut Vec<Message>) {
    let first = *call;
    *call += round.len();
    let calls = (first..*call).map(|n| ToolCall {
        id: format!("c{n}"),
        name: "find".into(),
        arguments: Default::default(),
    });
    all.push(Message::assistant("").with_tool_calls(calls));
    let results = (first..).zip(round).filter_map(|(n, result)| Some((n, (*result)?)));
    all.extend(results.map(|(n, length)| Message::tool(format!("c{n}"), words(length))));
}

fn textual(round: &[Option<usize>], all: &mut Vec<Message>) {
    all.push(Message::assistant("Action: find\nAction Input: {\"q\": \"x\"}"));
    let results = round.iter().flatten();
    all.extend(results.map(|length| Message::user(format!("Observation: {}", words(*length)))));
}

/// A policy, and the messages that it keeps, where it keeps a number of messages.
fn policy() -> impl Strategy<Value = (Compaction, Option<usize>)> {
    let trigger = prop_oneof![
        (6..30usize).prop_map(Trigger::Messages),
        (500..20_000u64).prop_map(Trigger::Tokens),
        (1..10u32).prop_map(|tenths| Trigger::Fraction(f64::from(tenths) / 10.0)),
        ((6..30usize), (500..20_000u64))
            .prop_map(|(m, t)| Trigger::Any(vec![Trigger::Messages(m), Trigger::Tokens(t)])),
    ];
    let keep = prop_oneof![
        (0..6usize).prop_map(KeepRecent::Messages),
        (0..300u64).prop_map(KeepRecent::Tokens),
        (0..3usize).prop_map(KeepRecent::Turns),
    ];
    let overflow = prop_oneof![Just(Overflow::DropOldest), Just(Overflow::Fold)];
    (trigger, keep, overflow).prop_map(|(trigger, keep, overflow)| {
        let messages = if let KeepRecent::Messages(keep) = keep { Some(keep) } else { None };
        let policy =
            Compaction::new().trigger(trigger).keep(keep).overflow(overflow).window(20_000);
        // Vocabularies take long in a build that is not optimised, and hold the same claim.
        let policy = policy.counter(TokenCounter::estimate());
        (policy.summary_tokens(50), messages)
    })
}

fn around() -> PromptParts<'static> {
    PromptParts { system: "친절하게", reserved: 50, ..PromptParts::default() }
}

/// Which message answers which, by ids and by place.
fn owners(messages: &[Message]) -> BTreeMap<String, String> {
    let mut owners = BTreeMap::new();
    let mut calls = BTreeMap::new();
    let mut text: Option<&str> = None;
    for message in messages {
        let id = message.id().unwrap();
        for call in message.tool_calls() {
            calls.insert(call.id.as_str(), id);
        }
        match message.role() {
            Role::Tool => {
                owners.insert(id.to_owned(), calls[message.tool_call_id().unwrap()].to_owned());
            }
            Role::Assistant => text = message.text().starts_with("Action").then_some(id),
            Role::User if message.text().starts_with("Observation") => {
                owners.insert(id.to_owned(), text.unwrap().to_owned());
            }
            _ => text = None,
        }
    }
    owners
}

proptest! {
    #![proptest_config(ProptestConfig { cases: shortened(200) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    /// B117
    #[test]
    fn no_call_loses_its_result_and_the_budget_is_kept(
        system in any::<bool>(),
        turns in prop::collection::vec(turn(), 1..14),
        (policy, keep) in policy(),
        summary in 1..25usize,
    ) {
        let all = conversation(system, &turns);
        let owners = owners(&all);
        let said = |m: &Message| {
            m.role() == Role::User && !owners.contains_key(m.id().unwrap()) && !is_data(m)
        };
        let last_turn = all.iter().rposition(said).unwrap();
        let (mut messages, mut memory): (Messages, _) =
            (all.iter().cloned().collect(), ConversationMemory::default());
        let (mut rounds, mut gave_up) = (0, false);
        while let Some(plan) = policy.plan(&messages, &memory, &around()) {
            let text = if plan.action.asks_model() { words(summary) } else { String::new() };
            let facts: Vec<_> = match &plan.action {
                Action::Summarise { messages } => messages.iter().flat_map(stated_facts).collect(),
                _ => Vec::new(),
            };
            let change = match policy.apply(&plan, &text, &facts, &messages, &memory) {
                Ok(change) => change,
                Err(NotApplied::SavesTooLittle { .. }) => {
                    gave_up = true;
                    break;
                }
                Err(error) => return Err(TestCaseError::fail(error.to_string())),
            };
            prop_assert!(!change.is_empty(), "{} changes nothing", plan.action.code());
            let (after, remembered) = change.applied(&messages, &memory);
            let again = policy.apply(&plan, &text, &facts, &after, &remembered).unwrap();
            prop_assert!(again.is_empty(), "{} twice: {again:?}", plan.action.code());
            let count = |m: &Messages, r| policy.count(m.iter(), r, &around()).total();
            let smaller = count(&after, &remembered) < count(&messages, &memory);
            let taken = matches!(plan.action, Action::Summarise { .. });
            prop_assert!(smaller || taken, "{} made it no smaller", plan.action.code());
            (messages, memory) = (after, remembered);
            rounds += 1;
            prop_assert!(rounds < 60, "no end");
        }

        let left: BTreeSet<&str> = messages.iter().filter_map(Message::id).collect();
        for (result, call) in &owners {
            prop_assert_eq!(left.contains(result.as_str()), left.contains(call.as_str()), "{} of {}", result, call);
        }
        // Of the last turn, calls may go whose results the model has read: something stands behind them.
        let calls: BTreeSet<&str> = owners.values().map(String::as_str).collect();
        let of_call = |id: &str| calls.contains(id) || owners.contains_key(id);
        let call_of = |id: &str| owners.get(id).map_or(id.to_owned(), Clone::clone);
        let newest = all.last().and_then(Message::id).filter(|id| of_call(id)).map(call_of);
        for message in all.iter().skip(last_turn).chain(all.iter().take(usize::from(system))) {
            let id = message.id().unwrap();
            let may_go = of_call(id) && newest.as_ref() != Some(&call_of(id));
            prop_assert!(may_go || left.contains(id), "{message:?} is gone");
        }
        // What stands right before the last question may have been found for that: it stays with it.
        let own = all[..last_turn].iter().rev().take_while(|message| is_data(message)).count();
        for (at, message) in all.iter().enumerate().take(last_turn).filter(|it| is_data(it.1)) {
            let stays = rounds == 0 || at >= last_turn - own;
            prop_assert_eq!(left.contains(message.id().unwrap()), stays, "{:?}", message);
        }
        let kept: Vec<_> = all.iter().filter(|m| left.contains(m.id().unwrap())).collect();
        prop_assert!(kept.iter().map(|m| m.id()).eq(messages.iter().map(Message::id)));
        let same = messages.iter().all(|m| {
            let before = all.iter().find(|old| old.id() == m.id()).unwrap();
            before == m || owners.contains_key(m.id().unwrap())
        });
        prop_assert!(same, "a message that is no result was changed");

        // A call that waits for a result is never taken.
        for call in unanswered(&all) {
            prop_assert!(left.contains(call), "{call} waits, and is gone");
        }
        // Over the budget only where nothing is left to take.
        let total = policy.count(messages.iter(), &memory, &around()).total();
        if policy.limit().is_some_and(|limit| total >= limit / 4 * 5) {
            let open: BTreeSet<&str> = unanswered(&all).collect();
            let takeable = messages
                .iter()
                .take_while(|m| m.id() != all[last_turn].id())
                .filter(|m| m.role() != Role::System && !is_data(m))
                .filter(|m| {
                    let id = m.id().unwrap();
                    !open.contains(id) && !owners.get(id).is_some_and(|call| open.contains(call.as_str()))
                })
                .count();
            prop_assert!(takeable == 0 || gave_up, "{takeable} messages could go, {total} tokens");
            let long = messages.iter().any(|m| {
                owners.contains_key(m.id().unwrap()) && policy.count([m], &ConversationMemory::default(), &PromptParts::default()).messages > 2_000
            });
            prop_assert!(!long || gave_up, "a huge result is left, {total} tokens");
        }
        // Without a limit of tokens nothing is taken of what is to stay.
        if let (None, Some(keep)) = (policy.limit(), keep) {
            for message in all.iter().rev().filter(|message| !is_data(message)).take(keep) {
                prop_assert!(left.contains(message.id().unwrap()), "{message:?} is to stay");
            }
        }
    }
}

fn is_data(message: &Message) -> bool {
    message.text().starts_with("<data-")
}

/// The calls some of whose results never came.
fn unanswered(all: &[Message]) -> impl Iterator<Item = &str> {
    all.iter()
        .filter(|message| {
            let came = |id: &str| all.iter().any(|result| result.tool_call_id() == Some(id));
            message.tool_calls().iter().any(|call| !came(&call.id))
        })
        .filter_map(Message::id)
}
