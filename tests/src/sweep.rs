//! Removing what killed tests left.

use crate::admin::{self, Admin};
use crate::database::PREFIX;
use crate::template;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// On a server that others use too, a database this old that nobody is connected to was left behind.
const LEFT_BEHIND: Duration = Duration::from_hours(1);

/// Everything but the current template: for a server that was just started, so that nobody can be using it.
pub(crate) async fn everything(admin: &Admin) {
    let current = template::name();
    remove(
        admin,
        "select datname from pg_database where datname like 'omniflow\\_%'",
        |name| name != current,
    )
    .await;
}

/// Old test databases without connections.
pub(crate) async fn left_behind(admin: &Admin) {
    let unused = "select datname from pg_database where datname like 'omniflow\\_test\\_%'
        and not exists (select from pg_stat_activity where pg_stat_activity.datname = pg_database.datname)";
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    remove(admin, unused, |name| {
        made_at(name).is_some_and(|made| made + LEFT_BEHIND < now)
    })
    .await;
}

async fn remove(admin: &Admin, list: &'static str, is_left: impl Fn(&str) -> bool) {
    let mut connection = admin.connect().await;
    let names: Vec<String> = sqlx::query_scalar(list)
        .fetch_all(&mut connection)
        .await
        .unwrap_or_default();
    for name in names.iter().filter(|name| is_left(name)) {
        let _ = admin::run(&mut connection, format!("drop database if exists {name} with (force)")).await;
    }
    admin::close(connection).await;
}

/// The time that a test database carries in its name.
fn made_at(name: &str) -> Option<Duration> {
    let millis = name.strip_prefix(PREFIX)?.split('_').next()?.parse().ok()?;
    Some(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_is_read_from_names_of_ours_only() {
        assert_eq!(made_at("omniflow_test_1500_7_0"), Some(Duration::from_millis(1500)));
        assert_eq!(made_at("omniflow_template_0123"), None);
        assert_eq!(made_at("omniflow_test_x"), None);
    }
}
