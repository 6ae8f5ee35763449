//! The types that stand for the rules of fields.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::field::Field;
use crate::attributes::Rule;

/// The type that stands for the field's rule, at the field's place in the source: errors about it point there.
fn rule_type(field: &Field<'_>, path: &TokenStream) -> TokenStream {
    let span = field.kind.span();
    let with = reducer_name(field);
    match &field.rule {
        Rule::LastValue => quote_spanned!(span=> #path::LastValue),
        Rule::Append => quote_spanned!(span=> #path::Append),
        Rule::Merge => quote_spanned!(span=> #path::Merge),
        Rule::Nested => quote_spanned!(span=> #path::Nested),
        Rule::Messages => quote_spanned!(span=> #path::MessageIds),
        Rule::Transient => quote_spanned!(span=> #path::Transient),
        Rule::With(_) => quote_spanned!(span=> #path::With<#with>),
        Rule::Operations(_) => quote_spanned!(span=> #path::Operations<#with>),
    }
}

/// The slot of the field in an update.
fn slot(field: &Field<'_>, path: &TokenStream) -> TokenStream {
    let (kind, rule) = (field.kind, rule_type(field, path));
    quote_spanned!(kind.span()=> #path::Slot<#kind, #rule>)
}

/// The slots of the fields.
pub(super) fn slots(fields: &[Field<'_>], path: &TokenStream) -> Vec<TokenStream> {
    fields.iter().map(|field| slot(field, path)).collect()
}

fn reducer_name(field: &Field<'_>) -> Ident {
    format_ident!("__{}ReducerOf_{}", field.state, field.text, span = field.name.span())
}

/// The type that carries the user's function.
pub(super) fn reducer_type(field: &Field<'_>) -> TokenStream {
    let name = reducer_name(field);
    match &field.rule {
        Rule::With(_) | Rule::Operations(_) => quote! {
            #[doc(hidden)]
            #[derive(Debug)]
            #[allow(non_camel_case_types, reason = "named after a field")]
            pub struct #name;
        },
        _ => TokenStream::new(),
    }
}

/// The implementation that calls the user's function.
pub(super) fn reducer(field: &Field<'_>, path: &TokenStream) -> TokenStream {
    let (name, kind) = (reducer_name(field), field.kind);
    match &field.rule {
        Rule::With(function) => quote_spanned! {function.span()=>
            impl #path::WithReducer<#kind> for #name {
                fn merge(value: &#kind, write: #kind) -> #kind {
                    let reducer: fn(&#kind, #kind) -> #kind = #function;
                    reducer(value, write)
                }
            }
        },
        Rule::Operations(operations) => {
            let (function, update) = &**operations;
            quote_spanned! {function.span()=>
            impl #path::OperationsReducer<#kind> for #name {
                type Update = #update;
                fn operate(
                    value: &#kind,
                    update: #update,
                ) -> ::core::result::Result<<#kind as #path::Grow>::Change, #path::derived::BoxError> {
                    let reducer: fn(&#kind, #update) -> <#kind as #path::Grow>::Change = #function;
                    ::core::result::Result::Ok(reducer(value, update))
                }
            }
            }
        }
        _ => TokenStream::new(),
    }
}
