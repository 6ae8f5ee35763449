//! What must not reach the crates that others implement, nor anyone.

use std::collections::BTreeSet;

use serde_json::Value;

use super::member::{Member, lock_line};
use crate::dependencies::{self, EVERYTHING};
use crate::fault::Fault;
use crate::metadata::{Metadata, Package};
use crate::result::Result;

/// The crates whose traits an outsider implements, or whose values they hold.
const SEAMS: [&str; 7] = [
    "hanok-core",
    "hanok-parse",
    "hanok-telemetry",
    "hanok-state",
    "hanok-macros",
    "hanok-checkpoint",
    "hanok-model",
];

/// HTTP, databases and runtimes: somebody's choice, never a seam's.
const CHOICES: &str = "actix-web async-openai async-std axum deadpool deadpool-postgres diesel h2 hyper hyper-util libsqlite3-sys \
    mongodb native-tls openssl postgres redis reqwest rusqlite rustls smol sqlx tokio tokio-postgres tokio-util tonic tower ureq";

/// Features of serde_json that change what every crate in a build reads and writes.
const UNWANTED_FEATURES: [&str; 2] = ["arbitrary_precision", "preserve_order"];

/// Faults in the normal dependencies of the seams, with all features on all platforms.
pub(super) fn check_trees(members: &[Member<'_>], metadata: &Metadata) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for member in members.iter().filter(|member| SEAMS.contains(&member.name())) {
        let outside = dependencies::outside(member.name(), EVERYTHING, metadata)?;
        faults.extend(check_tree(member, &outside));
    }
    Ok(faults)
}

/// Faults in `outside`, the outside crates of `member` as `name version`.
fn check_tree(member: &Member<'_>, outside: &BTreeSet<String>) -> Vec<Fault> {
    let names = outside.iter().map(|one| one.split(' ').next().unwrap_or(one));
    let choices = names.filter(|name| CHOICES.split(' ').any(|choice| choice == *name));
    let fault = |name| {
        let seam = member.name();
        let tree = format!("cargo tree -p {seam} -e normal --all-features -i {name}");
        member.fault(
            name,
            format!("`{name}` reaches the seam `{seam}`, see `{tree}` and cut that edge"),
        )
    };
    choices.map(fault).collect()
}

/// Faults in the features that serde_json is built with, dev-dependencies included: `arguments` are handed on digit for digit and key
/// for key, whatever else is in the build.
pub(super) fn check_features(metadata: &Metadata, lock: &str) -> Vec<Fault> {
    let is_serde_json = |id: &str| {
        metadata.packages.iter().any(|package| package.id == id && package.name == "serde_json")
    };
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let id = |node: &Value| node.pointer("/id").and_then(Value::as_str).is_some_and(is_serde_json);
    let nodes = list(metadata.resolve.pointer("/nodes")).into_iter().filter(id);
    let on = nodes.flat_map(|node| list(node.pointer("/features")));
    let on: Vec<_> = on.filter_map(|feature| Some(feature.as_str()?.to_owned())).collect();
    let unwanted = on.iter().filter(|feature| UNWANTED_FEATURES.contains(&feature.as_str()));
    let fault = |feature: &String| {
        let asks = |package: &&Package| {
            let mut all = package.dependencies.iter().filter(|it| it.name == "serde_json");
            all.any(|dependency| dependency.features.contains(feature))
        };
        let who = metadata.packages.iter().filter(asks).map(|package| package.name.as_str());
        let who = who.collect::<Vec<_>>().join(", ");
        let what = format!(
            "serde_json is built with `{feature}`, which is never on (asked for by: {who}); turn it off"
        );
        Fault::new("Cargo.lock", lock_line(lock, "serde_json"), what)
    };
    unwanted.map(fault).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::member::tests::{member, package};
    use super::*;

    #[test]
    fn a_runtime_in_a_seam_is_found_and_a_crate_that_only_sounds_like_one_is_not() {
        let package = package(json!({ "name": "hanok-core" }));
        let member = member(&package, "[dependencies]\nserde = \"1\"\ntokio = \"1\"\n");
        let outside = ["serde 1.0.0", "tokio 1.54.1", "tokio-stream-names 0.1.0"];
        let faults = check_tree(&member, &outside.map(str::to_owned).into());
        assert_eq!(faults.len(), 1);
        let fault = faults[0].to_string();
        assert!(fault.contains("Cargo.toml:3: `tokio` reaches the seam `hanok-core`"), "{fault}");
    }

    #[test]
    fn a_feature_of_serde_json_that_changes_values_is_found_with_who_asks_for_it() {
        let faults = |features: &[&str]| -> Vec<String> {
            let asks = json!([{ "name": "serde_json", "features": ["preserve_order"] }]);
            let metadata = json!({
                "packages": [{ "id": "s", "name": "serde_json" }, { "id": "j", "name": "jsonish", "dependencies": asks }],
                "resolve": { "nodes": [{ "id": "s", "features": features }, { "id": "j", "features": ["preserve_order"] }] },
            });
            let metadata: Metadata = serde_json::from_value(metadata).unwrap();
            let faults = check_features(&metadata, "[[package]]\nname = \"serde_json\"\n");
            faults.iter().map(ToString::to_string).collect()
        };
        assert_eq!(faults(&["default", "std", "raw_value"]), [""; 0]);
        let fault = faults(&["std", "preserve_order"]).join("\n");
        let want = "Cargo.lock:2: serde_json is built with `preserve_order`, which is never on (asked for by: jsonish)";
        assert!(fault.starts_with(want), "{fault}");
    }
}
