//! One file of Rust as the checks of the house see it: its modules, what they import, the names it gives, its length.
//!
//! Items under `#[cfg(test)]` are left out of everything.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Item, Meta, Pat, Token, UseTree, Visibility};

use super::length;
use super::paths::{self, Path};

/// A file without its tests.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// The path from the repository's root: `crates/hanok-core/src/name.rs`.
    pub(super) path: String,
    pub(super) module: Module,
    /// The lines that hold code, not counted in a file that is short with its comments and tests.
    pub(super) code_lines: usize,
    /// True if the head of the file gives a reason for its length.
    pub(super) has_length_reason: bool,
    /// The names of functions, types, traits, fields, variants and modules, each with its line.
    pub(super) names: Vec<(usize, String)>,
    /// The functions with a tuple pattern as a parameter, each with its line, once per parameter.
    pub(super) tuples: Vec<(usize, String)>,
    /// The modules that are public outside the crate without being hidden, and the glob re-exports, of a `lib.rs`.
    pub(super) open: Vec<(usize, Opening)>,
}

/// A way for names to leave a crate unlisted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    PublicModule,
    GlobReexport,
}

/// A module: a file's own, or one in braces.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) children: BTreeMap<String, Child>,
    /// The names that it defines.
    pub(super) items: BTreeSet<String>,
    /// Of the macros that it defines those that stand at the root of the crate.
    pub(super) exported_macros: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    /// The paths in its code.
    pub(super) paths: Vec<Path>,
}

/// A module that another one declares.
#[derive(Debug)]
pub(super) enum Child {
    /// In a file of its own, which `#[path]` may name.
    File(Option<String>),
    Inline(Module),
}

/// One name of a `use`.
#[derive(Debug)]
pub(super) struct Import {
    /// The name that it has here, none for a glob.
    pub(super) name: Option<String>,
    pub(super) path: Path,
    /// True if the name is for others: `pub use`, `pub(crate) use`.
    pub(super) is_reexport: bool,
}

impl Source {
    /// Reads the text of the file at `path`.
    ///
    /// # Errors
    ///
    /// The line at which the text is no Rust, and a sentence about it.
    pub(super) fn read(path: &str, text: &str) -> Result<Self, (usize, String)> {
        let wrong = |span: Span, what: String| (span.start().line, what);
        let tokens: TokenStream = text
            .strip_prefix('\u{feff}')
            .unwrap_or(text)
            .parse()
            .map_err(|error: proc_macro2::LexError| wrong(error.span(), error.to_string()))?;
        let file: syn::File =
            syn::parse2(tokens.clone()).map_err(|error| wrong(error.span(), error.to_string()))?;
        if is_test(&file.attrs) {
            return Ok(Self { path: path.to_owned(), ..Self::default() });
        }
        let is_long = text.lines().count() > length::LONGEST;
        let is_root = path.ends_with("/src/lib.rs");
        let mut reader = Reader { is_root, is_long, ..Reader::default() };
        reader.visit_file(&file);
        let mut source = reader.source;
        source.path = path.to_owned();
        if is_long {
            source.code_lines = length::code_lines(tokens, text, &reader.tests);
            source.has_length_reason = length::has_reason(text);
        }
        Ok(source)
    }
}

/// Fills a source while it goes through the file.
#[derive(Default)]
struct Reader {
    source: Source,
    /// True in a `lib.rs`.
    is_root: bool,
    /// True if the lines of the file are counted.
    is_long: bool,
    /// The modules in braces around the current place.
    outer: Vec<Module>,
    /// The first and the last line of each item of a test.
    tests: Vec<(usize, usize)>,
}

impl Reader {
    fn name(&mut self, ident: &Ident) {
        self.source.names.push((ident.span().start().line, ident.to_string()));
    }

    /// A name that paths of the module can begin with.
    fn define(&mut self, ident: &Ident) {
        self.name(ident);
        self.source.module.items.insert(ident.to_string());
    }

    fn signature(&mut self, signature: &syn::Signature) {
        for input in &signature.inputs {
            if let syn::FnArg::Typed(typed) = input
                && is_tuple(&typed.pat)
            {
                let line = typed.span().start().line;
                self.source.tuples.push((line, signature.ident.to_string()));
            }
        }
    }

    /// Leaves an item out if it is of a test, and says whether it did.
    fn passes_over(&mut self, attributes: &[Attribute], item: &impl Spanned) -> bool {
        let is_of_test = is_test(attributes);
        if is_of_test && self.is_long {
            let span = item.span();
            self.tests.push((span.start().line, span.end().line));
        }
        is_of_test
    }

    fn module(&mut self, module: &syn::ItemMod) {
        let name = module.ident.to_string();
        self.name(&module.ident);
        let is_public = matches!(module.vis, Visibility::Public(_));
        if self.is_root && self.outer.is_empty() && is_public && !is_hidden(&module.attrs) {
            let line = module.vis.span().start().line;
            self.source.open.push((line, Opening::PublicModule));
        }
        let child = if module.content.is_some() {
            self.outer.push(std::mem::take(&mut self.source.module));
            visit::visit_item_mod(self, module);
            let outer = self.outer.pop().unwrap_or_default();
            Child::Inline(std::mem::replace(&mut self.source.module, outer))
        } else {
            Child::File(path_attribute(&module.attrs))
        };
        self.source.module.children.insert(name, child);
    }

    fn import(&mut self, item: &syn::ItemUse) {
        let is_reexport = !matches!(item.vis, Visibility::Inherited);
        let mut imports = Vec::new();
        flatten(&item.tree, &mut Vec::new(), is_reexport, &mut imports);
        // What begins with `::` is of another crate.
        if item.leading_colon.is_none() {
            self.source.module.imports.append(&mut imports);
        }
        let is_public = matches!(item.vis, Visibility::Public(_));
        if self.is_root && self.outer.is_empty() && is_public && has_glob(&item.tree) {
            self.source.open.push((item.span().start().line, Opening::GlobReexport));
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        if self.passes_over(attributes(item), item) {
            return;
        }
        match item {
            Item::Fn(item) => self.define(&item.sig.ident),
            Item::Struct(item) => self.define(&item.ident),
            Item::Enum(item) => self.define(&item.ident),
            Item::Union(item) => self.define(&item.ident),
            Item::Type(item) => self.define(&item.ident),
            Item::Trait(item) => self.define(&item.ident),
            Item::TraitAlias(item) => self.define(&item.ident),
            Item::Const(syn::ItemConst { ident, .. })
            | Item::Static(syn::ItemStatic { ident, .. }) => {
                self.source.module.items.insert(ident.to_string());
            }
            Item::Macro(syn::ItemMacro { ident: Some(ident), attrs, .. }) => {
                let is_exported = attrs.iter().any(|it| it.path().is_ident("macro_export"));
                let module = &mut self.source.module;
                let names =
                    if is_exported { &mut module.exported_macros } else { &mut module.items };
                names.insert(ident.to_string());
            }
            Item::Use(item) => self.import(item),
            Item::Mod(item) => return self.module(item),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let before = self.source.names.len();
        visit::visit_item_impl(self, item);
        if item.trait_.is_some() {
            // The trait has named them.
            self.source.names.truncate(before);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !self.passes_over(&item.attrs, item) {
            self.name(&item.sig.ident);
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_impl_item_type(&mut self, item: &'ast syn::ImplItemType) {
        self.name(&item.ident);
        visit::visit_impl_item_type(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if !self.passes_over(&item.attrs, item) {
            self.name(&item.sig.ident);
            visit::visit_trait_item_fn(self, item);
        }
    }

    fn visit_trait_item_type(&mut self, item: &'ast syn::TraitItemType) {
        self.name(&item.ident);
        visit::visit_trait_item_type(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.signature(signature);
        visit::visit_signature(self, signature);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !self.passes_over(&field.attrs, field) {
            field.ident.iter().for_each(|ident| self.name(ident));
            visit::visit_field(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if !self.passes_over(&variant.attrs, variant) {
            self.name(&variant.ident);
            visit::visit_variant(self, variant);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.source.module.paths.extend(Path::of(path));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        paths::in_tokens(call.tokens.clone(), &mut self.source.module.paths);
    }

    /// Attributes are for other programs.
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    /// `pub(in crate::thread)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

/// The names that a tree of a `use` brings.
fn flatten(tree: &UseTree, prefix: &mut Vec<Ident>, is_reexport: bool, to: &mut Vec<Import>) {
    let depth = prefix.len();
    let mut import = |name: Option<&Ident>, prefix: &[Ident]| {
        let (name, path) = (name.map(Ident::to_string), Path::of_idents(prefix));
        to.push(Import { name, path, is_reexport });
    };
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.clone());
            flatten(&path.tree, prefix, is_reexport, to);
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| flatten(tree, prefix, is_reexport, to));
        }
        UseTree::Name(name) if name.ident == "self" => import(prefix.last(), prefix),
        UseTree::Name(name) => {
            prefix.push(name.ident.clone());
            import(Some(&name.ident), prefix);
        }
        UseTree::Rename(rename) => {
            if rename.ident != "self" {
                prefix.push(rename.ident.clone());
            }
            import(Some(&rename.rename), prefix);
        }
        UseTree::Glob(_) => import(None, prefix),
    }
    prefix.truncate(depth);
}

fn has_glob(tree: &UseTree) -> bool {
    match tree {
        UseTree::Path(path) => has_glob(&path.tree),
        UseTree::Group(group) => group.items.iter().any(has_glob),
        UseTree::Glob(_) => true,
        _ => false,
    }
}

/// Recognises a pattern that takes a tuple apart, behind a reference too.
fn is_tuple(pattern: &Pat) -> bool {
    match pattern {
        Pat::Tuple(_) => true,
        Pat::Reference(inner) => is_tuple(&inner.pat),
        Pat::Paren(inner) => is_tuple(&inner.pat),
        _ => false,
    }
}

/// Recognises an item of tests by its attributes: `#[cfg(test)]`, `#[cfg(all(test, …))]`, `#[test]`.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        if !attribute.path().is_ident("cfg") {
            return attribute.path().segments.last().is_some_and(|last| last.ident == "test");
        }
        attribute.parse_args::<Meta>().is_ok_and(|meta| needs_test(&meta))
    })
}

fn needs_test(meta: &Meta) -> bool {
    match meta {
        Meta::Path(path) => path.is_ident("test") || path.is_ident("doctest"),
        Meta::List(list) if list.path.is_ident("all") => list
            .parse_args_with(syn::punctuated::Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|all| all.iter().any(needs_test)),
        _ => false,
    }
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("doc")
            && attribute.parse_args::<Ident>().is_ok_and(|word| word == "hidden")
    })
}

/// The text of `#[path = "…"]`.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    let named = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    match &named.meta.require_name_value().ok()?.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
