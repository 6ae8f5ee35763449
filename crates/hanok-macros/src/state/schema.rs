//! The schema of a state.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{DeriveInput, spanned::Spanned};

use super::field::Field;
use crate::attributes::{Rule, StructAttributes};

/// The schema as a constant expression.
pub(super) fn schema(
    input: &DeriveInput,
    fields: &[Field<'_>],
    attributes: &StructAttributes,
    path: &TokenStream,
) -> TokenStream {
    let name = input.ident.to_string();
    let one = || syn::LitInt::new("1", input.ident.span());
    let version = attributes.version.clone().unwrap_or_else(one);
    let mut spelled = format!("{version}\n");
    fields.iter().for_each(|field| spelled.push_str(&spelling(field)));
    let fingerprint = Literal::u64_suffixed(fnv(spelled.as_bytes()));
    let nested = fields.iter().filter_map(|field| nested_schema(field, path));
    let rows = fields.iter().map(|field| row(field, path));
    let upgrade = match &attributes.upgrade {
        Some(function) => {
            let upgrade = quote_spanned!(function.span()=> #path::Upgrade(#function));
            quote!(::core::option::Option::Some(#upgrade))
        }
        None => quote!(::core::option::Option::None),
    };
    quote! {
        #path::Schema {
            name: ::std::borrow::Cow::Borrowed(#name),
            version: #version,
            fingerprint: #path::derived::fingerprint(#fingerprint, &[#(#nested.fingerprint),*]),
            fields: ::std::borrow::Cow::Borrowed(const { &[#(#rows),*] }),
            upgrade: #upgrade,
        }
    }
}

/// The schema of a nested state.
fn nested_schema(field: &Field<'_>, path: &TokenStream) -> Option<TokenStream> {
    let kind = field.kind;
    matches!(field.rule, Rule::Nested)
        .then(|| quote_spanned!(kind.span()=> <#kind as #path::State>::SCHEMA))
}

/// The field's type as it is spelled.
fn spelled_kind(field: &Field<'_>) -> String {
    let kind = field.kind;
    quote!(#kind).to_string().replace(' ', "")
}

/// The field's part of the fingerprint. A nested state has its own.
fn spelling(field: &Field<'_>) -> String {
    let (text, (rule, _)) = (&field.text, field.rule.in_schema());
    match &field.rule {
        Rule::Nested => format!("{text}\n{rule}\n"),
        _ => format!("{text}\n{rule}\n{}\n", spelled_kind(field)),
    }
}

/// The field's row in the schema.
fn row(field: &Field<'_>, path: &TokenStream) -> TokenStream {
    let Field { text, aliases, private, ephemeral, .. } = field;
    let (_, variant) = field.rule.in_schema();
    let variant = Ident::new(variant, Span::call_site());
    let spelled_kind = spelled_kind(field);
    let nested = match nested_schema(field, path) {
        Some(schema) => quote!(::core::option::Option::Some(#schema)),
        None => quote!(::core::option::Option::None),
    };
    quote!(#path::FieldSchema {
        name: ::std::borrow::Cow::Borrowed(#text),
        aliases: &[#(#aliases),*],
        rule: #path::Rule::#variant,
        kind: ::std::borrow::Cow::Borrowed(#spelled_kind),
        nested: #nested,
        private: #private,
        ephemeral: #ephemeral,
    })
}

/// FNV-1a with 64 bits (<https://www.rfc-editor.org/rfc/rfc9923>): the same in every build, which is all it is for.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
