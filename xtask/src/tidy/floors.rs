//! Who may depend on whom: only on what stands below, or left of it on the same floor.

use super::member::Member;
use crate::fault::Fault;

/// The floors, the lowest first; within a floor from left to right.
pub(crate) const FLOORS: [&[&str]; 6] = [
    &["hanok-core", "hanok-parse", "hanok-telemetry", "hanok-figures"],
    &["hanok-macros", "hanok-state", "hanok-checkpoint", "hanok-egress"],
    &["hanok-graph", "hanok-model", "hanok-sqlite", "hanok-postgres"],
    &[
        "hanok-openai",
        "hanok-otlp",
        "hanok-retrieval",
        "hanok-documents",
        "hanok-encoder",
        "hanok-index",
        "hanok-pgvector",
        "hanok-opensearch",
        "hanok-memory",
        "hanok-learning",
        "hanok-tools",
        "hanok-sandbox",
        "hanok-agent",
        "hanok-grounding",
        "hanok-mcp",
        "hanok-testkit",
        "hanok-simulation",
    ],
    &["hanok-supervisor", "hanok-team"],
    &["hanok", "hanok-server", "hanok-cli"],
];

/// Crates that depend on nothing of ours although their place would allow it.
const ALONE: [&str; 4] = ["hanok-parse", "hanok-telemetry", "hanok-figures", "hanok-macros"];

/// Faults in the edges between the members.
///
/// Packages outside `crates/` stand above all floors; of them only `kit`, what the examples share, `desk`, the server
/// that one of them starts, `example-tests` and `postgres-for-tests` are for the others.
pub(super) fn check(members: &[Member<'_>]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for member in members {
        let place = place(member);
        if member.is_crate() && place.is_none() {
            faults.push(member.fault(
                "name",
                format!(
                    "`{}` stands on no floor, give it a place in the table of `cargo xtask tidy`",
                    member.name(),
                ),
            ));
        }
        for dependency in &member.package.dependencies {
            let Some(target) = members.iter().find(|other| other.name() == dependency.name) else {
                continue;
            };
            let upwards = !below(target, member);
            let alone = ALONE.contains(&member.name());
            let what = match dependency.kind.as_deref() {
                // Without a version Cargo leaves it out of what is published.
                Some("dev") if upwards && dependency.req != "*" => format!(
                    "the dev-dependency on `{}` points upwards with a version, write it with `path` alone",
                    target.name(),
                ),
                Some("dev") => continue,
                _ if alone => format!(
                    "`{}` depends on `{}`, it depends on nothing of ours",
                    member.name(),
                    target.name(),
                ),
                _ if upwards => format!(
                    "`{}` depends upwards on `{}`, move what both need to a lower floor",
                    member.name(),
                    target.name(),
                ),
                _ => continue,
            };
            faults.push(member.fault(&dependency.name, what));
        }
    }
    faults
}

/// The floor of a crate and how far right it stands.
fn place(member: &Member<'_>) -> Option<(usize, usize)> {
    FLOORS.iter().enumerate().find_map(|(floor, crates)| {
        crates.iter().position(|name| *name == member.name()).map(|column| (floor, column))
    })
}

/// Whether `member` may use `target`.
fn below(target: &Member<'_>, member: &Member<'_>) -> bool {
    match (place(target), place(member)) {
        (Some(target), Some(member)) => target < member,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => {
            let is_shared = ["desk", "kit", "postgres-for-tests"].contains(&target.name());
            // The examples as one server: the roof.
            is_shared || member.name() == "serve"
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::member::tests::{member, package};
    use super::*;

    /// The faults of a house in which `from` has one dependency, on `to`.
    fn faults(from: &str, to: &str, kind: Option<&str>, req: &str) -> Vec<String> {
        let dependency = json!({ "name": to, "kind": kind, "req": req });
        let from = package(json!({ "name": from, "dependencies": [dependency] }));
        let to = package(json!({ "name": to }));
        let manifest = format!("[dependencies]\n{} = {{}}\n", to.name);
        let mut members = [member(&from, &manifest), member(&to, "")];
        for member in &mut members {
            if place(member).is_none() {
                member.path = format!("examples/{}/Cargo.toml", member.package.name);
            }
        }
        check(&members).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_edge_upwards_or_to_the_right_is_found_and_others_are_not() {
        for (from, to, allowed) in [
            ("hanok-graph", "hanok-core", true),
            ("hanok-core", "hanok-graph", false),
            ("hanok-agent", "hanok-tools", true),
            ("hanok-tools", "hanok-agent", false),
            ("hanok-graph", "hanok-model", false),
            ("hanok-state", "hanok-macros", true),
            ("hanok-parse", "hanok-core", false),
            ("hanok-supervisor", "hanok-agent", true),
            ("rag", "hanok-supervisor", true),
            ("rag", "kit", true),
            ("rag", "chat", false),
            ("serve", "chat", true),
            ("chat", "serve", false),
            ("xtask", "postgres-for-tests", true),
            ("hanok-postgres", "postgres-for-tests", false),
            ("hanok-agent", "kit", false),
        ] {
            let faults = faults(from, to, None, "^0.1.0");
            assert_eq!(faults.is_empty(), allowed, "{from} -> {to}: {faults:?}");
        }
    }

    #[test]
    fn a_fault_names_the_line_and_the_way_out() {
        let upwards = faults("hanok-core", "hanok-graph", None, "^0.1.0").join("\n");
        let want = "crates/hanok-core/Cargo.toml:2: `hanok-core` depends upwards on `hanok-graph`, move what";
        assert!(upwards.starts_with(want), "{upwards}");
        assert_eq!(faults("hanok-core", "hanok-graph", Some("build"), "*").len(), 1);
        let attic = package(json!({ "name": "hanok-attic" }));
        let attic = check(&[member(&attic, "[package]\nname = \"hanok-attic\"\n")]);
        assert_eq!(attic.len(), 1);
        let want = "crates/hanok-attic/Cargo.toml:2: `hanok-attic` stands on no floor";
        assert!(attic[0].to_string().starts_with(want), "{attic:?}");
    }

    #[test]
    fn a_dev_dependency_points_upwards_only_without_a_version() {
        let dev = |from, to, req| faults(from, to, Some("dev"), req).join("\n");
        assert_eq!(dev("hanok-state", "hanok-testkit", "*"), "");
        assert_eq!(dev("hanok-agent", "hanok-core", "^0.1.0"), "");
        let versioned = dev("hanok-state", "hanok-testkit", "^0.1.0");
        assert!(versioned.contains("points upwards with a version"), "{versioned}");
    }
}
