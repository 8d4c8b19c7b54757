//! The text of a notice: its title, the fields that may be shown, in one order, and its time. HTML, escaped; a value stands in `<code>`,
//! where Telegram makes neither links nor mentions of it.

use chrono::SecondsFormat;
use ports::notices::Notice;
use secrets::redact;
use serde_json::Value;

use crate::titles::title;

/// The longest text, in UTF-16 units. Telegram counts after it has read the markup; counted here with it, a text is never longer.
pub const MAX_UNITS: usize = 4096;

/// The only fields that are shown, in this order (spec/operations 8). No names, accounts, links, tokens or payloads.
const SHOWN: [&str; 18] = [
    "orderId",
    "subscriptionId",
    "entitlementId",
    "provider",
    "operation",
    "currency",
    "amountMinor",
    "creditedMinor",
    "classification",
    "reason",
    "source",
    "errorCode",
    "fileName",
    "sizeBytes",
    "status",
    "event",
    "adminUserId",
    "method",
];
/// Kept free for the time, which is never cut.
const TIME_UNITS: usize = 64;
/// The longest value: one long field must not push the others out.
const MAX_VALUE_CHARACTERS: usize = 400;
/// No more of a value is read.
const MAX_READ_CHARACTERS: usize = 4 * MAX_VALUE_CHARACTERS;
/// Stands where something was cut off.
const CUT: &str = "…";

/// The text of a notice, with a banner in front of its title where there is one.
pub fn text(notice: &Notice, banner: Option<&str>) -> String {
    let mut page = Page::default();
    let heading = match banner {
        Some(banner) => format!("{banner} {}", title(notice.kind)),
        None => title(notice.kind).to_owned(),
    };
    page.line("<b>", &heading, "</b>");
    for name in SHOWN {
        if let Some(value) = notice.payload.get(name).and_then(shown) {
            page.line(&format!("{name}: <code>"), &value, "</code>");
        }
    }
    let at = notice.at.to_rfc3339_opts(SecondsFormat::Secs, true);
    page.text.push_str("\nat: ");
    page.text.push_str(&at);
    page.text
}

/// A value on one line. Objects and arrays are no values of a notice.
fn shown(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => redact::line(beginning(text), MAX_VALUE_CHARACTERS),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    let mut characters = text.chars().map(|one| if is_visible(one) { one } else { ' ' });
    let mut line: String = characters.by_ref().take(MAX_VALUE_CHARACTERS).collect();
    if characters.next().is_some() {
        line.push_str(CUT);
    }
    (!line.trim().is_empty()).then_some(line)
}

/// What is enough of a long text, up to its last whole word: the redactor reads no more than it must, and no half of a secret slips through.
fn beginning(text: &str) -> &str {
    let Some((end, _)) = text.char_indices().nth(MAX_READ_CHARACTERS) else {
        return text;
    };
    let read = text.get(..end).unwrap_or(text);
    read.rsplit_once(char::is_whitespace).map_or(read, |(words, _)| words)
}

/// Neither a line break, which could forge a field, nor a mark that turns the direction of what follows or hides it.
fn is_visible(one: char) -> bool {
    !(one.is_control()
        || matches!(one, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{61c}' | '\u{feff}'))
}

/// A text that grows line by line up to its bound.
#[derive(Default)]
struct Page {
    text: String,
    units: usize,
}

impl Page {
    /// Adds a line of markup round a value, which is escaped, and cut where it does not fit: between characters, never inside an entity
    /// or a tag. A line of which nothing fits is left out.
    fn line(&mut self, open: &str, value: &str, close: &str) {
        let fixed = units(open)
            .saturating_add(units(close))
            .saturating_add(units(CUT))
            .saturating_add(1);
        let room = MAX_UNITS
            .saturating_sub(TIME_UNITS)
            .saturating_sub(self.units)
            .saturating_sub(fixed);
        let mut escaped = String::new();
        let mut used = 0_usize;
        let mut buffer = [0; 4];
        for one in value.chars() {
            let piece: &str = match one {
                '<' => "&lt;",
                '>' => "&gt;",
                '&' => "&amp;",
                '"' => "&quot;",
                _ => one.encode_utf8(&mut buffer),
            };
            let longer = used.saturating_add(units(piece));
            if longer > room {
                if used == 0 {
                    return;
                }
                escaped.push_str(CUT);
                used = used.saturating_add(units(CUT));
                break;
            }
            escaped.push_str(piece);
            used = longer;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(open);
        self.text.push_str(&escaped);
        self.text.push_str(close);
        self.units = self.units.saturating_add(fixed).saturating_add(used);
    }
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests;
