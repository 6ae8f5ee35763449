//! The difference of two texts, line by line.

use std::fmt::Write;

/// The most lines on either side that are compared with each other.
const MOST_LINES: usize = 2_000;

/// The lines of `old` that go with `-`, those of `new` that come with `+`, and those that stay with a blank.
pub(super) fn difference(old: &[String], new: &[String]) -> String {
    let start = old.iter().zip(new).take_while(|pair| pair.0 == pair.1).count();
    let rest = |lines: &[String]| lines.get(start..).unwrap_or_default().to_vec();
    let (old_rest, new_rest) = (rest(old), rest(new));
    let mut text = String::new();
    let mut put = |mark: char, line: &str| {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{mark} {line}");
    };
    old.iter().take(start).for_each(|line| put(' ', line));
    if old_rest.len() > MOST_LINES || new_rest.len() > MOST_LINES {
        old_rest.iter().for_each(|line| put('-', line));
        new_rest.iter().for_each(|line| put('+', line));
        return text;
    }
    let common = common(&old_rest, &new_rest);
    let length =
        |at: usize, to: usize| common.get(at).and_then(|row| row.get(to)).copied().unwrap_or(0);
    let (mut at, mut to) = (0, 0);
    loop {
        match (old_rest.get(at), new_rest.get(to)) {
            (Some(old), Some(new)) if old == new => {
                put(' ', old);
                (at, to) = (at + 1, to + 1);
            }
            (Some(old), new) if new.is_none() || length(at + 1, to) >= length(at, to + 1) => {
                put('-', old);
                at += 1;
            }
            (_, Some(new)) => {
                put('+', new);
                to += 1;
            }
            (_, None) => return text,
        }
    }
}

/// The length of the longest common sequence of what stands behind each pair of places.
fn common(old: &[String], new: &[String]) -> Vec<Vec<u16>> {
    let mut rows = vec![vec![0_u16; new.len() + 1]; old.len() + 1];
    for (at, old) in old.iter().enumerate().rev() {
        let below = rows.get(at + 1).cloned().unwrap_or_default();
        let Some(row) = rows.get_mut(at) else { continue };
        for (to, new) in new.iter().enumerate().rev() {
            let (down, right) = (below.get(to).copied(), row.get(to + 1).copied());
            let length = match old == new {
                true => below.get(to + 1).copied().unwrap_or(0).saturating_add(1),
                false => down.max(right).unwrap_or(0),
            };
            if let Some(place) = row.get_mut(to) {
                *place = length;
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_goes_and_comes_is_marked() {
        let lines = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for (old, new, want) in [
            ("a b c", "a b c", "  a\n  b\n  c\n"),
            ("a b c", "a x c d", "  a\n- b\n+ x\n  c\n+ d\n"),
            ("", "a", "+ a\n"),
            ("a b", "", "- a\n- b\n"),
            ("a b c d", "c d a b", "- a\n- b\n  c\n  d\n+ a\n+ b\n"),
        ] {
            assert_eq!(difference(&lines(old), &lines(new)), want, "{old} -> {new}");
        }
        let many = (0..5_000).map(|at| at.to_string()).collect::<Vec<_>>();
        assert_eq!(difference(&many, &lines("x")).lines().count(), 5_001);
    }
}
