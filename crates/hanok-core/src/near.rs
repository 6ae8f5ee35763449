//! Names that are spelled like another.

/// No name is longer; a longer text is like none.
const LONGEST: usize = 48;

/// At most `count` of `known` that `wanted`, in lower case, could have meant, the nearest first.
///
/// A name is near when its last part (after a `/`) is the text, when either contains the other, or
/// when a few letters make the difference.
#[must_use]
pub fn near(wanted: &str, known: &[String], count: usize) -> Vec<String> {
    let wanted: String = wanted.chars().map(|c| if c == ' ' { '_' } else { c }).collect();
    let length = wanted.chars().count();
    if !(2..=LONGEST).contains(&length) {
        return Vec::new();
    }
    let mut ranked: Vec<_> = known
        .iter()
        .filter_map(|name| Some((distance(&wanted, length, &name.to_lowercase())?, name)))
        .collect();
    ranked.sort();
    // Where one name fits exactly, the others are noise.
    let best = ranked.first().map_or(0, |(distance, _)| *distance);
    let fits = |distance: usize| best > 0 || distance == 0;
    ranked
        .into_iter()
        .filter(|(distance, _)| fits(*distance))
        .map(|(_, name)| name.clone())
        .take(count)
        .collect()
}

/// How far `name` is from `wanted`; `None` when it is too far to be meant.
fn distance(wanted: &str, length: usize, name: &str) -> Option<usize> {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last == wanted {
        return Some(0);
    }
    let edits = edits(wanted, name).min(edits(wanted, last));
    let allowed = (length / 4).clamp(1, 3);
    if edits <= allowed {
        return Some(edits);
    }
    (length >= 4 && name.contains(wanted)).then_some(allowed + 1)
}

/// The insertions, deletions and replacements that make `left` of `right` (Levenshtein 1966).
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, c) in left.chars().enumerate() {
        let mut before = index + 1;
        let mut next = vec![before];
        for (other, pair) in right.iter().zip(row.windows(2)) {
            let &[diagonal, above] = pair else { continue };
            before = (diagonal + usize::from(*other != c)).min(above + 1).min(before + 1);
            next.push(before);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (left, right, want) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("soul", "seoul", 1),
            ("서울", "서운", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(edits(left, right), want, "{left:?} {right:?}");
        }
    }
}
