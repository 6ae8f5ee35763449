//! The implementation of `State`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::DeriveInput;

use super::{
    field::{Field, names, texts},
    reducer::slots,
    schema::schema,
};
use crate::attributes::StructAttributes;

pub(super) fn state_impl(
    input: &DeriveInput,
    update: &Ident,
    fields: &[Field<'_>],
    attributes: &StructAttributes,
    path: &TokenStream,
) -> TokenStream {
    let state = &input.ident;
    let schema = schema(input, fields, attributes, path);
    let merging = merging(update, fields, path);
    let storage = storage(fields, path);
    let retaining = retaining(fields);
    // Where a trait is missing, the states that have it are no help.
    quote! {
        #[diagnostic::do_not_recommend]
        impl #path::State for #state {
            type Update = #update;

            const SCHEMA: &'static #path::Schema = &#schema;

            #merging
            #storage
            #retaining
        }
    }
}

fn merging(update: &Ident, fields: &[Field<'_>], path: &TokenStream) -> TokenStream {
    let (names, texts, slots) = (names(fields), texts(fields), slots(fields, path));
    let (count, numbers) = (names.len(), 0..names.len());
    let numbers: Vec<_> = numbers.collect();
    quote! {
        fn merge_writes(
            &mut self,
            __writes: &mut [(&::std::sync::Arc<str>, &mut #update)],
            __recorded: bool,
        ) -> ::core::result::Result<#path::derived::Changes, #path::ReduceError> {
            // Of a wide state few fields are written: the others are looked at once.
            let mut __written = [0_usize; #count];
            let mut __places = __written.iter_mut();
            #[allow(unused_mut, reason = "a state may have no fields")]
            let mut __note = |__field: usize| {
                if let ::core::option::Option::Some(__place) = __places.next() {
                    *__place = __field;
                }
            };
            match &*__writes {
                [(_, __update)] => {
                    let _ = (&__update, &__note);
                    #(if !__update.#names.is_empty() {
                        __note(#numbers);
                    })*
                }
                __several => {
                    let _ = &__several;
                    #(if __several.iter().any(|(_, __update)| !__update.#names.is_empty()) {
                        __note(#numbers);
                    })*
                }
            }
            let __count = #count - __places.len();
            for __field in __written.iter().take(__count) {
                match *__field {
                    #(#numbers => {
                        <#slots>::check(#texts, &self.#names, __writes, |__update| &__update.#names)?;
                    })*
                    _ => {}
                }
            }
            #[allow(unused_mut, reason = "a state may have no fields")]
            let mut __resolved = #path::derived::Resolved::new(__recorded);
            for __field in __written.iter().take(__count) {
                match *__field {
                    #(#numbers => {
                        <#slots as #path::derived::StoredSlot<_>>::apply(
                            #texts,
                            &mut self.#names,
                            __writes,
                            |__update| &mut __update.#names,
                            &mut __resolved,
                        )?;
                    })*
                    _ => {}
                }
            }
            ::core::result::Result::Ok(__resolved.into_changes())
        }
    }
}

fn storage(fields: &[Field<'_>], path: &TokenStream) -> TokenStream {
    let (names, texts, slots) = (names(fields), texts(fields), slots(fields, path));
    let stored_names = fields.iter().map(|field| {
        let (text, aliases) = (&field.text, &field.aliases);
        quote!(&[#text, #(#aliases),*])
    });
    quote! {
        fn to_fields(
            &self,
        ) -> ::core::result::Result<#path::derived::Fields, #path::derived::StoredError> {
            #[allow(unused_mut, reason = "a state may have no fields")]
            let mut __fields = #path::derived::Fields::default();
            #(<#slots as #path::derived::StoredSlot<_>>::store_value(#texts, &self.#names, &mut __fields)?;)*
            ::core::result::Result::Ok(__fields)
        }

        fn load(
            &self,
            __fields: &mut #path::derived::Fields,
        ) -> ::core::result::Result<Self, #path::derived::StoredError> {
            #[allow(unused_mut, reason = "a state may have no fields")]
            let mut __state = ::core::clone::Clone::clone(self);
            #(if let ::core::option::Option::Some(__value) = <#slots as #path::derived::StoredSlot<_>>::load_value(#stored_names, __fields)? {
                __state.#names = __value;
            })*
            ::core::result::Result::Ok(__state)
        }

        fn to_json(
            &self,
        ) -> ::core::result::Result<#path::derived::JsonValue, #path::NoJson> {
            #[allow(unused_mut, reason = "a state may have no fields")]
            let mut __json = #path::derived::JsonObject::new();
            #(<#slots as #path::derived::StoredSlot<_>>::value_to_json(#texts, &self.#names, &mut __json)?;)*
            ::core::result::Result::Ok(#path::derived::JsonValue::Object(__json))
        }
    }
}

fn retaining(fields: &[Field<'_>]) -> TokenStream {
    let (names, texts) = (names(fields), texts(fields));
    quote! {
        fn retain(&mut self, keep: &dyn Fn(&str) -> bool, initial: &Self) {
            let _ = (&keep, &initial);
            #(if !keep(#texts) {
                self.#names = ::core::clone::Clone::clone(&initial.#names);
            })*
        }
    }
}
