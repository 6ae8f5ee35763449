//! The next step for a conversation that has grown.

use std::cell::OnceCell;

use hanok_state::{Message, Messages};

use crate::{
    action::Action,
    memory::ConversationMemory,
    policy::{Compaction, Overflow, target, worth},
    prompt_size::{PromptParts, PromptSize},
    shrink::Shrinker,
    turn_data::is_turn_data,
    unit::Units,
};

/// One step that makes a conversation smaller. It is data: a program can store it, show it, and apply it later.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The work of the step.
    pub action: Action,
    /// What was found for earlier turns: it goes with the step, and no summary has it.
    pub data: Vec<Message>,
    /// The size of the prompt before it.
    pub before: PromptSize,
}

impl Compaction {
    /// Plans the next step for these messages, `None` where nothing is to be done. It looks at nothing else: the same
    /// conversation has the same plan.
    ///
    /// One plan asks the model once at most. After it is applied there may be another: fold, or shorten.
    ///
    /// ```
    /// use hanok_memory::{Action, Compaction, ConversationMemory, PromptParts};
    /// use hanok_state::{Message, Messages};
    ///
    /// let talk = (0..10).map(|n| Message::user(format!("{n}")).with_id(format!("{n}")));
    /// let (talk, memory): (Messages, _) = (talk.collect(), ConversationMemory::default());
    /// let policy = Compaction::new();
    /// let plan = policy.plan(&talk, &memory, &PromptParts::default()).ok_or("nothing to do")?;
    /// assert!(matches!(&plan.action, Action::Summarise { messages } if messages.len() == 5));
    ///
    /// let change = policy.apply(&plan, "0–4", &[], &talk, &memory)?;
    /// let (talk, memory) = change.applied(&talk, &memory);
    /// assert_eq!((talk.len(), memory.summaries().count()), (5, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn plan(
        &self,
        messages: &Messages,
        memory: &ConversationMemory,
        around: &PromptParts<'_>,
    ) -> Option<Plan> {
        let all: Vec<&Message> = messages.iter().collect();
        // Counting is what a plan costs: it is done once, and not where nobody asks for tokens.
        let counted = OnceCell::new();
        let count = || *counted.get_or_init(|| self.count(all.iter().copied(), memory, around));
        let fold = || match self.overflow {
            Overflow::Fold if memory.summaries.len() > self.summaries => self.fold(memory),
            _ => None,
        };
        // What was found for a turn does not count as a message of it.
        let spoken = all.iter().filter(|message| !is_turn_data(message)).count();
        let fires = self.fires(spoken, &|| count().total());
        if !fires && fold().is_none() {
            return None;
        }
        let shrinker = Shrinker { policy: self, units: Units::of(&all), messages: &all };
        let data = shrinker.earlier_data();
        let over = self.limit().map(|limit| (limit, count().total())).filter(|(l, t)| t >= l);
        let action = match over {
            _ if !fires => None,
            None => shrinker.summarise(0, 0),
            Some((limit, total)) => {
                let most = self.most().unwrap_or(u64::MAX);
                let goes: u64 = data.iter().map(|message| self.counter.message(message)).sum();
                let above = total.saturating_sub(target(limit)).saturating_sub(goes);
                // Whatever else fires does not ask how much is won.
                let alone = self.fires(spoken, &|| 0);
                let least = if total >= most || alone { 1 } else { worth(limit) };
                shrinker
                    .clear(above)
                    .or_else(|| shrinker.summarise(above, least))
                    .or_else(|| if total >= most { shrinker.shorten(above) } else { None })
            }
        };
        let action = action.or_else(fold)?;
        Some(Plan { action, data, before: count() })
    }

    fn fold(&self, memory: &ConversationMemory) -> Option<Action> {
        let mut oldest = memory.summaries.iter().map(|(key, text)| (key.clone(), text.clone()));
        let ((first, older), (second, newer)) = (oldest.next()?, oldest.next()?);
        Some(Action::Fold { keys: (first, second), summaries: (older, newer) })
    }
}
