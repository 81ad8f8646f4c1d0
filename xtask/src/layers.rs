//! Checks which module names which: the boundaries of docs/ARCHITECTURE.md, and no circles. Checks also how long
//! modules and functions are.
//!
//! A *module* is a file, or an inline `mod` in a file, which counts as that file. Test modules are left out: those
//! under `#[cfg(test)]`, and the files that such a `mod` declares.
//!
//! A module *names* a path that stands in a `use`, in the code or in a macro, but not in a comment. It *imports* the
//! module that the path leads to. A module that names a module below itself imports nothing: a parent may declare,
//! re-export and call its children. A child that names its parent imports the parent.
//!
//! A *circle* is a chain of modules of one crate in which each imports the next, and the last imports the first. The
//! command looks for circles twice:
//!
//! - Between files. A path is followed through each `pub use` that names the item, without `*`, to the file that has
//!   the item. A module that takes an item from a re-export of its own parent imports the parent only. So types that
//!   become one another, as guards do, may meet in their parent.
//! - Between rooms. A room is a module directly below the root of the crate, with all modules below it. Here every path
//!   is followed to the room that has the item.
//!
//! The boundaries hold for both the path as written and the place of the item.
//!
//! The command can't see a path that a macro puts together, nor a method of a type that another module has named.

mod scan;

use core::fmt::Write as _;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use self::scan::{Named, Source};
use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

const PAGE: &str = "docs/ARCHITECTURE.md";
const BOUNDARIES: &str = "Boundaries";

/// The largest number of lines of code of a module, without comments, blank lines and tests.
const LINES: usize = 500;

/// The same limit for a function.
const LINES_OF_FUNCTIONS: usize = 70;

/// The crates that are tests as a whole, whose functions may be longer.
const SUITES: &[&str] = &["fifolock_conformance", "fifolock_model"];

pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let page = cx.sh.read_file(cx.root.join(PAGE)).or_tell("the file belongs in the repository")?;
    let mut house = House::default();
    for package in cx.packages() {
        for target in package["targets"].as_array().into_iter().flatten() {
            let is_library = target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib"));
            let is_program = target["kind"][0] == "bin" && target["name"] == package["name"];
            let name = target["name"].as_str().unwrap_or_default().replace('-', "_");
            if is_library || is_program && !house.crates.contains(&name) {
                let root = PathBuf::from(target["src_path"].as_str().unwrap_or_default());
                house.read(&name, &root, &|file| cx.sh.read_file(file).map_err(|error| error.to_string()))?;
            }
        }
    }
    let mut slips = house.never(&table(&page, BOUNDARIES));
    slips.extend(house.thin(&table(&page, THIN)));
    slips.extend(house.circles());
    slips.extend(house.long());
    if slips.is_empty() {
        println!("layers: {} modules of {} crates", house.modules.len(), house.crates.len());
        return Ok(Outcome::Passed);
    }
    let mut list = format!("the modules are not as {PAGE} says:");
    slips.iter().for_each(|slip| _ = write!(list, "\n  {slip}"));
    Err(Failure::new(&list, "move the item to the layer that it belongs to; a circle often has one name as its cause"))
}

/// The section about crates without logic. Its rows have the crate, the crates that it names, the numbers of `unsafe`
/// and `fn`, and the number of lines.
const THIN: &str = "Thin crates";

/// The cells of each row of a section's table.
fn table(page: &str, section: &str) -> Vec<Vec<String>> {
    let is_section =
        |line: &&str| line.trim_start_matches('#').strip_prefix(' ') == Some(section) && line.starts_with('#');
    let lines = page.lines().skip_while(|line| !is_section(line)).skip(1).take_while(|line| !line.starts_with('#'));
    let rows = lines.filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    rows.skip(2).map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The paths in `backquotes`.
fn names(cell: &str) -> Vec<Vec<String>> {
    cell.split('`').skip(1).step_by(2).map(|name| name.split("::").map(str::to_owned).collect()).collect()
}

/// The modules of all crates.
#[derive(Default)]
struct House {
    crates: BTreeSet<String>,
    modules: Vec<Module>,
    /// The names that each module re-exports.
    exports: BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>,
}

struct Module {
    /// The path of the module, with the name of the crate.
    name: Vec<String>,
    file: String,
    source: Source,
}

/// A path that a module names.
struct Import<'a> {
    from: &'a Module,
    line: usize,
    /// The path as written, with the name of the crate.
    written: Vec<String>,
    /// The path of the item.
    found: Vec<String>,
}

impl House {
    /// Reads a crate, from its root through its `mod` declarations.
    fn read(
        &mut self,
        name: &str,
        root: &Path,
        read: &dyn Fn(&Path) -> core::result::Result<String, String>,
    ) -> Result<()> {
        self.crates.insert(name.to_owned());
        let folder = |file: &Path| file.parent().map(Path::to_path_buf).unwrap_or_default();
        let mut ahead = vec![(vec![name.to_owned()], root.to_path_buf(), folder(root))];
        while let Some((name, file, children)) = ahead.pop() {
            let tell = format!("it is a module that {} declares", name[..name.len() - 1].join("::"));
            let text = read(&file).or_tell(&tell)?;
            let source = Source::read(&text).or_tell(&format!("fix {}", file.display()))?;
            for module in source.modules.iter().filter(|module| !module.is_test) {
                let below = children.join(&module.name);
                let flat = below.with_extension("rs");
                let nested = below.join("mod.rs");
                let child = match &module.file {
                    Some(path) => folder(&file).join(path),
                    None if read(&flat).is_ok() => flat,
                    None => nested,
                };
                let name = name.iter().chain([&module.name]).cloned().collect();
                ahead.push((name, child, below));
            }
            let exports = self.exports.entry(name.clone()).or_default();
            exports.extend(source.exports.iter().filter(|(name, _)| name != "*").cloned());
            self.modules.push(Module { name, file: file.display().to_string(), source });
        }
        Ok(())
    }

    fn is_module(&self, name: &[String]) -> bool {
        self.exports.contains_key(name)
    }

    /// The module that a path leads to.
    fn module_of<'a>(&self, path: &'a [String]) -> Option<&'a [String]> {
        (1..=path.len()).rev().map(|end| &path[..end]).find(|name| self.is_module(name))
    }

    /// The full path of a name. `None` for a name that a `use` of the file has introduced, and for the items of types.
    fn resolved(&self, from: &Module, named: &Named) -> Option<Vec<String>> {
        let mut base: Vec<String> = from.name.iter().chain(&named.within).cloned().collect();
        let mut rest = &named.path[..];
        match rest[0].as_str() {
            "crate" => base.truncate(1),
            "self" => {}
            "super" => {
                while rest.get(1).is_some_and(|next| next == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
                base.pop();
            }
            head => {
                let child = |base: &[String]| base.iter().chain([&rest[0]]).cloned().collect::<Vec<_>>();
                let is_child = self.is_module(&child(&base)) || from.source.inline.contains(&child(&named.within));
                let is_used = |used: &Named| used.within == named.within && used.alias.as_deref() == Some(head);
                if is_child {
                    base.push(head.to_owned());
                } else if named.alias.is_none() && from.source.paths.iter().any(is_used)
                    || head.starts_with(|first: char| first.is_ascii_uppercase())
                {
                    return None;
                } else {
                    base = vec![head.to_owned()];
                }
            }
        }
        base.extend_from_slice(&rest[1..]);
        Some(base)
    }

    /// Follows re-exports to the item.
    fn found(&self, mut path: Vec<String>) -> Vec<String> {
        // A chain of re-exports is short, and a circle of them would not compile.
        for _ in 0..8 {
            let Some(module) = self.module_of(&path).map(<[String]>::to_vec) else { break };
            let Some(export) = path.get(module.len()).and_then(|item| self.exports[&module].get(item)) else { break };
            let owner = self.modules.iter().find(|it| it.name == module).expect("a module that exports was read");
            let named = Named { line: 0, within: Vec::new(), path: export.clone(), alias: Some(String::new()) };
            let Some(target) = self.resolved(owner, &named) else { break };
            let item = module.len() + 1;
            path = target.into_iter().chain(path.drain(item..)).collect();
        }
        path
    }

    fn imports(&self) -> impl Iterator<Item = Import<'_>> {
        self.modules.iter().flat_map(move |from| {
            from.source.paths.iter().filter_map(move |named| {
                let written = self.resolved(from, named)?;
                Some(Import { from, line: named.line, found: self.found(written.clone()), written })
            })
        })
    }

    /// The violations of the boundaries, whose rows are `MODULES but MODULES | PATHS | why`.
    fn never(&self, rows: &[Vec<String>]) -> Vec<String> {
        let mut slips = Vec::new();
        if rows.is_empty() {
            slips.push(format!("{PAGE} has no table \"{BOUNDARIES}\""));
        }
        for row in rows {
            let [modules, never, why] = &row[..] else {
                slips.push(format!("a row has three cells: `{}`", row.join(" | ")));
                continue;
            };
            let (modules, but) = modules.split_once(" but ").unwrap_or((modules, ""));
            let (modules, but, never) = (names(modules), names(but), names(never));
            let places = modules.iter().chain(&but).filter(|name| !self.is_module(name));
            slips.extend(places.map(|name| format!("the row of `{}` is of no module", name.join("::"))));
            let ours = never.iter().filter(|name| self.crates.contains(&name[0]));
            let gone = ours.filter(|name| !self.is_module(name) && !self.is_module(&name[..name.len() - 1]));
            slips.extend(gone.map(|name| format!("nothing can name `{}`: no such module", name.join("::"))));
            if modules.is_empty() || never.is_empty() || why.is_empty() {
                slips.push(format!("a cell names nothing: `{}`", row.join(" | ")));
            }
            let is_of =
                |name: &[String], modules: &[Vec<String>]| modules.iter().any(|module| name.starts_with(module));
            let is_never = |path: &[String]| never.iter().any(|never| path.starts_with(never));
            for import in self.imports() {
                let from = &import.from.name;
                if is_of(from, &modules) && !is_of(from, &but) && (is_never(&import.written) || is_never(&import.found))
                {
                    slips.push(format!(
                        "{}:{}: {} never names {} ({why})",
                        import.from.file,
                        import.line,
                        from.join("::"),
                        import.written.join("::")
                    ));
                }
            }
        }
        slips
    }

    /// The violations of the thin crates, whose rows are `CRATE | CRATES that it may name | unsafe | fn | lines | why`.
    fn thin(&self, rows: &[Vec<String>]) -> Vec<String> {
        let mut slips = Vec::new();
        if rows.is_empty() {
            slips.push(format!("{PAGE} has no table \"{THIN}\""));
        }
        for row in rows {
            let [name, only, counts @ .., _why] = &row[..] else {
                slips.push(format!("a row has six cells: `{}`", row.join(" | ")));
                continue;
            };
            let (name, only) = (names(name).concat().concat(), names(only).concat());
            let modules: Vec<&Module> = self.modules.iter().filter(|module| module.name[0] == name).collect();
            if modules.is_empty() {
                slips.push(format!("there is no crate `{name}`"));
            }
            let sum = |count: fn(&Source) -> usize| modules.iter().map(|module| count(&module.source)).sum::<usize>();
            let found = [
                ("`unsafe`", sum(|source| source.unsafes)),
                ("`fn`", sum(|source| source.functions)),
                ("lines of code", sum(|source| source.lines)),
            ];
            if counts.len() != found.len() {
                slips.push(format!("{name}: the row has six cells"));
            }
            for ((what, found), most) in found.into_iter().zip(counts) {
                match most.parse::<usize>() {
                    Ok(most) if found <= most => {}
                    Ok(most) => slips.push(format!("{name} has {found} {what}, at most {most} are allowed")),
                    Err(_) => slips.push(format!("{name}: `{most}` is no number of {what}")),
                }
            }
            let strange = self.imports().filter(|import| import.from.name[0] == name);
            let strange = strange.filter(|import| import.written[0] != name && !only.contains(&import.written[0]));
            slips.extend(strange.map(|import| {
                format!("{}:{}: {name} never names {}", import.from.file, import.line, import.written.join("::"))
            }));
        }
        slips
    }

    /// The circles between files and between rooms.
    fn circles(&self) -> Vec<String> {
        let files = self.imports().filter_map(|import| {
            let from = &*import.from.name;
            let written = self.module_of(&import.written)?;
            let is_parents = from.starts_with(written);
            let to = if is_parents { written } else { self.module_of(&import.found)? };
            Some((import.place(), from, to.to_vec()))
        });
        let rooms = self.imports().filter_map(|import| {
            let to = self.module_of(&import.found)?;
            let (from, to) = (room(&import.from.name), room(to));
            // The root re-exports the rooms, which is no import.
            (from.len() == 2 && to.len() == 2).then(|| (import.place(), from, to.to_vec()))
        });
        let slips: BTreeSet<String> = circles(files).into_iter().chain(circles(rooms)).collect();
        slips.into_iter().collect()
    }

    /// The modules and functions that are too long.
    fn long(&self) -> Vec<String> {
        let mut slips = Vec::new();
        for Module { name, file, source } in &self.modules {
            let is_suite = SUITES.contains(&&*name[0]);
            if source.lines > LINES {
                slips.push(format!("{file}: {} lines of code, at most {LINES} are allowed", source.lines));
            }
            let long = source.sizes.iter().filter(|(.., lines)| *lines > LINES_OF_FUNCTIONS && !is_suite);
            slips.extend(long.map(|(name, line, lines)| {
                format!("{file}:{line}: `{name}` has {lines} lines of code, at most {LINES_OF_FUNCTIONS} are allowed")
            }));
        }
        slips
    }
}

/// The room of a module: the module directly below the root.
fn room(module: &[String]) -> &[String] {
    &module[..module.len().min(2)]
}

impl Import<'_> {
    fn place(&self) -> String {
        format!("{}:{}", self.from.file, self.line)
    }
}

/// The imports that are part of a circle. An import is its place, the importer and the imported module.
fn circles<'a>(imports: impl Iterator<Item = (String, &'a [String], Vec<String>)>) -> Vec<String> {
    let mut edges: BTreeMap<(&[String], Vec<String>), String> = BTreeMap::new();
    for (place, from, to) in imports {
        if to[0] == from[0] && !to.starts_with(from) {
            edges.entry((from, to)).or_insert(place);
        }
    }
    let mut next: BTreeMap<&[String], BTreeSet<&[String]>> = BTreeMap::new();
    edges.keys().for_each(|(from, to)| _ = next.entry(from).or_default().insert(to));
    let is_back = |from: &[String], to: &[String]| {
        let (mut seen, mut ahead) = (BTreeSet::new(), vec![to]);
        while let Some(at) = ahead.pop() {
            if seen.insert(at) {
                ahead.extend(next.get(at).into_iter().flatten());
            }
        }
        seen.contains(from)
    };
    let inside = edges.iter().filter(|((from, to), _)| is_back(from, to));
    let slip = |((from, to), place): (&(&[String], Vec<String>), &String)| {
        format!("{place}: {} imports {}, which leads back to it", from.join("::"), to.join("::"))
    };
    inside.map(slip).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A house of one crate `a`. A file whose name begins with `crate:` belongs to that crate instead.
    fn house(files: &[(&str, &str)]) -> House {
        let mut house = House::default();
        let read = |file: &Path| {
            let text = files.iter().find(|(name, _)| Path::new(name) == file).map(|(_, text)| (*text).to_owned());
            text.ok_or_else(|| format!("no {}", file.display()))
        };
        house.read("a", Path::new("lib.rs"), &read).expect("the sources are valid");
        house
    }

    fn row(cells: &[&str]) -> Vec<Vec<String>> {
        vec![cells.iter().map(|&cell| cell.to_owned()).collect()]
    }

    #[test]
    fn a_never_is_found_in_uses_code_macros_and_through_re_exports() {
        let never = |queue: &str| {
            let root = "mod queue; mod report; mod other; pub use report::Report;";
            let house = house(&[("lib.rs", root), ("queue.rs", queue), ("report.rs", ""), ("other.rs", "")]);
            house.never(&row(&["`a::queue`", "`a::report`, `core::task`", "why"])).len()
        };
        assert_eq!(never("use crate::other::X; // crate::report::Y"), 0);
        assert_eq!(never("use crate::report::Report;"), 1);
        assert_eq!(never("use super::{other, report};"), 1);
        assert_eq!(never("use crate::Report;"), 1);
        assert_eq!(never("fn f() { crate::report::f() }"), 1);
        assert_eq!(never("macro_rules! m { () => { $crate::report::f() } }"), 1);
        assert_eq!(never("use core::task::Waker;"), 1);
        assert_eq!(never("use core::task;\nfn f(_: &task::Waker) {}"), 1);
        assert_eq!(never("mod inner { use core::fmt; }\npub use inner::*;"), 0);
        assert_eq!(never("mod inner { use super::super::report::R; }"), 1);
        assert_eq!(never("#[cfg(test)] mod tests { use crate::report::Report; }"), 0);
    }

    #[test]
    fn a_never_may_except_a_module() {
        let root = "mod queue; mod permit; mod wait;";
        let text = "use core::ptr::NonNull;";
        let house = house(&[("lib.rs", root), ("queue.rs", text), ("permit.rs", text), ("wait.rs", text)]);
        let slips = house.never(&row(&["`a` but `a::queue`, `a::permit`", "`core::ptr::NonNull`", "why"]));
        assert_eq!(slips, ["wait.rs:1: a::wait never names core::ptr::NonNull (why)"]);
    }

    #[test]
    fn a_row_of_what_is_not_there_is_a_slip() {
        let house = house(&[("lib.rs", "mod queue;"), ("queue.rs", "")]);
        let slip = |cells: &[&str]| house.never(&row(cells)).join("\n");
        assert_eq!(slip(&["`a::queue`", "`a::queue::Item`", "why"]), "");
        assert!(slip(&["`a::gone`", "`core::task`", "why"]).contains("`a::gone` is of no module"));
        assert!(slip(&["`a::queue`", "`a::gone::Item`", "why"]).contains("nothing can name `a::gone::Item`"));
        assert!(slip(&["`a::queue`", "none", "why"]).contains("a cell names nothing"));
        assert!(slip(&["`a::queue`", "`core::task`"]).contains("three cells"));
        assert!(house.never(&[]).join("").contains("no table"));
    }

    #[test]
    fn circles_of_files_and_of_rooms_are_found() {
        let circles = |b: &str, c: &str| {
            house(&[
                ("lib.rs", "mod b; mod c;"),
                ("b.rs", b),
                ("b/d.rs", "use crate::c::C; use super::B;"),
                ("c.rs", c),
            ])
            .circles()
        };
        assert!(circles("mod d; use self::d::D; use crate::c::C;", "").is_empty(), "a parent may know its child");
        assert_eq!(circles("use crate::c::C;", "use crate::b::B;").len(), 2);
        // c → b, and b's child → c: a circle of rooms only.
        assert_eq!(circles("mod d;", "use crate::b::B;").len(), 2);
        // c → b's child, by a re-export.
        assert!(circles("mod d; pub use d::D;", "use crate::b::D;")[0].contains("b/d.rs:1: a::b imports a::c"));
    }

    #[test]
    fn siblings_may_meet_in_their_parent() {
        let circles = |read: &str| {
            let parent = "mod read; mod write; pub use read::Read; pub use write::Write;";
            let write = "use super::Read;";
            house(&[("lib.rs", "mod b;"), ("b.rs", parent), ("b/read.rs", read), ("b/write.rs", write)]).circles()
        };
        assert!(circles("use super::Write;").is_empty());
        assert_eq!(circles("use super::write::Write;").len(), 0, "one way is no circle");
        let parent = "mod read; mod write;";
        let files = [
            ("lib.rs", "mod b;"),
            ("b.rs", parent),
            ("b/read.rs", "use super::write::W;"),
            ("b/write.rs", "use super::read::R;"),
        ];
        assert_eq!(house(&files).circles().len(), 2);
    }

    #[test]
    fn a_thin_crate_stays_thin() {
        let text = "use core::fmt; use tokio::time::Sleep; use other::X;\nfn f() { unsafe { g() } }";
        let house = house(&[("lib.rs", text)]);
        let slips = |cells: &[&str]| house.thin(&row(cells));
        assert!(slips(&["`a`", "`core`, `tokio`, `other`", "1", "1", "2", "why"]).is_empty());
        assert_eq!(slips(&["`a`", "`core`, `tokio`", "1", "1", "2", "why"]), ["lib.rs:1: a never names other::X"]);
        assert_eq!(slips(&["`a`", "`core`, `tokio`, `other`", "0", "0", "1", "why"]).len(), 3);
        assert_eq!(slips(&["`b`", "`core`", "0", "0", "1", "why"]), ["there is no crate `b`"]);
        assert!(slips(&["`a`", "`core`, `tokio`, `other`", "1", "many", "2", "why"])[0].contains("no number"));
        assert_eq!(house.thin(&[]).len(), 1);
    }

    #[test]
    fn long_functions_are_found() {
        let text = ["fn f() {\n", &"g();\n".repeat(LINES_OF_FUNCTIONS - 1), "}\n"].concat();
        assert_eq!(house(&[("lib.rs", &text)]).long(), ["lib.rs:1: `f` has 71 lines of code, at most 70 are allowed"]);
        assert!(house(&[("lib.rs", &text.replacen("g();", "// g", 1))]).long().is_empty());
    }

    #[test]
    fn long_modules_are_found() {
        let house = house(&[("lib.rs", "mod b;"), ("b.rs", &"const _: () = ();\n".repeat(LINES + 1))]);
        assert_eq!(house.long(), ["b.rs: 501 lines of code, at most 500 are allowed"]);
    }

    #[test]
    fn tables_are_read() {
        let page =
            "# P\n\n### Boundaries\n\nText.\n\n| a | b |\n|---|---|\n| `x` | y |\n\n## Next\n\n| c |\n|---|\n| d |\n";
        assert_eq!(table(page, "Boundaries"), [["`x`", "y"]]);
        assert!(table(page, "Gone").is_empty());
    }
}
