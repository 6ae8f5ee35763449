//! Conversations that are kept small: the tokens that are still sent, how much of a prompt a server has read before, and what that
//! makes of the price.
//!
//! A user says one or two sentences, a model answers with four to nine, and nothing is asked of a tool. A summary is what a model
//! of the policy's length would write: here the first sentences of what it stands for, up to 150 tokens. What is sent to have it
//! written counts as sent.
//!
//! Beside it the same policy is carried out as many clients do it: what is remembered stands before the newest question, between marks
//! that are drawn in every turn, and a summary is asked for with its messages alone.

use std::collections::HashMap;

use hanok_memory::{
    Action, Compaction, ConversationMemory, KeepRecent, Overflow, PromptParts, Trigger,
};
use hanok_model::{ChatRequest, DataMark, TokenCounter};
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

/// The lengths whose prompts are compared with those before.
const COMPARED: [usize; 2] = if cfg!(test) { [20, 60] } else { [50, 500] };

/// The price of a token that a server reads anew, of one that it has read before.
const PRICES: [u64; 2] = [10, 50];

/// Of each length the tokens that were sent as a share of what all of it would be, then the longest's last prompt. Of each length that
/// is compared the share of the prompts that a server has read before, the tokens that were sent as a share of those that are sent
/// where the memory moves, and the cost, at each price, as a share of the cost there.
fn figures(rounds: usize, said: &[&str], policy: Option<Compaction>) -> Result<Vec<f64>> {
    medians(rounds.min(1), async || {
        let mut figures = [0.0; TURNS.len() + 1 + COMPARED.len() * (2 + PRICES.len())];
        let run = |turns, policy, layout| Course::run(said, turns, policy, layout);
        let mut rest = figures.iter_mut();
        let mut write = |figure: f64| rest.next().map(|it| *it = figure).ok_or("too many figures");
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole as f64;
        for turns in TURNS {
            let all = run(turns, None, Layout::Front)?;
            write(percent(run(turns, policy.as_ref(), Layout::Front)?.sent, all.sent))?;
        }
        let longest = TURNS.into_iter().max().unwrap_or_default();
        write(run(longest, policy.as_ref(), Layout::Front)?.last as f64)?;
        for turns in COMPARED {
            let stays = run(turns, policy.as_ref(), Layout::Front)?;
            let moves = run(turns, policy.as_ref(), Layout::Moving)?;
            write(percent(stays.same, stays.prompts))?;
            write(percent(stays.sent, moves.sent))?;
            for price in PRICES {
                write(percent(stays.cost(price), moves.cost(price)))?;
            }
        }
        Ok(figures)
    })
}

/// Where the memory stands in a prompt.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// In front, where it stays.
    Front,
    /// Before the newest question, with a mark of its own.
    Moving,
}

/// What a conversation sent.
#[derive(Default)]
struct Course {
    /// Tokens of prompts and of requests for summaries.
    sent: u64,
    /// Those of them that stood the same, from the beginning on, in the prompt before.
    read: u64,
    /// Tokens of prompts.
    prompts: u64,
    /// Those of them that stood the same, from the beginning on, in the prompt before.
    same: u64,
    /// Tokens of the last prompt.
    last: u64,
    /// That prompt.
    before: Vec<Message>,
}

impl Course {
    fn run(
        said: &[&str],
        turns: usize,
        policy: Option<&Compaction>,
        layout: Layout,
    ) -> Result<Self> {
        let counter = TokenCounter::for_model("gpt-4o");
        ensure(counter.is_exact(), "tokens are not counted exactly")?;
        let policy =
            policy.map(|policy| policy.clone().counter(counter.clone()).language(Language::Korean));
        let (mut count, mut draw) = (Count { counter, known: HashMap::new() }, Draw(5));
        let (mut messages, mut memory) = (Messages::new(), ConversationMemory::default());
        let mut course = Self::default();
        for turn in 0..turns {
            let question = sentences(&mut draw, said, 2, 1);
            messages = add(&messages, Message::user(question).with_id(format!("u{turn}")));
            if let Some(policy) = &policy {
                course.compact(policy, layout, &mut messages, &mut memory, &mut count)?;
            }
            let prompt = prompt(layout, &messages, &memory, turn);
            let tokens: u64 = prompt.iter().map(|message| count.of(message)).sum();
            let same = course.common(&prompt, &mut count);
            (course.same, course.read) = (course.same + same, course.read + same);
            (course.sent, course.prompts) = (course.sent + tokens, course.prompts + tokens);
            course.last = tokens;
            course.before = prompt;
            let answer = sentences(&mut draw, said, 6, 4);
            messages = add(&messages, Message::assistant(answer).with_id(format!("a{turn}")));
        }
        Ok(course)
    }

    /// The tokens at the beginning of `prompt` that stand the same in the prompt before.
    fn common(&self, prompt: &[Message], count: &mut Count) -> u64 {
        let same = prompt.iter().zip(&self.before).take_while(|(now, then)| now == then);
        same.map(|(message, _)| count.of(message)).sum()
    }

    /// What it costs where a token that was read before costs one.
    fn cost(&self, price: u64) -> u64 {
        self.read + price * (self.sent - self.read)
    }

    /// Carries out what the policy says.
    fn compact(
        &mut self,
        policy: &Compaction,
        layout: Layout,
        messages: &mut Messages,
        memory: &mut ConversationMemory,
        count: &mut Count,
    ) -> Result<()> {
        let around = PromptParts { system: SYSTEM, ..PromptParts::default() };
        while let Some(plan) = policy.plan(messages, memory, &around) {
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
            let shared = match layout {
                Layout::Front => policy.shared_front(&plan, messages, memory, &around),
                Layout::Moving => None,
            };
            let request = match shared {
                Some(shared) => {
                    let front = prompt(layout, &shared, memory, 0);
                    self.read += self.common(&front, count);
                    Some(policy.request_behind(ChatRequest::new(front)))
                }
                None => policy.request(&plan.action, &DataMark::from_code("0")),
            };
            self.sent += request.map_or(0, |request| count.counter.request(&request));
            let change = policy.apply(&plan, &written, &[], messages, memory)?;
            (*messages, *memory) = change.applied(messages, memory);
        }
        Ok(())
    }
}

fn prompt(
    layout: Layout,
    messages: &Messages,
    memory: &ConversationMemory,
    turn: usize,
) -> Vec<Message> {
    let mut prompt = vec![Message::system(SYSTEM)];
    match layout {
        Layout::Front => prompt.extend(memory.prompt(messages, Language::Korean)),
        Layout::Moving => {
            let mark = DataMark::from_code(format!("{turn:016x}"));
            let text = memory.text(Language::Korean);
            let data = text.map(|text| Message::user(mark.around(&text)));
            prompt.extend(messages.iter().cloned());
            let question = prompt.len() - 1;
            if let Some(data) = data {
                prompt.insert(question, data);
            }
        }
    }
    prompt
}

fn add(messages: &Messages, message: Message) -> Messages {
    messages.iter().cloned().chain([message]).collect()
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
