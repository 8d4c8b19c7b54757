//! Reads HTML as the Bot API does: a few tags, four named entities, everything closed in order. What is left is what a reader sees.

use super::answer::Failure;

/// Tags that need no attribute.
const TAGS: [&str; 8] = ["b", "strong", "i", "em", "u", "s", "code", "pre"];
const ENTITIES: [(&str, char); 4] = [("lt;", '<'), ("gt;", '>'), ("amp;", '&'), ("quot;", '"')];

/// The text without its markup.
pub(super) fn plain(html: &str) -> Result<String, Failure> {
    let mut seen = String::with_capacity(html.len());
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        let (before, after) = rest.split_at(at);
        seen.push_str(before);
        if let Some(entity) = after.strip_prefix('&') {
            let found = ENTITIES
                .iter()
                .find_map(|(name, character)| Some((entity.strip_prefix(name)?, *character)));
            // The real servers take a lone `&` for itself.
            let (next, character) = found.unwrap_or((entity, '&'));
            seen.push(character);
            rest = next;
            continue;
        }
        let (tag, next) = after
            .get(1..)
            .and_then(|inside| inside.split_once('>'))
            .ok_or_else(|| broken("unclosed start tag"))?;
        match tag.strip_prefix('/') {
            Some(name) if open.last() == Some(&name) => {
                open.pop();
            }
            Some(_) => return Err(broken("unexpected end tag")),
            None if TAGS.contains(&tag) => open.push(tag),
            None => return Err(broken("unsupported start tag")),
        }
        rest = next;
    }
    seen.push_str(rest);
    if open.is_empty() {
        Ok(seen)
    } else {
        Err(broken("can't find end tag"))
    }
}

fn broken(why: &str) -> Failure {
    Failure::bad_request(&format!("can't parse entities: {why}"))
}
