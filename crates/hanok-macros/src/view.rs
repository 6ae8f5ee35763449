//! `#[derive(View)]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, Data, DeriveInput, Error, Fields, Path, Result, Type};

use crate::paths;

/// The attributes of the struct.
struct ViewAttributes {
    state: Type,
    state_crate: TokenStream,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "a view has no parameters"));
    }
    let ViewAttributes { state, state_crate: path } = attributes(input)?;
    let names = names(input)?;
    let texts = names.iter().map(|name| name.to_string().trim_start_matches("r#").to_owned());
    // Written where the field stands, so that what the state lacks, or has otherwise, is an error at that place.
    let shown = names.iter().map(|name| {
        let span = name.span().resolved_at(Span::call_site());
        let whole = Ident::new("__state", span);
        quote_spanned!(span=> #name: ::core::clone::Clone::clone(&#whole.#name))
    });
    let view = &input.ident;
    Ok(quote! {
        #[allow(clippy::all, clippy::pedantic, reason = "written by a derive")]
        const _: () = {
            impl #path::View<#state> for #view {
                const FIELDS: ::core::option::Option<&'static [&'static str]> =
                    ::core::option::Option::Some(&[#(#texts),*]);

                fn of(__state: &::std::sync::Arc<#state>) -> ::std::sync::Arc<Self> {
                    let __state: &#state = __state;
                    let _ = __state;
                    ::std::sync::Arc::new(Self { #(#shown,)* })
                }
            }
        };
    })
}

fn names(input: &DeriveInput) -> Result<Vec<&Ident>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "a view is a struct with named fields"));
    };
    let Fields::Named(named) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "a view is a struct with named fields"));
    };
    Ok(named.named.iter().filter_map(|field| field.ident.as_ref()).collect())
}

fn attributes(input: &DeriveInput) -> Result<ViewAttributes> {
    let (mut state, mut state_crate) = (None, None);
    for attribute in input.attrs.iter().filter(|a: &&Attribute| a.path().is_ident("view")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("of") {
                state = Some(meta.value()?.parse::<Type>()?);
            } else if meta.path.is_ident("crate") {
                let path: Path = meta.value()?.parse()?;
                state_crate = Some(quote!(#path));
            } else {
                return Err(meta.error("a view's `#[view(…)]` says `of = State` or `crate = path`"));
            }
            Ok(())
        })?;
    }
    let Some(state) = state else {
        return Err(Error::new_spanned(
            &input.ident,
            "say which state this is a view of: `#[view(of = State)]`",
        ));
    };
    Ok(ViewAttributes { state, state_crate: state_crate.unwrap_or_else(paths::state_crate) })
}
