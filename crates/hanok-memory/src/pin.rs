//! Facts that are pinned, within the tokens that there are for them.

use std::{borrow::Cow, collections::HashSet};

use crate::{
    memory::{self, ConversationMemory, Fact, FactKind},
    policy::Compaction,
};

/// The changes of the pinned facts.
pub(crate) struct Pins<'a> {
    /// The number of facts for which there is no room.
    pub(crate) unpinned: usize,
    pub(crate) changes: Vec<PinChange<'a>>,
}

/// One change of the pinned facts.
pub(crate) enum PinChange<'a> {
    /// A fact is pinned under this key.
    Set(String, &'a Fact),
    /// The fact under this key makes room for a later name.
    Remove(&'a str),
}

impl Compaction {
    /// The changes that pin `facts`, as far as there is room for them.
    pub(crate) fn pin<'a>(&self, facts: &'a [Fact], memory: &'a ConversationMemory) -> Pins<'a> {
        let tokens = |fact: &Fact| self.counter.text(&fact.text) + 2;
        let old = memory.pinned.iter().map(|(key, fact)| (Cow::Borrowed(key.as_str()), fact));
        let mut pinned: Vec<(Cow<'_, str>, &Fact)> = old.collect();
        let mut used: u64 = memory.pinned().map(tokens).sum();
        let mut number = memory::next(&memory.pinned);
        let mut unpinned = 0;
        for fact in facts {
            // A later name takes the place of the one that counts now.
            let is_replaced = |(_, pinned): &(_, &Fact)| {
                fact.kind == FactKind::Name && pinned.kind == FactKind::Name
            };
            let old = pinned.iter().position(is_replaced);
            let freed = old.and_then(|at| pinned.get(at)).map_or(0, |(_, fact)| tokens(fact));
            if pinned.iter().any(|(_, pinned)| pinned.text == fact.text) {
                continue;
            }
            if used - freed + tokens(fact) > self.pinned_tokens {
                unpinned += 1;
                continue;
            }
            used = used - freed + tokens(fact);
            old.map(|at| pinned.remove(at));
            pinned.push((Cow::Owned(memory::key(number)), fact));
            number += 1;
        }
        let kept: HashSet<&str> = pinned.iter().map(|(key, _)| &**key).collect();
        let old = memory.pinned.iter().map(|(key, _)| key.as_str());
        let removed = old.filter(|key| !kept.contains(key)).map(PinChange::Remove);
        let mut changes: Vec<_> = removed.collect();
        changes.extend(pinned.into_iter().filter_map(|(key, fact)| match key {
            Cow::Owned(key) => Some(PinChange::Set(key, fact)),
            Cow::Borrowed(_) => None,
        }));
        Pins { unpinned, changes }
    }
}
