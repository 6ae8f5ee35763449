//! `#[derive(HasAgent)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, Result, Type};

use crate::paths;

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "a state with an agent has no parameters"));
    }
    let field = agent_field(input)?;
    let (state, (agent_crate, state_crate)) =
        (&input.ident, (paths::agent_crate(), paths::state_crate()));
    Ok(quote! {
        #[allow(clippy::all, clippy::pedantic, reason = "written by a derive")]
        const _: () = {
            impl #agent_crate::HasAgent for #state {
                fn agent(&self) -> &#agent_crate::AgentState {
                    &self.#field
                }

                fn into_agent(self) -> #agent_crate::AgentState {
                    self.#field
                }

                fn wrap(
                    __update: #agent_crate::AgentStateUpdate,
                ) -> <Self as #state_crate::State>::Update {
                    <Self as #state_crate::State>::update().#field(__update)
                }
            }
        };
    })
}

/// The one field that is an agent's state.
fn agent_field(input: &DeriveInput) -> Result<&Ident> {
    let wants =
        "a state with an agent is a struct with one field `#[reduce(nested)] agent: AgentState`";
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, wants));
    };
    let Fields::Named(named) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, wants));
    };
    let mut fields = named.named.iter().filter(|field| is_agent(&field.ty));
    let Some(field) = fields.next() else { return Err(Error::new_spanned(&input.ident, wants)) };
    if let Some(second) = fields.next() {
        return Err(Error::new_spanned(
            second,
            "this is the second `AgentState`; a state has one agent",
        ));
    }
    if !is_nested(field) {
        return Err(Error::new_spanned(
            field,
            "the agent's part is nested: write `#[reduce(nested)]` on it",
        ));
    }
    field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, wants))
}

fn is_agent(kind: &Type) -> bool {
    let Type::Path(path) = kind else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "AgentState")
}

fn is_nested(field: &Field) -> bool {
    let mut nested = false;
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("reduce")) {
        // What else stands there is for `#[derive(State)]` to judge.
        let _ = attribute.parse_nested_meta(|meta| {
            nested |= meta.path.is_ident("nested");
            Ok(())
        });
    }
    nested
}
