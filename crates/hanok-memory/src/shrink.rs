//! The messages that a step clears, takes or shortens.

use hanok_parse::Language;
use hanok_state::{Message, Role};

use crate::{
    action::{Action, Replaced},
    policy::{Compaction, KeepRecent},
    turn_data::is_turn_data,
    unit::{LABELS, Unit, Units},
};

/// The metadata key of a message a part of which was taken out.
pub(crate) const CUT: &str = "compacted";

/// The metadata key of a result the whole of which is stored: the name by which the model reads it again.
pub const STORED: &str = "stored";

/// The most tokens of a shortened result, where the room that there is does not say otherwise.
const SHORTENED: u64 = 400;

/// A conversation that is to become smaller.
pub(crate) struct Shrinker<'a> {
    pub(crate) policy: &'a Compaction,
    pub(crate) units: Units,
    pub(crate) messages: &'a [&'a Message],
}

impl<'a> Shrinker<'a> {
    /// The messages of a unit.
    fn of(&self, unit: &Unit) -> &[&'a Message] {
        self.messages.get(unit.start..unit.end).unwrap_or_default()
    }

    /// The units that may be taken: whole ones before the last turn, and within it calls whose results the model has read. All
    /// of their messages can be named.
    fn takeable(&self) -> impl Iterator<Item = &Unit> {
        self.units
            .units
            .iter()
            .filter(|unit| !unit.open && (unit.end <= self.units.last_turn || self.is_read(unit)))
            .filter(|unit| self.of(unit).iter().all(|message| message.id().is_some()))
            .filter(|unit| !self.of(unit).iter().any(|message| is_turn_data(message)))
    }

    /// True for a call of the last turn whose results are not the newest: its model has gone on from them.
    fn is_read(&self, unit: &Unit) -> bool {
        unit.start > self.units.last_turn && unit.is_call() && unit.end < self.messages.len()
    }

    /// What was found for turns before the last one. What stands right before the last question is the last turn's.
    pub(crate) fn earlier_data(&self) -> Vec<Message> {
        let before = self.messages.get(..self.units.last_turn).unwrap_or_default();
        let own = before.iter().rev().take_while(|message| is_turn_data(message)).count();
        let end = before.len() - own;
        let before = self.units.units.iter().filter(|unit| unit.end <= end);
        let alone = before.filter(|unit| !unit.is_call()).flat_map(|unit| self.of(unit));
        let data = alone.filter(|message| message.id().is_some() && is_turn_data(message));
        data.map(|message| Message::clone(message)).collect()
    }

    /// The first message that stays.
    fn kept_from(&self) -> usize {
        let all = self.messages.len();
        match self.policy.keep {
            KeepRecent::Messages(0) => all,
            KeepRecent::Messages(keep) => {
                let spoken = self.messages.iter().enumerate().rev();
                let mut spoken = spoken.filter(|(_, message)| !is_turn_data(message));
                spoken.nth(keep - 1).map_or(0, |(at, _)| at)
            }
            KeepRecent::Turns(keep) => match keep {
                0 => all,
                keep => self.units.turns.iter().rev().nth(keep - 1).copied().unwrap_or(0),
            },
            KeepRecent::Tokens(keep) => {
                let mut budget = keep;
                let fits = self.messages.iter().rev().take_while(|message| {
                    let tokens = self.policy.counter.message(message);
                    let fits = tokens <= budget;
                    budget = budget.saturating_sub(tokens);
                    fits
                });
                all - fits.count()
            }
        }
    }

    fn tokens(&self, messages: &[&Message]) -> u64 {
        messages.iter().map(|message| self.policy.counter.message(message)).sum()
    }

    /// Clears old results where that alone brings the prompt down by `above` tokens.
    pub(crate) fn clear(&self, above: u64) -> Option<Action> {
        let kept = self.kept_from();
        let old = self.takeable().filter(|unit| unit.end <= kept);
        let old = old.flat_map(|unit| unit.start..unit.end);
        let mut results = Vec::new();
        let mut freed = 0;
        for (_, message) in old.filter_map(|at| self.result(at)) {
            let tokens = self.policy.counter.message(message);
            let whole = !message.metadata().contains_key(CUT);
            if whole && tokens >= self.policy.long_result {
                let to = cleared(message, tokens, self.policy.language);
                freed += tokens.saturating_sub(self.policy.counter.message(&to));
                results.push(Replaced { from: message.clone(), to });
            }
        }
        (freed >= above && !results.is_empty()).then_some(Action::Clear { results })
    }

    /// Takes what the policy does not keep, and more where that does not bring the prompt down by `above` tokens. Nothing,
    /// where it is less than `least` tokens.
    pub(crate) fn summarise(&self, above: u64, least: u64) -> Option<Action> {
        let kept = self.kept_from();
        // What is taken comes back as a summary.
        let above = match above {
            0 => 0,
            above => above.saturating_add(u64::from(self.policy.summary_tokens)),
        };
        let (mut taken, mut freed) = (Vec::new(), 0);
        for unit in self.takeable() {
            if unit.end > kept && freed >= above {
                break;
            }
            freed += self.tokens(self.of(unit));
            taken.extend(self.of(unit).iter().copied().cloned());
        }
        let worth = freed >= least && !taken.is_empty();
        worth.then_some(Action::Summarise { messages: taken })
    }

    /// The message at `at` and its tokens, if it is a result that can be named.
    fn result(&self, at: usize) -> Option<(u64, &'a Message)> {
        let message = self.messages.get(at).filter(|message| message.id().is_some())?;
        let is_result = self.units.results.get(at).copied().unwrap_or(false);
        is_result.then(|| (self.policy.counter.text(&message.text()), *message))
    }

    /// Shortens the longest results, wherever they stand, until the prompt is down by `above` tokens.
    pub(crate) fn shorten(&self, above: u64) -> Option<Action> {
        let all = 0..self.messages.len();
        let mut sized: Vec<(u64, &Message)> = all.filter_map(|at| self.result(at)).collect();
        sized.sort_by_key(|(tokens, _)| std::cmp::Reverse(*tokens));
        let (mut results, mut freed) = (Vec::new(), 0);
        for (tokens, message) in sized {
            if freed >= above {
                break;
            }
            let target = tokens.saturating_sub(above - freed).max(SHORTENED);
            // Half of it at least, or it would be shortened again and again by a little.
            let target = target.min(tokens / 2).max(SHORTENED / 2);
            if target >= tokens {
                break;
            }
            if let Some(to) = shortened(message, tokens, target, self.policy) {
                freed += tokens.saturating_sub(self.policy.counter.text(&to.text()));
                results.push(Replaced { from: message.clone(), to });
            }
        }
        (!results.is_empty()).then_some(Action::Shorten { results })
    }
}

/// A result without its text.
fn cleared(message: &Message, tokens: u64, language: Language) -> Message {
    let tool = message.metadata().get("tool").and_then(|tool| tool.0.as_str());
    let tool = tool.map(|tool| format!(" `{tool}`")).unwrap_or_default();
    let stored = stored(message, language);
    let text = match language {
        Language::Korean => format!("[오래된 결과{tool}, {tokens}토큰, 지움{stored}]"),
        _ => format!("[old result{tool} of {tokens} tokens, cleared{stored}]"),
    };
    marked(message, &text)
}

/// Where the whole of a result is, if it is stored.
fn stored(message: &Message, language: Language) -> String {
    match (message.metadata().get(STORED).and_then(|name| name.0.as_str()), language) {
        (Some(name), Language::Korean) => format!(", 이름 `{name}`으로 저장되어 있음"),
        (Some(name), _) => format!(", stored as `{name}`"),
        (None, _) => String::new(),
    }
}

/// A result with its beginning, its end, and a mark between; `None` where that is not shorter.
fn shortened(message: &Message, tokens: u64, target: u64, policy: &Compaction) -> Option<Message> {
    let text = message.text();
    let chars = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    let keep = chars.saturating_mul(target) / tokens.max(1);
    let (head, tail) = (keep / 3 * 2, keep / 3);
    let cut = chars.saturating_sub(head + tail);
    let stored = stored(message, policy.language);
    let mark = match policy.language {
        Language::Korean => format!("\n[… 가운데 {cut}자를 뺐음{stored} …]\n"),
        _ => format!("\n[… {cut} characters taken out{stored} …]\n"),
    };
    let (head, tail) = (usize::try_from(head).ok()?, usize::try_from(chars - tail).ok()?);
    let begin: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(tail).collect();
    let short = marked(message, &format!("{begin}{mark}{end}"));
    (policy.counter.message(&short) < policy.counter.message(message)).then_some(short)
}

/// `message` with another text, known as cut.
fn marked(message: &Message, text: &str) -> Message {
    // A label that stands before a result belongs to the protocol.
    let whole = message.text();
    let label = whole
        .split_inclusive(':')
        .next()
        .filter(|label| LABELS.contains(label) && message.role() == Role::User);
    let text = match label {
        Some(label) if !text.starts_with(label) => format!("{label} {text}"),
        _ => text.to_owned(),
    };
    message.clone().with_content(text).with_metadata(CUT, true)
}
