//! The claims on amounts in Korean text.

use hanok_figures::{Figure, figures};

/// The figures of `text` are in order and on boundaries, and each is read again out of what it is written as.
pub(crate) fn read_in_order(text: &str) {
    let mut last = 0;
    for figure in figures(text) {
        let at = figure.at();
        assert!(last <= at.start && at.start < at.end, "{at:?} after {last}");
        assert!(text.get(at.clone()).is_some(), "{at:?} is on no boundary");
        last = at.end;
        let written = figure.to_string();
        let again: Vec<Figure> = figures(&written).collect();
        assert!(matches!(again.as_slice(), [one] if is_same(one, &figure)), "{written}: {again:?}");
    }
}

fn is_same(one: &Figure, other: &Figure) -> bool {
    match (one, other) {
        (Figure::Amount(one), Figure::Amount(other)) => {
            one.value == other.value && one.unit == other.unit
        }
        (one, other) => one.to_string() == other.to_string(),
    }
}
