//! Drills that wait for leases, rescues and claims most of the time. They wait together, each on an installation of its own.

use tokio::task::JoinSet;

use crate::fire::{api_crashes, crash_points, goods, late_writes, remote_names, slow_panel};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drills_that_mostly_wait() {
    let mut drills = JoinSet::new();
    // A submission may be with the gateway for two minutes, so this one takes longest: it begins first.
    drills.spawn(goods::a_crash_in_either_window_buys_once_at_most_and_parks_the_order());
    drills.spawn(late_writes::the_panel_ends_with_the_newest_state_whatever_lands_late());
    drills.spawn(api_crashes::a_crash_around_the_providers_call_leaves_one_invoice_and_one_settlement());
    drills
        .spawn(api_crashes::b57_a_request_repeated_after_a_crash_has_its_effect_once_and_read_models_equal_a_replay());
    drills.spawn(crash_points::a_worker_that_crashed_at_each_of_its_failpoints_loses_and_doubles_nothing());
    drills.spawn(slow_panel::b65_what_a_killed_worker_ran_ends_on_another_within_a_rescue_and_a_minute());
    drills.spawn(slow_panel::b65_a_worker_that_is_told_to_stop_hands_its_work_back_at_once_and_at_no_cost());
    drills.spawn(remote_names::b34_a_lost_answer_makes_one_user_and_a_foreign_one_is_never_touched());
    while let Some(drill) = drills.join_next().await {
        // The panic itself was printed with the place of its claim.
        drill.expect("every drill ends well");
    }
}
