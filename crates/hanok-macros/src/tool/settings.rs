//! What stands in the brackets of `#[tool(…)]`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{
    Error, Expr, ExprLit, Ident, Lit, LitStr, Path, Result, ext::IdentExt, meta::ParseNestedMeta,
    parse::Parser,
};

/// The longest name of a tool that model servers take.
const LONGEST_NAME: usize = 64;

const SETTINGS: &str =
    "`#[tool(…)]` says `name = \"…\"`, `effect = pure`, `timeout = 10` or `crate = path`";

const EFFECTS: &str = "the effect of a call is `pure` (it changes nothing), `idempotent` (the same call again changes \
                       nothing more) or `at_most_once` (it must not be repeated)";

/// What was set.
pub(super) struct Settings {
    name: Option<LitStr>,
    /// A variant of `Effect`.
    pub(super) effect: Ident,
    /// In seconds.
    pub(super) timeout: Option<u64>,
    pub(super) model_crate: Option<TokenStream>,
}

impl Settings {
    /// The tool's name: that of the function, or the one that is set.
    pub(super) fn name_of(&self, function: &Ident) -> Result<String> {
        match &self.name {
            Some(name) => checked(name.value(), name.span()),
            None => checked(function.unraw().to_string(), function.span()),
        }
    }
}

fn checked(name: String, span: Span) -> Result<String> {
    let is_name = (1..=LONGEST_NAME).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if is_name {
        return Ok(name);
    }
    let what = format!(
        "`{}` is no name of a tool, which takes 1 to 64 ASCII letters, digits, `_` and `-`: say `#[tool(name = \"…\")]`",
        name.escape_debug()
    );
    Err(Error::new(span, what))
}

pub(super) fn parse(arguments: TokenStream) -> Result<Settings> {
    let (mut name, mut effect, mut timeout, mut model_crate) = (None, None, None, None);
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("name") {
            once(&mut name, &meta, |meta| meta.value()?.parse())
        } else if meta.path.is_ident("effect") {
            once(&mut effect, &meta, |meta| effect_of(&meta.value()?.parse()?))
        } else if meta.path.is_ident("timeout") {
            once(&mut timeout, &meta, |meta| seconds(&meta.value()?.parse()?))
        } else if meta.path.is_ident("crate") {
            once(&mut model_crate, &meta, |meta| {
                let path: Path = meta.value()?.parse()?;
                Ok(quote!(#path))
            })
        } else {
            Err(meta.error(SETTINGS))
        }
    });
    parser.parse2(arguments)?;
    let effect = effect.unwrap_or_else(|| format_ident!("AtMostOnce"));
    Ok(Settings { name, effect, timeout, model_crate })
}

/// Notes a word that may be said once.
fn once<T>(
    first: &mut Option<T>,
    meta: &ParseNestedMeta<'_>,
    read: impl FnOnce(&ParseNestedMeta<'_>) -> Result<T>,
) -> Result<()> {
    if first.is_some() {
        let path = &meta.path;
        return Err(meta.error(format!("`{}` is said twice", quote!(#path))));
    }
    *first = Some(read(meta)?);
    Ok(())
}

fn effect_of(word: &Path) -> Result<Ident> {
    let variant = match word.get_ident().map(Ident::to_string).as_deref() {
        Some("pure") => "Pure",
        Some("idempotent") => "Idempotent",
        Some("at_most_once") => "AtMostOnce",
        _ => return Err(Error::new_spanned(word, EFFECTS)),
    };
    Ok(format_ident!("{variant}"))
}

fn seconds(value: &Expr) -> Result<u64> {
    if let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = value
        && let Ok(seconds) = number.base10_parse::<u32>()
        && seconds > 0
    {
        return Ok(u64::from(seconds));
    }
    Err(Error::new_spanned(value, "a time-out is a number of seconds from 1 on: `timeout = 10`"))
}
