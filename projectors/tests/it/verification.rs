//! Comparing a read model with the log.

use projectors::{
    NAMES, Name,
    replay::{Progress, rebuild},
    verify::{Kind, verify},
};

use crate::{
    catch_up::follow_all,
    log::Log,
    stories::{Purchase, shop},
};

fn quiet(_: Progress) {}

async fn shop_log() -> Log {
    let mut log = Log::new().await;
    for commit in shop(0, 30) {
        log.append(&commit).await;
    }
    follow_all(&log).await;
    log
}

#[tokio::test]
async fn what_was_followed_verifies_and_so_does_what_was_rebuilt() {
    let mut log = shop_log().await;
    for name in NAMES {
        let verified = verify(&log.pool, name, &quiet).await.unwrap();
        assert_eq!((verified.difference_count, verified.rows > 0), (0, true), "{name}");
        rebuild(&log.pool, name, &quiet).await.unwrap();
        assert_eq!(
            verify(&log.pool, name, &quiet).await.unwrap().difference_count,
            0,
            "{name}"
        );
    }
    // Events that the live rows have not followed yet are no difference.
    log.append(&Purchase::new(500).placed()).await;
    assert_eq!(
        verify(&log.pool, Name::Orders, &quiet).await.unwrap().difference_count,
        0
    );
}

#[tokio::test]
async fn a_difference_names_table_row_and_column() {
    let log = shop_log().await;
    let edits = "update read.orders set state = 'expired', paid_minor = 1 where order_id = '00000000-7000-0001-0000-000000000002';
                 delete from read.orders where order_id = '00000000-7000-0001-0000-000000000003';
                 insert into read.orders select (jsonb_populate_record(o, '{\"order_id\": \"ffffffff-7000-0001-0000-000000000000\"}')).* \
                        from read.orders o where order_id = '00000000-7000-0001-0000-000000000004'";
    sqlx::raw_sql(edits).execute(&log.owner).await.unwrap();
    let verified = verify(&log.pool, Name::Orders, &quiet).await.unwrap();
    assert_eq!(verified.difference_count, 4, "{:?}", verified.differences);
    let told: Vec<String> = verified.differences.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "orders 00000000-7000-0001-0000-000000000002: paid_minor is 1, should be 10000",
            "orders 00000000-7000-0001-0000-000000000002: state is \"expired\", should be \"paid\"",
            "orders 00000000-7000-0001-0000-000000000003: missing",
            "orders ffffffff-7000-0001-0000-000000000000: not in the log",
        ]
    );
    assert!(matches!(verified.differences[2].kind, Kind::Missing));
    assert_eq!(
        verify(&log.pool, Name::Deliveries, &quiet)
            .await
            .unwrap()
            .difference_count,
        0
    );
}

#[tokio::test]
async fn a_verification_holds_nobody_up() {
    let log = shop_log().await;
    let mut snapshot = log
        .pool
        .begin_with("begin isolation level repeatable read, read only")
        .await
        .unwrap();
    let _: i64 = sqlx::query_scalar("select count(*) from orders")
        .fetch_one(&mut *snapshot)
        .await
        .unwrap();
    let mut connection = log.pool.acquire().await.unwrap();
    // The fence passes while such a snapshot is open: it has drawn no transaction id.
    store::high_water::settle(&mut connection, std::time::Duration::from_secs(5))
        .await
        .unwrap();
}
