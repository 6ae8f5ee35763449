//! The packages that hanok is built on stand where they do their job, each with its reason.

use super::member::Member;
use crate::fault::Fault;

/// The packages, and whether their job is in tests.
const PACKAGES: [(&str, Use); 10] = [
    ("async-openai", Use::Normal),
    ("futures", Use::Normal),
    ("insta", Use::Tests),
    ("petgraph", Use::Normal),
    ("regex", Use::Normal),
    ("serde", Use::Normal),
    ("serde_json", Use::Normal),
    ("thiserror", Use::Normal),
    ("tiktoken-rs", Use::Normal),
    ("tokio", Use::Normal),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Normal,
    Tests,
}

impl Use {
    fn kind(self) -> Option<&'static str> {
        match self {
            Self::Normal => None,
            Self::Tests => Some("dev"),
        }
    }

    fn section(self) -> &'static str {
        match self {
            Self::Normal => "[dependencies]",
            Self::Tests => "[dev-dependencies]",
        }
    }
}

/// Packages that no published crate uses, or uses without saying what for.
pub(super) fn check(members: &[Member<'_>]) -> Vec<Fault> {
    PACKAGES.iter().filter_map(|(name, used)| check_package(name, *used, members)).collect()
}

fn check_package(name: &str, used: Use, members: &[Member<'_>]) -> Option<Fault> {
    let uses = |member: &&Member<'_>| {
        let mut all = member.package.dependencies.iter();
        all.any(|one| one.name == name && one.kind.as_deref() == used.kind())
    };
    let published = members.iter().filter(|member| member.package.is_published());
    let users: Vec<_> = published.filter(uses).collect();
    let Some(first) = users.first() else {
        let what = format!(
            "no published crate has `{name}` in its `{}`; use it where it does its job",
            used.section()
        );
        return Some(Fault::new("Cargo.toml", 1, what));
    };
    let has_reason = users.iter().any(|member| has_reason(&member.manifest, used.section(), name));
    (!has_reason).then(|| {
        let what = format!(
            "no published crate says what `{name}` is for; write it as a comment on the line above it in `{}`",
            used.section()
        );
        first.fault(name, what)
    })
}

/// Whether a comment stands right above `name` in `section` of `manifest`.
fn has_reason(manifest: &str, section: &str, name: &str) -> bool {
    let (mut inside, mut above) = (false, "");
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == section;
        }
        let rest = line.strip_prefix(name).unwrap_or_default();
        if inside && rest.starts_with([' ', '.', '=']) {
            return above.trim_start_matches('#').split_whitespace().count() > 1
                && above.starts_with('#');
        }
        above = line;
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::member::tests::{member, package};
    use super::*;

    const WITH: &str = "[dependencies]\n# Patterns over documents.\nregex = { workspace = true }\n";

    fn faults(kind: Option<&str>, publish: bool, manifest: &str) -> Vec<String> {
        let publish = if publish { json!(null) } else { json!([]) };
        let dependencies = json!([{ "name": "regex", "kind": kind }]);
        let package = package(
            json!({ "name": "hanok-agent", "publish": publish, "dependencies": dependencies }),
        );
        let members = [member(&package, manifest)];
        check_package("regex", Use::Normal, &members).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_package_is_a_dependency_of_a_published_crate() {
        let nobody = [
            "Cargo.toml:1: no published crate has `regex` in its `[dependencies]`; use it where it does its job",
        ];
        assert_eq!(faults(None, true, WITH), [""; 0]);
        assert_eq!(faults(Some("dev"), true, WITH), nobody);
        assert_eq!(faults(None, false, WITH), nobody);
        // Every one of the list is missing where nobody uses anything.
        assert_eq!(check(&[]).len(), PACKAGES.len());
    }

    #[test]
    fn a_package_has_its_reason_above_it() {
        let silent = [
            "crates/hanok-agent/Cargo.toml:2: no published crate says what `regex` is for; write it as a comment on the line above it in `[dependencies]`",
        ];
        assert_eq!(faults(None, true, "[dependencies]\nregex.workspace = true\n"), silent);
        for (manifest, has) in [
            (WITH, true),
            ("[dependencies]\n# Why not.\nregex.workspace = true\n", true),
            ("[dependencies]\n#\nregex = \"1\"\n", false),
            (
                "[dependencies]\n# What the other is for.\nregex-lite = \"1\"\nregex = \"1\"\n",
                false,
            ),
            ("# What all of it is for.\n[dependencies]\nregex = \"1\"\n", false),
            ("[dev-dependencies]\n# For tests alone.\nregex = \"1\"\n", false),
        ] {
            assert_eq!(has_reason(manifest, "[dependencies]", "regex"), has, "{manifest}");
        }
    }
}
