//! The paths of our crates from the crate that uses a macro.

use std::{env, fs, path::Path};

use proc_macro2::TokenStream;
use quote::quote;

/// `::hanok_state` for a crate that depends on it, `::hanok::state` or `::hanok_graph::state` for one that depends on
/// what re-exports it.
pub(crate) fn state_crate() -> TokenStream {
    let manifest = manifest();
    if depends_on(&manifest, "hanok-state") {
        quote!(::hanok_state)
    } else if depends_on(&manifest, "hanok") {
        quote!(::hanok::state)
    } else if depends_on(&manifest, "hanok-graph") {
        quote!(::hanok_graph::state)
    } else {
        quote!(::hanok_state)
    }
}

/// `::hanok_graph` for a crate that depends on it, `::hanok::graph` for one that depends on the facade alone.
pub(crate) fn graph_crate() -> TokenStream {
    let manifest = manifest();
    match depends_on(&manifest, "hanok") && !depends_on(&manifest, "hanok-graph") {
        true => quote!(::hanok::graph),
        false => quote!(::hanok_graph),
    }
}

/// `::hanok_agent` for a crate that depends on it, `::hanok::agent` for one that depends on the facade alone.
pub(crate) fn agent_crate() -> TokenStream {
    let manifest = manifest();
    match depends_on(&manifest, "hanok") && !depends_on(&manifest, "hanok-agent") {
        true => quote!(::hanok::agent),
        false => quote!(::hanok_agent),
    }
}

/// `::hanok_model` for a crate that depends on it, `::hanok::model` or `::hanok_agent::model` for one that depends on what
/// re-exports it.
pub(crate) fn model_crate() -> TokenStream {
    let manifest = manifest();
    if depends_on(&manifest, "hanok-model") {
        quote!(::hanok_model)
    } else if depends_on(&manifest, "hanok") {
        quote!(::hanok::model)
    } else if depends_on(&manifest, "hanok-agent") {
        quote!(::hanok_agent::model)
    } else {
        quote!(::hanok_model)
    }
}

/// The manifest of the crate that uses a macro; empty where there is none.
fn manifest() -> String {
    let folder = env::var("CARGO_MANIFEST_DIR").ok();
    let manifest =
        folder.and_then(|dir| fs::read_to_string(Path::new(&dir).join("Cargo.toml")).ok());
    manifest.unwrap_or_default()
}

/// True when `manifest` names `package` among its dependencies.
fn depends_on(manifest: &str, package: &str) -> bool {
    manifest.lines().any(|line| {
        let line = line.trim_start();
        let after = line.strip_prefix(package).or_else(|| {
            line.split_once("dependencies.").and_then(|(_, rest)| rest.strip_prefix(package))
        });
        after.is_some_and(|rest| rest.starts_with([' ', '=', '.', ']']))
    })
}
