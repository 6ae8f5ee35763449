//! The paths in code: `crate::name::Thread`, `super::fold`, `merge::merge_one`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};

/// A path with its line. Generic arguments are paths of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
}

impl Path {
    /// The path, unless it is of another crate for sure.
    pub(super) fn of(path: &syn::Path) -> Option<Self> {
        if path.leading_colon.is_some() {
            return None;
        }
        let first = path.segments.first()?;
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        Some(Self { segments, line: line(first.ident.span()) })
    }

    /// The path of these words, on the line of the last one.
    pub(super) fn of_idents(idents: &[Ident]) -> Self {
        let line = idents.last().map_or(1, |last| line(last.span()));
        Self { segments: idents.iter().map(Ident::to_string).collect(), line }
    }
}

fn line(span: Span) -> usize {
    span.start().line
}

/// Adds what looks like a path among the tokens of a macro: words joined by `::`, and words alone.
pub(super) fn in_tokens(tokens: TokenStream, paths: &mut Vec<Path>) {
    let mut chain: Vec<Ident> = Vec::new();
    // What stands before the next word: `.` before a field or a method, `::` before what goes on or is of another crate.
    let (mut colons, mut is_member) = (0, false);
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                let goes_on = colons == 2 && !chain.is_empty();
                if !goes_on {
                    end(&mut chain, paths);
                }
                if goes_on || (colons != 2 && !is_member) {
                    chain.push(ident);
                }
                (colons, is_member) = (0, false);
            }
            TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
            TokenTree::Group(group) => {
                end(&mut chain, paths);
                (colons, is_member) = (0, false);
                in_tokens(group.stream(), paths);
            }
            other => {
                end(&mut chain, paths);
                colons = 0;
                is_member = matches!(&other, TokenTree::Punct(sign) if sign.as_char() == '.');
            }
        }
    }
    end(&mut chain, paths);
}

fn end(chain: &mut Vec<Ident>, paths: &mut Vec<Path>) {
    if !chain.is_empty() {
        paths.push(Path::of_idents(chain));
        chain.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_among_the_tokens_of_a_macro() {
        for (tokens, want) in [
            ("crate::a::B { c: super::d(e.f) }", "crate::a::B c super::d e"),
            ("$crate::a::b!(x)", "crate::a::b x"),
            ("use crate::{a, b::c};", "use crate a b::c"),
            ("\"crate::a\", ::std::mem::take(g), Vec::<T>::new()", "g Vec T"),
            ("a: T::Out", "a T::Out"),
        ] {
            let mut paths = Vec::new();
            in_tokens(tokens.parse().unwrap(), &mut paths);
            let found: Vec<_> = paths.iter().map(|path| path.segments.join("::")).collect();
            assert_eq!(found.join(" "), want, "{tokens}");
        }
    }
}
