//! `#[derive(State)]`.

mod field;
mod methods;
mod reducer;
mod schema;
mod state_impl;
mod update;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Result};

use self::{
    field::Field,
    methods::methods,
    reducer::reducer,
    state_impl::state_impl,
    update::{update_impl, update_type},
};
use crate::{attributes, paths};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "a state has no parameters: a log has to read the same in every build",
        ));
    }
    let attributes = attributes::of_struct(&input.attrs)?;
    let fields = fields(input)?;
    let path = attributes.state_crate.clone().unwrap_or_else(paths::state_crate);
    let update = format_ident!("{}Update", input.ident);
    let reducers = fields.iter().map(|field| reducer(field, &path));
    let state_impl = state_impl(input, &update, &fields, &attributes, &path);
    let update_type = update_type(input, &update, &fields, &path);
    let update_impl = update_impl(input, &update, &fields, &path);
    let methods = fields.iter().map(|field| methods(field, &path));
    Ok(quote! {
        #update_type
        #[allow(clippy::all, clippy::pedantic, reason = "written by a derive")]
        const _: () = {
            #(#reducers)*
            #state_impl
            #update_impl
        };
        #[allow(dead_code, reason = "nobody writes every field in every way")]
        impl #update {
            #(#methods)*
        }
    })
}

fn fields(input: &DeriveInput) -> Result<Vec<Field<'_>>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(
            &input.ident,
            "a state is a struct with named fields; this is none. Put the enum into a field",
        ));
    };
    let Fields::Named(named) = &data.fields else {
        return Err(Error::new_spanned(
            &input.ident,
            "a state is a struct with named fields: their names are what is stored",
        ));
    };
    let fields = named.named.iter().map(|field| {
        let attributes = attributes::of_field(field)?;
        let Some(name) = &field.ident else {
            return Err(Error::new_spanned(field, "a field of a state has a name"));
        };
        Ok(Field {
            state: &input.ident,
            name,
            text: name.to_string().trim_start_matches("r#").to_owned(),
            kind: &field.ty,
            rule: attributes.rule,
            aliases: attributes.aliases,
            private: attributes.private,
            ephemeral: attributes.ephemeral,
            docs: field.attrs.iter().filter(|a| a.path().is_ident("doc")).collect(),
        })
    });
    fields.collect()
}
