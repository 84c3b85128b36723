//! Tests of what is ordered, and of what is forgotten.

use super::*;

const LOC: LocId = LocId(0);

fn order() -> Order {
    let mut order = Order::new(true);
    order.create_stream(1, true);
    order.create_stream(2, true);
    order.create_stream(3, false);
    order
}

fn write(order: &mut Order, stream: u64, span: Span) -> usize {
    let job = order.begin(
        stream,
        Task::Kernel("k".to_owned()),
        None,
        LocId(stream as u32 + 1),
    );
    order.touch(job, Deed::Write, &[span]);
    order.take_found().len()
}

fn host_reads(order: &mut Order, span: Span) -> usize {
    order.host(&HostAccess {
        span,
        writes: false,
        looks: false,
        loc: LOC,
    });
    order.take_found().len()
}

#[test]
fn spans_are_cut_by_later_ones() {
    let mut map = Map::default();
    map.set((0, 100), 1);
    map.set((20, 30), 2);
    map.set((25, 60), 3);
    let all: Vec<_> = map.0.iter().map(|(&a, &(b, job))| (a, b, job)).collect();
    assert_eq!(all, [(0, 20, 1), (20, 25, 2), (25, 60, 3), (60, 100, 1)]);
    let found: Vec<_> = map.overlapping((22, 26)).collect();
    assert_eq!(found, [(22, 2), (25, 3)]);
    assert_eq!(map.overlapping((100, 200)).count(), 0);
}

#[test]
fn the_host_has_to_wait() {
    let mut order = order();
    assert_eq!(write(&mut order, 0, (0, 8)), 0);
    assert_eq!(host_reads(&mut order, (8, 16)), 0, "other bytes");
    order.wait_for_stream(3);
    assert_eq!(host_reads(&mut order, (4, 8)), 1, "another stream");
    assert_eq!(host_reads(&mut order, (4, 8)), 0, "it was said");
    assert_eq!(write(&mut order, 0, (0, 8)), 0);
    order.wait_for_all();
    assert_eq!(host_reads(&mut order, (4, 8)), 0);
    assert!(!order.is_busy());
}

#[test]
fn the_default_stream_waits_for_blocking_ones() {
    let mut order = order();
    assert_eq!(write(&mut order, 1, (0, 8)), 0);
    assert_eq!(write(&mut order, 2, (0, 8)), 1, "two streams");
    let mut order = self::order();
    assert_eq!(write(&mut order, 1, (0, 8)), 0);
    assert_eq!(write(&mut order, 0, (0, 8)), 0);
    assert_eq!(write(&mut order, 2, (0, 8)), 0);
    assert_eq!(
        write(&mut order, 3, (0, 8)),
        1,
        "a non-blocking one, against 2"
    );
    order.wait_for_stream(0);
    assert_eq!(host_reads(&mut order, (0, 8)), 1, "in 3");
}

#[test]
fn what_goes_on_for_ever_is_forgotten() {
    let mut order = order();
    assert_eq!(write(&mut order, 1, (0, 8)), 0);
    for _ in 0..3 * LEAST_WORK {
        assert_eq!(write(&mut order, 2, (8, 16)), 0);
    }
    assert!(order.work.len() <= LEAST_WORK);
    assert_eq!(write(&mut order, 2, (0, 8)), 1, "against the first of all");
    order.wait_for_all();
    for handle in 100..100 + 2 * MAX_STREAMS as u64 {
        order.create_stream(handle, true);
        assert_eq!(write(&mut order, handle, (0, 8)), 0);
        order.wait_for_stream(handle);
        order.destroy_stream(handle);
    }
    assert_eq!(
        order.streams.len(),
        5,
        "the place of one that is over is used again"
    );
}

#[test]
fn events_order_streams() {
    let mut order = order();
    assert_eq!(write(&mut order, 1, (0, 8)), 0);
    order.record(7, 1);
    assert_eq!(write(&mut order, 1, (8, 16)), 0);
    order.let_wait(3, 7);
    assert_eq!(write(&mut order, 3, (0, 8)), 0);
    assert_eq!(write(&mut order, 3, (8, 16)), 1, "after the event");
    order.wait_for_event(7);
    assert_eq!(write(&mut order, 2, (0, 8)), 1, "against 3");
}
