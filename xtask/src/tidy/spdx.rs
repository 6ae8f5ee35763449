//! Whether an SPDX licence expression can be met with the licences that are allowed.

/// Brackets deeper than this are no licence that anybody means.
const DEPTH: usize = 16;

/// Whether `expression` is met when exactly the licences that `allowed` names may be used.
///
/// The operators are those of SPDX 2.3, annex D: `AND` binds tighter than `OR`. An exception
/// (`WITH`) only grants more, so the licence before it decides. The `/` of older manifests is `OR`.
///
/// # Errors
///
/// A sentence on why the expression cannot be read.
pub(super) fn is_met(expression: &str, allowed: impl Fn(&str) -> bool) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let met = any(&mut words, &allowed, DEPTH)?;
    match words.next() {
        None => Ok(met),
        Some(word) => Err(format!("`{word}` was not expected")),
    }
}

type Words<'w, 's> = std::iter::Peekable<std::str::SplitWhitespace<'s>>;

fn any(
    words: &mut Words<'_, '_>,
    allowed: &impl Fn(&str) -> bool,
    depth: usize,
) -> Result<bool, String> {
    let mut met = all(words, allowed, depth)?;
    while words.next_if_eq(&"OR").is_some() {
        met |= all(words, allowed, depth)?;
    }
    Ok(met)
}

fn all(
    words: &mut Words<'_, '_>,
    allowed: &impl Fn(&str) -> bool,
    depth: usize,
) -> Result<bool, String> {
    let mut met = one(words, allowed, depth)?;
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed, depth)?;
    }
    Ok(met)
}

fn one(
    words: &mut Words<'_, '_>,
    allowed: &impl Fn(&str) -> bool,
    depth: usize,
) -> Result<bool, String> {
    match words.next() {
        Some("(") => {
            let depth = depth.checked_sub(1).ok_or("brackets are nested too deeply")?;
            let met = any(words, allowed, depth)?;
            words.next_if_eq(&")").ok_or("a bracket is not closed")?;
            Ok(met)
        }
        None | Some(")" | "AND" | "OR" | "WITH") => Err("a licence is missing".to_owned()),
        Some(licence) => {
            if words.next_if_eq(&"WITH").is_some() {
                words.next().ok_or("an exception is missing after `WITH`")?;
            }
            Ok(allowed(licence))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P58: licences are read as expressions, not searched for words.
    #[test]
    fn expressions_are_evaluated_with_and_before_or() {
        let allowed = |licence: &str| ["MIT", "Apache-2.0", "Unicode-3.0"].contains(&licence);
        for (expression, want) in [
            ("MIT", Ok(true)),
            ("GPL-3.0-only", Ok(false)),
            ("MIT OR GPL-3.0-only", Ok(true)),
            ("GPL-3.0-only OR MIT", Ok(true)),
            ("MIT AND GPL-3.0-only", Ok(false)),
            ("MIT OR GPL-3.0-only AND LGPL-3.0-only", Ok(true)),
            ("(MIT OR GPL-3.0-only) AND LGPL-3.0-only", Ok(false)),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", Ok(true)),
            ("MIT/Apache-2.0", Ok(true)),
            ("Apache-2.0 WITH LLVM-exception", Ok(true)),
            ("GPL-3.0-only WITH Classpath-exception-2.0", Ok(false)),
            ("((MIT))", Ok(true)),
            ("mit", Ok(false)),
            ("", Err("a licence is missing")),
            ("MIT OR", Err("a licence is missing")),
            ("MIT Apache-2.0", Err("`Apache-2.0` was not expected")),
            ("(MIT", Err("a bracket is not closed")),
            ("MIT)", Err("`)` was not expected")),
            ("MIT WITH", Err("an exception is missing after `WITH`")),
        ] {
            assert_eq!(is_met(expression, allowed), want.map_err(str::to_owned), "{expression:?}");
        }
        let deep = "(".repeat(100_000);
        assert_eq!(is_met(&deep, allowed), Err("brackets are nested too deeply".to_owned()));
    }
}
