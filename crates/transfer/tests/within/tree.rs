//! Tests of the walk through a tree that is sent.

use super::*;
use crate::send::sources::sources;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn source(path: &Path) -> Source {
    sources(&[path.to_owned()]).unwrap().remove(0)
}

fn open(tree: &Tree<'_>) -> usize {
    tree.levels.iter().filter(|level| level.folder.is_some()).count()
}

#[test]
fn a_deep_tree_is_found_whole_with_few_folders_open() {
    let bench = tempfile::tempdir().unwrap();
    let mut folder = bench.path().join("top");
    let mut expected = BTreeSet::new();
    let mut put = |path: &Path| {
        let below = path.strip_prefix(bench.path()).unwrap();
        assert!(expected.insert(below.as_os_str().as_bytes().to_vec()));
    };
    for depth in 0..OPEN * 3 {
        fs::create_dir(&folder).unwrap();
        put(&folder);
        for file in ["a", "x", "z"].map(|name| folder.join(name)) {
            fs::write(&file, depth.to_string()).unwrap();
            put(&file);
        }
        // A second branch of the same depth begins in the middle.
        if depth == OPEN {
            let mut branch = folder.join("branch");
            for _ in 0..OPEN * 2 {
                fs::create_dir(&branch).unwrap();
                put(&branch);
                branch.push("b");
            }
        }
        folder.push("inner");
    }
    let source = source(&bench.path().join("top"));
    let mut tree = Tree::new(&source);
    let (mut found, mut most) = (BTreeSet::new(), 0);
    while let Some(one) = tree.next() {
        let WalkedEntry::Entry(name, ..) = one else { panic!("{one:?}") };
        assert!(found.insert(name.bytes().to_vec()), "{name} again");
        most = most.max(open(&tree));
    }
    assert!(found == expected, "{} of {}", found.len(), expected.len());
    assert_eq!(most, OPEN);
}

#[test]
fn a_folder_that_another_one_replaced_is_not_gone_on_with() {
    let bench = tempfile::tempdir().unwrap();
    let top = bench.path().join("top");
    let mut folder = top.clone();
    for _ in 0..OPEN + 5 {
        fs::create_dir(&folder).unwrap();
        folder.push("inner");
    }
    for name in ["one", "two"] {
        fs::write(top.join("inner").join(name), "inside").unwrap();
    }
    let source = source(&top);
    let mut tree = Tree::new(&source);
    let is_file = |one: &WalkedEntry| matches!(one, WalkedEntry::Entry(_, there, _) if there.is_file());
    let mut before = 0;
    while tree.closed < 2 {
        before += usize::from(is_file(&tree.next().unwrap()));
    }
    // Now the folder with files is closed; its files may have been found by then.
    fs::rename(top.join("inner"), bench.path().join("aside")).unwrap();
    fs::create_dir(top.join("inner")).unwrap();
    let rest: Vec<WalkedEntry> = tree.collect();
    assert_eq!(rest.iter().filter(|one| is_file(one)).count(), 0, "{rest:?}");
    let reports = |one: &WalkedEntry| match one {
        WalkedEntry::Lost(path, why) => path.ends_with("top/inner") && why.starts_with("another folder"),
        _ => false,
    };
    assert_eq!(rest.iter().any(reports), before < 2, "{rest:?}");
}
