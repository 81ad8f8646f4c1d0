//! docs/API-TABLE.md: each public method of other crates' locks, with this project's beside it, or the reason why there
//! is none.
//!
//! The methods are read from the sources of the versions that the benchmarks use, so an update of those shows each new
//! method.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use xshell::cmd;

use crate::bench;
use crate::context::{Context, Failure, OrElse as _, Outcome, Result, read_json};

const PAGE: &str = "docs/API-TABLE.md";

/// The public API of the core, as `cargo xtask api` records it.
const OURS: &str = "docs/api/fifolock-core.txt";

/// The crates, each with the files and folders of its locks.
const PEERS: [(&str, &[&str]); 4] = [
    ("tokio", &["src/sync/mutex.rs", "src/sync/rwlock.rs", "src/sync/rwlock"]),
    ("async-lock", &["src/mutex.rs", "src/rwlock.rs", "src/rwlock"]),
    ("embassy-sync", &["src/mutex.rs", "src/rwlock.rs"]),
    ("lock_api", &["src/mutex.rs", "src/rwlock.rs"]),
];

/// Methods, as `Type::method`.
type Methods = BTreeSet<String>;

pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let read = |file: &str| sh.read_file(cx.root.join(file)).or_tell("the file belongs in the repository");
    let (page, ours) = (read(PAGE)?, our_methods(&read(OURS)?));
    let manifest = bench::MANIFEST;
    let metadata = read_json(&cmd!(sh, "cargo metadata --format-version 1 --locked --manifest-path {manifest}"))?;
    let mut faults = Vec::new();
    for (peer, files) in PEERS {
        let theirs = their_methods(&metadata, peer, files)?;
        faults.extend(compare(peer, &theirs, &section(&page, peer), &ours));
    }
    if faults.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(
        &format!("{PAGE} is not complete:{}", faults.concat()),
        "a row is `| theirs | ours | |`, or `| theirs | – | why there is none, and what to write instead |`",
    ))
}

/// The public methods of a crate's types, from the newest version that the benchmarks use.
fn their_methods(metadata: &Value, peer: &str, files: &[&str]) -> Result<Methods> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let text = |package: &Value, key: &str| package[key].as_str().expect("cargo metadata describes it").to_owned();
    let version = |package: &&Value| {
        text(package, "version").split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>()
    };
    let package = packages.filter(|package| package["name"] == peer).max_by_key(version).ok_or_else(|| {
        Failure::new(&format!("the benchmarks don't use {peer}"), "let xtask/src/table.rs find the sources elsewhere")
    })?;
    let folder = Path::new(&text(package, "manifest_path")).parent().expect("in a folder").to_path_buf();
    let mut methods = Methods::new();
    for file in files {
        let path = folder.join(file);
        let paths = match fs::read_dir(&path) {
            Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
            Err(_) => vec![path],
        };
        for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
            let Ok(source) = fs::read_to_string(path) else { continue };
            methods_of(&source, &mut methods).or_tell("see whether `syn` knows the syntax of a newer edition")?;
        }
    }
    Ok(methods)
}

/// The public methods of a file's inherent `impl`s.
fn methods_of(source: &str, methods: &mut Methods) -> syn::Result<()> {
    for item in syn::parse_file(source)?.items {
        let syn::Item::Impl(block) = item else { continue };
        let (None, syn::Type::Path(path)) = (&block.trait_, &*block.self_ty) else { continue };
        let Some(name) = path.path.segments.last() else { continue };
        for item in &block.items {
            if let syn::ImplItem::Fn(method) = item
                && matches!(method.vis, syn::Visibility::Public(_))
                && !is_hidden(&method.attrs)
            {
                methods.insert(format!("{}::{}", name.ident, method.sig.ident));
            }
        }
    }
    Ok(())
}

/// Whether the method is one of loom's, or hidden from the documentation.
fn is_hidden(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let tokens = list.tokens.to_string();
        (list.path.is_ident("doc") && tokens == "hidden") || (list.path.is_ident("cfg") && tokens.ends_with("loom"))
    })
}

/// The methods of this project, from the recorded API.
fn our_methods(recorded: &str) -> Methods {
    let paths = recorded.lines().filter_map(|line| line.split_once("fn fifolock_core::")?.1.split('(').next());
    paths
        .filter_map(|path| {
            let (of, method) = path.rsplit_once(">::")?;
            let name = of.split('<').next()?.rsplit("::").next()?;
            Some(format!("{name}::{}", method.split('<').next()?))
        })
        .collect()
}

/// The rows below a crate's heading: the first column, with the other two.
fn section<'a>(page: &'a str, peer: &str) -> BTreeMap<&'a str, (&'a str, &'a str)> {
    let heading = format!("## {peer}");
    let lines = page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with("## "));
    lines
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split(" | ");
            let theirs = cells.next()?.strip_suffix('`')?;
            Some((theirs, (cells.next()?.trim(), cells.next().unwrap_or_default().trim_end_matches('|').trim())))
        })
        .collect()
}

fn compare(peer: &str, theirs: &Methods, rows: &BTreeMap<&str, (&str, &str)>, ours: &Methods) -> Vec<String> {
    let mut faults = Vec::new();
    if theirs.is_empty() {
        faults.push(format!("\n  {peer}: no method was found in its sources"));
    }
    for method in theirs.iter().filter(|method| !rows.contains_key(method.as_str())) {
        faults.push(format!("\n  {peer}: no row for `{method}`"));
    }
    for (method, (here, why)) in rows {
        if !theirs.contains(*method) {
            faults.push(format!("\n  {peer}: a row for `{method}`, which it doesn't have"));
        }
        let named: Vec<&str> = here.split('`').skip(1).step_by(2).collect();
        if named.is_empty() && (*here != "–" || why.is_empty()) {
            faults.push(format!("\n  {peer}: `{method}` has no counterpart, and no reason"));
        }
        for name in named.iter().filter(|name| !ours.contains(**name)) {
            faults.push(format!("\n  {peer}: `{method}` is said to be `{name}`, which this project doesn't have"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_methods_are_read_from_sources_and_from_the_recorded_api() {
        let source = "impl<T: ?Sized> Mutex<T> { pub fn a() {} pub(crate) fn b() {} fn c() {} pub const unsafe fn d() {}
            #[doc(hidden)] pub fn e() {} #[cfg(all(loom))] pub fn f() {} #[cfg(not(loom))] pub fn g() {} #[cfg(loom)] pub fn h() {} }
            impl<T> Drop for Mutex<T> { fn drop(&mut self) {} } impl super::Guard<'_> { pub async fn i() {} }";
        let mut methods = Methods::new();
        methods_of(source, &mut methods).unwrap();
        assert_eq!(
            methods.into_iter().collect::<Vec<_>>(),
            ["Guard::i", "Mutex::a", "Mutex::d", "Mutex::f", "Mutex::g"]
        );
        let recorded = "pub const fn fifolock_core::mutex::Mutex<T, P>::new(T) -> Self\n\
                        pub fn fifolock_core::mutex::Mutex<T, P>::on<Q>(&self) -> &fifolock_core::mutex::Mutex<T, Q>\n";
        assert_eq!(our_methods(recorded).into_iter().collect::<Vec<_>>(), ["Mutex::new", "Mutex::on"]);
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let page = "## peer\n\n| there | here | |\n|---|---|---|\n| `M::a` | `M::a` | |\n| `M::b` | – | too slow |\n\
                    | `M::c` | – | |\n| `M::d` | `M::x` | |\n| `M::gone` | `M::a` | |\n## other\n| `M::e` | `M::a` | |\n";
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Methods>();
        let theirs = set(&["M::a", "M::b", "M::c", "M::d", "M::e"]);
        let faults = compare("peer", &theirs, &section(page, "peer"), &set(&["M::a"])).concat();
        for fault in ["no row for `M::e`", "`M::c` has no", "to be `M::x`", "row for `M::gone`"] {
            assert!(faults.contains(fault), "{fault}: {faults}");
        }
        assert_eq!(faults.lines().count(), 5, "{faults}");
        assert!(compare("peer", &set(&[]), &BTreeMap::new(), &set(&[])).concat().contains("no method was found"));
    }
}
