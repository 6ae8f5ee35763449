//! Claims by name.

/// The function that checks the claim `name`.
#[allow(clippy::panic, reason = "whoever names a claim that is not there is told at once")]
pub(crate) fn named<T: Copy>(claims: &[(&str, T)], name: &str) -> T {
    match claims.iter().find(|(claim, _)| *claim == name) {
        Some((_, holds)) => *holds,
        None => panic!("no claim `{name}`"),
    }
}
