//! A parameter of a tool's function: an argument that the model sends, or a part of the run.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Error, GenericArgument, Ident, Pat, PatIdent, PatType, PathArguments, PathSegment,
    Result, Type,
};

/// The names of the extractors that `hanok-model` has.
const EXTRACTORS: [&str; 4] = ["Services", "FromState", "SharedStore", "Call"];

/// Who gives the value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The model.
    Argument,
    /// The run: no model sees it.
    Part,
}

#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) role: Role,
    pub(super) name: Ident,
    /// The name, with its `mut`.
    pub(super) pattern: PatIdent,
    pub(super) kind: Type,
    /// The attributes of a field of the arguments: its description, and what serde and schemars read.
    pub(super) of_field: Vec<Attribute>,
    /// The others, which stay with the function.
    pub(super) others: Vec<Attribute>,
}

pub(super) fn read(parameter: &PatType) -> Result<Parameter> {
    let Pat::Ident(pattern) = &*parameter.pat else {
        let what = "an argument has one name, which the model reads: write a name here, and take the value \
                    apart in the function";
        return Err(Error::new_spanned(&parameter.pat, what));
    };
    if pattern.by_ref.is_some() || pattern.subpat.is_some() {
        return Err(Error::new_spanned(pattern, "write the name alone: `name: Type`"));
    }
    let (of_field, mut others): (Vec<_>, Vec<_>) =
        parameter.attrs.iter().cloned().partition(is_of_field);
    let marks = others.len();
    others.retain(|attribute| !attribute.path().is_ident("from_call"));
    let is_marked = others.len() < marks;
    if let Some(condition) = others.iter().find(|attribute| attribute.path().is_ident("cfg")) {
        let what = "a tool has one schema: an argument is there always, or two functions have a `#[cfg(…)]`";
        return Err(Error::new_spanned(condition, what));
    }
    let kind = &*parameter.ty;
    let role = match is_marked || is_extractor(kind) {
        true => Role::Part,
        false => Role::Argument,
    };
    fits(role, pattern, kind, &of_field)?;
    let (name, kind) = (pattern.ident.clone(), kind.clone());
    Ok(Parameter { role, name, pattern: pattern.clone(), kind, of_field, others })
}

fn is_of_field(attribute: &Attribute) -> bool {
    ["doc", "serde", "schemars"].iter().any(|name| attribute.path().is_ident(name))
}

/// Refuses what can be told to be wrong by its words alone.
fn fits(role: Role, pattern: &PatIdent, kind: &Type, of_field: &[Attribute]) -> Result<()> {
    let name = &pattern.ident;
    if let Type::Reference(by) = kind {
        let owned = match &*by.elem {
            Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
            Type::Slice(of) => format!("Vec<{}>", of.elem.to_token_stream()),
            other => other.to_token_stream().to_string(),
        };
        let what = format!(
            "a tool owns what it takes, for its call may outlive whoever made it: write `{name}: {owned}`"
        );
        return Err(Error::new_spanned(kind, what));
    }
    if let Type::ImplTrait(_) = kind {
        let what = format!("a tool has one schema: write the type of `{name}` out");
        return Err(Error::new_spanned(kind, what));
    }
    match role {
        Role::Argument if borrows(kind.to_token_stream()) => {
            let what =
                format!("a tool owns what it takes: write the type of `{name}` without a borrow");
            Err(Error::new_spanned(kind, what))
        }
        Role::Argument => match of_field.iter().find(|attribute| flattens(attribute)) {
            Some(attribute) => {
                let what =
                    "an argument has a name: one that is flattened would take what no other takes";
                Err(Error::new_spanned(attribute, what))
            }
            None => Ok(()),
        },
        Role::Part => match of_field.iter().find(|attribute| !attribute.path().is_ident("doc")) {
            Some(attribute) => {
                let what =
                    format!("`{name}` comes from the run, and no model sends it: remove this");
                Err(Error::new_spanned(attribute, what))
            }
            None => Ok(()),
        },
    }
}

/// True for `Services<…>` and its like, whatever stands before it, and for an `Option` of one.
fn is_extractor(kind: &Type) -> bool {
    let Some(last) = last_segment(kind) else { return false };
    if EXTRACTORS.iter().any(|name| last.ident == name) {
        return true;
    }
    last.ident == "Option" && first_argument(last).is_some_and(is_extractor)
}

fn last_segment(kind: &Type) -> Option<&PathSegment> {
    match kind {
        Type::Path(path) => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

fn first_argument(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(kind) => Some(kind),
        _ => None,
    }
}

/// True for a type that borrows, at any depth.
fn borrows(kind: TokenStream) -> bool {
    kind.into_iter().any(|token| match token {
        TokenTree::Punct(punct) => matches!(punct.as_char(), '&' | '\''),
        TokenTree::Group(group) => borrows(group.stream()),
        _ => false,
    })
}

fn flattens(attribute: &Attribute) -> bool {
    let meta = &attribute.meta;
    attribute.path().is_ident("serde") && quote!(#meta).to_string().contains("flatten")
}
