//! Replacements of personal data.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    ops::Range,
};

use hanok_core::Secret;

use super::{pattern::Pattern, scan::PersonalData};

/// The replacement of personal data.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RedactionStrategy {
    /// Most of it becomes `*`: an e-mail address keeps its first letter and its domain, a mobile or card number its last four
    /// digits, a resident number its date, and what a pattern matches its signs.
    Mask,
    /// A name stands for it: `[EMAIL_1]`, the same for the same data in one request.
    Placeholder,
    /// A hash by this key stands for it: `[EMAIL_6c1f0a2b9d3e]`, the same everywhere. Without a secret key everybody could
    /// try all numbers.
    Hash(Secret<String>),
    /// The call is not made at all.
    Block,
}

/// What is looked for, and what becomes of it.
#[derive(Debug, Clone)]
pub(super) struct Strategies {
    pub(super) kinds: BTreeMap<PersonalData, RedactionStrategy>,
    pub(super) patterns: Vec<(Pattern, RedactionStrategy)>,
}

impl Strategies {
    fn labels(&self) -> impl Iterator<Item = &str> {
        let patterns = self.patterns.iter().map(|(pattern, _)| pattern.name.as_str());
        self.kinds.keys().map(|kind| kind.label()).chain(patterns)
    }
}

/// Whose words a text holds. No pattern is run over what a model wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    Model,
    /// A person, a tool or a document.
    Other,
}

/// One thing that is replaced.
struct Match<'s> {
    at: Range<usize>,
    /// `None` for a pattern.
    kind: Option<PersonalData>,
    label: &'s str,
    strategy: &'s RedactionStrategy,
}

/// Replaces personal data, and knows what it replaced.
pub(super) struct Replacer<'a> {
    strategies: &'a Strategies,
    /// Between the kind and the number of a placeholder, so that no text holds one already; `None` for no numbers.
    salt: Option<String>,
    numbers: BTreeMap<&'a str, usize>,
    names: BTreeMap<(&'a str, String), String>,
    originals: BTreeMap<String, String>,
    /// What patterns found so far, each with the number of its pattern.
    matched: BTreeMap<String, usize>,
    pub(super) blocked: BTreeSet<&'a str>,
}

impl<'a> Replacer<'a> {
    /// A replacer whose placeholders have no numbers, for a text that others stand beside.
    pub(super) fn new(strategies: &'a Strategies) -> Self {
        Self {
            strategies,
            salt: None,
            numbers: BTreeMap::new(),
            names: BTreeMap::new(),
            originals: BTreeMap::new(),
            matched: BTreeMap::new(),
            blocked: BTreeSet::new(),
        }
    }

    /// A replacer whose placeholders are numbered, and in none of `texts`.
    pub(super) fn numbered<'t>(
        strategies: &'a Strategies,
        texts: impl Iterator<Item = Cow<'t, str>>,
    ) -> Self {
        let texts: Vec<_> = texts.collect();
        let is_taken = |salt: &str| {
            strategies.labels().any(|label| {
                let begin = format!("[{label}_{salt}");
                texts.iter().any(|text| text.contains(&begin))
            })
        };
        let salts = (0..26_u8).map(|n| match n {
            0 => String::new(),
            n => char::from(b'A' + (n - 1)).to_string(),
        });
        // Whoever wrote them all is not to be told anything by placeholders.
        let salt = salts.into_iter().find(|salt| !is_taken(salt));
        Self { salt, ..Self::new(strategies) }
    }

    /// `text` of `author` without what is looked for.
    pub(super) fn text<'t>(&mut self, text: &'t str, author: Author) -> Cow<'t, str> {
        let (mut redacted, mut from) = (String::new(), 0);
        for Match { at: Range { start, end }, kind, label, strategy } in self.find(text, author) {
            let original = text.get(start..end).unwrap_or_default();
            redacted.push_str(text.get(from..start).unwrap_or_default());
            match strategy {
                RedactionStrategy::Mask => redacted.push_str(&masked(kind, original)),
                RedactionStrategy::Placeholder => {
                    redacted.push_str(&self.placeholder(label, original))
                }
                RedactionStrategy::Hash(key) => redacted.push_str(&hashed(label, original, key)),
                RedactionStrategy::Block => {
                    self.blocked.insert(label);
                }
            }
            from = end;
        }
        if from == 0 {
            return Cow::Borrowed(text);
        }
        redacted.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(redacted)
    }

    /// What is looked for in `text`, in its order. Nothing overlaps: what begins first counts, and of two the longer.
    fn find(&mut self, text: &str, author: Author) -> Vec<Match<'a>> {
        let strategies = self.strategies;
        let kinds = PersonalData::find(text).filter_map(|(kind, at)| {
            let strategy = strategies.kinds.get(&kind)?;
            Some(Match { at, kind: Some(kind), label: kind.label(), strategy })
        });
        let mut found: Vec<_> = kinds.collect();
        for (number, (pattern, strategy)) in strategies.patterns.iter().enumerate() {
            let label = pattern.name.as_str();
            let add = |at| Match { at, kind: None, label, strategy };
            if author == Author::Other {
                for at in pattern.find(text) {
                    let matched = text.get(at.clone()).unwrap_or_default().to_owned();
                    self.matched.entry(matched).or_insert(number);
                    found.push(add(at));
                }
                continue;
            }
            // A model repeats what it read, and what was put back into its answer.
            for (matched, _) in self.matched.iter().filter(|(_, of)| **of == number) {
                let places = text.match_indices(matched.as_str());
                found.extend(places.map(|(at, matched)| add(at..at + matched.len())));
            }
        }
        found.sort_by_key(|one| (one.at.start, std::cmp::Reverse(one.at.end)));
        let mut end = 0;
        found.retain(|one| {
            let apart = one.at.start >= end;
            end = if apart { one.at.end } else { end };
            apart
        });
        found
    }

    fn placeholder(&mut self, label: &'a str, original: &str) -> Cow<'_, str> {
        let Some(salt) = &self.salt else { return Cow::Owned(format!("[{label}]")) };
        let name = match self.names.entry((label, original.to_owned())) {
            Entry::Occupied(named) => named.into_mut(),
            Entry::Vacant(unnamed) => {
                let number = self.numbers.entry(label).or_insert(0);
                *number += 1;
                let name = format!("[{label}_{salt}{number}]");
                self.originals.insert(name.clone(), original.to_owned());
                unnamed.insert(name)
            }
        };
        Cow::Borrowed(name)
    }

    /// `text` with what its placeholders stand for.
    pub(super) fn restored<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.originals.is_empty() || !text.contains('[') {
            return Cow::Borrowed(text);
        }
        let (mut restored, mut from) = (String::new(), 0);
        for (at, _) in text.match_indices('[') {
            let rest = text.get(at..).unwrap_or_default();
            let end = rest.bytes().take(64).position(|byte| byte == b']');
            let name = end.and_then(|end| rest.get(..=end));
            let Some((name, original)) =
                name.and_then(|name| Some((name, self.originals.get(name)?)))
            else {
                continue;
            };
            restored.push_str(text.get(from..at).unwrap_or_default());
            restored.push_str(original);
            from = at + name.len();
        }
        restored.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(restored)
    }
}

fn masked(kind: Option<PersonalData>, original: &str) -> String {
    let stars = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { '*' } else { c }).collect()
    };
    let Some(kind) = kind else {
        return original.chars().map(|c| if c.is_alphanumeric() { '*' } else { c }).collect();
    };
    match kind {
        PersonalData::Email => {
            let (local, domain) = original.split_once('@').unwrap_or((original, ""));
            let first = local.chars().next().unwrap_or('*');
            format!("{first}***@{domain}")
        }
        PersonalData::Mobile | PersonalData::Card => {
            let (hidden, shown) = original.split_at(original.len().saturating_sub(4));
            format!("{}{shown}", stars(hidden))
        }
        PersonalData::ResidentNumber => {
            let (shown, hidden) = original.split_at(original.len().min(6));
            format!("{shown}{}", stars(hidden))
        }
        PersonalData::Ip => stars(original),
    }
}

fn hashed(label: &str, original: &str, key: &Secret<String>) -> String {
    let key =
        blake3::derive_key("hanok-agent 2026 redaction of personal data", key.expose().as_bytes());
    let hash = blake3::keyed_hash(&key, original.as_bytes()).to_hex();
    format!("[{label}_{}]", hash.as_str().get(..12).unwrap_or_default())
}
