//! The paths of our crates from the crate that uses a macro.

use std::{env, fs, path::Path};

use proc_macro2::TokenStream;
use quote::quote;

/// `::hanok_state` for a crate that depends on it, `::hanok::state` for one that depends on the facade alone.
pub(crate) fn state_crate() -> TokenStream {
    if is_behind_the_facade("hanok-state") { quote!(::hanok::state) } else { quote!(::hanok_state) }
}

/// `::hanok_graph` for a crate that depends on it, `::hanok::graph` for one that depends on the facade alone.
pub(crate) fn graph_crate() -> TokenStream {
    if is_behind_the_facade("hanok-graph") { quote!(::hanok::graph) } else { quote!(::hanok_graph) }
}

/// True when the manifest of the crate that uses a macro names the facade and not `package`.
fn is_behind_the_facade(package: &str) -> bool {
    let manifest = env::var("CARGO_MANIFEST_DIR")
        .ok()
        .and_then(|dir| fs::read_to_string(Path::new(&dir).join("Cargo.toml")).ok())
        .unwrap_or_default();
    let depends_on = |name: &str| {
        manifest.lines().any(|line| {
            let line = line.trim_start();
            let after = line.strip_prefix(name).or_else(|| {
                line.split_once("dependencies.").and_then(|(_, rest)| rest.strip_prefix(name))
            });
            after.is_some_and(|rest| rest.starts_with([' ', '=', '.', ']']))
        })
    };
    depends_on("hanok") && !depends_on(package)
}
