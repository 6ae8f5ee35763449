//! The law whose article is cited.

/// The most characters before an article in which its law is named.
const BEFORE: usize = 40;

/// The endings of the names of laws.
const ENDINGS: &[&str] =
    &["법", "법률", "시행령", "시행규칙", "규칙", "규정", "조례", "령", "약관"];

/// What refers to a law that was named before.
const REFERENCES: &[&str] = &["같은법", "동법", "이법", "해당법", "위법", "법"];

/// A law as a text names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Law {
    /// The name, or its last word: `임대차보호법` of `상가건물 임대차보호법`.
    name: String,
    /// What stands before the article, with the name at its end. Neither has spaces.
    before: String,
}

impl Law {
    /// The law of this name.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let name = bare(name);
        (!name.is_empty()).then(|| Self { before: name.clone(), name })
    }

    /// Whether both may be one law: each text ends with what the other calls it.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        self.before.ends_with(&*other.name) && other.before.ends_with(&*self.name)
    }
}

/// The laws of a text so far: `같은 법` is the last one.
#[derive(Debug, Default)]
pub(crate) struct Laws(Option<Law>);

impl Laws {
    /// The law of the article that begins at `at`, if one is named there.
    pub(crate) fn before(&mut self, text: &str, at: usize) -> Option<Law> {
        let before = text.get(..at).unwrap_or_default().trim_end();
        let start = before.char_indices().rev().take(BEFORE).last().map_or(before.len(), |it| it.0);
        let before = before.get(start..).unwrap_or_default();
        // A sentence before this one names nothing here.
        let before = before.rsplit(['\n', ';', '?', '!']).next().unwrap_or_default();
        let before = before.rsplit(". ").next().unwrap_or_default();
        let closed = before.strip_suffix(['」', '』', '》', '>', '"', '\'', '”', '’', '〉']);
        let name = match closed {
            Some(inner) => inner.rsplit(['「', '『', '《', '<', '"', '\'', '“', '‘', '〈']).next(),
            None => before.split_whitespace().next_back(),
        };
        let name = without_particle(bare(name.unwrap_or_default()));
        if let Some(decree) = reference(before) {
            let main = &self.0.as_ref()?.before;
            let main =
                ["시행령", "시행규칙"].iter().find_map(|it| main.strip_suffix(it)).unwrap_or(main);
            return Some(Law {
                name: format!("{main}{decree}"),
                before: format!("{main}{decree}"),
            });
        }
        if !ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            return None;
        }
        let law = Law { name, before: without_particle(bare(before)) };
        self.0 = Some(law.clone());
        Some(law)
    }
}

/// What is behind a reference at the end of `text`: nothing, or the decree of the law. `None` where there is no reference.
fn reference(text: &str) -> Option<&'static str> {
    let words: Vec<&str> = text.split_whitespace().rev().take(3).collect();
    (1..=words.len()).find_map(|count| {
        let name: String = words.get(..count)?.iter().rev().copied().collect();
        let name = without_particle(bare(&name));
        let decree =
            |it: &&str| name.strip_suffix(*it).is_some_and(|main| REFERENCES.contains(&main));
        ["시행령", "시행규칙", ""].into_iter().find(decree)
    })
}

/// `주택임대차보호법의` is the law.
fn without_particle(name: String) -> String {
    let is_law = |name: &&str| ENDINGS.iter().any(|ending| name.ends_with(ending));
    let shorter = name.strip_suffix(['의', '상']).filter(is_law).map(str::to_owned);
    shorter.unwrap_or(name)
}

/// The name without spaces and quotation marks.
fn bare(name: &str) -> String {
    let is_letter = |c: &char| c.is_alphanumeric() || matches!(c, '·' | 'ㆍ');
    name.chars().filter(is_letter).collect()
}
