//! The fuzzers' corpus, run as ordinary tests.

use fifolock_model::program;
use std::fs;
use std::path::Path;

fn each_input(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut inputs = 0;
    for entry in entries {
        let path = entry.expect("the folder can be listed").path();
        println!("{}", path.display());
        run(&fs::read(&path).expect("an input can be read"));
        inputs += 1;
    }
    assert!(inputs > 10, "{} has only {inputs} inputs", folder.display());
}

#[test]
fn inputs_of_the_mutex() {
    each_input("mutex", program::mutex);
}

#[test]
fn inputs_of_the_read_write_lock() {
    each_input("rwlock", program::rwlock);
}

#[test]
fn inputs_of_shared_tasks() {
    each_input("shared", program::shared);
}
