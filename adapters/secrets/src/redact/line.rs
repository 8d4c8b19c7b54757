//! One line for a person: redacted, bounded, and without anything that a terminal or a chat would obey.

use super::{json, text};

/// What a longer text ends in.
const CUT: char = '…';

/// Redacted, without control characters, and at most `most` characters; a longer text ends in `…`. Line ends and tabs become spaces; what
/// cannot be seen goes before the rules are applied, so that it hides nothing from them. A second pass changes nothing.
pub fn line(content: &str, most: usize) -> String {
    let visible: String = content.chars().filter_map(shown).collect();
    let mut line = once(&visible, most);
    // A cut can make a run of digits, say, look like a card's number, or end a text where a document ends.
    for _ in 0..4 {
        let again = once(&line, most);
        if again == line {
            break;
        }
        line = again;
    }
    line
}

fn once(content: &str, most: usize) -> String {
    let document = by_key(content);
    cut(&text(document.as_deref().unwrap_or(content)), most)
}

/// A text that is a JSON document is redacted as one: a key's name tells of everything below it, however deep.
fn by_key(content: &str) -> Option<String> {
    let document = content.trim_start().starts_with(['{', '[']);
    let tree: serde_json::Value = document.then(|| serde_json::from_str(content).ok())??;
    Some(json(&tree).to_string())
}

fn cut(content: &str, most: usize) -> String {
    if content.chars().count() <= most {
        return content.to_owned();
    }
    let mut kept: String = content.chars().take(most.saturating_sub(1)).collect();
    if most > 0 {
        kept.push(CUT);
    }
    kept
}

/// The character as it may be shown, if at all.
fn shown(character: char) -> Option<char> {
    match character {
        '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some(' '),
        hidden if hidden.is_control() || is_invisible(hidden) => None,
        other => Some(other),
    }
}

/// Zero width, direction and tag characters: they change how the rest of a line reads.
const fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
