//! Rust source without the parts that cannot change a number: comments, docs and layout.

/// Returns the source with each run of white space and comments as one space. Literals stay as they are, so that two
/// sources with other differences stay different.
pub fn without_comments(source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut rest = source;
    let mut in_gap = false;
    while let Some(first) = rest.chars().next() {
        let length = gap(rest);
        let length = if length > 0 {
            if !in_gap {
                kept.push(' ');
            }
            in_gap = true;
            length
        } else {
            let length = match first {
                '"' => string(rest, hashes_of_raw(&kept)),
                '\'' => character(rest),
                _ => first.len_utf8(),
            };
            kept.push_str(&rest[..length]);
            in_gap = false;
            length
        };
        rest = &rest[length..];
    }
    kept
}

/// Returns the length of the white space character or comment that `rest` begins with; 0 if it begins with neither.
fn gap(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    rest.chars().next().filter(|first| first.is_whitespace()).map_or(0, char::len_utf8)
}

/// Returns the length of a block comment, which may contain others.
fn block_comment(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the number of `#` that end a raw string whose opening before the quote is the end of `kept`; `None` if the
/// string is not raw.
fn hashes_of_raw(kept: &str) -> Option<usize> {
    let before = kept.trim_end_matches('#');
    let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(before);
    matches!(word, "r" | "br" | "cr").then(|| kept.len() - before.len())
}

/// Returns the length of the string that begins with the quote at the start of `rest`.
fn string(rest: &str, hashes: Option<usize>) -> usize {
    if let Some(hashes) = hashes {
        let end = format!("\"{}", "#".repeat(hashes));
        return rest[1..].find(&end).map_or(rest.len(), |at| 1 + at + end.len());
    }
    escaped(rest, '"')
}

/// Returns the length of the character that begins with the quote at the start of `rest`; 1 if the quote begins a
/// lifetime.
fn character(rest: &str) -> usize {
    let mut after = rest[1..].chars();
    match after.next() {
        Some('\\') => escaped(rest, '\''),
        Some(one) if after.next() == Some('\'') => 2 + one.len_utf8(),
        _ => 1,
    }
}

/// Returns the length up to the next `quote` that no backslash precedes.
fn escaped(rest: &str, quote: char) -> usize {
    let mut after = rest.char_indices().skip(1);
    while let Some((at, here)) = after.next() {
        if here == '\\' {
            after.next();
        } else if here == quote {
            return at + here.len_utf8();
        }
    }
    rest.len()
}
