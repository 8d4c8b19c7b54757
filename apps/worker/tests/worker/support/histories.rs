//! Random histories, told one after the other.

use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

/// Tells `cases` histories of these steps, the same ones in every run of the tests. A failing one is made shorter.
pub(crate) fn tell<S: Strategy>(cases: u32, steps: &S, history: impl AsyncFn(S::Value)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let config = Config {
        cases,
        max_shrink_iters: 40,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let told = runner.run(steps, |steps| {
        runtime.block_on(history(steps));
        Ok(())
    });
    told.unwrap();
}
