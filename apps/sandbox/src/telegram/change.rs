//! The rules by which a group takes a text or a topic. Each takes the state and the time and yields an effect or a refusal.

use chrono::TimeDelta;
use domain::time::Timestamp;

use super::{
    Effect, GroupKnobs, Sent, TelegramKnobs, Topic,
    answer::Failure,
    markup,
    routes::{CreateIn, RenameIn, SendIn},
    state::State,
};

/// Longest text, in UTF-16 units, after its markup was read.
const MAX_UNITS: usize = 4096;
/// Longest name of a topic.
const MAX_NAME: usize = 128;

/// `sendMessage`.
pub(super) fn send(state: &State, now: Timestamp, knobs: &TelegramKnobs, input: SendIn) -> Result<Effect, Failure> {
    let group = group(knobs, input.chat_id)?;
    if let Some(id) = input.message_thread_id {
        let known = state.topic(id).is_some_and(|topic| topic.chat_id == group.id);
        if !known || !group.is_forum {
            return Err(Failure::bad_request("message thread not found"));
        }
    }
    let seen = match input.parse_mode.as_deref() {
        Some("HTML") => markup::plain(&input.text)?,
        None => input.text.clone(),
        Some(_) => return Err(Failure::bad_request("unsupported parse_mode")),
    };
    if seen.trim().is_empty() {
        return Err(Failure::bad_request("message text is empty"));
    }
    if seen.encode_utf16().count() > MAX_UNITS {
        return Err(Failure::bad_request("message is too long"));
    }
    if let Some(seconds) = flooded(state, now, group.id, knobs.texts_per_minute) {
        return Err(Failure::flood(seconds));
    }
    Ok(Effect::Sent {
        sent: Sent {
            id: state.next_id(),
            chat_id: group.id,
            topic_id: input.message_thread_id,
            text: input.text,
        },
    })
}

/// `createForumTopic`.
pub(super) fn create(state: &State, knobs: &TelegramKnobs, input: CreateIn) -> Result<Effect, Failure> {
    let group = may_manage(knobs, input.chat_id)?;
    let name = named(input.name)?;
    Ok(Effect::TopicCreated {
        topic: Topic {
            id: state.next_id(),
            chat_id: group.id,
            name,
        },
    })
}

/// `editForumTopic`.
pub(super) fn rename(state: &State, knobs: &TelegramKnobs, input: RenameIn) -> Result<Effect, Failure> {
    let group = may_manage(knobs, input.chat_id)?;
    let topic = state
        .topic(input.message_thread_id)
        .filter(|topic| topic.chat_id == group.id)
        .ok_or_else(|| Failure::bad_request("message thread not found"))?;
    let name = named(input.name)?;
    if name == topic.name {
        return Err(Failure::bad_request("TOPIC_NOT_MODIFIED"));
    }
    Ok(Effect::TopicRenamed {
        topic_id: topic.id,
        name,
    })
}

fn group(knobs: &TelegramKnobs, id: i64) -> Result<&GroupKnobs, Failure> {
    let group = knobs
        .groups
        .iter()
        .find(|group| group.id == id)
        .ok_or_else(|| Failure::bad_request("chat not found"))?;
    if let Some(to) = group.moved_to {
        return Err(Failure::moved(to));
    }
    if !group.is_member {
        return Err(Failure::forbidden("bot was kicked from the supergroup chat"));
    }
    Ok(group)
}

fn may_manage(knobs: &TelegramKnobs, id: i64) -> Result<&GroupKnobs, Failure> {
    let group = group(knobs, id)?;
    if !group.is_forum {
        return Err(Failure::bad_request("the chat is not a forum"));
    }
    if !group.can_manage_topics {
        return Err(Failure::bad_request("not enough rights to create a topic"));
    }
    Ok(group)
}

fn named(name: String) -> Result<String, Failure> {
    if (1..=MAX_NAME).contains(&name.chars().count()) {
        Ok(name)
    } else {
        Err(Failure::bad_request("TOPIC_TITLE_EMPTY"))
    }
}

/// Seconds until the group takes another text; `None` is now.
fn flooded(state: &State, now: Timestamp, chat_id: i64, limit: Option<u32>) -> Option<i64> {
    let limit = usize::try_from(limit?).ok()?;
    let minute = TimeDelta::minutes(1);
    let within = |at: &Timestamp| now.signed_duration_since(*at) < minute;
    let lately: Vec<Timestamp> = state.lately(chat_id).rev().take_while(within).collect();
    if lately.len() < limit {
        return None;
    }
    let leaves = lately
        .get(limit.saturating_sub(1))
        .or(lately.last())
        .map_or(minute, |at| minute - now.signed_duration_since(*at));
    Some(leaves.num_seconds().saturating_add(1).clamp(1, 60))
}
