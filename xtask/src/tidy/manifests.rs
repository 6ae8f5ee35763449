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
    if !has_workspace_lints(&member.manifest) {
        faults.push(member.fault(
            "[lints",
            "the workspace's lints are not inherited, add `[lints]` with `workspace = true`",
        ));
    }
    if package.has("custom-build") {
        faults.push(member.fault("build", "a build script, do without one"));
    }
    if !member.is_crate() {
        if package.is_published() {
            faults.push(
                member.fault("[package", "only `crates/` is published, add `publish = false`"),
            );
        }
        return faults;
    }
    if !member.has_licences {
        let what = format!(
            "the licences are not beside it, as they are at the root: `ln -s ../../{{{}}} .`",
            LICENCES.join(",")
        );
        faults.push(member.fault("license", what));
    }
    let one_place = ["repository", "homepage"].into_iter();
    faults.extend(one_place.filter(|key| !inherits(&member.manifest, key)).map(|key| {
        let what = format!(
            "its own `{key}` or none, add `{key}.workspace = true`: the root's manifest has it for all"
        );
        member.fault(key, what)
    }));
    for (key, missing) in [
        ("description", package.description.as_ref().is_none_or(|text| text.trim().is_empty())),
        ("keywords", package.keywords.is_empty()),
        ("categories", package.categories.is_empty()),
        ("readme", !member.has_readme),
        ("license", package.license.is_none()),
        (
            "[package.metadata.docs.rs]",
            package.metadata.pointer("/docs/rs").is_none()
                && package.metadata.get("docs.rs").is_none(),
        ),
    ] {
        if missing {
            faults.push(member.fault("[package", format!("no `{key}`, add it")));
        }
    }
    faults
}

/// Whether the package takes `key` from the workspace.
fn inherits(manifest: &str, key: &str) -> bool {
    let line = format!("{key}.workspace=true");
    manifest.lines().any(|it| it.replace(' ', "") == line)
}

/// Whether `[lints]` says `workspace = true`, in either of its spellings.
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
    (!forbids).then(|| {
        Fault::new(
            "Cargo.toml",
            1,
            "unsafe code is not forbidden, add `unsafe_code = \"forbid\"` to `[workspace.lints.rust]`",
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::member::tests::{member, package};
    use super::*;

    fn complete() -> serde_json::Value {
        json!({
            "name": "hanok-core",
            "description": "Names and seams.",
            "keywords": ["llm"],
            "categories": ["asynchronous"],
            "readme": "README.md",
            "license": "MIT OR Apache-2.0",
            "metadata": { "docs": { "rs": { "all-features": true } } },
        })
    }

    const MANIFEST: &str = "[package]\nname = \"hanok-core\"\nrepository.workspace = true\nhomepage.workspace = true\n\n\
        [lints]\nworkspace = true\n";

    #[test]
    fn a_complete_manifest_has_no_fault() {
        let package = package(complete());
        assert_eq!(check(&[member(&package, MANIFEST)]), []);
    }

    #[test]
    fn every_key_that_is_missing_is_named() {
        let package = package(json!({ "name": "hanok-core" }));
        let faults = check(&[member(&package, MANIFEST)]);
        let what: Vec<_> = faults.iter().map(|fault| fault.what.as_str()).collect();
        assert_eq!(
            what,
            [
                "no `description`, add it",
                "no `keywords`, add it",
                "no `categories`, add it",
                "no `readme`, add it",
                "no `license`, add it",
                "no `[package.metadata.docs.rs]`, add it",
            ]
        );
    }

    /// A maintainer fills in one place where the sources are.
    #[test]
    fn a_crate_with_an_address_of_its_own_is_found() {
        let package = package(complete());
        for (address, is_fault) in [
            ("repository.workspace = true", false),
            ("repository . workspace=true", false),
            ("repository = \"example.org\"", true),
            ("", true),
        ] {
            let manifest = MANIFEST.replace("repository.workspace = true", address);
            let faults = check(&[member(&package, &manifest)]);
            assert_eq!(!faults.is_empty(), is_fault, "{address}: {faults:?}");
        }
    }

    /// P58: unsafe code is forbidden by the workspace, and every crate inherits it.
    #[test]
    fn a_crate_that_could_hold_unsafe_code_is_found() {
        let package = package(complete());
        for (manifest, inherits) in [
            (MANIFEST, true),
            ("lints.workspace = true", true),
            ("[lints]\nworkspace=true", true),
            ("[lints.rust]\nunsafe_code = \"allow\"\n", false),
            ("[package]\nedition.workspace = true\n[badges]\nworkspace = true\n", false),
        ] {
            assert_eq!(has_workspace_lints(manifest), inherits, "{manifest:?}");
            let faults = check(&[member(&package, manifest)]);
            assert_eq!(faults.iter().all(|fault| !fault.what.contains("lints")), inherits);
        }
        assert_eq!(check_root("[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"), None);
        assert!(check_root("[workspace.lints.rust]\nunsafe_code = \"deny\"\n").is_some());
    }

    /// P58: our own build runs no program that could reach the network.
    #[test]
    fn a_build_script_is_a_fault() {
        let mut json = complete();
        json["targets"] = json!([{ "name": "build-script-build", "kind": ["custom-build"] }]);
        let package = package(json);
        assert_eq!(check(&[member(&package, MANIFEST)]).len(), 1);
    }
}
