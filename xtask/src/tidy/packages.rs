//! The packages that hanok is built on are used where they do their job, each with its reason.

use super::member::Member;
use crate::fault::Fault;

/// The packages, and the table of a manifest in which they belong.
const PACKAGES: [(&str, &str); 10] = [
    ("async-openai", NORMAL),
    ("futures", NORMAL),
    ("insta", "[dev-dependencies]"),
    ("petgraph", NORMAL),
    ("regex", NORMAL),
    ("serde", NORMAL),
    ("serde_json", NORMAL),
    ("thiserror", NORMAL),
    ("tiktoken-rs", NORMAL),
    ("tokio", NORMAL),
];

const NORMAL: &str = "[dependencies]";

/// The packages that no published crate has, with a comment on what for.
pub(super) fn check(members: &[Member<'_>]) -> Vec<Fault> {
    let published = || members.iter().filter(|member| member.package.is_published());
    let is_missing = |(name, table): &&(&str, &str)| {
        !published().any(|member| has_reason(&member.manifest, table, name))
    };
    let missing = PACKAGES.iter().filter(is_missing);
    let fault = |(name, table): &(&str, &str)| {
        let what = format!(
            "no published crate has `{name}` in `{table}` with a comment on what for above it"
        );
        Fault::new("Cargo.toml", 1, what)
    };
    missing.map(fault).collect()
}

/// True if `name` is in the table `table` of `manifest`, right below a comment of more than a word.
fn has_reason(manifest: &str, table: &str, name: &str) -> bool {
    let (mut inside, mut above) = (false, "");
    manifest.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            inside = line == table;
        }
        let is_it = line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '.', '=']));
        let before = std::mem::replace(&mut above, line);
        inside && is_it && before.starts_with('#') && before.split_whitespace().count() > 2
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_its_reason_above_it() {
        assert_eq!(check(&[]).len(), PACKAGES.len());
        for (manifest, has) in [
            ("[dependencies]\n# Patterns over documents.\nregex = { workspace = true }\n", true),
            ("[dependencies]\n#\nregex = \"1\"\n", false),
            ("[dependencies]\n# What for.\nregex-lite = \"1\"\nregex = \"1\"\n", false),
            ("# What for.\n[dependencies]\nregex = \"1\"\n", false),
            ("[dev-dependencies]\n# For tests alone.\nregex = \"1\"\n", false),
        ] {
            assert_eq!(has_reason(manifest, NORMAL, "regex"), has, "{manifest}");
        }
    }
}
