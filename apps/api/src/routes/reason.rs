//! A person's reason: short prose that is kept beside the events it led to.

use crate::problem::Problem;

/// Most characters of a reason or of an operator's name.
const MOST: usize = 500;

/// The text, trimmed; refused when it says nothing or says too much.
pub(super) fn required(text: &str, what: &'static str) -> Result<String, Problem> {
    let text = text.trim();
    let fits = !text.is_empty() && text.chars().count() <= MOST && !text.chars().any(char::is_control);
    if fits {
        Ok(text.to_owned())
    } else {
        Err(Problem::invalid_request(what))
    }
}
