//! The paths that a source names, and its lines of code. Items under a `cfg` of tests are left out.

use core::ops::RangeInclusive;
use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{Parse as _, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, ImplItem, ImplItemFn, Item, ItemFn, ItemMod, ItemUse, Macro, Meta, Path, Signature, Token,
    UseTree, Visibility,
};

/// The contents of a source.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) paths: Vec<Named>,
    /// The names that `pub use` gives to paths, as written.
    pub(super) exports: Vec<(String, Vec<String>)>,
    pub(super) modules: Vec<Declared>,
    /// The inline modules, each with its enclosing modules.
    pub(super) inline: BTreeSet<Vec<String>>,
    /// The number of lines with code.
    pub(super) lines: usize,
    /// The name, the first line, and the number of lines of code of each function.
    pub(super) sizes: Vec<(String, usize, usize)>,
    /// The numbers of `unsafe` and of `fn`.
    pub(super) unsafes: usize,
    pub(super) functions: usize,
    /// The inline modules that enclose the current item.
    within: Vec<String>,
    tests: Vec<RangeInclusive<usize>>,
    bodies: Vec<(String, RangeInclusive<usize>)>,
}

/// A path as written, with the inline modules around it.
#[derive(Debug, PartialEq)]
pub(super) struct Named {
    pub(super) line: usize,
    pub(super) within: Vec<String>,
    pub(super) path: Vec<String>,
    /// The name that a `use` gives to the path.
    pub(super) alias: Option<String>,
}

/// `mod name;`, a module in a file.
#[derive(Debug, PartialEq)]
pub(super) struct Declared {
    pub(super) name: String,
    /// `#[path = "…"]`
    pub(super) file: Option<String>,
    pub(super) is_test: bool,
}

impl Source {
    pub(super) fn read(text: &str) -> syn::Result<Self> {
        let mut source = Self::default();
        source.visit_file(&syn::parse_file(text)?);
        let mut words = Words::default();
        words.read(text.parse()?);
        let is_code = |line: &&usize| !source.tests.iter().any(|test| test.contains(line));
        let lines = words.lines.iter().filter(is_code).count();
        let [unsafes, functions] = [words.unsafes, words.functions].map(|lines| lines.iter().filter(is_code).count());
        for (name, body) in &source.bodies {
            source.sizes.push((name.clone(), *body.start(), words.lines.range(body.clone()).count()));
        }
        (source.lines, source.unsafes, source.functions) = (lines, unsafes, functions);
        Ok(source)
    }

    fn name(&mut self, line: usize, path: Vec<String>, alias: Option<String>) {
        self.paths.push(Named { line, within: self.within.clone(), path, alias });
    }

    fn body(&mut self, signature: &Signature, block: &Block) {
        let [start, end] = [signature.span().start(), block.span().end()].map(|at| at.line);
        self.bodies.push((signature.ident.to_string(), start..=end));
    }

    /// Whether the item belongs to tests. Its lines don't count then.
    fn skips(&mut self, attributes: &[Attribute], item: proc_macro2::Span) -> bool {
        let is_test = attributes.iter().any(is_of_tests);
        if is_test {
            self.tests.push(item.start().line..=item.end().line);
        }
        is_test
    }
}

impl Visit<'_> for Source {
    fn visit_item(&mut self, item: &Item) {
        let attributes: &[Attribute] = match item {
            Item::Const(item) => &item.attrs,
            Item::Enum(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Macro(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Trait(item) => &item.attrs,
            Item::Type(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            // A module in a file is recorded as a test module, so that its file is left out.
            Item::Mod(item) if item.content.is_some() => &item.attrs,
            _ => &[],
        };
        if !self.skips(attributes, item.span()) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &ImplItem) {
        let attributes: &[Attribute] = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            _ => &[],
        };
        if !self.skips(attributes, item.span()) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &ItemMod) {
        let name = module.ident.to_string();
        if module.content.is_some() {
            self.within.push(name);
            self.inline.insert(self.within.clone());
            visit::visit_item_mod(self, module);
            self.within.pop();
            return;
        }
        let file = module.attrs.iter().find(|attribute| attribute.path().is_ident("path"));
        let file = file.and_then(|attribute| match &attribute.meta.require_name_value().ok()?.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(file), .. }) => Some(file.value()),
            _ => None,
        });
        self.modules.push(Declared { name, file, is_test: module.attrs.iter().any(is_of_tests) });
    }

    fn visit_item_fn(&mut self, function: &ItemFn) {
        self.body(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &ImplItemFn) {
        self.body(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        let mut found = Vec::new();
        leaves(&item.tree, &mut Vec::new(), &mut found);
        for (path, name) in found {
            if !matches!(item.vis, Visibility::Inherited) && self.within.is_empty() {
                self.exports.push((name.clone(), path.clone()));
            }
            self.name(item.span().start().line, path, Some(name));
        }
    }

    /// The compiler's own names, such as `diagnostic::on_unimplemented`, belong to no crate.
    fn visit_attribute(&mut self, attribute: &Attribute) {
        if attribute.path().segments.first().is_none_or(|first| first.ident != "diagnostic") {
            visit::visit_attribute(self, attribute);
        }
    }

    fn visit_path(&mut self, path: &Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.name(path.span().start().line, segments, None);
        }
        visit::visit_path(self, path);
    }

    /// The arguments of a macro, or its body, need not be Rust, so everything with the form of a path counts.
    fn visit_macro(&mut self, call: &Macro) {
        visit::visit_macro(self, call);
        self.visit_tokens(call.tokens.clone());
    }
}

impl Source {
    fn visit_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let mut next = at + 1;
            match token {
                TokenTree::Group(group) => self.visit_tokens(group.stream()),
                TokenTree::Ident(ident) if ident == "use" => {
                    let end = tokens[at..].iter().position(is_semicolon).map_or(tokens.len(), |end| at + end + 1);
                    let item = TokenStream::from_iter(tokens[at..end].iter().cloned());
                    if let Ok(item) = ItemUse::parse.parse2(item) {
                        self.visit_item_use(&item);
                        next = end;
                    }
                }
                TokenTree::Ident(ident) => {
                    let mut path = vec![ident.to_string()];
                    while let Some(TokenTree::Ident(name)) = tokens.get(next + 2)
                        && tokens[next..next + 2].iter().all(is_colon)
                    {
                        path.push(name.to_string());
                        next += 3;
                    }
                    if path.len() > 1 {
                        self.name(ident.span().start().line, path, None);
                    }
                }
                _ => {}
            }
            at = next;
        }
    }
}

fn is_semicolon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';')
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':')
}

/// Whether the attribute is `#[test]`, or a `cfg` that holds in tests only.
fn is_of_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("test")
        || attribute.path().is_ident("cfg") && attribute.parse_args::<Meta>().is_ok_and(|cfg| asks_for_tests(&cfg))
}

/// Whether the condition of a `cfg` needs `test`.
fn asks_for_tests(condition: &Meta) -> bool {
    let Meta::List(list) = condition else { return condition.path().is_ident("test") };
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
    list.path.is_ident("all") && parts.iter().any(asks_for_tests)
        || list.path.is_ident("any") && !parts.is_empty() && parts.iter().all(asks_for_tests)
}

/// The paths of a `use`, with the names that it gives them.
fn leaves(tree: &UseTree, before: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves(&path.tree, before, found);
            before.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, before, found)),
        UseTree::Glob(_) => found.push((before.clone(), "*".to_owned())),
        UseTree::Name(_) | UseTree::Rename(_) => {
            let (name, alias) = match tree {
                UseTree::Rename(rename) => (rename.ident.to_string(), rename.rename.to_string()),
                UseTree::Name(name) => (name.ident.to_string(), name.ident.to_string()),
                _ => unreachable!("a leaf is a name or a renamed name"),
            };
            // `a::{self}` means `a`.
            let is_parent = name == "self" && !before.is_empty();
            let path = if is_parent { before.clone() } else { before.iter().cloned().chain([name]).collect() };
            let alias = if is_parent && alias == "self" { path[path.len() - 1].clone() } else { alias };
            found.push((path, alias));
        }
    }
}

/// The kinds of content of each line. Doc comments are left out.
#[derive(Default)]
struct Words {
    lines: BTreeSet<usize>,
    unsafes: Vec<usize>,
    functions: Vec<usize>,
}

impl Words {
    fn read(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let line = token.span().start().line;
            match &token {
                TokenTree::Group(group) => {
                    self.lines.extend([group.span_open().start().line, group.span_close().end().line]);
                    self.read(group.stream());
                }
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let mut ahead = tokens.clone();
                    let is_inner = ahead.next_if(|token| token.to_string() == "!").is_some();
                    if ahead.next().is_some_and(|body| is_doc(&body)) {
                        tokens.nth(usize::from(is_inner));
                    } else {
                        self.lines.insert(line);
                    }
                }
                _ => {
                    self.lines.extend(line..=token.span().end().line);
                    match token.to_string().as_str() {
                        "unsafe" => self.unsafes.push(line),
                        "fn" => self.functions.push(line),
                        _ => {}
                    }
                }
            }
        }
    }
}

fn is_doc(body: &TokenTree) -> bool {
    match body {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            let mut words = group.stream().into_iter();
            matches!(words.next(), Some(TokenTree::Ident(word)) if word == "doc")
                && matches!(words.next(), Some(TokenTree::Punct(punct)) if punct.as_char() == '=')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let source = Source::read(text).expect("it is Rust");
        source
            .paths
            .iter()
            .map(|named| named.within.iter().chain(&named.path).cloned().collect::<Vec<_>>().join("::"))
            .collect()
    }

    #[test]
    fn paths_are_read_from_uses_code_and_macros() {
        assert_eq!(
            paths("use crate::{a::B, c::{self, D as E}, f::*};"),
            ["crate::a::B", "crate::c", "crate::c::D", "crate::f"]
        );
        assert_eq!(paths("fn f(x: super::T) { crate::g::h(x); }"), ["super::T", "crate::g::h"]);
        assert_eq!(
            paths("macro_rules! m { () => { use crate::a::{B, C}; $crate::d::e() } }"),
            ["crate::a::B", "crate::a::C", "crate::d::e"]
        );
        assert_eq!(paths("mod inner { use super::X; }"), ["inner::super::X"]);
        assert!(paths("/// [`crate::a::B`]\n// crate::c::D\nconst A: &str = \"crate::e::F\";").is_empty());
    }

    #[test]
    fn tests_are_left_out() {
        assert!(
            paths("#[cfg(test)]\nmod tests { use crate::a::B; }\n#[cfg(all(test, x))]\nuse crate::c::D;").is_empty()
        );
        assert!(paths("#[cfg(all(test, not(x)))]\nuse crate::c::D;").is_empty());
        assert_eq!(paths("#[cfg(any(test, x))]\nuse crate::c::D;"), ["crate::c::D"]);
        assert_eq!(paths("#[cfg(not(test))]\nuse crate::c::D;"), ["crate::c::D"]);
        let source = Source::read("#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;\nmod code;").expect("it is Rust");
        assert_eq!(
            source.modules[0],
            Declared { name: "tests".into(), file: Some("a_tests.rs".into()), is_test: true }
        );
        assert_eq!(source.modules[1], Declared { name: "code".into(), file: None, is_test: false });
    }

    #[test]
    fn lines_of_functions_are_counted() {
        let source = Source::read(
            "/// Doc.\n#[inline]\nfn f() {\n    // Why.\n\n    g();\n}\nimpl A {\n    fn h(&self) {}\n}\n",
        )
        .expect("it is Rust");
        assert_eq!(source.sizes, [("f".to_owned(), 3, 3), ("h".to_owned(), 9, 1)]);
    }

    #[test]
    fn lines_of_code_are_counted() {
        let count = |text| Source::read(text).expect("it is Rust").lines;
        assert_eq!(count("//! Page.\n\n/// Text.\n#[inline]\nfn f() {\n    // Why.\n    g();\n\n}\n"), 4);
        assert_eq!(count("const A: &str = \"a\n    b\";\n#[cfg(test)]\nmod tests {\n    fn f() {}\n}\n"), 2);
    }
}
