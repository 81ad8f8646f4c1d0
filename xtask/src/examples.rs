//! Each example runs and prints something, and each page that names its command shows that output.

use serde_json::Value;
use xshell::cmd;

use crate::context::is_published;
use crate::context::{Context, Failure, OrElse as _, Outcome, Result};

pub(crate) fn run(cx: &Context, _args: &[String]) -> Result<Outcome> {
    let sh = &cx.sh;
    let mut pages = Vec::new();
    for page in cmd!(sh, "git ls-files --cached -- *.md").read().or_tell("run the command in a git checkout")?.lines() {
        pages.push((page.to_owned(), sh.read_file(page).or_tell("save the page as UTF-8")?));
    }
    let mut ran = 0;
    for package in cx.packages().iter().filter(|package| is_published(package)) {
        let targets = package["targets"].as_array().into_iter().flatten();
        for example in targets.filter(|target| target["kind"][0] == "example") {
            let command = command(package, example);
            let printed = cmd!(sh, "cargo")
                .args(command.split(' ').skip(1))
                .read()
                .or_tell("run the command by itself and mend the example")?;
            println!("{printed}");
            faultless(&command, &printed, &pages)?;
            ran += 1;
        }
    }
    if ran == 0 {
        return Err(Failure::new("no published crate has an example", "see whether `cargo metadata` lists them"));
    }
    Ok(Outcome::Passed)
}

/// The command that runs an example.
fn command(package: &Value, example: &Value) -> String {
    let name = |value: &Value| value["name"].as_str().expect("cargo metadata names it").to_owned();
    let features: Vec<&str> =
        example["required-features"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let command = format!("cargo run -p {} --example {}", name(package), name(example));
    if features.is_empty() { command } else { format!("{command} --features {}", features.join(",")) }
}

/// Whether an example prints something, and whether the pages that name its command show that output.
fn faultless(command: &str, printed: &str, pages: &[(String, String)]) -> Result<()> {
    let printed = printed.trim_end();
    // Every text contains the empty text.
    if printed.is_empty() {
        return Err(Failure::new(&format!("`{command}` prints nothing"), "make the example print what it shows"));
    }
    let wrong = pages.iter().find(|(_, text)| text.contains(command) && !text.contains(printed));
    match wrong {
        None => Ok(()),
        Some((page, _)) => Err(Failure::new(
            &format!("{page} names `{command}`, and doesn't show what the command prints:\n{printed}"),
            "put this into the page, or mend the example",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn commands_name_the_features_of_an_example() {
        let package = json!({ "name": "locks" });
        let example = json!({ "name": "one", "required-features": ["a", "b"] });
        assert_eq!(command(&package, &example), "cargo run -p locks --example one --features a,b");
        assert_eq!(command(&package, &json!({ "name": "two" })), "cargo run -p locks --example two");
    }

    #[test]
    fn silence_and_other_words_are_faults() {
        let page = |text: &str| [("A.md".to_owned(), text.to_owned())];
        assert!(faultless("run", "\n", &page("other")).is_err());
        assert!(faultless("run", "a\nb\n", &page("`run` prints\na\nc")).is_err());
        assert!(faultless("run", "a\nb\n", &page("`run` prints\na\nb")).is_ok());
        assert!(faultless("run", "a\nb\n", &page("names no command")).is_ok());
    }
}
