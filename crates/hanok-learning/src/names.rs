//! Names of users, kinds, records and evidence, as the store has them.

use std::fmt::Write;

use hanok_core::{ItemKey, Labels, Tenant};

use super::{error::LearningError, evidence::EvidenceSource};

/// The first label of everything that is learned.
const ROOT: &str = "learned";

/// The longest piece of a name in one label, in bytes, beside its mark.
const PIECE: usize = 240;

/// The sides of memory that users have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// What was learned, by the record that it belongs to.
    Evidence,
    /// What it amounts to.
    Records,
    /// The record of each piece of evidence, by the evidence's id.
    Ids,
    /// Evidence of a kind that the build which was given it did not know.
    Aside,
}

impl Side {
    fn label(self) -> &'static str {
        match self {
            Self::Evidence => "evidence",
            Self::Records => "records",
            Self::Ids => "ids",
            Self::Aside => "aside",
        }
    }
}

/// The namespace of what is set aside of all users of a tenant.
pub(super) fn all_aside() -> Result<Labels, LearningError> {
    labels("kind", [ROOT, Side::Aside.label()])
}

/// The namespace of the names of tenants in which something is set aside. They are of no tenant: the items are the default one's.
pub(super) fn all_waiting() -> Result<Labels, LearningError> {
    labels("kind", [ROOT, "waiting"])
}

/// The item that says that evidence of `kind` is set aside in `tenant`.
pub(super) fn waiting(kind: &str, tenant: &Tenant) -> Result<ItemKey, LearningError> {
    let key = ItemKey::new(Tenant::default(), all_waiting()?, &digest([kind, tenant.as_str()]));
    key.map_err(|why| LearningError::Name { what: "kind", why })
}

/// The namespace of what a thread taught; what one turn of it taught stands below.
pub(super) fn thread(thread: &str) -> Result<Labels, LearningError> {
    labels("thread", [ROOT, "threads", &digest([thread])])
}

/// The namespace of what the turn of `thread` taught that `message` began.
pub(super) fn turn(thread: &str, message: &str) -> Result<Labels, LearningError> {
    labels("thread", [ROOT, "threads", &digest([thread]), &digest([message])])
}

/// The namespace of what rests on a server.
pub(super) fn server(server: &str) -> Result<Labels, LearningError> {
    labels("server", [ROOT, "servers", &digest([server])])
}

/// The items that say that the turn and the servers of `source` taught something that the record `key` of a user's kind is made of.
pub(super) fn taught(
    tenant: &Tenant,
    source: &EvidenceSource,
    record: [&str; 3],
) -> Result<Vec<ItemKey>, LearningError> {
    let record = digest(record);
    let servers = source.servers.iter().map(|name| server(name));
    let places = [turn(&source.thread, &source.message)].into_iter().chain(servers);
    let item = |labels: Result<Labels, LearningError>| {
        let named = ItemKey::new(tenant.clone(), labels?, &record);
        named.map_err(|why| LearningError::Name { what: "record", why })
    };
    places.map(item).collect()
}

/// The namespace of the evidence that the record `key` is made of: whoever folds it again reads nothing else.
pub(super) fn evidence(user: &str, kind: &str, key: &str) -> Result<Labels, LearningError> {
    let kind = self::user(Side::Evidence, user, Some(kind))?;
    let digest = digest([key]);
    labels("record", kind.iter().chain([digest.as_str()]))
}

/// A name for any texts, which has the same length whatever they are.
fn digest<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
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
