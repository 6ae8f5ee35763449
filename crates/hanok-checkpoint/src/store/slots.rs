//! The items of a store by number: what a search asks of all of them stands side by side.

use std::{collections::BTreeMap, ops::Bound};

use hanok_core::{ItemKey, Labels, Tenant, Timestamp};

use super::{
    search::Within,
    vector::{Space, Vector},
};

/// The lowest label and key: neither holds a control character.
pub(super) const LOWEST: &str = " ";

/// The numbers of items, from 0. That of a removed item is another's next.
#[derive(Debug, Default)]
pub(super) struct Slots {
    items: Vec<Slot>,
    /// The numbers that nobody has.
    free: Vec<usize>,
    /// The numbers of namespaces, and how many items each has.
    namespaces: BTreeMap<(Tenant, Labels), Namespace>,
    /// The number of namespaces that there ever were.
    last: u32,
    /// The vectors of items, in the order of their numbers.
    vectors: Vec<(usize, Vector)>,
}

/// What a search asks of an item first.
#[derive(Debug, Clone)]
struct Slot {
    key: Option<ItemKey>,
    namespace: u32,
    /// The number of its terms.
    terms: u64,
    expires: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct Namespace {
    number: u32,
    items: usize,
}

/// The items among which a search looks.
#[derive(Debug)]
pub(super) struct Scope {
    /// The number of terms of each by its number, `None` for an item that is elsewhere or has expired.
    pub(super) terms: Vec<Option<u64>>,
}

impl Slots {
    /// The number of a new item.
    pub(super) fn add(
        &mut self,
        key: &ItemKey,
        expires: Option<Timestamp>,
        terms: u64,
        vectors: Vec<Vector>,
    ) -> usize {
        let of_key = (key.tenant().clone(), key.labels().clone());
        let last = &mut self.last;
        let namespace = self.namespaces.entry(of_key).or_insert_with(|| {
            *last += 1;
            Namespace { number: *last, items: 0 }
        });
        namespace.items += 1;
        let item = Slot { key: Some(key.clone()), namespace: namespace.number, terms, expires };
        let slot = self.free.pop().unwrap_or(self.items.len());
        match self.items.get_mut(slot) {
            Some(free) => *free = item,
            None => self.items.push(item),
        }
        let place = self.vectors.partition_point(|(other, _)| *other < slot);
        self.vectors.splice(place..place, vectors.into_iter().map(|vector| (slot, vector)));
        slot
    }

    /// Sets when an item expires.
    pub(super) fn set_expires(&mut self, slot: usize, expires: Option<Timestamp>) {
        if let Some(item) = self.items.get_mut(slot) {
            item.expires = expires;
        }
    }

    /// Removes the item `slot`.
    pub(super) fn remove(&mut self, slot: usize) {
        let Some(key) = self.items.get_mut(slot).and_then(|item| item.key.take()) else { return };
        let of_key = (key.tenant().clone(), key.labels().clone());
        if let Some(namespace) = self.namespaces.get_mut(&of_key) {
            namespace.items -= 1;
            if namespace.items == 0 {
                self.namespaces.remove(&of_key);
            }
        }
        let from = self.vectors.partition_point(|(other, _)| *other < slot);
        let to = self.vectors.partition_point(|(other, _)| *other <= slot);
        self.vectors.drain(from..to);
        self.free.push(slot);
    }

    /// The name of an item.
    pub(super) fn key(&self, slot: usize) -> Option<&ItemKey> {
        self.items.get(slot)?.key.as_ref()
    }

    /// The space that the vectors of those items of `tenant` that count have in common.
    pub(super) fn space(
        &self,
        tenant: &Tenant,
        counts: impl Fn(&ItemKey) -> bool,
    ) -> Option<Space> {
        let of_tenant = |key: &&ItemKey| key.tenant() == tenant;
        self.vectors.iter().find_map(|(slot, vector)| {
            let key = self.key(*slot).filter(of_tenant);
            key.filter(|key| counts(key)).map(|_| vector.space())
        })
    }

    /// The items of `tenant` in `within` that are live.
    pub(super) fn within(&self, tenant: &Tenant, within: &Within, now: Timestamp) -> Scope {
        let of_tenant = self.namespaces.range((
            lowest_namespace(tenant, within).map_or(Bound::Unbounded, Bound::Included),
            Bound::Unbounded,
        ));
        let mut numbers: Vec<u32> = of_tenant
            .take_while(|((other, labels), _)| other == tenant && within.holds(labels))
            .map(|(_, namespace)| namespace.number)
            .collect();
        numbers.sort_unstable();
        let terms = self.items.iter().map(|item| {
            let is_there = item.key.is_some()
                && numbers.binary_search(&item.namespace).is_ok()
                && item.expires.is_none_or(|expires| expires > now);
            is_there.then_some(item.terms)
        });
        Scope { terms: terms.collect() }
    }

    /// The likeness of each item of `scope` to `vector`, by its number: that of its most similar vector.
    pub(super) fn similarities(&self, vector: &Vector, scope: &Scope) -> Vec<Option<f32>> {
        let mut similarities: Vec<Option<f32>> = vec![None; scope.terms.len()];
        for (slot, other) in &self.vectors {
            let is_there = scope.terms.get(*slot).is_some_and(Option::is_some);
            if let Some(similarity) = similarities.get_mut(*slot).filter(|_| is_there) {
                let new = vector.similarity(other);
                *similarity = Some(similarity.map_or(new, |old| old.max(new)));
            }
        }
        similarities
    }
}

/// The lowest namespace that `tenant` may have in `within`.
pub(super) fn lowest_namespace(tenant: &Tenant, within: &Within) -> Option<(Tenant, Labels)> {
    let labels = match within {
        Within::All => Labels::new([LOWEST]).ok()?,
        Within::Labels(labels) => labels.clone(),
    };
    Some((tenant.clone(), labels))
}
