//! Stopped and killed, `up` goes on with what it has.

use std::{collections::BTreeMap, time::Duration};

use omniflow::driver::Shop;
use ports::ids::{Ids as _, SystemIds};
use sandbox::{journal, panel::Effect};
use uuid::Uuid;

use crate::up::{
    folder::Folder,
    process::{Process, Start},
};

/// The promise is a minute.
pub(crate) const READY: Duration = Duration::from_secs(60);
/// The sample catalog's first plan.
const PLAN: Uuid = Uuid::from_u128(0x0196_0000_0000_7000_8000_0000_0000_0001);

async fn orders(folder: &Folder) -> i64 {
    let pool = folder.database().await;
    let counted = sqlx::query_scalar("select count(*) from events where event_type = 'order.placed'");
    counted.fetch_one(&pool).await.expect("the log can be read")
}

/// Buys a plan by hand and waits for the access.
async fn buy(up: &mut Process) {
    let url = up.says("ready:", READY).await;
    let token = up.says("token:", READY).await;
    let shop = Shop::new(url, token.into()).expect("a client");
    let placed = shop.buy_plan(SystemIds.next(), SystemIds.next(), PLAN).await;
    let order = placed.expect("placed");
    let payment = shop.ask_for_money(SystemIds.next(), order.id, "manual").await;
    let approved = shop.approve(SystemIds.next(), payment.expect("asked for").id).await;
    approved.expect("settled");
    let fulfilled = tokio::time::timeout(READY, async {
        while shop.order(order.id).await.expect("answered").state != "fulfilled" {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    fulfilled.await.expect("fulfilled within a minute");
}

/// Every id of the panel with the names and marks that it ever had.
fn users_ever(folder: &Folder) -> BTreeMap<i64, Vec<(String, Option<String>)>> {
    let mut users: BTreeMap<i64, Vec<_>> = BTreeMap::new();
    let path = journal::path(&journal::dir(&folder.data()), "panel");
    let read = journal::read_entries::<Effect>(&path, |entry| {
        if let Some(user) = entry.effect.user() {
            let known = users.entry(user.id).or_default();
            known.push((user.username.clone(), user.description.clone()));
            known.dedup();
        }
    });
    read.expect("the journal can be read");
    users
}

#[tokio::test]
async fn an_empty_folder_becomes_a_shop_and_a_stopped_one_goes_on_with_its_orders() {
    let folder = Folder::new();
    let mut up = Start::of(folder.path(), &["up"]).now();
    up.says("ready:", READY).await;
    assert_eq!(orders(&folder).await, 1, "the sample order");
    let token = up.says("token:", READY).await;
    up.interrupt().await;
    assert!(folder.servers().is_empty(), "the database server stops with it");

    let mut again = Start::of(folder.path(), &["up"]).now();
    again.says("ready:", READY).await;
    assert_eq!(orders(&folder).await, 1, "no second sample order");
    assert_eq!(again.says("token:", READY).await, token, "the token is kept");
    again.interrupt().await;
    assert!(folder.servers().is_empty());
}

#[tokio::test]
async fn a_killed_one_goes_on_and_no_user_of_the_panel_ever_becomes_another() {
    let folder = Folder::new();
    let mut up = Start::of(folder.path(), &["up"]).now();
    buy(&mut up).await;
    up.kill();
    let mut again = Start::of(folder.path(), &["up"]).now();
    buy(&mut again).await;
    again.kill();
    let mut last = Start::of(folder.path(), &["up"]).now();
    buy(&mut last).await;
    assert_eq!(orders(&folder).await, 4, "one sample order, three by hand");
    last.interrupt().await;
    assert!(folder.servers().is_empty(), "an adopted server stops too");

    let users = users_ever(&folder);
    assert_eq!(users.len(), 4, "{users:?}");
    assert!(users.values().all(|known| known.len() == 1), "{users:?}");
}

#[tokio::test]
async fn a_signal_during_the_start_stops_what_was_started() {
    let folder = Folder::new();
    let up = Start::of(folder.path(), &["up"]).now();
    let server = tokio::time::timeout(READY, async {
        while folder.servers().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    server.await.expect("the server starts");
    up.interrupt().await;
    assert!(folder.servers().is_empty());
}
