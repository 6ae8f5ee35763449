//! Names of users, kinds, records and evidence, as the store has them.

use std::fmt::Write;

use hanok_core::{ItemKey, Labels, Tenant};

use super::error::LearningError;

/// The first label of everything that is learned.
const ROOT: &str = "learned";

/// The longest piece of a name in one label, in bytes, beside its mark.
const PIECE: usize = 240;

/// The two sides of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// What was learned.
    Evidence,
    /// What it amounts to.
    Records,
}

impl Side {
    fn label(self) -> &'static str {
        match self {
            Self::Evidence => "evidence",
            Self::Records => "records",
        }
    }
}

/// The namespace of a side, of all users.
pub(super) fn side(side: Side) -> Result<Labels, LearningError> {
    labels("side", [ROOT, side.label()])
}

/// The namespace of a user on a side; of one kind, or of all.
///
/// No user's namespace lies within another's: the last piece of a name has another mark than those before it.
pub(super) fn user(side: Side, user: &str, kind: Option<&str>) -> Result<Labels, LearningError> {
    let mut all = vec![ROOT.to_owned(), side.label().to_owned()];
    all.extend(pieces(user));
    all.extend(kind.map(escaped));
    labels("user", all)
}

/// The item `name` of a user's kind. What is too long for one key stands in labels before it.
pub(super) fn item(
    tenant: &Tenant,
    labels: &Labels,
    what: &'static str,
    name: &str,
) -> Result<ItemKey, LearningError> {
    let mut pieces = pieces(name);
    let last = pieces.pop().unwrap_or_default();
    let all = labels.iter().chain(pieces.iter().map(String::as_str));
    let key = ItemKey::new(tenant.clone(), self::labels(what, all)?, &last);
    key.map_err(|why| LearningError::Name { what, why })
}

fn labels<L: AsRef<str>>(
    what: &'static str,
    labels: impl IntoIterator<Item = L>,
) -> Result<Labels, LearningError> {
    Labels::new(labels).map_err(|why| LearningError::Name { what, why })
}

/// `name` in labels: all but the last begin with `+`, the last with `=`.
fn pieces(name: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in escaped(name).chars() {
        match pieces.last_mut() {
            Some(last) if last.len() + c.len_utf8() <= PIECE => last.push(c),
            _ => pieces.push(c.to_string()),
        }
    }
    let last = pieces.len() - 1;
    let mark = |at| if at == last { '=' } else { '+' };
    pieces.iter().enumerate().map(|(at, piece)| format!("{}{piece}", mark(at))).collect()
}

/// `name` without what no name of the store holds. Different names stay different.
fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() || matches!(c, '.' | '~') {
            // Writing to a text never fails.
            let _ = write!(escaped, "~{:x};", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn users_whose_names_begin_alike_are_not_within_each_other() {
        let long = "가".repeat(80);
        let names = ["", ".", "~2e;", "a", "a.b", "a\0b", "=a", "+a", &long, &long.repeat(2)];
        for (i, one) in names.iter().enumerate() {
            let one = user(Side::Records, one, None).unwrap();
            assert!(user(Side::Records, names[i], Some("k")).unwrap().is_within(&one));
            for (j, other) in names.iter().enumerate() {
                let other = user(Side::Records, other, Some("k")).unwrap();
                assert_eq!(other.is_within(&one), i == j, "{i} {j}");
            }
        }
        let error = user(Side::Records, &"a".repeat(4_000), None).unwrap_err();
        assert!(matches!(error, LearningError::Name { what: "user", .. }));
    }

    proptest! {
        #[test]
        fn any_two_users_have_namespaces_apart(a in ".{0,40}", b in "\\PC{0,300}", c in any::<String>()) {
            for (one, other) in [(&a, &b), (&a, &c), (&b, &c)] {
                let (x, y) = (user(Side::Evidence, one, None), user(Side::Evidence, other, None));
                if let (Ok(x), Ok(y)) = (x, y) {
                    prop_assert_eq!(one == other, x.is_within(&y) || y.is_within(&x));
                }
            }
        }
    }
}
