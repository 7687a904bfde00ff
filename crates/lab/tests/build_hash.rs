//! The hash of the sources (`build.rs`) is of every token, and of nothing else.

#[path = "../build/tokens.rs"]
mod tokens;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::fs;
use tokens::without_comments;

/// Returns the tokens as one text, without docs.
fn read(source: &str) -> String {
    let tokens: TokenStream = source.parse().unwrap_or_else(|error| panic!("{error}: {source}"));
    let mut text = String::new();
    write(tokens, &mut text);
    text
}

fn write(tokens: TokenStream, into: &mut String) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is =
        |at: usize, mark: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == mark);
    let is_doc = |at: usize| match tokens.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
        }
        _ => false,
    };
    let mut at = 0;
    while at < tokens.len() {
        if is(at, '#') {
            let group = at + 1 + usize::from(is(at + 1, '!'));
            if is_doc(group) {
                at = group + 1;
                continue;
            }
        }
        match &tokens[at] {
            TokenTree::Group(group) => {
                into.push_str(&format!("{:?}<", group.delimiter()));
                write(group.stream(), into);
                into.push('>');
            }
            TokenTree::Punct(punct) => into.push_str(&format!("{}{:?} ", punct.as_char(), punct.spacing())),
            token => into.push_str(&format!("{token}\n")),
        }
        at += 1;
    }
}

#[test]
fn no_token_of_our_sources_is_lost() {
    let files = testkit::files(&testkit::repository().join("crates"), "rs");
    assert!(files.len() > 500, "{} files", files.len());
    for file in files {
        let source = fs::read_to_string(&file).expect("a source file");
        assert!(read(&source) == read(&without_comments(&source)), "{}", file.display());
    }
}

#[test]
fn comments_docs_and_layout_do_not_count() {
    let bare = "fn a() { let b = 1; }";
    for same in [
        "fn a() { let b = 1; } // one",
        "// one\n\n/* two /* three */ four */ fn a()\n{ let  b = 1;\n\n}",
        "/// A doc with a \" and a '.\nfn a() {\n    // What's \"this\n    let b = 1;\n}\n",
        "fn a()/* */{ let/**/b = 1; }",
    ] {
        assert_eq!(read(bare), read(&without_comments(same)), "{same}");
        let clean = without_comments(same);
        assert!(!clean.contains("//") && !clean.contains("/*"), "{clean}");
    }
    let reworded =
        |text: &str| without_comments(&format!("//! {text}\nfn a() {{\n    // {text}\n    b(\"//\");\n}}\n"));
    assert_eq!(reworded("one"), reworded("it's \"another\" /* one"));
}

#[test]
fn literals_keep_what_looks_like_a_comment() {
    for kept in [
        r#"a("http://one/* two */")"#,
        r#"a("\"// one")"#,
        r#"a("one\\") + b("//")"#,
        "a(\"one  \n\n  two\")",
        r###"a(r#"one" // two"#)"###,
        r###"a(br##"one"# /* two */"##)"###,
        r#"a(r"\") + b("/* */")"#,
        r#"a(b"//", c"//")"#,
        r#"a('"', '\'', b'"', '/', '\\') + b("//")"#,
        r#"fn a<'a>(b: &'a str) { 'c: loop { break 'c } } const D: &str = "// 'x'";"#,
        r##"r#fn("//")"##,
        r#"bar"//""#,
    ] {
        assert_eq!(without_comments(kept), kept);
    }
    assert_ne!(without_comments("a(\"one // two\")"), without_comments("a(\"one // three\")"));
    assert_ne!(without_comments("let ab = 1;"), without_comments("let a b = 1;"));
}
