//! The derive macros of hanok. They are documented where they are used: in `hanok-state` and the facade `hanok`.

mod attributes;
mod paths;
mod state;
mod view;

use proc_macro::TokenStream;

/// Makes a struct with named fields the state of a graph; the documentation of `hanok-state` lists the attributes.
#[proc_macro_derive(State, attributes(reduce, state))]
pub fn derive_state(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    state::derive(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a struct with named fields a view of a state: `#[view(of = Chat)]` says of which; the documentation of
/// `hanok-state` shows one.
#[proc_macro_derive(View, attributes(view))]
pub fn derive_view(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    view::derive(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
