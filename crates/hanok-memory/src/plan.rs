//! What to do about a conversation that has grown.

use std::{cell::OnceCell, collections::HashSet, sync::Arc};

use hanok_parse::Language;
use hanok_state::{Message, MessageOp, Messages, Role, State};
use thiserror::Error;

use crate::{
    Around, Change, Compaction, ConversationMemory, Counted, Fact, FactKind, Keep, Overflow,
    Summary, memory,
    policy::{target, worth},
    unit::{LABELS, Unit, Units},
};

/// Under which a message keeps that a part of it was taken out.
const CUT: &str = "compacted";

/// The most tokens that are left of a result that is shortened, if nothing else is said by the room there is.
const SHORTENED: u64 = 400;

/// One step that makes a conversation smaller. It is data: it can be kept, shown, and applied later.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What is done.
    pub action: Action,
    /// What the prompt holds before it.
    pub before: Counted,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Old results of tools are cleared; each call keeps its result's place. No model is asked.
    Clear {
        /// The results.
        results: Vec<Replaced>,
    },
    /// Messages are taken out, and a summary of them is kept.
    Summarise {
        /// The messages, in their order.
        messages: Vec<Message>,
    },
    /// The two oldest summaries are made one.
    Fold {
        /// Their keys, the older first.
        keys: (String, String),
        /// The two.
        summaries: (Summary, Summary),
    },
    /// The longest results are shortened, because nothing else is left to take. No model is asked.
    Shorten {
        /// The results.
        results: Vec<Replaced>,
    },
}

/// A message in the place of another one with its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Replaced {
    /// As it stands.
    pub from: Message,
    /// As it will stand.
    pub to: Message,
}

impl Action {
    /// The action's stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Clear { .. } => "clear",
            Self::Summarise { .. } => "summarise",
            Self::Fold { .. } => "fold",
            Self::Shorten { .. } => "shorten",
        }
    }

    /// Whether a model writes something for it.
    #[must_use]
    pub fn asks(&self) -> bool {
        matches!(self, Self::Summarise { .. } | Self::Fold { .. })
    }
}

/// Why a plan is not applied. The conversation is as it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotApplied {
    /// The conversation is no longer what was planned for.
    #[error("the conversation has changed since the plan was made")]
    Stale,
    /// The model wrote nothing.
    #[error("the summary is empty")]
    Empty,
    /// The summary is no shorter than what it stands for.
    #[error("the summary has {summary} tokens and stands for {replaced}")]
    Longer {
        /// Its tokens.
        summary: u64,
        /// The tokens of what it stands for.
        replaced: u64,
    },
}

impl Compaction {
    /// What to do next about these messages, `None` where nothing is to be done. It looks at nothing else: the same
    /// conversation has the same plan.
    ///
    /// One plan asks the model once at most. After it is applied there may be another: fold, or shorten.
    #[must_use]
    pub fn plan(
        &self,
        messages: &Messages,
        memory: &ConversationMemory,
        around: &Around<'_>,
    ) -> Option<Plan> {
        let all: Vec<&Message> = messages.iter().collect();
        // Counting is what a plan costs: it is done once, and not where nobody asks for tokens.
        let counted = OnceCell::new();
        let count = || *counted.get_or_init(|| self.count(all.iter().copied(), memory, around));
        let plan = |action| Plan { action, before: count() };
        let fold = || match self.overflow {
            Overflow::Fold if memory.summaries.len() > self.summaries => self.fold(memory),
            _ => None,
        };
        if !self.fires(all.len(), &|| count().total()) {
            return fold().map(plan);
        }
        let view = View { policy: self, units: Units::of(&all), messages: all.clone() };
        let over = self.limit().map(|limit| (limit, count().total())).filter(|(l, t)| t >= l);
        let action = match over {
            None => view.summarise(0, 0),
            Some((limit, total)) => {
                let most = self.most().unwrap_or(u64::MAX);
                let above = total.saturating_sub(target(limit));
                // Whatever else fires does not ask how much is won.
                let alone = self.fires(all.len(), &|| 0);
                let least = if total >= most || alone { 1 } else { worth(limit) };
                view.clear(above)
                    .or_else(|| view.summarise(above, least))
                    .or_else(|| if total >= most { view.shorten(above) } else { None })
            }
        };
        action.or_else(fold).map(plan)
    }

    fn fold(&self, memory: &ConversationMemory) -> Option<Action> {
        let mut oldest = memory.summaries.iter();
        let ((first, older), (second, newer)) = (oldest.next()?, oldest.next()?);
        Some(Action::Fold {
            keys: (first.clone(), second.clone()),
            summaries: (older.clone(), newer.clone()),
        })
    }

    /// What `plan` makes of the conversation, where `said` is what the model wrote for it (nothing, where it is not asked),
    /// and `facts` what is pinned of the messages that are taken.
    ///
    /// A plan that was applied changes nothing the second time.
    ///
    /// # Errors
    ///
    /// [`NotApplied`]: the conversation changed meanwhile, or the summary is none.
    pub fn apply(
        &self,
        plan: &Plan,
        said: &str,
        facts: &[Fact],
        messages: &Messages,
        memory: &ConversationMemory,
    ) -> Result<Change, NotApplied> {
        match &plan.action {
            Action::Clear { results } | Action::Shorten { results } => replaced(results, messages),
            Action::Summarise { messages: taken } => {
                self.summarised(taken, said, facts, messages, memory)
            }
            Action::Fold { keys, summaries } => self.folded(keys, summaries, said, memory),
        }
    }

    fn summarised(
        &self,
        taken: &[Message],
        said: &str,
        facts: &[Fact],
        messages: &Messages,
        memory: &ConversationMemory,
    ) -> Result<Change, NotApplied> {
        let ids: Vec<&str> = taken.iter().filter_map(Message::id).collect();
        let there = taken.iter().filter(|message| {
            message.id().and_then(|id| messages.get(id)).is_some_and(|kept| kept == *message)
        });
        match there.count() {
            0 if ids.iter().all(|id| messages.get(id).is_none()) => return Ok(Change::default()),
            all if all == taken.len() => {}
            _ => return Err(NotApplied::Stale),
        }
        let replaced = taken.iter().map(|message| self.counter.message(message)).sum();
        let text = self.accepted(said, replaced)?;
        let number = memory::next(&memory.summaries);
        let end = |id: Option<&&str>| id.map(|id| (*id).to_owned()).unwrap_or_default();
        let summary = Summary {
            text,
            messages: u32::try_from(taken.len()).unwrap_or(u32::MAX),
            covers: (end(ids.first()), end(ids.last())),
        };
        let mut update =
            ConversationMemory::update().insert_summaries(memory::key(number), summary);
        // Where they cannot be folded, because the model fails, they do not pile up for ever.
        let most = match self.overflow {
            Overflow::DropOldest => self.summaries,
            Overflow::Fold => self.summaries.saturating_mul(2),
        };
        let beyond = (memory.summaries.len() + 1).saturating_sub(most);
        for (key, _) in memory.summaries.iter().take(beyond) {
            update = update.remove_summaries(key.clone());
        }
        for (key, fact) in self.pinned(facts, memory).1 {
            update = match fact {
                Some(fact) => update.insert_pinned(key, fact),
                None => update.remove_pinned(key),
            };
        }
        let removed = ids.iter().map(|id| MessageOp::Remove(Arc::from(*id))).collect();
        Ok(Change { messages: removed, memory: update })
    }

    fn folded(
        &self,
        (first, second): &(String, String),
        (older, newer): &(Summary, Summary),
        said: &str,
        memory: &ConversationMemory,
    ) -> Result<Change, NotApplied> {
        match (memory.summaries.get(first), memory.summaries.get(second)) {
            (Some(a), Some(b)) if (a, b) == (older, newer) => {}
            (None, _) => return Ok(Change::default()),
            _ => return Err(NotApplied::Stale),
        }
        let replaced = self.counter.text(&older.text) + self.counter.text(&newer.text);
        let summary = Summary {
            text: self.accepted(said, replaced)?,
            messages: older.messages.saturating_add(newer.messages),
            covers: (older.covers.0.clone(), newer.covers.1.clone()),
        };
        let update = ConversationMemory::update()
            .remove_summaries(first.clone())
            .insert_summaries(second.clone(), summary);
        Ok(Change { messages: Vec::new(), memory: update })
    }

    /// What a model wrote, if it is a summary of something of `replaced` tokens.
    fn accepted(&self, said: &str, replaced: u64) -> Result<String, NotApplied> {
        let text = said.trim();
        if text.is_empty() {
            return Err(NotApplied::Empty);
        }
        match self.counter.text(text) {
            summary if summary >= replaced => Err(NotApplied::Longer { summary, replaced }),
            _ => Ok(text.to_owned()),
        }
    }

    /// Those of `facts` for which there is no room, and what becomes of the pinned ones: set, or removed because a later name
    /// takes the place.
    pub(crate) fn pinned(
        &self,
        facts: &[Fact],
        memory: &ConversationMemory,
    ) -> (Vec<Fact>, Vec<(String, Option<Fact>)>) {
        let tokens = |fact: &Fact| self.counter.text(&fact.text) + 2;
        let mut pinned: Vec<(String, &Fact)> =
            memory.pinned.iter().map(|(key, fact)| (key.clone(), fact)).collect();
        let mut used: u64 = memory.pinned().map(tokens).sum();
        let mut number = memory::next(&memory.pinned);
        let mut unpinned = Vec::new();
        for fact in facts {
            // A later name takes the place of the one that counts now.
            let named = |(_, pinned): &(String, &Fact)| {
                fact.kind == FactKind::Name && pinned.kind == FactKind::Name
            };
            let old = pinned.iter().position(named);
            let freed = old.and_then(|at| pinned.get(at)).map_or(0, |(_, fact)| tokens(fact));
            if pinned.iter().any(|(_, pinned)| pinned.text == fact.text) {
                continue;
            }
            if used - freed + tokens(fact) > self.pinned_tokens {
                unpinned.push(fact.clone());
                continue;
            }
            used = used - freed + tokens(fact);
            old.map(|at| pinned.remove(at));
            pinned.push((memory::key(number), fact));
            number += 1;
        }
        let kept: HashSet<&str> = pinned.iter().map(|(key, _)| key.as_str()).collect();
        let gone = memory.pinned.iter().filter(|(key, _)| !kept.contains(key.as_str()));
        let gone = gone.map(|(key, _)| (key.clone(), None));
        let new = pinned.iter().filter(|(key, _)| memory.pinned.get(key).is_none());
        let new = new.map(|(key, fact)| (key.clone(), Some(Fact::clone(fact))));
        let changes = gone.chain(new).collect();
        (unpinned, changes)
    }
}

/// `results` in the place of those that they were planned for.
fn replaced(results: &[Replaced], messages: &Messages) -> Result<Change, NotApplied> {
    let mut ops = Vec::new();
    for Replaced { from, to } in results {
        match to.id().and_then(|id| messages.get(id)) {
            Some(kept) if kept == from => ops.push(MessageOp::Put(to.clone())),
            Some(kept) if kept == to => {}
            Some(_) => return Err(NotApplied::Stale),
            // It was taken out since, with its call.
            None => {}
        }
    }
    Ok(Change { messages: ops, memory: ConversationMemory::update() })
}

/// A conversation that is to become smaller.
struct View<'a> {
    policy: &'a Compaction,
    units: Units,
    messages: Vec<&'a Message>,
}

impl<'a> View<'a> {
    /// The messages of a unit.
    fn of(&self, unit: &Unit) -> &[&'a Message] {
        self.messages.get(unit.messages.clone()).unwrap_or_default()
    }

    /// The units that may be taken: whole ones before the last turn, all of whose messages can be named.
    fn takeable(&self) -> impl Iterator<Item = &Unit> {
        self.units
            .units
            .iter()
            .filter(|unit| unit.messages.end <= self.units.last_turn && !unit.open)
            .filter(|unit| self.of(unit).iter().all(|message| message.id().is_some()))
    }

    /// The first message that stays.
    fn kept_from(&self) -> usize {
        let all = self.messages.len();
        match self.policy.keep {
            Keep::Messages(keep) => all.saturating_sub(keep),
            Keep::Turns(keep) => match keep {
                0 => all,
                keep => self.units.turns.iter().rev().nth(keep - 1).copied().unwrap_or(0),
            },
            Keep::Tokens(keep) => {
                let mut left = keep;
                let fits = self.messages.iter().rev().take_while(|message| {
                    let tokens = self.policy.counter.message(message);
                    let fits = tokens <= left;
                    left = left.saturating_sub(tokens);
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
    fn clear(&self, above: u64) -> Option<Action> {
        let kept = self.kept_from();
        let old = self.takeable().filter(|unit| unit.messages.end <= kept);
        let old = old.flat_map(|unit| unit.messages.clone());
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
    fn summarise(&self, above: u64, least: u64) -> Option<Action> {
        let kept = self.kept_from();
        // What is taken comes back as a summary.
        let above = match above {
            0 => 0,
            above => above.saturating_add(u64::from(self.policy.summary_tokens)),
        };
        let (mut taken, mut freed) = (Vec::new(), 0);
        for unit in self.takeable() {
            if unit.messages.end > kept && freed >= above {
                break;
            }
            freed += self.tokens(self.of(unit));
            taken.extend(self.of(unit).iter().map(|message| (*message).clone()));
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
    fn shorten(&self, above: u64) -> Option<Action> {
        let all = 0..self.messages.len();
        let mut sized: Vec<(u64, &Message)> = all.filter_map(|at| self.result(at)).collect();
        sized.sort_by_key(|(tokens, _)| std::cmp::Reverse(*tokens));
        let (mut results, mut freed) = (Vec::new(), 0);
        for (tokens, message) in sized {
            if freed >= above {
                break;
            }
            let left = tokens.saturating_sub(above - freed).max(SHORTENED);
            // Half of it at least, or it would be shortened again and again by a little.
            let left = left.min(tokens / 2).max(SHORTENED / 2);
            if left >= tokens {
                break;
            }
            if let Some(to) = shortened(message, tokens, left, self.policy) {
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
    let text = match language {
        Language::Korean => format!("[오래된 결과{tool}, {tokens}토큰, 지움]"),
        _ => format!("[old result{tool} of {tokens} tokens, cleared]"),
    };
    marked(message, &text)
}

/// A result with its beginning, its end, and a mark between; `None` where that is not shorter.
fn shortened(message: &Message, tokens: u64, left: u64, policy: &Compaction) -> Option<Message> {
    let text = message.text();
    let chars = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    let keep = chars.saturating_mul(left) / tokens.max(1);
    let (head, tail) = (keep / 3 * 2, keep / 3);
    let cut = chars.saturating_sub(head + tail);
    let mark = match policy.language {
        Language::Korean => format!("\n[… 가운데 {cut}자를 뺐음 …]\n"),
        _ => format!("\n[… {cut} characters taken out …]\n"),
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
