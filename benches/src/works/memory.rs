//! Conversations that are kept small: the tokens that are still sent, and how much of a prompt is the same as in the turn before.
//!
//! A user says one or two sentences, a model answers with four to nine, and nothing is asked of a tool. A summary is what a model
//! of the policy's length would write: here the first sentences of what it stands for, up to 150 tokens. What is sent to have it
//! written counts as sent.

use std::collections::HashMap;

use hanok_memory::{
    Action, Compaction, ConversationMemory, KeepRecent, Overflow, PromptParts, Trigger, with_data,
};
use hanok_model::{DataMark, TokenCounter};
use hanok_parse::Language;
use hanok_state::{Message, Messages};

use super::parse::texts::Draw;
use crate::{
    Result,
    measure::{ensure, medians},
};

/// The lengths that are measured, in turns.
const TURNS: [usize; 4] = if cfg!(test) { [10, 20, 40, 60] } else { [10, 50, 200, 500] };

/// The tokens of a summary.
const SUMMARY: u64 = 150;

const SYSTEM: &str = "당신은 도움이 되는 AI 어시스턴트입니다. 짧고 정확하게 답합니다.";

const KOREAN: [&str; 8] = [
    "연차는 1년에 15일이며, 3년부터는 2년마다 하루씩 늘어납니다. ",
    "계약서의 특약 사항은 반드시 서면으로 남겨 두는 것이 좋습니다. ",
    "전세 3억 5천만 원을 5 % 올리면 3억 6,750만 원입니다. ",
    "결론부터 말하면, 두 조건 모두 법이 정한 범위 안에 있습니다. ",
    "다음 주 화요일까지 검토 의견을 보내 주시면 일정에 반영하겠습니다. ",
    "배포는 매주 목요일 오후 2시에 하고, 문제가 생기면 바로 되돌립니다. ",
    "예산은 지난번에 말씀드린 금액에서 달라지지 않았습니다. ",
    "이 부분은 담당자에게 확인한 뒤에 다시 알려 드리겠습니다. ",
];

const ENGLISH: [&str; 8] = [
    "The lease runs for two years, and either side may end it with two months' notice. ",
    "If the deposit is not paid back in time, interest is due at 5 % a year (see section 4.2). ",
    "It's worth asking for a copy of the register before you sign - it is free of charge online. ",
    "In short: read the contract, compare the numbers, and keep what was said in writing. ",
    "This answers the first question; the second one needs the answer of a tool. ",
    "We deploy every Thursday at two, and roll back at once when something breaks. ",
    "The budget has not changed since the figure that I gave you last time. ",
    "I will check this with the person in charge and tell you again. ",
];

/// In Korean, with the defaults: the oldest summary is dropped.
pub(crate) fn korean(rounds: usize) -> Result<Vec<f64>> {
    figures(rounds, &KOREAN, Some(Compaction::new()))
}

/// In Korean, with folded summaries.
pub(crate) fn folded(rounds: usize) -> Result<Vec<f64>> {
    figures(rounds, &KOREAN, Some(Compaction::new().overflow(Overflow::Fold)))
}

/// In Korean, with more messages that stay.
pub(crate) fn wide(rounds: usize) -> Result<Vec<f64>> {
    let policy = Compaction::new().trigger(Trigger::Messages(40)).keep(KeepRecent::Messages(20));
    figures(rounds, &KOREAN, Some(policy))
}

/// In English, with the defaults.
pub(crate) fn english(rounds: usize) -> Result<Vec<f64>> {
    figures(rounds, &ENGLISH, Some(Compaction::new()))
}

/// Everything is sent in every turn.
pub(crate) fn all_korean(rounds: usize) -> Result<Vec<f64>> {
    figures(rounds, &KOREAN, None)
}

/// Everything is sent in every turn.
pub(crate) fn all_english(rounds: usize) -> Result<Vec<f64>> {
    figures(rounds, &ENGLISH, None)
}

/// Of each length the tokens that were sent as a share of what all of it would be, then of the longest the last prompt's tokens and the share of all
/// prompts that stood the same in the one before.
fn figures(rounds: usize, said: &[&str], policy: Option<Compaction>) -> Result<Vec<f64>> {
    medians(rounds.min(1), async || {
        let mut figures = [0.0; TURNS.len() + 2];
        for (figure, turns) in figures.iter_mut().zip(TURNS) {
            let (all, kept) =
                (Course::run(said, turns, None)?, Course::run(said, turns, policy.as_ref())?);
            *figure = 100.0 * kept.sent as f64 / all.sent as f64;
        }
        let longest =
            Course::run(said, TURNS.into_iter().max().unwrap_or_default(), policy.as_ref())?;
        let [.., last, prefix] = &mut figures;
        *last = longest.last as f64;
        *prefix = 100.0 * longest.same as f64 / longest.prompts as f64;
        Ok(figures)
    })
}

/// What a conversation sent.
#[derive(Default)]
struct Course {
    /// Tokens of prompts and of requests for summaries.
    sent: u64,
    /// Tokens of prompts.
    prompts: u64,
    /// Those of them that stood the same, from the beginning on, in the prompt before.
    same: u64,
    /// Tokens of the last prompt.
    last: u64,
}

impl Course {
    fn run(said: &[&str], turns: usize, policy: Option<&Compaction>) -> Result<Self> {
        let counter = TokenCounter::for_model("gpt-4o");
        ensure(counter.is_exact(), "tokens are not counted exactly")?;
        let policy =
            policy.map(|policy| policy.clone().counter(counter.clone()).language(Language::Korean));
        let (mut count, mut draw) = (Count { counter, known: HashMap::new() }, Draw(5));
        let (mut messages, mut memory) = (Messages::new(), ConversationMemory::default());
        let mut course = Self::default();
        let mut before: Vec<Message> = Vec::new();
        for turn in 0..turns {
            let question = sentences(&mut draw, said, 2, 1);
            messages = add(&messages, Message::user(question).with_id(format!("u{turn}")));
            if let Some(policy) = &policy {
                course.sent += compact(policy, &mut messages, &mut memory, &mut count)?;
            }
            // The mark is another in each turn.
            let mark = DataMark::from_code(format!("{turn:016x}"));
            let data = memory.message(None, Language::Korean, &mark);
            let mut prompt = vec![Message::system(SYSTEM)];
            prompt.extend(with_data(&messages, data));
            let tokens: u64 = prompt.iter().map(|message| count.of(message)).sum();
            let same = prompt.iter().zip(&before).take_while(|(now, then)| now == then);
            course.same += same.map(|(message, _)| count.of(message)).sum::<u64>();
            (course.sent, course.prompts) = (course.sent + tokens, course.prompts + tokens);
            course.last = tokens;
            before = prompt;
            let answer = sentences(&mut draw, said, 6, 4);
            messages = add(&messages, Message::assistant(answer).with_id(format!("a{turn}")));
        }
        Ok(course)
    }
}

fn add(messages: &Messages, message: Message) -> Messages {
    messages.iter().cloned().chain([message]).collect()
}

/// Carries out what the policy says; the tokens that were sent for it.
fn compact(
    policy: &Compaction,
    messages: &mut Messages,
    memory: &mut ConversationMemory,
    count: &mut Count,
) -> Result<u64> {
    let mut sent = 0;
    while let Some(plan) = policy.plan(messages, memory, &PromptParts::default()) {
        let written = match &plan.action {
            Action::Summarise { messages } => {
                let text: String = messages.iter().map(|message| message.text()).collect();
                count.cut(&text, SUMMARY)
            }
            Action::Fold { summaries: (older, newer), .. } => {
                let half = |text| count.cut(text, SUMMARY / 2);
                half(&older.text) + &half(&newer.text)
            }
            _ => String::new(),
        };
        let request = policy.request(&plan.action, &DataMark::from_code("0"));
        sent += request.map_or(0, |request| count.counter.request(&request));
        let change = policy.apply(&plan, &written, &[], messages, memory)?;
        (*messages, *memory) = change.applied(messages, memory);
    }
    Ok(sent)
}

/// Counts each text once.
struct Count {
    counter: TokenCounter,
    known: HashMap<String, u64>,
}

impl Count {
    fn of(&mut self, message: &Message) -> u64 {
        let Some(id) = message.id() else { return self.counter.message(message) };
        let counter = &self.counter;
        *self.known.entry(id.to_owned()).or_insert_with(|| counter.message(message))
    }

    /// The sentences at the beginning of `text` that have at most so many tokens.
    fn cut(&self, text: &str, tokens: u64) -> String {
        let mut cut = String::new();
        for sentence in text.split_inclusive(". ") {
            if self.counter.text(&cut) + self.counter.text(sentence) > tokens {
                break;
            }
            cut.push_str(sentence);
        }
        cut
    }
}

/// At least `least` sentences, and up to `more` - 1 more.
fn sentences(draw: &mut Draw, said: &[&str], more: usize, least: usize) -> String {
    let count = least + draw.below(more);
    (0..count).filter_map(|_| said.get(draw.below(said.len())).copied()).collect()
}
