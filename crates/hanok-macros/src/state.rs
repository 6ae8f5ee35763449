//! `#[derive(State)]`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Data, DeriveInput, Error, Fields, Result, Type, spanned::Spanned};

use crate::{
    attributes::{self, Rule, StructAttributes},
    paths,
};

/// One field, ready to be written about.
struct Field<'a> {
    state: &'a Ident,
    name: &'a Ident,
    text: String,
    kind: &'a Type,
    rule: Rule,
    aliases: Vec<syn::LitStr>,
    private: bool,
    ephemeral: bool,
    docs: Vec<&'a syn::Attribute>,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "a state has no parameters: a log has to read the same in every build",
        ));
    }
    let said = attributes::of_struct(&input.attrs)?;
    let fields = fields(input)?;
    let path = said.state_crate.clone().unwrap_or_else(paths::state_crate);
    let update = format_ident!("{}Update", input.ident);
    let reducers = fields.iter().map(|field| reducer(field, &path));
    let state_impl = state_impl(input, &update, &fields, &said, &path);
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
        let said = attributes::of_field(field)?;
        let Some(name) = &field.ident else {
            return Err(Error::new_spanned(field, "a field of a state has a name"));
        };
        Ok(Field {
            state: &input.ident,
            name,
            text: name.to_string().trim_start_matches("r#").to_owned(),
            kind: &field.ty,
            rule: said.rule,
            aliases: said.aliases,
            private: said.private,
            ephemeral: said.ephemeral,
            docs: field.attrs.iter().filter(|a| a.path().is_ident("doc")).collect(),
        })
    });
    fields.collect()
}

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

fn slot(field: &Field<'_>, path: &TokenStream) -> TokenStream {
    let (kind, rule) = (field.kind, rule_type(field, path));
    quote_spanned!(kind.span()=> #path::Slot<#kind, #rule>)
}

fn reducer_name(field: &Field<'_>) -> Ident {
    format_ident!("__{}ReducerOf_{}", field.state, field.text, span = field.name.span())
}

/// The type that carries the user's function.
fn reducer_type(field: &Field<'_>) -> TokenStream {
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

fn reducer(field: &Field<'_>, path: &TokenStream) -> TokenStream {
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
        Rule::Operations(said) => {
            let (function, update) = &**said;
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

fn update_type(
    input: &DeriveInput,
    update: &Ident,
    fields: &[Field<'_>],
    path: &TokenStream,
) -> TokenStream {
    let (visibility, state) = (&input.vis, &input.ident);
    let names = fields.iter().map(|field| field.name);
    let slots = fields.iter().map(|field| slot(field, path));
    let reducers = fields.iter().map(reducer_type);
    let doc = format!("What a node writes to [`{state}`]: every field optional.");
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

fn state_impl(
    input: &DeriveInput,
    update: &Ident,
    fields: &[Field<'_>],
    said: &StructAttributes,
    path: &TokenStream,
) -> TokenStream {
    let state = &input.ident;
    let names: Vec<_> = fields.iter().map(|field| field.name).collect();
    let texts: Vec<_> = fields.iter().map(|field| &field.text).collect();
    let kinds = fields.iter().map(|field| field.kind);
    let rules = fields.iter().map(|field| rule_type(field, path));
    let slots: Vec<_> = fields.iter().map(|field| slot(field, path)).collect();
    let schema = schema(input, fields, said, path);
    let stored_names = fields.iter().map(|field| {
        let (text, aliases) = (&field.text, &field.aliases);
        quote!(&[#text, #(#aliases),*])
    });
    quote! {
        impl #path::State for #state {
            type Update = #update;

            const SCHEMA: &'static #path::Schema = &#schema;

            fn reduce(
                &mut self,
                writes: ::std::vec::Vec<(::std::sync::Arc<str>, #update)>,
            ) -> ::core::result::Result<#path::derived::Changes, #path::ReduceError> {
                #(let mut #names = #path::Writes::<#kinds, #rules>::default();)*
                for (__node, __update) in writes {
                    #(#names.push(&__node, __update.#names);)*
                }
                #(#names.check(#texts, &self.#names)?;)*
                #[allow(unused_mut, reason = "a state may have no fields")]
                let mut __changes = #path::derived::Changes::default();
                #(#names.apply(#texts, &mut self.#names, &mut __changes)?;)*
                ::core::result::Result::Ok(__changes)
            }

            fn reduce_one(
                &mut self,
                __node: &::std::sync::Arc<str>,
                __update: &mut #update,
                __told: bool,
            ) -> ::core::result::Result<#path::derived::Changes, #path::ReduceError> {
                let _ = (&__node, &__update, __told);
                #(__update.#names.check_one(#texts, &self.#names, __node)?;)*
                #[allow(unused_mut, reason = "a state may have no fields")]
                let mut __changes = #path::derived::Changes::default();
                #(__update.#names.apply_one(
                    #texts,
                    &mut self.#names,
                    __node,
                    (&mut __changes, __told),
                )?;)*
                ::core::result::Result::Ok(__changes)
            }

            fn to_fields(
                &self,
            ) -> ::core::result::Result<#path::derived::Fields, #path::derived::StoredError> {
                #[allow(unused_mut, reason = "a state may have no fields")]
                let mut __fields = #path::derived::Fields::default();
                #(<#slots>::store_value(#texts, &self.#names, &mut __fields)?;)*
                ::core::result::Result::Ok(__fields)
            }

            fn load(
                &self,
                __fields: &mut #path::derived::Fields,
            ) -> ::core::result::Result<Self, #path::derived::StoredError> {
                #[allow(unused_mut, reason = "a state may have no fields")]
                let mut __state = ::core::clone::Clone::clone(self);
                #(if let ::core::option::Option::Some(__value) = <#slots>::load_value(#stored_names, __fields)? {
                    __state.#names = __value;
                })*
                ::core::result::Result::Ok(__state)
            }

            fn retain(&mut self, keep: &dyn Fn(&str) -> bool, initial: &Self) {
                let _ = (&keep, &initial);
                #(if !keep(#texts) {
                    self.#names = ::core::clone::Clone::clone(&initial.#names);
                })*
            }
        }
    }
}

fn schema(
    input: &DeriveInput,
    fields: &[Field<'_>],
    said: &StructAttributes,
    path: &TokenStream,
) -> TokenStream {
    let name = input.ident.to_string();
    let version = said.version.clone().unwrap_or_else(|| syn::LitInt::new("1", input.ident.span()));
    let (mut spelled, mut nested) = (format!("{version}\n"), Vec::new());
    let rows: Vec<_> = fields
        .iter()
        .map(|field| {
            let (kind, text) = (field.kind, &field.text);
            let (rule, variant) = field.rule.in_schema();
            let variant = Ident::new(variant, Span::call_site());
            let spelled_kind = quote!(#kind).to_string().replace(' ', "");
            let nested = match &field.rule {
                Rule::Nested => {
                    spelled.push_str(&format!("{text}\n{rule}\n"));
                    let schema = quote_spanned!(kind.span()=> <#kind as #path::State>::SCHEMA);
                    nested.push(schema.clone());
                    quote!(::core::option::Option::Some(#schema))
                }
                _ => {
                    spelled.push_str(&format!("{text}\n{rule}\n{spelled_kind}\n"));
                    quote!(::core::option::Option::None)
                }
            };
            let (private, ephemeral) = (field.private, field.ephemeral);
            let aliases = &field.aliases;
            quote!(#path::FieldSchema {
                name: ::std::borrow::Cow::Borrowed(#text),
                aliases: &[#(#aliases),*],
                rule: #path::Rule::#variant,
                kind: ::std::borrow::Cow::Borrowed(#spelled_kind),
                nested: #nested,
                private: #private,
                ephemeral: #ephemeral,
            })
        })
        .collect();
    let fingerprint = Literal::u64_suffixed(fnv(spelled.as_bytes()));
    let upgrade = match &said.upgrade {
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

/// FNV-1a with 64 bits (<https://www.rfc-editor.org/rfc/rfc9923>): the same in every build, which is all it is for.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn update_impl(
    input: &DeriveInput,
    update: &Ident,
    fields: &[Field<'_>],
    path: &TokenStream,
) -> TokenStream {
    let state = &input.ident;
    let names: Vec<_> = fields.iter().map(|field| field.name).collect();
    let texts: Vec<_> = fields.iter().map(|field| &field.text).collect();
    let update_text = update.to_string();
    quote! {
        impl ::core::fmt::Debug for #update {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #[allow(unused_mut, reason = "a state may have no fields")]
                let mut shown = f.debug_struct(#update_text);
                #(if !self.#names.is_empty() { shown.field(#texts, &self.#names); })*
                shown.finish_non_exhaustive()
            }
        }

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

            fn to_changes(
                &self,
            ) -> ::core::result::Result<#path::derived::Changes, #path::derived::StoredError> {
                #[allow(unused_mut, reason = "a state may have no fields")]
                let mut __changes = #path::derived::Changes::default();
                #(self.#names.store(#texts, &mut __changes)?;)*
                ::core::result::Result::Ok(__changes)
            }

            fn from_changes(
                __changes: &#path::derived::Changes,
            ) -> ::core::result::Result<Self, #path::derived::StoredError> {
                let _ = __changes;
                ::core::result::Result::Ok(Self {
                    #(#names: #path::Slot::load(#texts, __changes)?,)*
                })
            }
        }
    }
}

/// The methods of the update for one field.
fn methods(field: &Field<'_>, path: &TokenStream) -> TokenStream {
    let (name, kind, docs) = (field.name, field.kind, &field.docs);
    let text = &field.text;
    let method = |prefix: &str| format_ident!("{prefix}_{text}", span = name.span());
    let overwrite = method("overwrite");
    let overwrite_doc =
        format!("Puts `value` in the place of `{text}`, over every other write of the super-step.");
    let overwrite = quote! {
        #[doc = #overwrite_doc]
        pub fn #overwrite(mut self, value: #kind) -> Self {
            self.#name.overwrite(value);
            self
        }
    };
    let write = |parameter: TokenStream, value: TokenStream, doc: String| {
        quote! {
            #[doc = #doc]
            #[doc = ""]
            #(#docs)*
            pub fn #name(mut self, #parameter) -> Self {
                self.#name.write(#value);
                self
            }
        }
    };
    match &field.rule {
        Rule::LastValue | Rule::Transient if is_string(kind) => write(
            quote!(value: impl ::core::convert::Into<::std::string::String>),
            quote!(value.into()),
            format!("Writes `{text}`."),
        ),
        Rule::LastValue | Rule::Transient => {
            write(quote!(value: #kind), quote!(value), format!("Writes `{text}`."))
        }
        Rule::With(_) => {
            let write = write(
                quote!(value: #kind),
                quote!(::std::vec![value]),
                format!("Gives `value` to the reducer of `{text}`."),
            );
            quote!(#write #overwrite)
        }
        Rule::Operations(said) => {
            let update = &said.1;
            let write = write(
                quote!(update: #update),
                quote!(::std::vec![update]),
                format!("Gives `update` to the reducer of `{text}`."),
            );
            quote!(#write #overwrite)
        }
        Rule::Nested => {
            let write = write(
                quote!(update: <#kind as #path::State>::Update),
                quote!(#path::NestedWrite::new(update)),
                format!("Updates `{text}`."),
            );
            quote!(#write #overwrite)
        }
        Rule::Append => {
            let item = quote_spanned!(kind.span()=> <#kind as #path::ListLike>::Item);
            let (push, doc) = (method("push"), format!("Appends `item` to `{text}`."));
            let write = write(
                quote!(items: impl ::core::iter::IntoIterator<Item = #item>),
                quote!(items.into_iter().collect()),
                format!("Appends `items` to `{text}`."),
            );
            quote! {
                #write
                #[doc = #doc]
                pub fn #push(self, item: #item) -> Self {
                    self.#name([item])
                }
                #overwrite
            }
        }
        Rule::Merge => merge_methods(field, path, &overwrite),
        Rule::Messages => messages_methods(field, path, &overwrite),
    }
}

fn merge_methods(field: &Field<'_>, path: &TokenStream, overwrite: &TokenStream) -> TokenStream {
    let (name, kind, text, docs) = (field.name, field.kind, &field.text, &field.docs);
    let key = quote_spanned!(kind.span()=> <#kind as #path::MapLike>::Key);
    let value = quote_spanned!(kind.span()=> <#kind as #path::MapLike>::Value);
    let insert = format_ident!("insert_{text}", span = name.span());
    let remove = format_ident!("remove_{text}", span = name.span());
    let merge_doc = format!("Merges `entries` into `{text}`; later keys win.");
    let insert_doc = format!("Sets one key of `{text}`.");
    let remove_doc = format!("Removes one key of `{text}`, if it is there.");
    quote! {
        #[doc = #merge_doc]
        #[doc = ""]
        #(#docs)*
        pub fn #name(mut self, entries: impl ::core::iter::IntoIterator<Item = (#key, #value)>) -> Self {
            self.#name.write(
                entries.into_iter().map(|(key, value)| (key, ::core::option::Option::Some(value))).collect(),
            );
            self
        }

        #[doc = #insert_doc]
        pub fn #insert(self, key: impl ::core::convert::Into<#key>, value: impl ::core::convert::Into<#value>) -> Self {
            self.#name([(key.into(), value.into())])
        }

        #[doc = #remove_doc]
        pub fn #remove(mut self, key: impl ::core::convert::Into<#key>) -> Self {
            self.#name.write(
                ::core::iter::once((key.into(), ::core::option::Option::None)).collect(),
            );
            self
        }

        #overwrite
    }
}

fn messages_methods(field: &Field<'_>, path: &TokenStream, overwrite: &TokenStream) -> TokenStream {
    let (name, text, docs) = (field.name, &field.text, &field.docs);
    let one = if text == "messages" { "message".to_owned() } else { format!("{text}_message") };
    let push = format_ident!("{one}", span = name.span());
    let remove = format_ident!("remove_{one}", span = name.span());
    let clear = format_ident!("clear_{text}", span = name.span());
    let several_doc =
        format!("Adds messages to `{text}`; one with a known id takes the place of the old one.");
    let one_doc =
        format!("Adds a message to `{text}`; one with a known id takes the place of the old one.");
    let remove_doc = format!(
        "Removes the message with this id from `{text}`. An id that is not there is an error."
    );
    let clear_doc = format!("Removes all messages of `{text}` that are there before this.");
    quote! {
        #[doc = #several_doc]
        #[doc = ""]
        #(#docs)*
        pub fn #name(
            mut self,
            messages: impl ::core::iter::IntoIterator<Item = impl ::core::convert::Into<#path::MessageOp>>,
        ) -> Self {
            self.#name.write(#path::MessagesUpdate::new(messages));
            self
        }

        #[doc = #one_doc]
        pub fn #push(self, message: impl ::core::convert::Into<#path::Message>) -> Self {
            self.#name([#path::MessageOp::Put(message.into())])
        }

        #[doc = #remove_doc]
        pub fn #remove(self, id: impl ::core::convert::Into<::std::sync::Arc<str>>) -> Self {
            self.#name([#path::MessageOp::Remove(id.into())])
        }

        #[doc = #clear_doc]
        pub fn #clear(self) -> Self {
            self.#name([#path::MessageOp::Clear])
        }

        #overwrite
    }
}

fn is_string(kind: &Type) -> bool {
    matches!(kind, Type::Path(path) if path.path.is_ident("String"))
}
