//! The examples run.

use testkit::could_not_judge;
use tightlink::ErrorKind;

#[path = "../examples/one_run.rs"]
mod one_run;
#[path = "../examples/own_controller.rs"]
mod own_controller;
#[path = "../examples/own_sizer.rs"]
mod own_sizer;
#[path = "../examples/sweep.rs"]
mod sweep;

#[test]
fn one_run_is_answered_by_theory_and_simulation() {
    one_run::main().expect("answers");
}

#[test]
fn a_sweep_runs_in_memory() {
    sweep::main().expect("answers");
}

#[test]
fn a_controller_of_ones_own_runs_and_keeps_its_name() {
    own_controller::main().expect("an answer");
    let again = own_controller::main().expect_err("the name is taken");
    assert!(again.complaints[0].found.contains("\"sqrt\" already"), "{again}");
    // The kernel and the emulator need rights that this machine may not give.
    match own_controller::on_packets() {
        Err(error) if error.kind == ErrorKind::Environment => could_not_judge(error),
        answer => answer.expect("shares on real packets"),
    }
}

#[test]
fn a_sizer_of_ones_own_keeps_the_queue_short() {
    own_sizer::main().expect("answers");
}
