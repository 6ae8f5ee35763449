//! What a conversation becomes, by the pure part alone: the plan and its application.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_memory::{
    Action, Compaction, ConversationMemory, KeepRecent, NotApplied, Overflow, Plan, PromptParts,
    Trigger, stated_facts, turn_data,
};
use hanok_model::{DataMark, TokenCounter};
use hanok_parse::Language;
use hanok_state::{Message, Messages, ToolCall};

/// The defaults, and counts that depend on no feature: the numbers here are those of the estimate.
fn estimating() -> Compaction {
    Compaction::new().counter(TokenCounter::estimate())
}

const AROUND: PromptParts<'static> = PromptParts { system: "", tools: &[], reserved: 0 };

/// `turns` turns of a question and an answer, as ids `u1`, `a1`, `u2`, …
fn talk(turns: std::ops::RangeInclusive<usize>) -> Vec<Message> {
    let turn = |n: usize| {
        [
            Message::user(format!("{n}번째 질문입니다. 자세히 알려 주시면 좋겠습니다."))
                .with_id(format!("u{n}")),
            Message::assistant(format!("{n}번째 답입니다. 이렇게 하시면 됩니다."))
                .with_id(format!("a{n}")),
        ]
    };
    turns.flat_map(turn).collect()
}

fn ids(messages: &Messages) -> String {
    messages.iter().filter_map(Message::id).collect::<Vec<_>>().join(" ")
}

/// Carries plans out until there is none; the model writes what `write` says. Says what was done.
fn compacted(
    policy: &Compaction,
    messages: &mut Messages,
    memory: &mut ConversationMemory,
    mut write: impl FnMut(&Plan) -> String,
) -> Vec<&'static str> {
    let mut done = Vec::new();
    while let Some(plan) = policy.plan(messages, memory, &AROUND) {
        let said = if plan.action.asks_model() { write(&plan) } else { String::new() };
        let facts: Vec<_> = match &plan.action {
            Action::Summarise { messages } => messages.iter().flat_map(stated_facts).collect(),
            _ => Vec::new(),
        };
        let change = policy.apply(&plan, &said, &facts, messages, memory).unwrap();
        (*messages, *memory) = change.applied(messages, memory);
        done.push(plan.action.code());
        assert!(done.len() < 50, "no end: {done:?}");
    }
    done
}

/// B117
#[test]
fn ten_messages_become_five_and_the_oldest_of_four_summaries_goes() {
    let policy = Compaction::new().language(Language::Korean);
    let mut memory = ConversationMemory::default();
    let mut messages: Messages = talk(1..=5).into_iter().collect();
    assert_eq!(compacted(&policy, &mut messages, &mut memory, |_| "요약1".into()), ["summarise"]);
    assert_eq!(ids(&messages), "a3 u4 a4 u5 a5");
    for round in 2..=4 {
        let next = talk(round * 10..=round * 10 + 2);
        messages = messages.iter().cloned().chain(next).collect();
        let done = compacted(&policy, &mut messages, &mut memory, |_| format!("요약{round}"));
        assert_eq!(done, ["summarise"]);
        assert_eq!(messages.len(), 5);
    }
    let left: Vec<_> = memory.summaries().map(|summary| summary.text.as_str()).collect();
    assert_eq!(left, ["요약2", "요약3", "요약4"]);
    let separated = "요약2\n---SUMMARY_BREAK---\n요약3\n---SUMMARY_BREAK---\n요약4";
    assert_eq!(memory.to_separated().as_deref(), Ok(separated));
    assert_eq!(ConversationMemory::from_separated(separated).to_separated().unwrap(), separated);
}

#[test]
fn the_two_oldest_summaries_are_folded_and_none_is_lost() {
    let policy = Compaction::new().overflow(Overflow::Fold).summaries(2);
    let mut memory = ConversationMemory::default();
    let mut messages = Messages::new();
    let mut written = 0;
    let mut all = Vec::new();
    for round in 1..=4 {
        let next = talk(round * 10..=round * 10 + 4);
        messages = messages.iter().cloned().chain(next).collect();
        let write = |plan: &Plan| match &plan.action {
            Action::Fold { summaries, .. } => {
                format!("{}{}", summaries.0.text.trim_end_matches('.'), summaries.1.text)
            }
            _ => {
                written += 1;
                format!("{written}...........................")
            }
        };
        all.push(compacted(&policy, &mut messages, &mut memory, write));
    }
    let fold = ["summarise", "fold"].as_slice();
    assert_eq!(all, [&["summarise"], &["summarise"], fold, fold]);
    let left: Vec<_> = memory.summaries().map(|s| (s.text.replace('.', ""), s.messages)).collect();
    assert_eq!(left, [("123".into(), 25), ("4".into(), 10)]);
    assert_eq!(
        memory.summaries().next().map(|s| s.covers.clone()),
        Some(("u10".into(), "u32".into()))
    );
}

#[test]
fn a_summary_that_is_none_changes_nothing() {
    let policy = Compaction::new();
    let memory = ConversationMemory::default();
    let messages: Messages = talk(1..=5).into_iter().collect();
    let plan = policy.plan(&messages, &memory, &AROUND).unwrap();
    let apply =
        |said: &str| policy.apply(&plan, said, &[], &messages, &memory).map(|c| c.is_empty());
    assert_eq!(apply(" \n"), Err(NotApplied::Empty));
    let longer = apply(&"요약".repeat(200));
    assert!(matches!(longer, Err(NotApplied::SavesTooLittle { .. })), "{longer:?}");
    assert_eq!(apply("요약"), Ok(false));

    let other: Messages = messages.iter().skip(1).cloned().collect();
    assert!(matches!(policy.apply(&plan, "요약", &[], &other, &memory), Err(NotApplied::Stale)));
    let edited: Messages = messages
        .iter()
        .map(|m| if m.id() == Some("a1") { m.clone().with_content("다른 답") } else { m.clone() })
        .collect();
    assert!(matches!(policy.apply(&plan, "요약", &[], &edited, &memory), Err(NotApplied::Stale)));
}

fn called(id: &str) -> Message {
    let call = ToolCall { id: id.into(), name: "find".into(), arguments: Default::default() };
    Message::assistant("").with_tool_calls([call]).with_id(format!("call-{id}"))
}

fn gave(id: &str, text: String) -> Message {
    Message::tool(id, text).with_id(format!("result-{id}")).with_metadata("tool", "find")
}

#[test]
fn old_results_are_cleared_before_anything_is_summarised() {
    let policy = estimating()
        .trigger(Trigger::Tokens(3_000))
        .keep(KeepRecent::Messages(2))
        .language(Language::Korean);
    let mut messages: Messages = [
        Message::user("휴가 규정").with_id("u1"),
        called("1"),
        gave("1", "휴가는 연 15일. ".repeat(300)),
        Message::assistant("연 15일입니다.").with_id("a1"),
        Message::user("그럼 병가는?").with_id("u2"),
    ]
    .into_iter()
    .collect();
    let mut memory = ConversationMemory::default();
    let done = compacted(&policy, &mut messages, &mut memory, |_| unreachable!());
    assert_eq!(done, ["clear"]);
    assert_eq!(ids(&messages), "u1 call-1 result-1 a1 u2");
    let left = messages.get("result-1").unwrap();
    assert_eq!(left.tool_call_id(), Some("1"));
    assert!(left.text().starts_with("[오래된 결과 `find`, "), "{}", left.text());
}

#[test]
fn as_a_last_resort_the_longest_result_is_shortened_with_a_mark() {
    let policy = estimating().trigger(Trigger::Tokens(2_000)).window(2_200);
    let mut messages: Messages = [
        Message::user("규정 전체").with_id("u1"),
        called("1"),
        gave("1", format!("처음 {} 끝", "가나다라 ".repeat(3_000))),
    ]
    .into_iter()
    .collect();
    let mut memory = ConversationMemory::default();
    let done = compacted(&policy, &mut messages, &mut memory, |_| unreachable!());
    assert_eq!(done, ["shorten"]);
    let left = messages.get("result-1").unwrap().text().into_owned();
    assert!(left.starts_with("처음 ") && left.ends_with(" 끝"), "{left}");
    assert!(left.contains("characters taken out …]"), "{left}");
    let count = policy.count(messages.iter(), &memory, &AROUND);
    assert!(count.total() < 2_000 && !count.exact, "{count:?}");
}

/// What is planned for one conversation is not put over another.
#[test]
fn a_result_that_was_changed_or_taken_since_is_not_overwritten() {
    let policy = estimating().trigger(Trigger::Tokens(2_000)).window(2_200);
    let talk = |text: &str| -> Messages {
        let result = gave("1", text.to_owned());
        [Message::user("규정 전체").with_id("u1"), called("1"), result].into_iter().collect()
    };
    let messages = talk(&"가나다라 ".repeat(3_000));
    let memory = ConversationMemory::default();
    let plan = policy.plan(&messages, &memory, &AROUND).unwrap();
    let apply = |messages: &Messages| policy.apply(&plan, "", &[], messages, &memory);
    assert!(!apply(&messages).unwrap().is_empty());
    assert!(matches!(apply(&talk("짧은 것")), Err(NotApplied::Stale)));
    let taken: Messages = messages.iter().take(1).cloned().collect();
    assert!(apply(&taken).unwrap().is_empty());
}

/// As many as are needed, at once.
#[test]
fn a_hundred_huge_results_are_shortened_in_one_step() {
    let policy = estimating().trigger(Trigger::Tokens(60_000));
    let call = |n: usize| ToolCall::new(n.to_string(), "find", serde_json::json!({}));
    let calls = Message::assistant("").with_tool_calls((0..100).map(call)).with_id("calls");
    let results = (0..100).map(|n| gave(&n.to_string(), "가나다라 ".repeat(300)));
    let all = [Message::user("모두").with_id("u1"), calls].into_iter().chain(results);
    let (mut messages, mut memory) = (all.collect::<Messages>(), ConversationMemory::default());
    let done = compacted(&policy, &mut messages, &mut memory, |_| unreachable!());
    assert_eq!(done, ["shorten"]);
    assert!(policy.count(messages.iter(), &memory, &AROUND).total() < 60_000);
}

#[test]
fn everything_in_a_prompt_is_counted() {
    let policy = Compaction::new();
    let spec = hanok_model::ToolSpec::new("find", "Finds", serde_json::json!({})).unwrap();
    let tools = [spec];
    let data = turn_data("연차는 15일", Language::Korean, &DataMark::from_code("00ff"));
    let messages: Messages = talk(1..=2).into_iter().chain(data).collect();
    let memory = ConversationMemory::from_separated("요약");
    let around = PromptParts { system: "친절하게 답하세요.", tools: &tools, reserved: 100 };
    let count = policy.count(messages.iter(), &memory, &around);
    let parts =
        [count.system, count.tools, count.memory, count.context, count.messages, count.reserved];
    assert!(parts.iter().all(|part| *part > 0), "{count:?}");
    assert_eq!(count.total(), parts.iter().sum::<u64>());
    // What stands around the conversation counts for the trigger as well.
    let policy =
        Compaction::new().trigger(Trigger::Tokens(count.total())).keep(KeepRecent::Messages(1));
    assert!(policy.plan(&messages, &memory, &AROUND).is_none());
    assert!(policy.plan(&messages, &memory, &around).is_some());
}

/// B117: a long turn stays in the window, and the model keeps what it has not read yet.
#[test]
fn within_a_turn_finished_calls_go_and_the_question_and_the_newest_results_stay() {
    let talk = |calls: usize, words: usize| -> Messages {
        let rounds = (0..calls).flat_map(|n| {
            let id = n.to_string();
            [called(&id), gave(&id, format!("{n}: {}", "연 15일 ".repeat(words)))]
        });
        std::iter::once(Message::user("모두 찾아 줘").with_id("u1")).chain(rounds).collect()
    };
    let mut memory = ConversationMemory::default();
    let mut messages = talk(6, 20);
    let policy = estimating().language(Language::Korean);
    let done = compacted(&policy, &mut messages, &mut memory, |_| "찾은 것".into());
    assert_eq!(done, ["summarise"]);
    assert_eq!(ids(&messages), "u1 call-3 result-3 call-4 result-4 call-5 result-5");
    assert_eq!(memory.summaries().next().map(|summary| summary.messages), Some(6));

    // By tokens, old results are cleared first; the newest is never one of them.
    let policy = estimating().trigger(Trigger::Tokens(2_000)).keep(KeepRecent::Messages(0));
    let (mut messages, mut memory) = (talk(6, 80), ConversationMemory::default());
    let done = compacted(&policy.long_result(50), &mut messages, &mut memory, |_| "요약".into());
    assert_eq!(done, ["clear"]);
    let cleared: Vec<_> = messages
        .iter()
        .filter(|message| message.text().starts_with("[old result"))
        .filter_map(Message::id)
        .collect();
    assert_eq!(cleared, ["result-0", "result-1", "result-2", "result-3", "result-4"]);

    // A call that waits, and what it waits with, is not taken.
    let mut waiting: Messages = talk(5, 20).iter().cloned().chain([called("open")]).collect();
    let mut memory = ConversationMemory::default();
    compacted(&estimating(), &mut waiting, &mut memory, |_| "found".into());
    assert_eq!(ids(&waiting), "u1 call-3 result-3 call-4 result-4 call-open");
}

#[test]
fn what_was_found_for_earlier_turns_goes_with_the_next_step_and_into_no_summary() {
    let mark = DataMark::from_code("00ff");
    let data = |n: usize| {
        turn_data(&format!("문서 {n}"), Language::Korean, &mark)
            .map(|it| it.with_id(format!("d{n}")))
    };
    let turn = |n: usize| {
        let mut turn = talk(n..=n).into_iter();
        turn.next().into_iter().chain(data(n)).chain(turn)
    };
    let all: Messages = (1..=5).flat_map(turn).collect();
    let question: Messages = talk(6..=6).into_iter().take(1).chain(data(6)).collect();
    let policy = Compaction::new().language(Language::Korean);
    // Nine messages that somebody said: what was found does not count.
    let few: Messages = all.iter().take(13).cloned().collect();
    assert_eq!(policy.plan(&few, &ConversationMemory::default(), &AROUND), None);

    let mut messages: Messages = all.iter().chain(question.iter()).cloned().collect();
    let plan = policy.plan(&messages, &ConversationMemory::default(), &AROUND).unwrap();
    let request = policy.request(&plan.action, &mark).unwrap();
    assert!(!request.messages.iter().any(|message| message.text().contains("문서 1")));
    let mut memory = ConversationMemory::default();
    compacted(&policy, &mut messages, &mut memory, |_| "요약".into());
    assert_eq!(ids(&messages), "u4 a4 u5 a5 u6 d6");
    assert_eq!(memory.compactions, 1);

    // What is remembered of a user may stand before the question that it is for.
    let remembered = |n: usize| {
        let message = Message::user("기억하는 것").with_id(format!("r{n}"));
        [message.with_metadata("kind", "remembered")].into_iter().chain(talk(n..=n))
    };
    let mut messages: Messages =
        (1..=6).flat_map(remembered).filter(|message| message.id() != Some("a6")).collect();
    let mut memory = ConversationMemory::default();
    compacted(&policy, &mut messages, &mut memory, |_| "요약".into());
    assert_eq!(ids(&messages), "u4 a4 u5 a5 r6 u6");
}

#[test]
fn a_limit_of_tokens_does_not_fire_in_every_turn() {
    let policy = estimating().trigger(Trigger::Tokens(2_000)).keep(KeepRecent::Messages(4));
    let mut messages = Messages::new();
    let mut memory = ConversationMemory::default();
    let (mut fired, mut most) = (0, 0);
    for turn in 1..=200 {
        messages = messages.iter().cloned().chain(talk(turn..=turn)).collect();
        let done = compacted(&policy, &mut messages, &mut memory, |_| "짧은 요약".into());
        fired += done.len();
        most = most.max(policy.count(messages.iter(), &memory, &AROUND).total());
    }
    // A turn has about 100 tokens, so a quarter of the limit lasts for five of them.
    assert!((5..=200 / 4).contains(&fired), "{fired}");
    assert!(most < 2_500, "{most}");
}

#[test]
fn a_name_is_pinned_once_and_the_later_one_counts() {
    let policy = Compaction::new().pinned_tokens(60);
    let say = |n: usize, text: &str| Message::user(text).with_id(format!("s{n}"));
    let mut memory = ConversationMemory::default();
    for (n, name) in [(1, "내 이름은 철수야"), (2, "내 이름은 철수야"), (3, "내 이름은 영희야")]
    {
        let mut messages: Messages = std::iter::once(say(n, name)).chain(talk(10..=15)).collect();
        compacted(&policy, &mut messages, &mut memory, |_| "요약".into());
    }
    let pinned: Vec<_> = memory.pinned().map(|fact| fact.text.as_str()).collect();
    assert_eq!(pinned, ["내 이름은 영희야"]);

    // Several in one go: the last that was said counts, also when it was said before.
    let names = ["내 이름은 민수야", "내 이름은 영희야", "내 이름은 민수야"];
    let said = (4..).zip(names).map(|(n, name)| say(n, name));
    let mut messages: Messages = said.chain(talk(10..=15)).collect();
    compacted(&policy, &mut messages, &mut memory, |_| "요약".into());
    assert_eq!(
        memory.pinned().map(|fact| fact.text.as_str()).collect::<Vec<_>>(),
        ["내 이름은 민수야"]
    );
    let mut messages: Messages =
        std::iter::once(say(9, "내 이름은 영희야")).chain(talk(10..=15)).collect();
    compacted(&policy, &mut messages, &mut memory, |_| "요약".into());

    // What has no room is not pinned, and what is pinned stays.
    let many = (1..=10).map(|n| say(100 + n, &format!("예산은 {n}억원이야")));
    let mut messages: Messages = many.chain(talk(20..=22)).collect();
    compacted(&policy, &mut messages, &mut memory, |_| "요약".into());
    let pinned: Vec<_> = memory.pinned().map(|fact| fact.text.as_str()).collect();
    assert_eq!(pinned.first(), Some(&"내 이름은 영희야"));
    assert!((2..8).contains(&pinned.len()), "{pinned:?}");
}

/// 500 turns: what a model reads stays bounded, with summaries by any policy.
#[test]
fn five_hundred_turns_stay_small() {
    for overflow in [Overflow::DropOldest, Overflow::Fold] {
        let policy = Compaction::new().overflow(overflow).language(Language::Korean);
        let (mut messages, mut memory) = (Messages::new(), ConversationMemory::default());
        let mut most = 0;
        for turn in 1..=500 {
            messages = messages.iter().cloned().chain(talk(turn..=turn)).collect();
            compacted(&policy, &mut messages, &mut memory, |plan| match &plan.action {
                Action::Fold { .. } => "둘을 합친 요약".into(),
                _ => format!("{turn}번째 차례까지의 요약입니다."),
            });
            most = most.max(policy.count(messages.iter(), &memory, &AROUND).total());
        }
        assert!(most < 1_000, "{overflow:?}: {most}");
    }
}

/// By default a prompt is counted as the current models of OpenAI count it; without that feature, by the estimate.
#[test]
fn tokens_are_counted_by_a_vocabulary_unless_that_is_switched_off() {
    let said = "회의실 예약은 하루 전까지 해야 합니다.";
    let count = |policy: Compaction| {
        policy.count([&Message::user(said)], &ConversationMemory::default(), &AROUND).messages
    };
    let counted = count(Compaction::new());
    assert_eq!(counted, count(Compaction::new().counter(TokenCounter::default())));
    let estimated = count(estimating());
    assert_eq!(counted < estimated, cfg!(feature = "tiktoken"), "{counted} {estimated}");
}
