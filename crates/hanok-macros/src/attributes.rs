//! The attributes of a state and its fields.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Error, Expr, ExprLit, Field, Lit, LitInt, LitStr, Path, Result, Type,
    meta::ParseNestedMeta,
};

/// The rule of a field.
pub(crate) enum Rule {
    LastValue,
    Append,
    Merge,
    Nested,
    Messages,
    With(Path),
    Operations(Box<(Path, Type)>),
    Transient,
}

impl Rule {
    /// The rule's name in the schema, and its variant there.
    pub(crate) fn in_schema(&self) -> (&'static str, &'static str) {
        match self {
            Self::LastValue => ("last value", "LastValue"),
            Self::Append => ("append", "Append"),
            Self::Merge => ("merge", "Merge"),
            Self::Nested => ("nested", "Nested"),
            Self::Messages => ("messages", "Messages"),
            Self::With(_) => ("with", "With"),
            Self::Operations(_) => ("operations", "Operations"),
            Self::Transient => ("transient", "Transient"),
        }
    }
}

/// The attributes of one field.
pub(crate) struct FieldAttributes {
    pub(crate) rule: Rule,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) private: bool,
    pub(crate) ephemeral: bool,
}

const RULES: &str =
    "`append`, `merge`, `nested`, `messages`, `with = path` and `operations = path, update = Type`";

pub(crate) fn of_field(field: &Field) -> Result<FieldAttributes> {
    let mut rule = None;
    let (mut transient, mut private, mut ephemeral) = (None, None, None);
    let mut aliases = Vec::new();
    for attribute in &field.attrs {
        if attribute.path().is_ident("reduce") {
            if rule.is_some() {
                return Err(Error::new_spanned(
                    attribute,
                    "a field has one rule; this is a second",
                ));
            }
            rule = Some(rule_of(attribute)?);
        } else if attribute.path().is_ident("state") {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("transient") {
                    once(&mut transient, meta.path)
                } else if meta.path.is_ident("private") {
                    once(&mut private, meta.path)
                } else if meta.path.is_ident("ephemeral") {
                    once(&mut ephemeral, meta.path)
                } else if meta.path.is_ident("alias") {
                    aliases.push(meta.value()?.parse()?);
                    Ok(())
                } else {
                    Err(meta.error(
                        "a field's `#[state(…)]` says `transient`, `private`, `ephemeral` or `alias = \"…\"`",
                    ))
                }
            })?;
        }
    }
    let rule = match (rule, transient) {
        (Some(_), Some(at)) => {
            return Err(Error::new_spanned(
                at,
                "a transient field is a last value that is never stored; it takes no `#[reduce(…)]`",
            ));
        }
        (Some(rule), None) => rule,
        (None, Some(_)) => Rule::Transient,
        (None, None) if is_messages(&field.ty) => Rule::Messages,
        (None, None) => Rule::LastValue,
    };
    fits(&rule, &field.ty)?;
    let (private, ephemeral) = (private.is_some(), ephemeral.is_some());
    Ok(FieldAttributes { rule, aliases, private, ephemeral })
}

/// Notes a word of `#[state(…)]` that may be said once.
fn once(first: &mut Option<Path>, word: Path) -> Result<()> {
    if first.is_some() {
        let message = format!("`{}` is said twice", quote!(#word));
        return Err(Error::new_spanned(word, message));
    }
    *first = Some(word);
    Ok(())
}

/// Refuses what can be told to be wrong by its name alone; the compiler says the rest at greater length.
fn fits(rule: &Rule, kind: &Type) -> Result<()> {
    let Type::Path(path) = kind else { return Ok(()) };
    let Some(last) = path.path.segments.last() else { return Ok(()) };
    let name = last.ident.to_string();
    let plain = matches!(
        name.as_str(),
        "u8" | "u16"
            | "u32"
            | "u64"
            | "u128"
            | "usize"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "i128"
            | "isize"
            | "f32"
            | "f64"
            | "bool"
            | "char"
            | "String"
            | "Option"
            | "Messages"
    );
    let map = matches!(name.as_str(), "Map" | "BTreeMap" | "HashMap");
    let list = matches!(name.as_str(), "List" | "Vec");
    let needs = match rule {
        Rule::Append if plain || map => "`#[reduce(append)]` needs a list: `List<T>` or `Vec<T>`",
        Rule::Merge if plain || list || name == "HashMap" => {
            "`#[reduce(merge)]` needs a map: `Map<K, V>` or `BTreeMap<K, V>`"
        }
        Rule::Nested if plain || map || list => {
            "`#[reduce(nested)]` needs a type that is a `State` itself"
        }
        _ => return Ok(()),
    };
    Err(Error::new_spanned(kind, format!("{needs}, and `{name}` is none")))
}

fn rule_of(attribute: &Attribute) -> Result<Rule> {
    let mut reduce = Reduce::default();
    attribute.parse_nested_meta(|meta| reduce.read(&meta))?;
    reduce.into_rule(attribute)
}

/// The parts of a `#[reduce(…)]`.
#[derive(Default)]
struct Reduce {
    rule: Option<Rule>,
    operations: Option<Path>,
    update: Option<Type>,
}

impl Reduce {
    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let path = &meta.path;
        let named = if path.is_ident("append") {
            Rule::Append
        } else if path.is_ident("merge") {
            Rule::Merge
        } else if path.is_ident("nested") {
            Rule::Nested
        } else if path.is_ident("messages") {
            Rule::Messages
        } else if path.is_ident("with") {
            Rule::With(meta.value()?.parse()?)
        } else if path.is_ident("operations") {
            self.operations = Some(meta.value()?.parse::<Path>()?);
            return Ok(());
        } else if path.is_ident("update") {
            self.update = Some(meta.value()?.parse::<Type>()?);
            return Ok(());
        } else {
            let name = quote!(#path).to_string();
            return Err(meta.error(format!("there is no rule `{name}`; there are {RULES}")));
        };
        if self.rule.is_some() {
            return Err(meta.error("a field has one rule; this is a second"));
        }
        self.rule = Some(named);
        Ok(())
    }

    fn into_rule(self, attribute: &Attribute) -> Result<Rule> {
        match (self.rule, self.operations, self.update) {
            (Some(rule), None, None) => Ok(rule),
            (None, Some(path), Some(update)) => Ok(Rule::Operations(Box::new((path, update)))),
            (None, Some(path), None) => Err(Error::new_spanned(
                path,
                "say what an update holds: `#[reduce(operations = path, update = Type)]`",
            )),
            (Some(_), Some(path), _) => {
                Err(Error::new_spanned(path, "a field has one rule; this is a second"))
            }
            (_, None, Some(update)) => {
                Err(Error::new_spanned(update, "`update = Type` goes with `operations = path`"))
            }
            (None, None, None) => Err(Error::new_spanned(
                attribute,
                format!("say which rule the field has; there are {RULES}"),
            )),
        }
    }
}

/// True when a type is written as `Messages`, whatever stands before it.
fn is_messages(kind: &Type) -> bool {
    matches!(kind, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Messages"))
}

/// The attributes of the struct.
#[derive(Default)]
pub(crate) struct StructAttributes {
    pub(crate) version: Option<LitInt>,
    pub(crate) upgrade: Option<Path>,
    pub(crate) state_crate: Option<TokenStream>,
}

pub(crate) fn of_struct(attributes: &[Attribute]) -> Result<StructAttributes> {
    let mut of_state = StructAttributes::default();
    for attribute in attributes.iter().filter(|a| a.path().is_ident("state")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("version") {
                of_state.version = Some(version(&meta.value()?.parse()?)?);
            } else if meta.path.is_ident("upgrade") {
                of_state.upgrade = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("crate") {
                let path: Path = meta.value()?.parse()?;
                of_state.state_crate = Some(quote!(#path));
            } else {
                return Err(meta.error(
                    "a state's `#[state(…)]` says `version = 2`, `upgrade = path` or `crate = path`",
                ));
            }
            Ok(())
        })?;
    }
    if let (Some(upgrade), None) = (&of_state.upgrade, &of_state.version) {
        return Err(Error::new_spanned(
            upgrade,
            "an upgrade leads to a version: add `version = 2`, and count up from there",
        ));
    }
    if let (Some(upgrade), Some(version)) = (&of_state.upgrade, &of_state.version)
        && version.base10_parse::<u32>().is_ok_and(|version| version == 1)
    {
        return Err(Error::new_spanned(
            upgrade,
            "there is no version before 1 to upgrade from: a state without `version` is version 1. Say `version = 2`",
        ));
    }
    Ok(of_state)
}

fn version(value: &Expr) -> Result<LitInt> {
    if let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = value
        && number.base10_parse::<u32>().is_ok_and(|version| version > 0)
    {
        return Ok(number.clone());
    }
    Err(Error::new_spanned(value, "a version is a number from 1 on"))
}
