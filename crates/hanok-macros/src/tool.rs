//! `#[tool]`: makes a tool of an `async fn`.

mod function;
mod parameter;
mod settings;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, ItemFn, Result, spanned::Spanned};

use self::{
    function::Function,
    parameter::{Parameter, Role},
    settings::Settings,
};
use crate::paths;

/// The tool, or what is wrong with the function.
pub(crate) fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(arguments, item).unwrap_or_else(|error| error.to_compile_error())
}

fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let settings = settings::parse(arguments)?;
    let item = function::item(item)?;
    let function = function::read(&item)?;
    let model = settings.model_crate.clone().unwrap_or_else(paths::model_crate);
    let name = settings.name_of(&item.sig.ident)?;
    let value = value(&item, &function);
    let implementation = implementation(&item, &function, &settings, &name, &model);
    let conditions = &function.conditions;
    Ok(quote! {
        #value
        #(#conditions)*
        #[allow(clippy::all, clippy::pedantic, missing_docs, dead_code, reason = "written by a macro")]
        const _: () = {
            #implementation
        };
    })
}

/// The value that is named as the function was, with the function in it.
fn value(item: &ItemFn, function: &Function) -> TokenStream {
    let Function { docs, conditions, others, parameters, .. } = function;
    let (visibility, name, block) = (&item.vis, &item.sig.ident, &item.block);
    let output = &item.sig.output;
    let (attributes, inner, kinds): (Vec<_>, Vec<_>, Vec<_>) = (
        parameters.iter().map(|parameter| &parameter.others).collect(),
        parameters.iter().map(|parameter| &parameter.pattern).collect(),
        parameters.iter().map(|parameter| &parameter.kind).collect(),
    );
    // No parameter can have the name of the value: a name in a pattern would mean the value.
    let outer: Vec<_> = parameters.iter().map(|parameter| other_than(name, parameter)).collect();
    quote! {
        #(#docs)*
        #(#conditions)*
        #[allow(non_camel_case_types, reason = "it is used as a function is: `.tool(name)`")]
        #[derive(Debug, Clone, Copy)]
        #visibility struct #name;

        #(#conditions)*
        impl #name {
            /// Runs the function itself, without a schema, a time limit or a log, as a test does.
            ///
            #(#docs)*
            #[allow(clippy::too_many_arguments, dead_code, reason = "it is what the tool takes")]
            #visibility async fn call(#(#outer: #kinds),*) #output {
                // Named as the function was, so that in it this name is no value and may be a variable's.
                #(#others)*
                async fn #name(#(#(#attributes)* #inner: #kinds),*) #output #block
                #name(#(#outer),*).await
            }
        }
    }
}

fn other_than(name: &Ident, parameter: &Parameter) -> Ident {
    match parameter.name == *name {
        true => format_ident!("{}_", parameter.name),
        false => parameter.name.clone(),
    }
}

fn implementation(
    item: &ItemFn,
    function: &Function,
    settings: &Settings,
    name: &str,
    model: &TokenStream,
) -> TokenStream {
    let tool = &item.sig.ident;
    let arguments = arguments(&function.parameters, model);
    let (descriptions, effect) = (&function.descriptions, &settings.effect);
    let timeout = settings.timeout.map(|seconds| {
        quote! {
            fn timeout(&self) -> ::core::time::Duration {
                ::core::time::Duration::from_secs(#seconds)
            }
        }
    });
    let needs = needs(&function.parameters, model);
    let values = function.parameters.iter().map(|parameter| taken(parameter, model));
    let span = function.output.span().resolved_at(Span::call_site());
    let result = quote_spanned!(span=> #model::derived::ToolReturn::into_result(__result));
    quote! {
        #arguments

        impl #model::Tool for #tool {
            fn spec(&self) -> &#model::ToolSpec {
                static SPEC: ::std::sync::LazyLock<#model::ToolSpec> = ::std::sync::LazyLock::new(||
                    #model::derived::spec::<__Arguments>(#name, &[#(#descriptions),*])
                );
                &SPEC
            }

            fn effect(&self) -> #model::core::Effect {
                #model::core::Effect::#effect
            }

            #timeout

            #needs

            async fn run(
                &self,
                __arguments: &#model::state::Arguments,
                __call: &#model::core::Call,
            ) -> ::core::result::Result<#model::ToolOutput, #model::ToolError> {
                let __arguments: __Arguments = #model::derived::arguments(__arguments)?;
                let __result = #tool::call(#(#values),*).await;
                #result
            }
        }
    }
}

/// What the model sends, as a struct, and the check of each type in it.
fn arguments(parameters: &[Parameter], model: &TokenStream) -> TokenStream {
    let sent: Vec<_> = parameters.iter().filter(|p| p.role == Role::Argument).collect();
    let (names, kinds): (Vec<_>, Vec<_>) = sent.iter().map(|p| (&p.name, &p.kind)).unzip();
    let attributes = sent.iter().map(|parameter| &parameter.of_field);
    let checks = kinds.iter().map(|kind| {
        let span = kind.span().resolved_at(Span::call_site());
        quote_spanned!(span=> #model::derived::is_argument::<#kind>();)
    });
    let serde = quote!(#model::derived::serde).to_string();
    let schemars = quote!(#model::derived::schemars).to_string();
    quote! {
        // First, so that its errors are the first.
        fn __checks() {
            #(#checks)*
        }

        #[derive(#model::derived::serde::Deserialize, #model::derived::schemars::JsonSchema)]
        #[serde(crate = #serde, deny_unknown_fields)]
        #[schemars(crate = #schemars)]
        struct __Arguments {
            #(#(#attributes)* #names: #kinds,)*
        }
    }
}

/// The parts of the run that the function takes.
fn needs(parameters: &[Parameter], model: &TokenStream) -> Option<TokenStream> {
    let parts: Vec<_> = parameters.iter().filter(|p| p.role == Role::Part).collect();
    if parts.is_empty() {
        return None;
    }
    let kinds = parts.iter().map(|part| &part.kind);
    Some(quote! {
        fn needs(&self) -> ::std::vec::Vec<#model::core::Need> {
            let mut __needs = ::std::vec::Vec::new();
            #(__needs.extend(<#kinds as #model::FromCall>::needs());)*
            __needs
        }
    })
}

/// How the value of a parameter is come by.
fn taken(parameter: &Parameter, model: &TokenStream) -> TokenStream {
    let (name, kind) = (&parameter.name, &parameter.kind);
    let span = kind.span().resolved_at(Span::call_site());
    match parameter.role {
        Role::Argument => quote!(__arguments.#name),
        Role::Part => quote_spanned!(span=> <#kind as #model::FromCall>::from_call(__call)?),
    }
}
