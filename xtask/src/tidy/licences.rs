//! The source and the licence of every dependency, by the rules of `deny.toml`.

use std::collections::BTreeMap;

use spdx::{Expression, ParseMode};

use super::member::lock_line;
use crate::fault::Fault;
use crate::metadata::{Metadata, Package};

/// The part of `deny.toml` that is checked here.
#[derive(Debug, Default)]
pub(super) struct Rules<'t> {
    /// The licences that any package may have.
    allowed: Vec<&'t str>,
    /// Packages, each with a licence that it alone may have.
    exceptions: Vec<(&'t str, &'t str)>,
    /// Packages that may not be there.
    denied: Vec<&'t str>,
}

impl<'t> Rules<'t> {
    /// Reads the text of `deny.toml`, in which each entry is on a line of its own.
    pub(super) fn read(text: &'t str) -> Self {
        let (mut rules, mut table, mut list) = (Self::default(), "", "");
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            let texts: Vec<_> = line.split('"').skip(1).step_by(2).collect();
            match (line.strip_suffix(" = ["), table, list, texts.as_slice()) {
                (Some(name), ..) => list = name,
                (None, "[licenses]", "allow", [licence]) => rules.allowed.push(licence),
                (None, "[licenses]", "exceptions", [name, licence]) => {
                    rules.exceptions.push((name, licence));
                }
                (None, "[bans]", "deny", [name]) => rules.denied.push(name),
                _ if line.starts_with('[') => (table, list) = (line, ""),
                _ => {}
            }
        }
        rules
    }

    /// Faults in the licences and sources of all packages, of every feature on every platform, and in the lock file.
    pub(super) fn check(&self, metadata: &Metadata, lock: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        if lock.is_empty() {
            faults.push(Fault::new("Cargo.lock", 1, "there is no lock file, commit one"));
        }
        let registry = registry(metadata);
        for package in &metadata.packages {
            let is_member = metadata.is_member(package);
            let (path, line) = match is_member {
                true => (metadata.relative(&package.manifest_path), 1),
                false => ("Cargo.lock".to_owned(), lock_line(lock, &package.name)),
            };
            let source = match package.source.as_deref() {
                None if is_member => None,
                Some(source) if Some(source) == registry => None,
                other => Some(format!("it comes from {}", other.unwrap_or("a folder outside"))),
            };
            let denied = self.denied.contains(&package.name.as_str());
            let denied = denied.then(|| "`deny.toml` denies it".to_owned());
            for wrong in self.licence_fault(package).into_iter().chain(source).chain(denied) {
                let Package { name, version, .. } = package;
                let what = format!("{name} {version}: {wrong}, replace it or see `deny.toml`");
                faults.push(Fault::new(&path, line, what));
            }
        }
        faults
    }

    fn licence_fault(&self, package: &Package) -> Option<String> {
        let Some(expression) = package.license.as_deref() else {
            return Some("no licence is named".to_owned());
        };
        let is_allowed = |licence: &str| {
            let exception = (package.name.as_str(), licence);
            self.allowed.contains(&licence) || self.exceptions.contains(&exception)
        };
        match is_met(expression, is_allowed) {
            Ok(true) => None,
            Ok(false) => Some(format!("its licence `{expression}` is not allowed")),
            Err(wrong) => Some(format!("its licence `{expression}` cannot be read ({wrong})")),
        }
    }
}

/// The one registry that packages come from: the one that most of them come from.
fn registry(metadata: &Metadata) -> Option<&str> {
    let mut counts = BTreeMap::new();
    let sources = metadata.packages.iter().filter_map(|package| package.source.as_deref());
    for source in sources.filter(|source| source.starts_with("registry+")) {
        *counts.entry(source).or_insert(0usize) += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(source, _)| source)
}

/// Evaluates `expression` where exactly the licences that `allowed` names may be used. An exception (`WITH`) only grants more, so the
/// licence before it decides. The `/` of older manifests is `OR`.
fn is_met(expression: &str, allowed: impl Fn(&str) -> bool) -> Result<bool, String> {
    let mode =
        ParseMode { allow_slash_as_or_operator: true, allow_deprecated: true, ..ParseMode::STRICT };
    let read =
        Expression::parse_mode(expression, mode).map_err(|wrong| wrong.reason.to_string())?;
    Ok(read.evaluate(|wanted| wanted.license.id().is_some_and(|licence| allowed(licence.name))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// P58: the licence and the source of every dependency are on the list, there is a lock file, and rustls is the only TLS.
    #[test]
    fn a_licence_a_source_or_a_package_that_is_not_allowed_is_found() {
        let rules = Rules::read(include_str!("../../../deny.toml"));
        let faults = |name: &str, licence: Option<&str>, source: &str| {
            let of = |name, licence, source| json!({ "id": name, "name": name, "license": licence, "source": source });
            let other = of("other", Some("MIT"), "registry+https://example.com/index");
            let metadata = json!({ "packages": [of(name, licence, source), other, other] });
            let metadata: Metadata = serde_json::from_value(metadata).unwrap();
            let faults = rules.check(&metadata, "version = 4\n\n[[package]]\nname = \"thing\"\n");
            faults.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let (registry, git) = ("registry+https://example.com/index", "git+https://example.com");
        let (mit, data) = (Some("MIT"), Some("CDLA-Permissive-2.0"));
        for (name, licence, source, want) in [
            ("thing", Some("MIT OR GPL-2.0-only"), registry, ""),
            ("webpki-root-certs", data, registry, ""),
            ("thing", data, registry, "its licence `CDLA-Permissive-2.0` is not allowed"),
            ("thing", Some("MIT AND MPL-2.0"), registry, "its licence `MIT AND MPL-2.0` is not"),
            ("thing", Some("(MIT"), registry, "its licence `(MIT` cannot be read"),
            ("thing", None, registry, "no licence is named"),
            ("thing", mit, git, "it comes from git+https://example.com"),
            ("openssl-sys", mit, registry, "`deny.toml` denies it"),
        ] {
            let faults = faults(name, licence, source);
            assert_eq!(faults.len(), usize::from(!want.is_empty()), "{faults:?}");
            assert!(faults.iter().all(|fault| fault.contains(want)), "{faults:?}");
        }
        assert_eq!(rules.check(&Metadata::default(), "").len(), 1);
    }
}
