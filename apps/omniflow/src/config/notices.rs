//! Where operators are told, and how much.

use std::time::Duration;

use domain::notices::Cap;
use secrets::Secret;

use super::Vars;

/// Where operators are told, and how much.
#[expect(missing_debug_implementations, reason = "it holds a secret")]
pub struct Notices {
    /// Of the bot; `None` is off.
    pub token: Option<Secret<String>>,
    /// The operators' group; `None` is off.
    pub chat_id: Option<i64>,
    /// Most of one kind in a window.
    pub cap: Cap,
}

impl Notices {
    pub(super) fn read(vars: &Vars) -> Self {
        let token = vars.text("APP_TELEGRAM_TOKEN").map(Secret::new);
        if token.as_ref().is_some_and(|token| !telegram::is_token(token.expose())) {
            vars.refuse("APP_TELEGRAM_TOKEN", telegram::SetupError::Token.to_string());
        }
        let chat_id = vars.parsed("APP_OPERATOR_CHAT_ID").filter(|id| *id != 0_i64);
        if chat_id.is_some() && token.is_none() {
            vars.refuse("APP_TELEGRAM_TOKEN", "is needed beside APP_OPERATOR_CHAT_ID");
        }
        let most = vars.parsed("APP_OPERATOR_NOTIFICATION_CAP").unwrap_or(0_u32);
        Self {
            token,
            chat_id,
            cap: Cap {
                most: (most > 0).then_some(most),
                window: window(vars),
            },
        }
    }
}

/// 0 is the default, as installations that exist have it.
fn window(vars: &Vars) -> Duration {
    let name = "APP_OPERATOR_NOTIFICATION_WINDOW_MINUTES";
    let minutes = vars.parsed(name).unwrap_or(0_u64);
    if minutes > 1_440 {
        vars.refuse(name, "has to be from 0 to 1440");
    }
    if minutes == 0 {
        Cap::default().window
    } else {
        Duration::from_secs(minutes.saturating_mul(60))
    }
}
