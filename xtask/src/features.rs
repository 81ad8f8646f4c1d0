//! Every combination of the features of each published crate builds, since a user may turn on any feature, and cargo
//! unites the features of several users.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use xshell::cmd;

use crate::context::{Context, Failure, OrElse as _, Outcome, Result, is_published};

/// 512 builds of a crate. A crate with more features needs groups.
const FEATURES_MAX: usize = 9;

/// Features that only add an `impl`. Each is built alone and beside all others, and no further.
const APART: &[&str] = &["defmt"];

type Features<'a> = BTreeMap<&'a str, Vec<&'a str>>;

pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let target = cx.target.join("features");
    for package in cx.packages().iter().filter(|package| is_published(package)) {
        let name = package["name"].as_str().expect("a package has a name");
        let sets = combinations(&declared(package)).map_err(|count| {
            Failure::new(
                &format!("{name} has {count} features; at most {FEATURES_MAX} can be combined"),
                "build groups of features together in xtask/src/features.rs",
            )
        })?;
        println!("features: {name}: {} combinations", sets.len());
        for set in sets {
            let list = set.join(",");
            println!("features: {name} [{list}]");
            // All builds have the same RUSTFLAGS, so that the dependencies build once.
            cmd!(sh, "cargo check --quiet -p {name} --no-default-features --features={list} --target-dir {target}")
                .quiet()
                .env("RUSTFLAGS", "-D warnings")
                .run()
                .or_tell("a `cfg` that forgets a feature is the usual cause")?;
        }
    }
    Ok(Outcome::Passed)
}

/// The features of a package that are for users, without `default`, each with the features that it turns on.
pub(crate) fn declared(package: &Value) -> Features<'_> {
    let table = package["features"].as_object();
    table
        .into_iter()
        .flatten()
        // A feature whose name begins with `_` is for the project itself.
        .filter(|(name, _)| *name != "default" && !name.starts_with('_'))
        .map(|(name, implied)| {
            let implied = implied.as_array().into_iter().flatten();
            (name.as_str(), implied.filter_map(Value::as_str).collect())
        })
        .collect()
}

/// All sets of features that differ in what they turn on, the empty set first. `Err` has the number of features, if
/// that is above [`FEATURES_MAX`].
fn combinations<'a>(features: &Features<'a>) -> core::result::Result<Vec<Vec<&'a str>>, usize> {
    let (apart, combined): (Vec<&str>, Vec<&str>) = features.keys().copied().partition(|name| APART.contains(name));
    if combined.len() > FEATURES_MAX {
        return Err(combined.len());
    }
    let powerset = (0..1_usize << combined.len()).map(|bits| {
        let chosen = combined.iter().enumerate().filter(|(index, _)| bits >> index & 1 == 1);
        chosen.map(|(_, name)| *name).collect::<Vec<&str>>()
    });
    let mut seen = BTreeSet::new();
    let mut sets = Vec::new();
    let alone = apart.iter().map(|name| vec![*name]);
    for chosen in powerset.chain(alone).chain([features.keys().copied().collect()]) {
        if seen.insert(closure(&chosen, features)) {
            sets.push(chosen);
        }
    }
    Ok(sets)
}

/// The chosen features, and all features of the same crate that they turn on.
pub(crate) fn closure<'a>(chosen: &[&'a str], features: &Features<'a>) -> BTreeSet<&'a str> {
    let mut all = BTreeSet::new();
    let mut todo = chosen.to_vec();
    while let Some(name) = todo.pop() {
        // `dep:x` and `x/y` are no features of this crate and have no entry.
        if let Some(implied) = features.get(name)
            && all.insert(name)
        {
            todo.extend(implied);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sets_that_turn_on_the_same_are_built_once() {
        let package = json!({ "features": {
            "default": ["std"],
            "std": ["alloc", "dep:log", "other/std"],
            "alloc": [],
            "spin": [],
            "_own": [],
        }});
        let sets = combinations(&declared(&package)).unwrap();
        // Of the eight sets, the two with both `std` and `alloc` equal those with `std` alone.
        assert_eq!(sets.len(), 6);
        assert_eq!(sets[0], Vec::<&str>::new());
        assert!(sets.contains(&vec!["alloc", "spin"]));
    }

    #[test]
    fn features_that_imply_each_other_end() {
        let package = json!({ "features": { "a": ["b"], "b": ["a"] } });
        let sets = combinations(&declared(&package)).unwrap();
        assert_eq!(sets, [vec![], vec!["a"]]);
    }

    #[test]
    fn a_crate_without_features_is_built_once() {
        let package = json!({ "features": {} });
        let sets = combinations(&declared(&package)).unwrap();
        assert_eq!(sets, [Vec::<&str>::new()]);
    }

    #[test]
    fn what_only_adds_is_built_alone_and_with_all() {
        let package = json!({ "features": { "alloc": [], "defmt": [], "spin": [] } });
        let sets = combinations(&declared(&package)).unwrap();
        assert_eq!(sets.len(), 6);
        assert_eq!(sets[4..], [vec!["defmt"], vec!["alloc", "defmt", "spin"]]);
    }

    #[test]
    fn too_many_features_are_refused() {
        let names: Vec<String> = (0..=FEATURES_MAX).map(|n| format!("f{n}")).collect();
        let features = names.iter().map(|name| (name.as_str(), vec![])).collect();
        assert_eq!(combinations(&features), Err(FEATURES_MAX + 1));
    }
}
