//! One field of a state.

use proc_macro2::Ident;
use syn::Type;

use crate::attributes::Rule;

/// One field, ready to be written about.
pub(super) struct Field<'a> {
    pub(super) state: &'a Ident,
    pub(super) name: &'a Ident,
    pub(super) text: String,
    pub(super) kind: &'a Type,
    pub(super) rule: Rule,
    pub(super) aliases: Vec<syn::LitStr>,
    pub(super) private: bool,
    pub(super) ephemeral: bool,
    pub(super) docs: Vec<&'a syn::Attribute>,
}

/// The names of all fields.
pub(super) fn names<'a>(fields: &'a [Field<'_>]) -> Vec<&'a Ident> {
    fields.iter().map(|field| field.name).collect()
}

/// The names of all fields as texts.
pub(super) fn texts<'a>(fields: &'a [Field<'_>]) -> Vec<&'a String> {
    fields.iter().map(|field| &field.text).collect()
}
