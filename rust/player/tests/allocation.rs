//! A step and its displacements allocate nothing.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{model_file, points, pose};
use jounce_player::{Player, Setting};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: as the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_step_allocates_nothing_at_any_level_of_detail_and_while_a_point_is_held() {
    let mut player = Player::load(&model_file(24)).unwrap();
    player.attach(points()).unwrap();
    let mut out = vec![0.0; 3 * player.points()];
    let poses: Vec<_> = (0..120).map(|frame| pose(f64::from(frame) / 60.0)).collect();
    for (modes, held) in [(24.0, false), (8.0, false), (0.0, false), (24.0, true)] {
        player.set(Setting::Modes, modes).unwrap();
        if held {
            player.grab(100, [0.0, 0.2, 0.0]).unwrap();
        }
        // The first frames may find room for the limits of stretch and displacement.
        for round in 0..2 {
            let before = COUNT.get();
            for (frame, pose) in poses.iter().enumerate() {
                player.step(pose, [1.0 / 60.0, 1.0 / 45.0][frame % 2]).unwrap();
                player.displace(&mut out).unwrap();
            }
            let count = COUNT.get() - before;
            assert!(round == 0 || count == 0, "{count} allocations with {modes} modes, held: {held}");
        }
    }
}
