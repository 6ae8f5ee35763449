//! The methods of an update.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{GenericArgument, PathArguments, Type, spanned::Spanned};

use super::field::Field;
use crate::attributes::Rule;

/// The methods of the update for one field.
pub(super) fn methods(field: &Field<'_>, path: &TokenStream) -> TokenStream {
    let (kind, text) = (field.kind, &field.text);
    let overwrite = overwrite_method(field);
    let (parameter, value, doc) = match &field.rule {
        Rule::LastValue | Rule::Transient => {
            let doc = format!("Writes `{text}`.");
            let taken = Parameter::of(kind, path);
            let (parameter, value) = (&taken.parameter, taken.value(&quote!(value)));
            return write_method(field, &quote!(value: #parameter), &value, &doc);
        }
        Rule::With(_) => {
            let doc = format!("Gives `value` to the reducer of `{text}`.");
            (quote!(value: #kind), quote!(::std::vec![value]), doc)
        }
        Rule::Operations(operations) => {
            let (_, update) = &**operations;
            let doc = format!("Gives `update` to the reducer of `{text}`.");
            (quote!(update: #update), quote!(::std::vec![update]), doc)
        }
        Rule::Nested => {
            let parameter = quote!(update: <#kind as #path::State>::Update);
            (parameter, quote!(#path::NestedWrite::new(update)), format!("Updates `{text}`."))
        }
        Rule::Append => return append_methods(field, path, &overwrite),
        Rule::Merge => return merge_methods(field, path, &overwrite),
        Rule::Messages => return messages_methods(field, path, &overwrite),
    };
    let write = write_method(field, &parameter, &value, &doc);
    quote!(#write #overwrite)
}

/// The name of a method of the field.
fn method(prefix: &str, field: &Field<'_>) -> Ident {
    format_ident!("{prefix}_{}", field.text, span = field.name.span())
}

fn overwrite_method(field: &Field<'_>) -> TokenStream {
    let (name, kind, text) = (field.name, field.kind, &field.text);
    let overwrite = method("overwrite", field);
    let doc =
        format!("Puts `value` in the place of `{text}`, over every other write of the super-step.");
    quote! {
        #[doc = #doc]
        pub fn #overwrite(mut self, value: #kind) -> Self {
            self.#name.overwrite(value);
            self
        }
    }
}

/// The method that is named as the field is.
fn write_method(
    field: &Field<'_>,
    parameter: &TokenStream,
    value: &TokenStream,
    doc: &str,
) -> TokenStream {
    let (name, docs) = (field.name, &field.docs);
    quote! {
        #[doc = #doc]
        #[doc = ""]
        #(#docs)*
        pub fn #name(mut self, #parameter) -> Self {
            self.#name.write(#value);
            self
        }
    }
}

fn append_methods(field: &Field<'_>, path: &TokenStream, overwrite: &TokenStream) -> TokenStream {
    let (name, kind, text) = (field.name, field.kind, &field.text);
    let item = quote_spanned!(kind.span()=> <#kind as #path::ListLike>::Item);
    let taken = arguments(kind).first().map(|item| Parameter::of(item, path));
    let taken = taken.unwrap_or_else(|| Parameter::itself(&item));
    let (parameter, pushed) = (&taken.parameter, taken.value(&quote!(item)));
    let (push, doc) = (method("push", field), format!("Appends `item` to `{text}`."));
    let write = write_method(
        field,
        &quote!(items: impl ::core::iter::IntoIterator<Item = #item>),
        &quote!(items.into_iter().collect()),
        &format!("Appends `items` to `{text}`."),
    );
    quote! {
        #write
        #[doc = #doc]
        pub fn #push(self, item: #parameter) -> Self {
            self.#name([#pushed])
        }
        #overwrite
    }
}

fn merge_methods(field: &Field<'_>, path: &TokenStream, overwrite: &TokenStream) -> TokenStream {
    let (name, kind, text, docs) = (field.name, field.kind, &field.text, &field.docs);
    let key = quote_spanned!(kind.span()=> <#kind as #path::MapLike>::Key);
    let value = quote_spanned!(kind.span()=> <#kind as #path::MapLike>::Value);
    let of = |index: usize, otherwise: &TokenStream| {
        let taken = arguments(kind).get(index).map(|kind| Parameter::of(kind, path));
        taken.unwrap_or_else(|| Parameter::itself(otherwise))
    };
    let (taken_key, taken_value) = (of(0, &key), of(1, &value));
    let (key_parameter, value_parameter) = (&taken_key.parameter, &taken_value.parameter);
    let (inserted_key, inserted) =
        (taken_key.value(&quote!(key)), taken_value.value(&quote!(value)));
    let insert = method("insert", field);
    let remove = method("remove", field);
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
        pub fn #insert(self, key: #key_parameter, value: #value_parameter) -> Self {
            self.#name([(#inserted_key, #inserted)])
        }

        #[doc = #remove_doc]
        pub fn #remove(mut self, key: #key_parameter) -> Self {
            self.#name.write(
                ::core::iter::once((#inserted_key, ::core::option::Option::None)).collect(),
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
    let clear = method("clear", field);
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

/// How a method takes a value: a text as whatever becomes one, an option with or without its `Some`, and anything else as it is,
/// so that the type of a literal is known.
struct Parameter {
    parameter: TokenStream,
    /// What makes the value of the parameter.
    convert: Option<TokenStream>,
}

impl Parameter {
    fn of(kind: &Type, path: &TokenStream) -> Self {
        let into = |kind: TokenStream| quote!(impl ::core::convert::Into<#kind>);
        if is_text(kind) {
            return Self { parameter: into(quote!(#kind)), convert: Some(quote!(.into())) };
        }
        let optional = is_named(kind, "Option").then(|| arguments(kind).into_iter().next());
        match optional.flatten() {
            Some(inner) if is_named(inner, "String") => Self {
                parameter: into(quote!(#path::derived::OptionalText)),
                convert: Some(quote!(.into().0)),
            },
            Some(_) => Self { parameter: into(quote!(#kind)), convert: Some(quote!(.into())) },
            None => Self::itself(&quote!(#kind)),
        }
    }

    fn itself(kind: &TokenStream) -> Self {
        Self { parameter: kind.clone(), convert: None }
    }

    /// The value that is given as `parameter`.
    fn value(&self, parameter: &TokenStream) -> TokenStream {
        let convert = &self.convert;
        quote!(#parameter #convert)
    }
}

/// `String`, `Arc<str>` or `Box<str>`, as they are written.
fn is_text(kind: &Type) -> bool {
    let is_str = |kind: &&Type| is_named(kind, "str");
    is_named(kind, "String")
        || ["Arc", "Box"].iter().any(|name| is_named(kind, name))
            && arguments(kind).first().is_some_and(is_str)
}

/// Whether the last part of the type's path is `name`.
fn is_named(kind: &Type, name: &str) -> bool {
    matches!(kind, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

/// The types between the angle brackets of `kind`.
fn arguments(kind: &Type) -> Vec<&Type> {
    let Type::Path(path) = kind else { return Vec::new() };
    let last = path.path.segments.last().map(|last| &last.arguments);
    let Some(PathArguments::AngleBracketed(arguments)) = last else { return Vec::new() };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(kind) => Some(kind),
        _ => None,
    });
    types.collect()
}
