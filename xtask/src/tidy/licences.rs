//! The source and the licence of every dependency.

use std::collections::BTreeMap;

use spdx::{Expression, ParseMode};

use super::lock::lock_line;
use crate::fault::Fault;
use crate::metadata::{Metadata, Package};

/// Licences that ask for no more than to be named.
const ALLOWED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Packages under another licence, each as (name, licence, why it may stay).
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "webpki-root-certs",
    "CDLA-Permissive-2.0",
    "a licence for data, and the crate is data: the root certificates that rustls needs on some platforms",
)];

/// The beginning of the source of a package from a registry.
const REGISTRY: &str = "registry+";

/// TLS is rustls, everywhere: these two lead to the system's library.
const UNWANTED: [&str; 2] = ["native-tls", "openssl-sys"];

/// Faults in licences and sources, of every feature on every platform.
pub(super) fn check(metadata: &Metadata, lock: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let registry = registry(metadata);
    for package in &metadata.packages {
        let (path, line) = if metadata.is_member(package) {
            (metadata.relative(&package.manifest_path), 1)
        } else {
            ("Cargo.lock".to_owned(), lock_line(lock, &package.name))
        };
        let mut fault = |what: String| faults.push(Fault::new(&path, line, what));
        let Package { name, version, .. } = package;
        if let Some(wrong) = licence_fault(package) {
            fault(format!(
                "{name} {version}: {wrong}, replace it or list it as an exception with a reason"
            ));
        }
        match package.source.as_deref() {
            None if metadata.is_member(package) => {}
            Some(source) if Some(source) == registry => {}
            None => fault(format!(
                "{name} {version} comes from a folder outside this workspace, take it from the registry"
            )),
            Some(source) => fault(format!(
                "{name} {version} comes from {source}, take it from the default registry"
            )),
        }
    }
    faults
}

/// The one registry that packages come from: the one that most of them come from.
fn registry(metadata: &Metadata) -> Option<&str> {
    let mut counts = BTreeMap::new();
    let sources = metadata.packages.iter().filter_map(|package| package.source.as_deref());
    for source in sources.filter(|source| source.starts_with(REGISTRY)) {
        *counts.entry(source).or_insert(0usize) += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(source, _)| source)
}

fn licence_fault(package: &Package) -> Option<String> {
    let Some(expression) = package.license.as_deref() else {
        return Some("no licence is named".to_owned());
    };
    let excepted = |licence: &str| {
        EXCEPTIONS.iter().any(|(name, granted, _)| *name == package.name && *granted == licence)
    };
    match is_met(expression, |licence| ALLOWED.contains(&licence) || excepted(licence)) {
        Ok(true) => None,
        Ok(false) => Some(format!("its licence `{expression}` is not allowed")),
        Err(wrong) => Some(format!("its licence `{expression}` cannot be read ({wrong})")),
    }
}

/// Evaluates `expression` where exactly the licences that `allowed` names may be used.
///
/// An exception (`WITH`) only grants more, so the licence before it decides. The `/` of older manifests is `OR`.
///
/// # Errors
///
/// A phrase on why the expression cannot be read.
fn is_met(expression: &str, allowed: impl Fn(&str) -> bool) -> Result<bool, String> {
    let mode =
        ParseMode { allow_slash_as_or_operator: true, allow_deprecated: true, ..ParseMode::STRICT };
    let read = Expression::parse_mode(expression, mode).map_err(|wrong| {
        let place = expression.get(wrong.span).filter(|place| !place.is_empty());
        place.map_or_else(|| wrong.reason.to_string(), |at| format!("`{at}`: {}", wrong.reason))
    })?;
    Ok(read.evaluate(|wanted| wanted.license.id().is_some_and(|licence| allowed(licence.name))))
}

/// Faults in the lock file.
pub(super) fn check_lock(lock: &str) -> Vec<Fault> {
    if lock.is_empty() {
        return vec![Fault::new("Cargo.lock", 1, "there is no lock file, commit one")];
    }
    let unwanted = UNWANTED.iter().filter(|name| lock.contains(&format!("name = \"{name}\"\n")));
    unwanted
        .map(|name| {
            let what = format!("`{name}` is in the build, choose rustls where it comes in (`cargo tree --target all -i {name}`)");
            Fault::new("Cargo.lock", lock_line(lock, name), what)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"thing\"\n";

    fn faults(package: serde_json::Value) -> Vec<String> {
        let metadata = json!({ "packages": [package], "workspace_members": ["ours"] });
        let metadata: Metadata = serde_json::from_value(metadata).unwrap();
        check(&metadata, LOCK).iter().map(ToString::to_string).collect()
    }

    /// P58: the licence of every dependency is on the list.
    #[test]
    fn a_licence_that_is_not_on_the_list_is_found() {
        let thing = |licence| json!({ "id": "t", "name": "thing", "version": "1.0.0", "license": licence, "source": "registry+https://example.com/index" });
        assert_eq!(faults(thing(Some("MIT OR GPL-2.0-only"))), [""; 0]);
        for (licence, wrong) in [
            (Some("MPL-2.0"), "its licence `MPL-2.0` is not allowed"),
            (Some("MIT AND GPL-2.0-only"), "its licence `MIT AND GPL-2.0-only` is not allowed"),
            (
                Some("MIT OR"),
                "its licence `MIT OR` cannot be read (expected one of `<license>`, `(` here)",
            ),
            (None, "no licence is named"),
        ] {
            assert_eq!(
                faults(thing(licence)),
                [format!(
                    "Cargo.lock:4: thing 1.0.0: {wrong}, replace it or list it as an exception with a reason"
                )]
            );
        }
    }

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
            ("mit", Err("`mit`: unknown term")),
            ("", Err("empty expression")),
            ("MIT OR", Err("expected one of `<license>`, `(` here")),
            (
                "MIT Apache-2.0",
                Err("`Apache-2.0`: expected one of `AND`, `OR`, `WITH`, `)`, `+` here"),
            ),
            ("(MIT", Err("`(`: unclosed parens")),
            ("MIT)", Err("`)`: unopened parens")),
            ("MIT WITH", Err("expected a `<addition>` here")),
        ] {
            assert_eq!(is_met(expression, allowed), want.map_err(str::to_owned), "{expression:?}");
        }
        let deep = "(".repeat(100_000);
        assert_eq!(is_met(&deep, allowed), Err("expected one of `<license>`, `(` here".to_owned()));
    }

    /// P58: every dependency comes from the default registry, or is ours.
    #[test]
    fn a_source_other_than_the_registry_is_found() {
        let thing = |id, source: Option<&str>| json!({ "id": id, "name": "thing", "version": "1.0.0", "license": "MIT", "source": source });
        assert_eq!(faults(thing("ours", None)), [""; 0]);
        assert_eq!(faults(thing("t", Some("registry+https://example.com/index"))), [""; 0]);
        assert_eq!(
            faults(thing("t", Some("git+https://example.com/thing"))),
            [
                "Cargo.lock:4: thing 1.0.0 comes from git+https://example.com/thing, take it from the default registry"
            ]
        );
        assert_eq!(
            faults(thing("t", None)),
            [
                "Cargo.lock:4: thing 1.0.0 comes from a folder outside this workspace, take it from the registry"
            ]
        );
    }

    /// P58: there is a lock file, and rustls is the only TLS in it.
    #[test]
    fn a_system_tls_library_in_the_lock_file_is_found() {
        let lock = "version = 4\n\n[[package]]\nname = \"openssl-sys\"\nversion = \"0.9.0\"\n";
        assert_eq!(check_lock(LOCK), []);
        assert_eq!(check_lock("").len(), 1);
        let faults = check_lock(lock);
        assert_eq!(faults.len(), 1);
        assert!(faults[0].to_string().starts_with("Cargo.lock:4: `openssl-sys` is in the build"));
    }
}
