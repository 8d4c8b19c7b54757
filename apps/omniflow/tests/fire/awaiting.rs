//! Drills that wait for leases, rescues and claims most of the time. They wait together, each on an installation of its own.

use std::{pin::Pin, time::Duration};

use tokio::task::JoinSet;

use crate::fire::{
    api_crashes, crash_points, goods, late_writes, notice_crashes, remote_names, slow_panel, upkeep_crashes,
};

type Drill = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Between the starts of two installations: what one costs while its processes start is all that two cores have.
const APART: Duration = Duration::from_secs(4);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drills_that_mostly_wait() {
    // A submission may be with the gateway for two minutes, so that one takes longest: it begins first.
    let drills: [Drill; 10] = [
        Box::pin(goods::a_crash_in_either_window_buys_once_at_most_and_parks_the_order()),
        Box::pin(late_writes::the_panel_ends_with_the_newest_state_whatever_lands_late()),
        Box::pin(slow_panel::b65_what_a_killed_worker_ran_ends_on_another_within_a_rescue_and_a_minute()),
        Box::pin(api_crashes::a_crash_around_the_providers_call_leaves_one_invoice_and_one_settlement()),
        Box::pin(
            api_crashes::b57_a_request_repeated_after_a_crash_has_its_effect_once_and_read_models_equal_a_replay(),
        ),
        Box::pin(crash_points::a_worker_that_crashed_at_each_of_its_failpoints_loses_and_doubles_nothing()),
        Box::pin(upkeep_crashes::passes_and_doors_that_crashed_at_a_commit_are_done_once()),
        Box::pin(notice_crashes::hints_and_notices_survive_a_crash_around_them()),
        Box::pin(slow_panel::b65_a_worker_that_is_told_to_stop_hands_its_work_back_at_once_and_at_no_cost()),
        Box::pin(remote_names::b34_a_lost_answer_makes_one_user_and_a_foreign_one_is_never_touched()),
    ];
    let mut running = JoinSet::new();
    for drill in drills {
        running.spawn(drill);
        tokio::time::sleep(APART).await;
    }
    while let Some(drill) = running.join_next().await {
        // The panic itself was printed with the place of its claim.
        drill.expect("every drill ends well");
    }
}
