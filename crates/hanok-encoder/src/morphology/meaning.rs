//! What of a morpheme says something, by the tags of mecab-ko-dic.

/// Which tags do: nouns, pronouns and numerals, verbs and adjectives, roots, adverbs, foreign words, Chinese characters, numbers,
/// and what is unknown. What is left out are particles, endings, auxiliary verbs, the copula, affixes and marks.
fn says(tag: &str) -> bool {
    let tag = tag.trim();
    tag.starts_with('N') || ["VV", "VA", "XR", "MAG", "SL", "SH", "SN", "UNKNOWN"].contains(&tag)
}

/// Where a description has the tags, and the parts of what is made of several.
const TAGS: usize = 0;
const PARTS: usize = 7;

/// What of a morpheme says something: its parts, where it is made of several, or itself.
pub(super) fn of(surface: &str, feature: &str) -> Vec<String> {
    let fields: Vec<&str> = feature.split(',').collect();
    let parts = fields.get(PARTS).copied().filter(|parts| !["", "*"].contains(parts));
    match parts {
        Some(parts) => parts
            .split('+')
            .filter_map(|part| {
                let (text, rest) = part.split_once('/')?;
                let tag = rest.split('/').next()?;
                says(tag).then(|| text.split_whitespace())
            })
            .flatten()
            .map(str::to_owned)
            .collect(),
        None => {
            let tags = fields.get(TAGS).copied().unwrap_or_default();
            let first = tags.split('+').next().unwrap_or_default();
            if says(first) { vec![surface.to_owned()] } else { Vec::new() }
        }
    }
}
