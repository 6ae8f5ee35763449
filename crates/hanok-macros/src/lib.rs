//! The macros of hanok. They are documented where they are used: in `hanok-state`, `hanok-model` and the facade
//! `hanok`.

mod attributes;
mod debug_node;
mod has_agent;
mod paths;
mod state;
mod tool;
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

/// Says where a state holds that of an agent: in its one field of the type `AgentState`. The documentation of `hanok-agent`
/// shows one.
#[proc_macro_derive(HasAgent)]
pub fn derive_has_agent(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    has_agent::derive(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Checks an `async fn` that is a node of a graph, and changes nothing about it.
///
/// A function that is no node is refused where a graph takes it, by an error about traits. With this attribute the error
/// stands at the function and says what to write: parameters that are missing, in another order or of another type, a
/// return type that is no `Result` or writes no update of this state, a future that is not `Send`. A generic function
/// cannot be checked and is refused.
#[proc_macro_attribute]
pub fn debug_node(arguments: TokenStream, item: TokenStream) -> TokenStream {
    debug_node::debug(arguments.into(), item.into()).into()
}

/// Makes a tool of an `async fn`; the documentation of `hanok-model` says of which, and shows one.
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    tool::tool(arguments.into(), item.into()).into()
}
