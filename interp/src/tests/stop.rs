//! Stops a machine: launches and host threads end where they are, with any number of jobs.

use std::thread;
use std::time::Duration;

use ir::FuncId;

use super::{Bench, OUT_N};
use crate::{HostThread, StopFlag, StopReason, TrapKind};

/// Hours of work.
const LONG: &str = "slot $2 : i32 \"i\"\nset $2, 0\nloop L0 {\n%0 = get $2\n%1 = add.i32 %0, 1\nset $2, %1\n\
                    %2 = cmp.eq.i32 %1, -1\nif %2 { break L0 }\n}";

/// Stops the machine when it has done some of the work.
fn stop_soon(flag: &StopFlag, why: StopReason) -> thread::JoinHandle<()> {
    let flag = flag.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(30));
        flag.ask(why);
    })
}

#[test]
fn a_launch_stops_at_any_number_of_jobs() {
    for jobs in [1, 3] {
        for checks in [crate::Checks::NONE, crate::Checks::ALL] {
            let mut bench = Bench::kernel(OUT_N, LONG);
            (bench.machine.jobs, bench.machine.checks) = (jobs, checks);
            let time = Duration::from_millis(1500);
            let why = StopReason::TimeOver(time);
            bench.machine.stop = StopFlag::with_time(time);
            let asked = stop_soon(&bench.machine.stop, why);
            let trap = bench.trap(64, 32, &[0, 0]);
            asked.join().expect("it was asked for");
            assert_eq!(trap.kind, TrapKind::Stopped(why));
            assert_eq!(trap.message(), "the --timeout of 1.5 s has expired");
        }
    }
}

#[test]
fn a_launch_that_is_not_to_begin_stops_at_once() {
    let mut bench = Bench::kernel(OUT_N, "");
    bench.machine.stop.ask(StopReason::Interrupted);
    let trap = bench.trap(1, 32, &[0, 0]);
    assert_eq!(trap.kind, TrapKind::Stopped(StopReason::Interrupted));
}

#[test]
fn a_host_loop_stops() {
    let mut bench = Bench::new(&format!("host fn0 @f() {{\n{LONG}\n}}\n"));
    let flag = StopFlag::default();
    let mut thread = HostThread::new(&bench.program, FuncId(0), &[]).stopped_by(&flag);
    let asked = stop_soon(&flag, StopReason::Terminated);
    let trap = thread.resume(&bench.program, &mut bench.memory, None, None);
    asked.join().expect("it was asked for");
    let kind = trap.expect_err("it ends").kind;
    assert_eq!(kind, TrapKind::Stopped(StopReason::Terminated));
}
