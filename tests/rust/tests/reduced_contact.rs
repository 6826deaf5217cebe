//! Bodies in a basis of displacements among colliders: with all displacements as the full space, with few as
//! far as these dent.

use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::Law;
use jounce::mesh::Embedding;
use jounce::model::Model;
use jounce::model::reduced::{ReducedExtras, ReducedModel};
use jounce::potentials::contact::{Collider, ContactSkin, Shape};
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::Basis;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Transform, bar, swing, turn, waves};
use jounce_tests::limb::{Limb, displacement, played};

/// Number of frames.
const FRAMES: u32 = 16;
/// A collider at its modelled place.
const REST: Transform = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

fn limb(law: Law, poisson: f64) -> Limb {
    Limb::bulging(bar([6, 2, 2], 0.1), law, 2e4, poisson)
}

fn params() -> SimulationParams {
    let gravity = [0.0, 0.0, -5.0];
    SimulationParams {
        max_iterations: 500,
        tolerance: 1e-9,
        damping: 0.1,
        substeps: 2,
        gravity,
        ..SimulationParams::default()
    }
}

/// The vertices as contact points, with the triangles between them, skinned as they are.
fn skin(limb: &Limb) -> ContactSkin {
    ContactSkin {
        points: Embedding::new(&limb.mesh, limb.mesh.vertices().to_vec()).unwrap().into(),
        triangles: limb.mesh.boundary().into(),
        rig: Some(limb.rig.clone().into()),
        self_collision: false,
    }
}

/// A ground below the limb, and a rod that comes at it from above.
fn colliders(friction: f64) -> [Collider; 2] {
    let ground = Shape::plane([0.0, 0.0, -0.03], [0.0, 0.0, 1.0]).unwrap();
    let rod = Shape::capsule([0.45, -1.0, 0.35], [0.45, 1.0, 0.35], 0.05).unwrap();
    [ground, rod].map(|shape| Collider::new(shape, friction).unwrap())
}

fn time(frame: u32) -> f64 {
    f64::from(frame) / 24.0
}

/// Lowest place of the rod below its modelled one, metres.
fn placed(frame: u32, low: f64) -> [Transform; 2] {
    [REST, turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [0.0, 0.0, -low * (4.0 * time(frame)).sin().max(0.0)])]
}

/// Displacements in all frames; the rod comes down by `low`.
fn moved(limb: &Limb, model: Model, friction: f64, low: f64, params: SimulationParams) -> Vec<f64> {
    let mut sim = Simulation::among(model, params, &colliders(friction), Some(skin(limb))).unwrap();
    let mut found = Vec::new();
    for frame in 0..FRAMES {
        let (pose, places) = (swing(time(frame)), placed(frame, low));
        let input = StepInput { pose: Some(&pose), colliders: Some(&places), ..StepInput::default() };
        let report = sim.step_with(&input, &Progress::default()).unwrap();
        assert!(report.converged, "{frame}: {report:?}");
        found.extend(displacement(&sim));
    }
    found
}

#[test]
fn all_displacements_touch_as_the_full_space() {
    for (law, poisson) in
        [(Law::Corotated, 0.0), (Law::NeoHookean, 0.3), (Law::Corotated, 0.45), (Law::NeoHookean, 0.49)]
    {
        let limb = limb(law, poisson);
        let full = limb.full();
        let reduced = Model::Reduced(limb.reduced(&limb.everything(), Some(full.frequency())).into());
        let full = Model::FullSpace(full.into());
        for friction in [0.0, 0.6] {
            let right = moved(&limb, full.clone(), friction, 0.12, params());
            let found = moved(&limb, reduced.clone(), friction, 0.12, params());
            let poses: Vec<_> = (0..FRAMES).map(|frame| swing(time(frame))).collect();
            let [free, _] = played(full.clone(), params(), &poses);
            let (error, touched) = (limb.error(&found, &right), limb.error(&right, &free));
            println!("{law:?} {poisson} {friction}: {error:e} off, contact changes {touched}");
            assert!(error < 1e-4, "{law:?} {poisson} {friction}: {error:e}");
            assert!(touched > 0.1, "{touched}");
        }
    }
}

/// Largest depth of the free vertices beyond the colliders in all frames, metres.
fn depth(limb: &Limb, found: &[f64], low: f64) -> f64 {
    let colliders = colliders(0.0);
    let mut deepest = 0.0;
    for (frame, moved) in (0..FRAMES).zip(found.chunks(3 * limb.mesh.vertices().len())) {
        let posed = limb.rig.posed(limb.mesh.vertices(), &swing(time(frame))).unwrap();
        let shift = placed(frame, low).map(|place| [0, 1, 2].map(|c| place[c][3]));
        let free =
            posed.iter().zip(moved.as_chunks::<3>().0).zip(&limb.pinned).filter(|(_, pinned)| !**pinned);
        for ((place, u), _) in free {
            for (collider, shift) in colliders.iter().zip(shift) {
                let local = [0, 1, 2].map(|c| place[c] + u[c] - shift[c]);
                deepest = f64::max(deepest, -collider.shape().distance(local).0);
            }
        }
    }
    deepest
}

/// The motion of the full space lies in the displacements, and is therefore the minimum in them too. Damping
/// by the frequencies of a basis differs, as does friction, since few displacements do not tell how points
/// share a force; states between frames lie outside.
#[test]
fn displacements_of_a_shot_with_contact_dent_as_it_did() {
    for poisson in [0.0, 0.3, 0.49] {
        let limb = limb(Law::NeoHookean, poisson);
        let full = limb.full();
        let frequency = full.frequency();
        let plain = SimulationParams { damping: 0.0, substeps: 1, ..params() };
        let right = moved(&limb, Model::FullSpace(full.into()), 0.0, 0.12, plain);
        let basis = Basis::from_shapes(&right, FRAMES as usize).unwrap();
        let model = Model::Reduced(limb.reduced(&basis, Some(frequency)).into());
        let error = limb.error(&moved(&limb, model, 0.0, 0.12, plain), &right);
        println!("{poisson}: {error:e} off");
        assert!(error < 1e-3, "{poisson}: {error:e}");
    }
}

/// A limb in few displacements.
fn in_waves(poisson: f64) -> (Limb, Model) {
    let limb = limb(Law::NeoHookean, poisson);
    let model = Model::Reduced(limb.reduced(&waves(&limb.mesh, 14), None).into());
    (limb, model)
}

#[test]
fn without_a_meeting_no_bit_changes() {
    let (limb, model) = in_waves(0.45);
    let far = Shape::plane([0.0, 0.0, -5.0], [0.0, 0.0, 1.0]).unwrap();
    let far = [Collider::new(far, 0.5).unwrap()];
    let mut among = Simulation::among(model.clone(), params(), &far, Some(skin(&limb))).unwrap();
    let mut alone = Simulation::new(model, params()).unwrap();
    for frame in 0..FRAMES {
        let pose = swing(time(frame));
        let reports = [&mut among, &mut alone].map(|sim| sim.step(Some(&pose)).unwrap());
        assert_eq!(reports[0], reports[1]);
        assert_eq!(among.coefficients(), alone.coefficients());
    }
}

#[test]
fn a_restored_state_replays_among_colliders_bit_for_bit() {
    let (limb, model) = in_waves(0.3);
    let mut sim = Simulation::among(model, params(), &colliders(0.6), Some(skin(&limb))).unwrap();
    let step = |sim: &mut Simulation, frame: u32| {
        let (pose, places) = (swing(time(frame)), placed(frame, 0.12));
        let input = StepInput { pose: Some(&pose), colliders: Some(&places), ..StepInput::default() };
        sim.step_with(&input, &Progress::default()).unwrap();
        sim.coefficients().to_vec()
    };
    (0..6).for_each(|frame| drop(step(&mut sim, frame)));
    let state = sim.save_state();
    let first: Vec<_> = (6..FRAMES).map(|frame| step(&mut sim, frame)).collect();
    sim.restore_state(&state).unwrap();
    let mut copy = sim.duplicate().unwrap();
    for sim in [&mut sim, &mut copy] {
        let again: Vec<_> = (6..FRAMES).map(|frame| step(sim, frame)).collect();
        assert_eq!(first, again);
    }
}

/// Few displacements cannot dent around a rod: the flesh gives way as far as they let it.
#[test]
fn few_displacements_give_way_to_ground_and_rod() {
    for poisson in [0.0, 0.45, 0.49] {
        let (limb, model) = in_waves(poisson);
        let [free, found] = {
            let mut sim = Simulation::new(model.clone(), params()).unwrap();
            let mut free = Vec::new();
            for frame in 0..FRAMES {
                sim.step(Some(&swing(time(frame)))).unwrap();
                free.extend(displacement(&sim));
            }
            [free, moved(&limb, model, 0.3, 0.12, params())]
        };
        let [before, after] = [&free, &found].map(|all| depth(&limb, all, 0.12));
        println!("{poisson}: {before} m deep without contact, {after} with");
        assert!(before > 0.1 && after < 1e-4, "{poisson}: {before} {after}");
    }
}

/// A contact with a place that only the far end can press would throw that end: it is left out.
#[test]
fn what_cannot_dent_is_not_thrown() {
    let limb = limb(Law::NeoHookean, 0.3);
    let vertices = limb.mesh.vertices();
    // One soft bend, and motion along the limb of each point at the rod.
    let mut shapes: Vec<f64> = vertices.iter().flat_map(|v| [0.0, 0.0, (v[0] / 0.6).powi(2)]).collect();
    let at_rod = |v: &[f64; 3]| (v[0] - 0.3).abs() < 0.01 && v[2] > 0.19;
    for own in (0..vertices.len()).filter(|&v| at_rod(&vertices[v])) {
        shapes.extend((0..3 * vertices.len()).map(|i| if i == 3 * own { 1.0 } else { 0.0 }));
    }
    let basis = Basis::from_shapes(&shapes, shapes.len() / (3 * vertices.len())).unwrap();
    let model = Model::Reduced(limb.reduced(&basis, None).into());
    let rod = Shape::capsule([0.3, -1.0, 0.26], [0.3, 1.0, 0.26], 0.05).unwrap();
    let params = SimulationParams { gravity: [0.0; 3], ..params() };
    let rod = [Collider::new(rod, 0.0).unwrap()];
    let mut sim = Simulation::among(model, params, &rod, Some(skin(&limb))).unwrap();
    let mut furthest = 0.0;
    for frame in 0..FRAMES {
        let places = [turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [0.0, 0.0, -0.01 * f64::from(frame)])];
        let input = StepInput { pose: Some(&[REST; 2]), colliders: Some(&places), ..StepInput::default() };
        sim.step_with(&input, &Progress::default()).unwrap();
        furthest = displacement(&sim).iter().fold(furthest, |most: f64, x| most.max(x.abs()));
    }
    assert!(furthest < 0.05, "{furthest}");
}

#[test]
fn flesh_settles_on_the_ground() {
    let limb = limb(Law::Corotated, 0.45);
    let full = limb.full();
    let models = [
        Model::Reduced(limb.reduced(&limb.everything(), Some(full.frequency())).into()),
        Model::FullSpace(full.into()),
    ];
    let ground = [colliders(0.5)[0].clone()];
    let params = SimulationParams { gravity: [0.0, 0.0, -9.81], ..params() };
    let rests = models.map(|model| {
        let mut sim = Simulation::among(model, params, &ground, Some(skin(&limb))).unwrap();
        let input = StepInput { pose: Some(&[REST; 2]), ..StepInput::default() };
        let report = sim.settle(&input, 2000, &Progress::default()).unwrap();
        assert!(report.converged, "{report:?}");
        displacement(&sim)
    });
    let lowest = rests[1].as_chunks::<3>().0.iter().map(|u| u[2]).fold(0.0, f64::min);
    assert!(lowest < -0.04, "it hangs lower than the ground: {lowest}");
    let error = limb.error(&rests[0], &rests[1]);
    assert!(error < 1e-3, "{error:e}");
}

#[test]
fn a_skin_that_nothing_moves_touches_nothing() {
    let (limb, model) = in_waves(0.3);
    let held: Vec<usize> = (0..limb.pinned.len()).filter(|&v| limb.pinned[v]).collect();
    let places = held.iter().map(|&v| limb.mesh.vertices()[v]).collect();
    let rig = Rig::new(held.len(), 2, &[1.0, 0.0].repeat(held.len())).unwrap();
    let points = Embedding::new(&limb.mesh, places).unwrap().into();
    let skin =
        ContactSkin { points, triangles: Vec::new().into(), rig: Some(rig.into()), self_collision: false };
    let mut among = Simulation::among(model.clone(), params(), &colliders(0.5), Some(skin)).unwrap();
    let mut alone = Simulation::new(model, params()).unwrap();
    for frame in 0..FRAMES {
        for sim in [&mut among, &mut alone] {
            sim.step(Some(&swing(time(frame)))).unwrap();
        }
        assert_eq!(among.coefficients(), alone.coefficients());
    }
}

/// Newton's method, which solves polynomial forces, has the same contacts. Larger strains differ without any,
/// by the barrier that polynomials lack.
#[test]
fn polynomials_touch_as_all_elements_do() {
    let limb = limb(Law::StVenantKirchhoff, 0.45);
    let basis = waves(&limb.mesh, 14);
    let [found, right] = [true, false].map(|cubic| {
        let extras = ReducedExtras { cubic, ..ReducedExtras::default() };
        let model =
            ReducedModel::new(&limb.mesh, &limb.material, &basis, &extras, &Progress::default()).unwrap();
        let model = Model::Reduced(model.into());
        let params = SimulationParams { gravity: [0.0, 0.0, -4.0], ..params() };
        let mut sim = Simulation::among(model, params, &colliders(0.0), None).unwrap();
        let mut moved = Vec::new();
        for _ in 0..FRAMES {
            sim.step(None).unwrap();
            moved.extend(displacement(&sim));
        }
        moved
    });
    let places = limb.mesh.vertices().iter().cycle().zip(right.as_chunks::<3>().0);
    let lowest = places.map(|(place, u)| place[2] + u[2]).fold(0.0, f64::min);
    assert!((lowest + 0.03).abs() < 1e-4, "it falls onto the ground: {lowest}");
    let error = limb.error(&found, &right);
    assert!(error < 1e-3, "{error:e}");
}

#[test]
fn skins_without_weights_are_refused() {
    let (limb, model) = in_waves(0.3);
    let none = Simulation::among(model.clone(), params(), &colliders(0.5), None).map(drop);
    assert!(matches!(none, Err(Error::Unsupported { what: "contact_weights", .. })));
    let skin = ContactSkin { rig: None, ..skin(&limb) };
    let none = Simulation::among(model, params(), &colliders(0.5), Some(skin)).map(drop);
    assert!(matches!(none, Err(Error::Unsupported { what: "contact_weights", .. })));
}
