//! Dents of a displayed skin: it takes the shape of what presses it, as far as flesh gives way, and nothing
//! else moves.

use jounce::Error;
use jounce::mesh::{Embedding, TetMesh};
use jounce::potentials::contact::{Collider, Dents, Shape};
use jounce_tests::bodies::{REST, Transform, bar, turn};

/// Cells of the body along x, y and z, and their size, metres.
const CELLS: [usize; 3] = [10, 10, 5];
const CELL: f64 = 0.1;
/// Points along a side of the skin, on its upper face.
const SIDE: usize = 81;
const TOP: f64 = CELL * CELLS[2] as f64;

/// A skin at a height of the body, facing up.
fn skin(height: f64) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let step = CELL * CELLS[0] as f64 / (SIDE - 1) as f64;
    let points = (0..SIDE * SIDE).map(|i| [step * (i % SIDE) as f64, step * (i / SIDE) as f64, height]);
    let corner = |x: usize, y: usize| (SIDE * y + x) as u32;
    let faces = (0..SIDE - 1).flat_map(|y| (0..SIDE - 1).map(move |x| (x, y))).flat_map(|(x, y)| {
        let [a, b, c, d] = [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)].map(|(x, y)| corner(x, y));
        [[a, b, c], [a, c, d]]
    });
    (points.collect(), faces.collect())
}

fn dents(mesh: &TetMesh, points: &[[f64; 3]], triangles: &[[u32; 3]], pinned: &[bool]) -> Dents {
    Dents::new(mesh, &Embedding::new(mesh, points.to_vec()).unwrap(), triangles, pinned).unwrap()
}

/// A ball whose lowest place is at a depth below the top of the body.
fn ball(depth: f64, radius: f64) -> Collider {
    Collider::new(Shape::sphere([0.5, 0.5, TOP + radius - depth], radius).unwrap(), 0.5).unwrap()
}

/// The skin at the top of a body without pinned vertices, pressed by a collider.
fn pressed(collider: &Collider, transform: Transform) -> (Vec<[f64; 3]>, Vec<[f64; 3]>) {
    let (mesh, (points, triangles)) = (bar(CELLS, CELL), skin(TOP));
    let none = vec![false; mesh.vertices().len()];
    let mut shown = points.clone();
    let skin = dents(&mesh, &points, &triangles, &none);
    skin.press(std::slice::from_ref(collider), &[transform], &mut shown).unwrap();
    (points, shown)
}

/// Deepest place in a collider, metres.
fn deepest(collider: &Collider, points: &[[f64; 3]]) -> f64 {
    points.iter().map(|&point| -collider.shape().distance(point).0).fold(0.0, f64::max)
}

#[test]
fn skin_takes_the_shape_of_what_presses_it() {
    let box_shape = Shape::cuboid([0.5, 0.5, TOP + 0.17], [0.3, 0.2, 0.4]).unwrap();
    let rod = Shape::capsule([-1.0, 0.5, TOP + 0.02], [2.0, 0.5, TOP + 0.02], 0.05).unwrap();
    let others = [box_shape, rod].map(|shape| Collider::new(shape, 0.5).unwrap());
    for collider in [ball(0.01, 0.2), ball(0.04, 0.2), ball(0.03, 0.06)].iter().chain(&others) {
        let (before, after) = pressed(collider, REST);
        let deep = [&before, &after].map(|points| deepest(collider, points));
        println!("{:.4} m deep, then {:.5}", deep[0], deep[1]);
        assert!(deep[0] > 0.009 && deep[1] < 0.03 * deep[0]);
        for (before, after) in before.iter().zip(&after) {
            let is_inside = collider.shape().distance(*before).0 < 0.0;
            assert!(is_inside || before == after, "{before:?} is outside and moved to {after:?}");
            assert!(after[2] <= before[2] + 1e-12);
        }
    }
}

#[test]
fn a_dent_goes_along_with_its_collider() {
    // A quarter turn about z carries the rod from the axis of x to that of y.
    let rod = Shape::capsule([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], 0.05).unwrap();
    let rod = Collider::new(rod, 0.5).unwrap();
    let quarter = turn([0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2, [0.0; 3], [0.0; 3]);
    let place = |mut transform: Transform| {
        (0..3).for_each(|c| transform[c][3] = [0.5, 0.5, TOP + 0.02][c]);
        transform
    };
    let [(_, along), (before, across)] = [REST, quarter].map(|transform| pressed(&rod, place(transform)));
    assert!(before != across);
    for (i, place) in across.iter().enumerate() {
        let [x, y, z] = along[SIDE * (i % SIDE) + i / SIDE];
        let apart = [place[0] - y, place[1] - x, place[2] - z].map(f64::abs);
        assert!(apart.iter().all(|apart| *apart < 1e-12), "{place:?} beside {x}, {y}, {z}");
    }
}

#[test]
fn layers_keep_their_order() {
    let mesh = bar(CELLS, CELL);
    let none = vec![false; mesh.vertices().len()];
    let ball = ball(0.04, 0.2);
    let heights = [TOP, TOP - 0.002, TOP - 0.004].map(|height| {
        let (points, triangles) = skin(height);
        let mut shown = points.clone();
        let skin = dents(&mesh, &points, &triangles, &none);
        skin.press(std::slice::from_ref(&ball), &[REST], &mut shown).unwrap();
        shown[SIDE * SIDE / 2][2]
    });
    assert!(heights.is_sorted_by(|a, b| a > b), "{heights:?}");
}

#[test]
fn bone_gives_nothing_and_flesh_on_it_half_of_its_depth() {
    let (mesh, (points, triangles)) = (bar(CELLS, CELL), skin(TOP));
    // A step: bone below a thin layer on one side, up to the surface on the other.
    let bone = |place: &[f64; 3]| place[0] > 0.85 || place[0] > 0.45 && place[2] < TOP - 0.75 * CELL;
    let pinned: Vec<bool> = mesh.vertices().iter().map(bone).collect();
    let plate = Shape::cuboid([0.5, 0.5, TOP + 0.185], [2.0, 2.0, 0.5]).unwrap();
    let plate = Collider::new(plate, 0.5).unwrap();
    let mut shown = points.clone();
    let skin = dents(&mesh, &points, &triangles, &pinned);
    skin.press(std::slice::from_ref(&plate), &[REST], &mut shown).unwrap();
    let row = SIDE * (SIDE / 2);
    let moved: Vec<f64> = (row..row + SIDE).map(|i| TOP - shown[i][2]).collect();
    println!("{moved:.4?}");
    // The plate is .065 m deep, where flesh gives way by .07 m and on bone by .05 m.
    assert!(moved[SIDE - 1] == 0.0 && moved[(SIDE - 1) * 9 / 10] == 0.0);
    assert!((0.045..=0.055).contains(&moved[(SIDE - 1) * 6 / 10]), "half of a cell");
    assert!(moved[0] > 0.06);
    let steps = moved.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    assert!(steps.fold(0.0, f64::max) < 0.01, "a smooth rim");
}

#[test]
fn skin_that_is_too_deep_or_would_close_around_a_collider_stays() {
    // The most that flesh gives way is a twentieth of the skin's diagonal, .07 m.
    let middle = SIDE * SIDE / 2;
    let moved = |collider: &Collider| {
        let (before, after) = pressed(collider, REST);
        before[middle][2] - after[middle][2]
    };
    let ground = |height: f64| {
        Collider::new(Shape::plane([0.0, 0.0, TOP - height], [0.0, 0.0, -1.0]).unwrap(), 0.5).unwrap()
    };
    let by_depth: Vec<f64> = [0.02, 0.06, 0.08, 0.11, 0.13].map(|depth| moved(&ground(depth))).to_vec();
    println!("{by_depth:.4?}");
    assert!((by_depth[0] - 0.98 * 0.02).abs() < 1e-4 && by_depth[1] > 0.05);
    assert!(by_depth[2] > by_depth[3] && by_depth[3] > by_depth[4] && by_depth[4] > 0.0);
    assert!(moved(&ground(0.15)) == 0.0);
    // A ball within the flesh, just below the skin: the nearest way out of it is up.
    assert!(moved(&ball(0.21, 0.12)) == 0.0);
}

#[test]
fn spared_points_stay() {
    let (mesh, (points, triangles)) = (bar(CELLS, CELL), skin(TOP));
    let middle = SIDE * SIDE / 2;
    let none = vec![false; mesh.vertices().len()];
    let ball = ball(0.02, 0.2).sparing(&[middle as u32]);
    let mut shown = points.clone();
    dents(&mesh, &points, &triangles, &none).press(&[ball], &[REST], &mut shown).unwrap();
    assert!(shown[middle] == points[middle] && shown[middle + 1] != points[middle + 1]);
}

#[test]
fn wrong_input_is_refused_and_changes_nothing() {
    let (mesh, (points, triangles)) = (bar(CELLS, CELL), skin(TOP));
    let embedding = Embedding::new(&mesh, points.clone()).unwrap();
    let none = vec![false; mesh.vertices().len()];
    let refusal =
        |triangles: &[[u32; 3]], pinned: &[bool]| Dents::new(&mesh, &embedding, triangles, pinned).err();
    assert!(matches!(refusal(&triangles, &[]), Some(Error::Shape { what: "pinned", .. })));
    let beyond = [[0, 1, points.len() as u32]];
    assert!(matches!(refusal(&beyond, &none), Some(Error::Index { what: "triangles", .. })));
    let skin = Dents::new(&mesh, &embedding, &triangles, &none).unwrap();
    let mut shown = points.clone();
    let short = skin.press(&[ball(0.02, 0.2)], &[REST], &mut shown[1..]);
    assert!(matches!(short, Err(Error::Shape { what: "points", .. })));
    let few = skin.press(&[ball(0.02, 0.2)], &[], &mut shown);
    assert!(matches!(few, Err(Error::Shape { what: "transforms", .. })));
    let flat = skin.press(&[ball(0.02, 0.2)], &[[[0.0; 4]; 3]], &mut shown);
    assert!(matches!(flat, Err(Error::Range { what: "transforms", .. })));
    assert!(shown == points);
    shown[3][1] = f64::NAN;
    let lost = skin.press(&[ball(0.02, 0.2)], &[REST], &mut shown);
    assert!(matches!(lost, Err(Error::NotFinite { what: "points", element: 3, .. })));
}
