//! The update of a state: its type, and the implementation of `StateUpdate`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::DeriveInput;

use super::{
    field::{Field, names, texts},
    reducer::{reducer_type, slots},
};
use crate::attributes::Rule;

pub(super) fn update_type(
    input: &DeriveInput,
    update: &Ident,
    fields: &[Field<'_>],
    path: &TokenStream,
) -> TokenStream {
    let (visibility, state) = (&input.vis, &input.ident);
    let names = fields.iter().map(|field| field.name);
    let slots = slots(fields, path);
    let reducers = fields.iter().map(reducer_type);
    let doc = format!("The update that a node writes to [`{state}`]: every field optional.");
    quote! {
        #(#reducers)*
        #[doc = #doc]
        #[must_use]
        #[derive(Clone, Default)]
        #visibility struct #update {
            #(#names: #slots,)*
        }
    }
}

pub(super) fn update_impl(
    input: &DeriveInput,
    update: &Ident,
    fields: &[Field<'_>],
    path: &TokenStream,
) -> TokenStream {
    let state = &input.ident;
    let (names, texts) = (names(fields), texts(fields));
    let debug = debug(update, fields);
    let joining = joining(fields, path);
    let storage = storage(fields, path);
    let json = json(fields, path);
    quote! {
        #debug

        impl #path::StateUpdate for #update {
            type State = #state;

            fn is_empty(&self) -> bool {
                true #(&& self.#names.is_empty())*
            }

            fn written(&self) -> ::std::vec::Vec<::std::borrow::Cow<'_, str>> {
                let slots: [(&'static str, bool); _] = [#((#texts, self.#names.is_empty())),*];
                let written = slots.into_iter().filter(|(_, empty)| !empty);
                written.map(|(name, _)| ::std::borrow::Cow::Borrowed(name)).collect()
            }

            #joining
            #storage
            #json
        }
    }
}

fn debug(update: &Ident, fields: &[Field<'_>]) -> TokenStream {
    let (names, texts, update_text) = (names(fields), texts(fields), update.to_string());
    quote! {
        impl ::core::fmt::Debug for #update {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #[allow(unused_mut, reason = "a state may have no fields")]
                let mut shown = f.debug_struct(#update_text);
                #(if !self.#names.is_empty() { shown.field(#texts, &self.#names); })*
                shown.finish_non_exhaustive()
            }
        }
    }
}

fn joining(fields: &[Field<'_>], path: &TokenStream) -> TokenStream {
    let (names, texts) = (names(fields), texts(fields));
    quote! {
        fn and(self, after: Self) -> Self {
            let _ = &after;
            Self { #(#names: self.#names.and(after.#names),)* }
        }

        fn then(self, after: Self) -> ::core::result::Result<Self, #path::ReduceError> {
            let _ = &after;
            ::core::result::Result::Ok(Self {
                #(#names: self.#names.then(#texts, after.#names)?,)*
            })
        }

        fn complete(&mut self, ids: &mut dyn FnMut() -> ::std::string::String) {
            let _ = &ids;
            #(self.#names.complete(ids);)*
        }
    }
}

fn storage(fields: &[Field<'_>], path: &TokenStream) -> TokenStream {
    let (names, texts, slots) = (names(fields), texts(fields), slots(fields, path));
    quote! {
        fn to_changes(
            &self,
        ) -> ::core::result::Result<#path::derived::Changes, #path::derived::StoredError> {
            #[allow(unused_mut, reason = "a state may have no fields")]
            let mut __changes = #path::derived::Changes::default();
            #(<#slots as #path::derived::StoredSlot<_>>::store(&self.#names, #texts, &mut __changes)?;)*
            ::core::result::Result::Ok(__changes)
        }

        fn from_changes(
            __changes: &#path::derived::Changes,
        ) -> ::core::result::Result<Self, #path::derived::StoredError> {
            let _ = __changes;
            ::core::result::Result::Ok(Self {
                #(#names: <#slots as #path::derived::StoredSlot<_>>::load(#texts, __changes)?,)*
            })
        }
    }
}

fn json(fields: &[Field<'_>], path: &TokenStream) -> TokenStream {
    let read = fields.iter().filter(|field| !matches!(field.rule, Rule::Transient));
    let read = read.map(|field| &field.text);
    let (names, texts, slots) = (names(fields), texts(fields), slots(fields, path));
    quote! {
        fn from_json(
            __json: #path::derived::JsonValue,
        ) -> ::core::result::Result<Self, #path::InvalidJson> {
            #[allow(unused_mut, reason = "a state may have no fields")]
            let mut __json = #path::derived::JsonFields::new(__json)?;
            let __update = Self {
                #(#names: <#slots as #path::derived::StoredSlot<_>>::from_json(#texts, &mut __json),)*
            };
            __json.finish(&[#(#read),*])?;
            ::core::result::Result::Ok(__update)
        }

        fn to_json(
            &self,
        ) -> ::core::result::Result<#path::derived::JsonValue, #path::NoJson> {
            #[allow(unused_mut, reason = "a state may have no fields")]
            let mut __json = #path::derived::JsonObject::new();
            #(<#slots as #path::derived::StoredSlot<_>>::to_json(&self.#names, #texts, &mut __json)?;)*
            ::core::result::Result::Ok(#path::derived::JsonValue::Object(__json))
        }
    }
}
