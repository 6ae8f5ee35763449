//! What every manifest has to say.

use super::member::{LICENCES, Member};
use crate::fault::Fault;

/// Faults in the members' manifests.
pub(super) fn check(members: &[Member<'_>]) -> Vec<Fault> {
    members.iter().flat_map(check_one).collect()
}

fn check_one(member: &Member<'_>) -> Vec<Fault> {
    let package = member.package;
    let mut faults = Vec::new();
    let mut fault = |key: &str, what: &str| faults.push(member.fault(key, what));
    if !has_workspace_lints(&member.manifest) {
        fault(
            "[lints",
            "the workspace's lints are not inherited, add `[lints]` with `workspace = true`",
        );
    }
    if package.has("custom-build") {
        fault("build", "a build script, do without one");
    }
    if !member.is_crate() {
        if package.is_published() {
            fault("[package", "only `crates/` is published, add `publish = false`");
        }
        return faults;
    }
    if !member.has_licences {
        let names = LICENCES.join(",");
        fault("license", &format!("the licences are not beside it: `ln -s ../../{{{names}}} .`"));
    }
    for key in ["repository", "homepage"] {
        let line = format!("{key}.workspace=true");
        if !member.manifest.lines().any(|it| it.replace(' ', "") == line) {
            fault(key, &format!("its own `{key}` or none, add `{key}.workspace = true`"));
        }
    }
    let is_empty = |text: &Option<String>| text.as_ref().is_none_or(|text| text.trim().is_empty());
    let docs = package.metadata.pointer("/docs/rs").or_else(|| package.metadata.get("docs.rs"));
    for (key, missing) in [
        ("description", is_empty(&package.description)),
        ("keywords", package.keywords.is_empty()),
        ("categories", package.categories.is_empty()),
        ("readme", !member.has_readme),
        ("license", package.license.is_none()),
        ("[package.metadata.docs.rs]", docs.is_none()),
    ] {
        if missing {
            fault("[package", &format!("no `{key}`, add it"));
        }
    }
    faults
}

/// True if `[lints]` says `workspace = true`, in either of its spellings.
fn has_workspace_lints(manifest: &str) -> bool {
    let mut section = "";
    manifest.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            section = line;
        }
        let is = |text: &str| line.replace(' ', "") == text;
        (section == "[lints]" && is("workspace=true")) || is("lints.workspace=true")
    })
}

/// Faults in the workspace's own manifest.
pub(super) fn check_root(manifest: &str) -> Option<Fault> {
    let forbids = manifest.lines().any(|line| line.replace(' ', "") == "unsafe_code=\"forbid\"");
    let what =
        "unsafe code is not forbidden, add `unsafe_code = \"forbid\"` to `[workspace.lints.rust]`";
    (!forbids).then(|| Fault::new("Cargo.toml", 1, what))
}

/// The packages that hanok is built on.
const NORMAL: &str = "[dependencies]";
const PACKAGES: [&str; 9] = [
    "async-openai",
    "futures",
    "petgraph",
    "regex",
    "serde",
    "serde_json",
    "thiserror",
    "tiktoken-rs",
    "tokio",
];

/// The packages that no published crate has, with a comment on what for; insta has its place in tests.
pub(super) fn check_packages(members: &[Member<'_>]) -> Vec<Fault> {
    let wanted =
        PACKAGES.map(|name| (name, NORMAL)).into_iter().chain([("insta", "[dev-dependencies]")]);
    let has = |member: &Member<'_>, table, name| {
        member.package.is_published() && has_reason(&member.manifest, table, name)
    };
    let missing = wanted.filter(|(name, table)| !members.iter().any(|it| has(it, table, name)));
    let what = |(name, table)| {
        format!("no published crate has `{name}` in `{table}` below a comment on what for")
    };
    missing.map(|it| Fault::new("Cargo.toml", 1, what(it))).collect()
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
    use serde_json::json;

    use super::super::member::tests::{member, package};
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"hanok-core\"\nrepository.workspace = true\nhomepage.workspace = true\n\n\
        [lints]\nworkspace = true\n";

    #[test]
    fn every_key_that_is_missing_is_named() {
        let complete = json!({
            "name": "hanok-core", "description": "Names.", "keywords": ["llm"], "categories": ["a"],
            "readme": "README.md", "license": "MIT", "metadata": { "docs": { "rs": {} } },
        });
        let faults = |json, manifest: &str| -> Vec<String> {
            let package = package(json);
            check(&[member(&package, manifest)]).into_iter().map(|fault| fault.what).collect()
        };
        assert_eq!(faults(complete.clone(), MANIFEST), [""; 0]);
        let missing = "description keywords categories readme license [package.metadata.docs.rs]";
        let missing = missing.split(' ').map(|key| format!("no `{key}`, add it"));
        assert!(missing.eq(faults(json!({ "name": "hanok-core" }), MANIFEST)));
        let own = MANIFEST.replace("repository.workspace = true", "repository = \"example.org\"");
        assert_eq!(faults(complete, &own).len(), 1);
    }

    /// P58: unsafe code is forbidden by the workspace, every crate inherits it, and our own build runs no program that could reach
    /// the network.
    #[test]
    fn a_crate_that_could_hold_unsafe_code_or_has_a_build_script_is_found() {
        for (manifest, inherits) in [
            (MANIFEST, true),
            ("lints.workspace = true", true),
            ("[lints.rust]\nunsafe_code = \"allow\"\n", false),
            ("[package]\nedition.workspace = true\n[badges]\nworkspace = true\n", false),
        ] {
            assert_eq!(has_workspace_lints(manifest), inherits, "{manifest:?}");
        }
        assert_eq!(check_root("[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"), None);
        assert!(check_root("[workspace.lints.rust]\nunsafe_code = \"deny\"\n").is_some());
        let targets = json!([{ "name": "build-script-build", "kind": ["custom-build"] }]);
        let package = package(json!({ "name": "x", "targets": targets, "publish": [] }));
        let member = Member { path: "examples/x/Cargo.toml".into(), ..member(&package, MANIFEST) };
        assert_eq!(check(&[member]).len(), 1);
    }

    #[test]
    fn a_package_has_its_reason_above_it() {
        assert_eq!(check_packages(&[]).len(), PACKAGES.len() + 1);
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
