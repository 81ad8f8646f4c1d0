//! The documentation, as the docs host builds it, and in each set of features.
//!
//! A link to an item of a feature is broken where the feature is off. Rustdoc labels items with the condition that it
//! infers for them, and a false label misleads: a reader without `std` turns away if `lock` is said to need `std`. So
//! this step compares each label with the pages of a build without that feature.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result};
use crate::context::{has_toolchain, is_published};
use crate::doc_examples;
use crate::features::{closure, declared};

/// The folder of the pages that are built as on docs.rs. The step `api` finds the dependencies there.
pub(crate) fn target_dir(cx: &Context) -> PathBuf {
    cx.target.join("docsrs")
}

/// The lints that fail the build. Others may change with each nightly.
const FLAGS: &str = "--cfg docsrs -D rustdoc::broken_intra_doc_links -D rustdoc::private_intra_doc_links";

/// Builds the documentation and, if there is a nightly, builds it once more as docs.rs does. A page that fails there
/// would otherwise be seen only after publication.
pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    doc_examples::check(cx)?;
    let sh = &cx.sh;
    cmd!(sh, "cargo doc --no-deps --workspace --all-features")
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()
        .or_tell("mend what rustdoc reports; a link to a private item is the usual cause")?;
    if !has_toolchain(cx, "nightly") {
        return cx.skip_unless_ci(
            "no toolchain `nightly`: the pages are not built as docs.rs does",
            "run `rustup toolchain install nightly --profile minimal`",
        );
    }
    let mut wrong = Vec::new();
    let mut labels = 0;
    for package in cx.packages().iter().filter(|package| is_published(package)) {
        let features = declared(package);
        let name = package["name"].as_str().expect("a package has a name");
        let all: Vec<&str> = features.keys().copied().collect();
        let complete = build(cx, name, &all)?;
        labels += complete.labels.len();
        if name == CORE {
            in_order(cx)?;
        }
        let mut builds = Vec::new();
        for chosen in [None].into_iter().chain(features.keys().map(Some)) {
            let chosen: Vec<&str> = chosen.into_iter().copied().collect();
            if chosen != all {
                builds.push((closure(&chosen, &features), build(cx, name, &chosen)?.items));
            }
        }
        wrong.extend(false_labels(&complete, &builds).iter().map(|label| format!("\n  {name}: {label}")));
    }
    if labels == 0 {
        return Err(Failure::new(
            "no item is labelled with its feature",
            "see whether rustdoc's pages have another form now, and mend xtask/src/docs.rs",
        ));
    }
    if wrong.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Failure::new(
        &format!("labels of the documentation are false:{}", wrong.concat()),
        "rustdoc takes the condition from a `cfg` on the item, on a module around it, or on a `pub use` of it; say \
         `doc(auto_cfg = false)`, or put the `cfg` elsewhere",
    ))
}

const CORE: &str = "fifolock-core";

/// The pages of the two locks.
const LOCKS: [&str; 2] = ["mutex/struct.Mutex.html", "rwlock/struct.RwLock.html"];

/// Checks that the locks' pages begin with the methods that most readers look for. Rustdoc lists the parts of an `impl`
/// in the order of the source, with a module's parts at its declaration.
fn in_order(cx: &Context) -> Result<()> {
    for page in LOCKS {
        let file = target_dir(cx).join("doc/fifolock_core").join(page);
        let text = cx.sh.read_file(file).or_tell("see whether rustdoc has another name for the page")?;
        if let Some(early) = early_method(&text) {
            return Err(Failure::new(
                &format!("{page} lists `{early}` before methods that are neither owned nor upgradable"),
                "declare its module after the `impl` of the others",
            ));
        }
    }
    Ok(())
}

/// The first method, if it is not `new`, or the first owned or upgradable method that stands before others.
fn early_method(page: &str) -> Option<&str> {
    let methods: Vec<&str> =
        page.split(r#"<section id="method."#).skip(1).filter_map(|rest| rest.split('"').next()).collect();
    // The methods of `Deref` and other traits follow, with numbers in their names.
    let own =
        methods.split(|name| name.contains('-') || *name == "fmt" || *name == "borrow").next().unwrap_or_default();
    let is_plain = |name: &&&str| !["owned", "upgradable", "on_arc"].iter().any(|word| name.contains(word));
    let Some((&"new", rest)) = own.split_first() else { return own.first().copied() };
    let last = rest.iter().skip_while(is_plain);
    let is_split = last.clone().any(|name| is_plain(&name));
    last.take(usize::from(is_split)).copied().next()
}

/// The contents of the pages of one build. An item is a page and the name of an anchor on that page.
#[derive(Debug, Default, PartialEq)]
struct Pages {
    items: BTreeSet<(String, String)>,
    /// The text of each label, with the item that it belongs to.
    labels: Vec<((String, String), String)>,
}

/// Builds the pages of a package as docs.rs does, with these features.
fn build(cx: &Context, package: &str, features: &[&str]) -> Result<Pages> {
    const READ: &str = "check that files can be read and removed below cargo's target folder";
    let sh = &cx.sh;
    let (target, list) = (target_dir(cx), features.join(","));
    let pages = target.join("doc");
    // Rustdoc keeps the pages that another build has written for the same types.
    sh.remove_path(&pages).or_tell(READ)?;
    println!("docs: {package} [{list}]");
    cmd!(sh, "rustup run nightly cargo doc --quiet --no-deps -p {package} --no-default-features --features={list}")
        .args(["--target-dir".into(), target])
        .quiet()
        .env("RUSTDOCFLAGS", FLAGS)
        .run()
        .or_tell(
            "write an item that only a feature brings as `code`, without a link; or see what `cfg(docsrs)` turns on: \
             the nightly may have renamed it",
        )?;
    let mut found = Pages::default();
    // The pages, and the parts of other crates' types that a script adds to them.
    let folders = [pages.join(package.replace('-', "_")), pages.join("type.impl"), pages.join("trait.impl")];
    for folder in folders.iter().filter(|folder| folder.exists()) {
        read_pages(folder, &pages, &mut found).or_tell(READ)?;
    }
    Ok(found)
}

fn read_pages(folder: &Path, root: &Path, found: &mut Pages) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_pages(&path, root, found)?;
        } else if path.extension().is_some_and(|extension| extension == "html" || extension == "js") {
            let page = path.strip_prefix(root).expect("below it").display().to_string();
            read_page(&page, &fs::read_to_string(&path)?, found);
        }
    }
    Ok(())
}

/// Collects the items of a page, and their labels.
fn read_page(page: &str, text: &str, found: &mut Pages) {
    // The scripts contain JSON, in which quotes are escaped.
    let text = text.replace("\\\"", "\"");
    let mut item = (page.to_owned(), String::new());
    found.items.insert(item.clone());
    for (at, _) in text.match_indices('<') {
        let tag = text[at..].split('>').next().unwrap_or_default();
        // The label of a page stands below its title, among the controls of the page.
        if let Some(id) = attribute(tag, "id").filter(|id| !matches!(*id, "copy-path" | "main-content")) {
            item.1 = id.to_owned();
            found.items.insert(item.clone());
        }
        // A list of items has a shorter label, which the item's own page repeats.
        if tag == "<div class=\"stab portability\"" {
            let label = text[at..].split("</div>").next().unwrap_or_default();
            found.labels.push((item.clone(), without_tags(label)));
        }
    }
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

fn without_tags(html: &str) -> String {
    let mut parts = html.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.filter_map(|part| part.split_once('>')).map(|(_, text)| text).collect::<String>()
}

type Build<'a> = (BTreeSet<&'a str>, BTreeSet<(String, String)>);

/// The labels that name a condition of the project's own builds, or a feature that the item does not need.
fn false_labels(complete: &Pages, builds: &[Build<'_>]) -> Vec<String> {
    let mut wrong = BTreeMap::new();
    for (item, label) in &complete.labels {
        let named: Vec<&str> = features_of(label).collect();
        let is_there_without = builds
            .iter()
            .any(|(features, items)| items.contains(item) && named.iter().any(|feature| !features.contains(feature)));
        if label.contains("fifolock_") || is_there_without {
            wrong.insert(item, label);
        }
    }
    wrong.into_iter().map(|((page, place), label)| format!("{page}#{place}: {label}")).collect()
}

/// The features in "Available on crate features a and b only."
fn features_of(label: &str) -> impl Iterator<Item = &str> {
    let list = label.split_once("crate feature").map_or("", |(_, list)| list);
    let words = list.split([' ', ',', '.']).skip(1);
    words.filter(|word| !matches!(*word, "" | "and" | "or" | "only" | "s") && !word.starts_with("target_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = concat!(
        r#"<h1 id="main-content"><button id="copy-path"></button></h1><div class="other"></div>"#,
        r#"<div class="stab portability">Available on <strong>crate feature <code>std</code></strong> only.</div>"#,
        r#"<section id="method.lock"></section>"#,
        r#"<div class="stab portability">Available on <strong>crate features <code>alloc</code> and <code>std</code>"#,
        r#"</strong> only.</div>"#,
    );

    fn pages(text: &str) -> Pages {
        let mut found = Pages::default();
        read_page("a.html", text, &mut found);
        found
    }

    #[test]
    fn methods_out_of_order_are_found() {
        let page = |names: &[&str]| {
            names.iter().map(|name| format!(r#"<section id="method.{name}" class="method">"#)).collect::<String>()
        };
        assert_eq!(
            early_method(&page(&["new", "lock", "upgradable_read", "lock_owned", "on_arc", "fmt", "from"])),
            None
        );
        assert_eq!(early_method(&page(&["lock_owned", "new", "lock"])), Some("lock_owned"));
        assert_eq!(early_method(&page(&["new", "lock_owned", "lock"])), Some("lock_owned"));
    }

    #[test]
    fn labels_are_found_with_their_items() {
        let item = |place: &str| ("a.html".to_owned(), place.to_owned());
        for text in [PAGE, &PAGE.replace('"', "\\\"")] {
            let found = pages(text);
            assert_eq!(found.items, BTreeSet::from([item(""), item("method.lock")]));
            let places: Vec<_> = found.labels.iter().map(|(item, _)| item.1.as_str()).collect();
            assert_eq!(places, ["", "method.lock"]);
            assert!(found.labels[1].1.ends_with("crate features alloc and std only."), "{:?}", found.labels);
        }
    }

    #[test]
    fn features_are_read_from_a_label() {
        let of = |label| features_of(label).collect::<Vec<_>>();
        assert_eq!(of("Available on crate feature async-std only."), ["async-std"]);
        assert_eq!(of("Available on crate features alloc and std only."), ["alloc", "std"]);
        assert_eq!(of("Available on crate feature spin and target_has_atomic=ptr only."), ["spin"]);
        assert_eq!(of("Available on target_has_atomic=ptr only."), Vec::<&str>::new());
    }

    #[test]
    fn a_label_is_false_if_the_item_is_there_without_the_feature() {
        let complete = pages(PAGE);
        let without = |text, features: &[&'static str]| {
            let build = (features.iter().copied().collect(), pages(text).items);
            false_labels(&complete, &[build]).len()
        };
        assert_eq!(without(PAGE, &["std", "alloc"]), 0);
        // The label says that the method needs `alloc`, but the method exists without it.
        assert_eq!(without(PAGE, &["std"]), 1);
        assert_eq!(without(PAGE, &[]), 2);
        assert_eq!(false_labels(&complete, &[]).len(), 0);
        let own = pages(r#"<i id="x"></i><div class="stab portability">Available on non-fifolock_loom only.</div>"#);
        assert_eq!(false_labels(&own, &[]), ["a.html#x: Available on non-fifolock_loom only."]);
    }
}
