//! Names and positions with a meaning of their own.

use hanok_core::Position;

/// The source of the edges that a run takes first.
pub const START: &str = "__start__";

/// The target at which a path ends.
pub const END: &str = "__end__";

/// The reason why a name is none for a node.
pub(crate) fn reserved(name: &str) -> Option<&'static str> {
    match name {
        START | "START" => Some("START is where a run begins"),
        END | "END" => Some("END is where a path ends"),
        _ => None,
    }
}

/// The name as it is written in a program: `START`, or the node in backticks.
pub(crate) fn written(name: &str) -> String {
    match name {
        START => "START".to_owned(),
        END => "END".to_owned(),
        name => format!("`{name}`"),
    }
}

/// The list of `names`, and the one that `wrong` was probably meant to be.
pub(crate) fn instead(wrong: &str, names: &[String]) -> String {
    match meant(wrong, names) {
        Some(meant) => format!("{}; {meant}", listed(names)),
        None => listed(names),
    }
}

/// The list of the targets that a node has declared, and what to do about `target`, which is not among them.
pub(crate) fn declare(target: &str, declared: &[String]) -> String {
    let advice = meant(target, declared).unwrap_or_else(|| {
        "add it to the targets of the branch, or to the node's `.goto([…])`".to_owned()
    });
    format!("{}; {advice}", listed(declared))
}

/// What `wrong` was probably meant to be.
fn meant(wrong: &str, names: &[String]) -> Option<String> {
    if matches!(wrong, "START" | "END") {
        return Some(format!("write {wrong}, the constant, and not the text \"{wrong}\""));
    }
    let distance = |name: &String| strsim::damerau_levenshtein(&name.to_lowercase(), wrong);
    let (distance, near) = names.iter().map(|name| (distance(name), name)).min()?;
    // One letter in three.
    (distance * 3 <= wrong.chars().count()).then(|| format!("did you mean {}?", written(near)))
}

/// The list of `names`.
pub(crate) fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| written(name)).collect::<Vec<_>>().join(", ")
}

/// The first position that is no position of a log, but the name of an entry that waits.
pub(crate) const WAITING: u64 = 1 << 62;

/// True for a position that names an entry that waits.
pub(crate) fn is_waiting(position: Position) -> bool {
    position.0 >= WAITING
}
