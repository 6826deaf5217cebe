//! A skin in contact with itself, beside the same flesh in contact with colliders.

use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::mesh::{Embedding, TetMesh};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::potentials::contact::{Collider, ContactSkin, Shape};
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, Transform};
use jounce_tests::boxes::{box_mesh, row_of};
use jounce_tests::limb::displacement;

/// Cells of a block, their width, and the distance from one block to the next, metres.
const CELLS: [usize; 3] = [4, 4, 6];
const CELL: f64 = 0.05;
const NEXT: f64 = 0.25;
/// Side of a block along the row, and the middle of the gap between two.
const SIDE: f64 = 0.2;
const MIDDLE: f64 = 0.225;
const FRAMES: u32 = 16;

/// Blocks in a row with a bone each.
struct Row {
    mesh: TetMesh,
    model: Model,
}

impl Row {
    /// Blocks `next` metres apart; each is pinned where `pinned` says so, by its number and the place in it.
    fn new(count: usize, next: f64, poisson: f64, pinned: impl Fn(usize, f64) -> bool) -> Self {
        let one = box_mesh(CELLS, CELL);
        let (each, mesh) = (one.vertices().len(), row_of(&one, count, next));
        let within = |(vertex, place): (usize, &[f64; 3])| {
            pinned(vertex / each, place[0] - next * (vertex / each) as f64)
        };
        let pinned: Vec<bool> = mesh.vertices().iter().enumerate().map(within).collect();
        let weight = |i: usize| if i / count / each == i % count { 1.0 } else { 0.0 };
        let weights: Vec<f64> = (0..count * each * count).map(weight).collect();
        let rig = Rig::new(count * each, count, &weights).unwrap();
        let [young, poisson, density] = [2e4, poisson, 1000.0].map(Field::Uniform);
        let material = Material::new(Law::NeoHookean, young, poisson, density).unwrap();
        let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
        let extras = FullSpaceExtras { rig: Some(&rig), ..FullSpaceExtras::default() };
        let model = FullSpaceModel::of(&mesh, &material, &restraint, &extras, &Progress::default()).unwrap();
        Self { mesh, model: Model::FullSpace(model.into()) }
    }

    /// Two blocks that are pinned at their outer sides.
    fn pair(poisson: f64) -> Self {
        Self::new(2, NEXT, poisson, |block, x| if block == 0 { x == 0.0 } else { x > 0.9 * SIDE })
    }

    fn skin(&self, self_collision: bool) -> ContactSkin {
        ContactSkin {
            points: Embedding::new(&self.mesh, self.mesh.vertices().to_vec()).unwrap().into(),
            triangles: self.mesh.boundary().into(),
            rig: None,
            self_collision,
        }
    }

    fn touching_itself(&self) -> Simulation {
        Simulation::among(self.model.clone(), params(), &[], Some(self.skin(true))).unwrap()
    }

    fn among(&self, collider: Collider) -> Simulation {
        Simulation::among(self.model.clone(), params(), &[collider], Some(self.skin(false))).unwrap()
    }

    fn alone(&self) -> Simulation {
        Simulation::new(self.model.clone(), params()).unwrap()
    }
}

fn params() -> SimulationParams {
    SimulationParams {
        max_iterations: 500,
        tolerance: 1e-9,
        damping: 0.1,
        substeps: 2,
        ..SimulationParams::default()
    }
}

fn shift(x: f64) -> Transform {
    [[1.0, 0.0, 0.0, x], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
}

/// Way of a block towards the other in a frame.
fn way(frame: u32) -> f64 {
    0.005 * f64::from(frame.min(10))
}

/// Displacements after each frame, and the number of frames that have not converged.
fn played(sim: &mut Simulation, at: impl Fn(u32) -> Vec<Transform>) -> (Vec<Vec<f64>>, usize) {
    let (colliders, mut unconverged) = (vec![shift(0.0); sim.collider_count()], 0);
    let go = |frame| {
        let pose = at(frame);
        let input = StepInput { pose: Some(&pose), colliders: Some(&colliders), ..StepInput::default() };
        let report = sim.step_with(&input, &Progress::default()).unwrap();
        unconverged += usize::from(!report.converged);
        displacement(sim)
    };
    let frames = (0..FRAMES).map(go).collect();
    (frames, unconverged)
}

fn towards_each_other(frame: u32) -> Vec<Transform> {
    vec![shift(way(frame)), shift(-way(frame))]
}

fn furthest(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// By symmetry each block meets a wall without friction in the middle.
#[test]
fn two_blocks_press_each_other_as_each_one_a_wall() {
    for poisson in [0.0, 0.3, 0.45, 0.49] {
        let alone = Row::new(1, NEXT, poisson, |_, x| x == 0.0);
        let wall = Shape::plane([MIDDLE, 0.0, 0.0], [-1.0, 0.0, 0.0]).unwrap();
        let wall = Collider::new(wall, 0.0).unwrap();
        let (one, _) = played(&mut alone.among(wall), |frame| vec![shift(way(frame))]);
        let (both, unconverged) = played(&mut Row::pair(poisson).touching_itself(), towards_each_other);
        let (one, both) = (one.last().unwrap(), both.last().unwrap());
        let (off, pressed) = (furthest(one, both), furthest(one, &vec![0.0; one.len()]));
        println!("{poisson}: {off:e} of {pressed}, {unconverged} unconverged");
        assert!(pressed > 0.02 && off < 0.03 * pressed && unconverged == 0, "{poisson}: {off} of {pressed}");
    }
}

/// A block beside one of bone alone dents as at a collider.
#[test]
fn flesh_meets_bone_that_is_skin_too() {
    let row = Row::new(2, NEXT, 0.45, |block, x| block == 1 || x == 0.0);
    let bone = Collider::new(Shape::plane([NEXT, 0.0, 0.0], [-1.0, 0.0, 0.0]).unwrap(), 0.0).unwrap();
    let there = |frame| vec![shift(1.2 * way(frame)), shift(0.0)];
    let (with, unconverged) = played(&mut row.touching_itself(), there);
    let (beside, _) = played(&mut row.among(bone), there);
    let (with, beside) = (with.last().unwrap(), beside.last().unwrap());
    let (off, pressed) = (furthest(with, beside), furthest(beside, &vec![0.0; beside.len()]));
    println!("{off:e} of {pressed}, {unconverged} unconverged");
    assert!(pressed > 0.008 && off < 0.05 * pressed && unconverged == 0, "{off} of {pressed}");
}

/// Skin that meets nothing moves as without self-collision, bit for bit: both sides of a slab of flesh, and
/// blocks that overlap at rest and are pressed further into each other.
#[test]
fn sides_of_a_limb_and_layers_do_not_touch() {
    let apart = |frame| vec![shift(-way(frame)), shift(way(frame))];
    let row = Row::pair(0.45);
    assert!(played(&mut row.touching_itself(), apart) == played(&mut row.alone(), apart));
    let layers =
        Row::new(2, 0.99 * SIDE, 0.45, |block, x| if block == 0 { x == 0.0 } else { x > 0.9 * SIDE });
    let slow = |frame| vec![shift(0.2 * way(frame)), shift(-0.2 * way(frame))];
    assert!(played(&mut layers.touching_itself(), slow) == played(&mut layers.alone(), slow));
}

#[test]
fn a_restored_state_goes_on_the_same() {
    let row = Row::pair(0.45);
    let mut first = row.touching_itself();
    for frame in 0..5 {
        first.step(Some(&towards_each_other(frame))).unwrap();
    }
    let state = first.save_state();
    let mut second = row.touching_itself();
    second.restore_state(&state).unwrap();
    for frame in 5..8 {
        let pose = towards_each_other(frame);
        assert_eq!(first.step(Some(&pose)).unwrap(), second.step(Some(&pose)).unwrap());
        assert_eq!(first.coefficients(), second.coefficients());
    }
}

#[test]
fn what_cannot_touch_itself_is_refused() {
    let body = Body::bar();
    let mesh = body.mesh.clone();
    let skin = ContactSkin {
        points: Embedding::new(&mesh, mesh.vertices().to_vec()).unwrap().into(),
        triangles: mesh.boundary().into(),
        rig: Some(body.rig.clone().into()),
        self_collision: true,
    };
    let refused = Simulation::among(body.model(), SimulationParams::default(), &[], Some(skin));
    assert!(matches!(refused, Err(Error::Unsupported { what: "self_collision", .. })));
    let row = Row::pair(0.3);
    let points = ContactSkin { triangles: Vec::new().into(), ..row.skin(true) };
    let refused = Simulation::among(row.model.clone(), params(), &[], Some(points));
    assert!(matches!(refused, Err(Error::Empty { what: "contact_triangles" })));
}
