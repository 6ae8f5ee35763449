//! The function of a tool.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Error, Expr, ExprLit, FnArg, ItemFn, Lit, Meta, Result, ReturnType, Signature, Type,
};

use super::parameter::{self, Parameter};

/// The form of a tool; the end of several messages.
const TOOL: &str = "a tool is an `async fn(arguments…) -> Result<O, E>`";

/// The parts of the function.
pub(super) struct Function {
    /// Its doc comments.
    pub(super) docs: Vec<Attribute>,
    /// The texts of those, line by line.
    pub(super) descriptions: Vec<Expr>,
    /// Its `#[cfg(…)]`.
    pub(super) conditions: Vec<Attribute>,
    /// Its other attributes.
    pub(super) others: Vec<Attribute>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) output: Type,
}

pub(super) fn item(item: TokenStream) -> Result<ItemFn> {
    let what = format!("`#[tool]` stands on a function: {TOOL}");
    syn::parse2(item.clone()).map_err(|cause| match syn::parse2::<syn::Item>(item.clone()) {
        // What is no item at all is said best by who read it.
        Err(_) => cause,
        Ok(_) => Error::new_spanned(&item, what),
    })
}

pub(super) fn read(item: &ItemFn) -> Result<Function> {
    let signature = &item.sig;
    checked(signature)?;
    let (docs, rest): (Vec<_>, Vec<_>) =
        item.attrs.iter().cloned().partition(|attribute| attribute.path().is_ident("doc"));
    let (conditions, others) =
        rest.into_iter().partition(|attribute| attribute.path().is_ident("cfg"));
    let descriptions: Vec<_> = docs.iter().filter_map(text).collect();
    if descriptions.iter().all(is_blank) {
        let what = format!(
            "`{}` has no description, and a model chooses a tool by it: write a doc comment, `/// Sends …`",
            signature.ident
        );
        return Err(Error::new_spanned(&signature.ident, what));
    }
    let ReturnType::Type(_, output) = &signature.output else {
        let what = format!(
            "`{}` returns nothing: write `-> Result<ToolOutput, ToolError>`, or any text for the model",
            signature.ident
        );
        return Err(Error::new_spanned(&signature.ident, what));
    };
    let output = (**output).clone();
    let parameters = parameters(signature)?;
    Ok(Function { docs, descriptions, conditions, others, parameters, output })
}

/// Refuses what no tool is.
fn checked(signature: &Signature) -> Result<()> {
    if signature.asyncness.is_none() {
        let what = format!(
            "write `async fn {}`: {TOOL}; what blocks is a `FnTool::blocking`",
            signature.ident
        );
        return Err(Error::new_spanned(signature.fn_token, what));
    }
    let generics = &signature.generics;
    if !generics.params.is_empty() || generics.where_clause.is_some() {
        let what = format!(
            "`{}` is generic, and a tool has one schema: write the types out, or make a type that implements `Tool`",
            signature.ident
        );
        return match &generics.where_clause {
            Some(clause) if generics.params.is_empty() => Err(Error::new_spanned(clause, what)),
            _ => Err(Error::new_spanned(generics, what)),
        };
    }
    let (safety, abi) = (&signature.safety, &signature.abi);
    let before = quote!(#safety #abi);
    if !before.is_empty() {
        let what = format!("a tool is neither `unsafe` nor `extern`: {TOOL}");
        return Err(Error::new_spanned(before, what));
    }
    Ok(())
}

fn parameters(signature: &Signature) -> Result<Vec<Parameter>> {
    let mut parameters = Vec::new();
    for input in &signature.inputs {
        match input {
            FnArg::Typed(input) => parameters.push(parameter::read(input)?),
            FnArg::Receiver(receiver) => {
                let what = "a tool is a free function: what it needs of the program is a parameter \
                            `services: Services<C>`, which no model sees";
                return Err(Error::new_spanned(receiver, what));
            }
        }
    }
    Ok(parameters)
}

/// The text of a doc comment.
fn text(attribute: &Attribute) -> Option<Expr> {
    match &attribute.meta {
        Meta::NameValue(doc) => Some(doc.value.clone()),
        _ => None,
    }
}

/// True for a text that is known to say nothing.
fn is_blank(text: &Expr) -> bool {
    matches!(text, Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if text.value().trim().is_empty())
}
