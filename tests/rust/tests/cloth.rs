//! Surfaces without volume: energies, projections, and cloth attached to a rig.

use jounce::Error;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::mesh::SurfaceMesh;
use jounce::model::Model;
use jounce::model::projective::ProjectiveModel;
use jounce::operators::{Bending, Membrane, nearest_isometry};
use jounce::potentials::elastic::Fabric;
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::Handles;
use jounce_tests::bodies::{REST, some_coefficients, turn};
use jounce_tests::handled::{
    cloth, cloth_of, diagonal, dome, furthest, places, projective, sheet, silent, surface,
};
use jounce_tests::surfaces::{sphere, square};
use nalgebra::{Matrix3x2, Rotation3, Vector3};

const THICKNESS: f64 = 0.02;

/// Membrane and bending energies.
struct Layers(Membrane, Bending);

impl Layers {
    fn new(surface: &SurfaceMesh) -> Self {
        Self::of(surface, 0.0)
    }

    fn of(surface: &SurfaceMesh, poisson: f64) -> Self {
        let membrane = Membrane::new(surface, &cloth_of(poisson), THICKNESS).unwrap();
        let bending = Bending::new(surface, &membrane, THICKNESS, 1.0);
        Self(membrane, bending)
    }

    fn evaluate(&self, x: &[[f64; 3]]) -> ([f64; 2], [Vec<[f64; 3]>; 2]) {
        let zeros = || vec![[0.0; 3]; x.len()];
        let (mut normals, mut gradients) = (zeros(), [zeros(), zeros()]);
        self.0.normals(x, &mut normals);
        let energies =
            [self.0.evaluate(x, &mut gradients[0]), self.1.evaluate(x, &normals, &mut gradients[1])];
        (energies, gradients)
    }
}

fn moved(x: &[[f64; 3]], by: impl Fn(Vector3<f64>) -> Vector3<f64>) -> Vec<[f64; 3]> {
    x.iter().map(|x| by(Vector3::from(*x)).into()).collect()
}

/// A flat sheet, a dome, and a sheet with a needle-shaped triangle of zero area.
fn shapes() -> [SurfaceMesh; 3] {
    let mut needle = square(3).placed([0.3, 0.2, 1.0], [0.0; 3]);
    needle.triangles.push([0, 1, 1]);
    [sheet(), dome().surface(), needle.surface()]
}

#[test]
fn gradients_are_the_derivatives_of_energies() {
    for (shape, poisson) in shapes().into_iter().flat_map(|shape| [0.0, 0.45].map(|n| (shape.clone(), n))) {
        let (layers, rest) = (Layers::of(&shape, poisson), shape.points());
        let noise = some_coefficients(3 * rest.len(), 0.004);
        let shaken = |x: &[[f64; 3]]| -> Vec<[f64; 3]> {
            x.iter().zip(noise.as_chunks::<3>().0).map(|(x, n)| [0, 1, 2].map(|c| x[c] + n[c])).collect()
        };
        let folded = moved(rest, |x| Vector3::new(0.1 - (x[0] - 0.1).abs(), x[1], x[2]));
        let rolled =
            moved(rest, |x| Vector3::new(0.1 * (9.0 * x[0]).sin(), x[1], x[2] + 0.1 * (9.0 * x[0]).cos()));
        for start in [shaken(rest), shaken(&folded), rolled] {
            let (_, gradients) = layers.evaluate(&start);
            let way = some_coefficients(3 * rest.len(), 1.0);
            let at = |step: f64| {
                let along = |(x, w): (&[f64; 3], &[f64; 3])| [0, 1, 2].map(|c| x[c] + step * w[c]);
                layers.evaluate(&start.iter().zip(way.as_chunks::<3>().0).map(along).collect::<Vec<_>>()).0
            };
            let step = 1e-8;
            let (ahead, behind) = (at(step), at(-step));
            for e in 0..2 {
                let slope: f64 = gradients[e].as_flattened().iter().zip(&way).map(|(g, w)| g * w).sum();
                let size: f64 =
                    gradients[e].as_flattened().iter().zip(&way).map(|(g, w)| (g * w).abs()).sum();
                let found = (ahead[e] - behind[e]) / (2.0 * step);
                assert!((slope - found).abs() < 1e-5 * size + 1e-9, "{e}: {slope} {found} of {size}");
            }
        }
    }
}

#[test]
fn rigid_motions_feel_no_force_and_a_collapse_is_finite() {
    for (shape, poisson) in shapes().into_iter().flat_map(|shape| [0.0, 0.45].map(|n| (shape.clone(), n))) {
        let layers = Layers::of(&shape, poisson);
        let rotation = Rotation3::new(Vector3::new(1.0, -2.0, 0.7));
        let (energies, _) =
            layers.evaluate(&moved(shape.points(), |x| rotation * x + Vector3::new(5.0, 3.0, 2.0)));
        assert!(energies.iter().all(|energy| energy.abs() < 1e-18), "{energies:?}");
        for collapsed in [Vector3::zeros(), Vector3::x()] {
            let (energies, gradients) = layers.evaluate(&moved(shape.points(), |x| collapsed * x[0]));
            assert!(energies.iter().chain(gradients.concat().as_flattened()).all(|x| x.is_finite()));
        }
    }
}

#[test]
fn the_isometry_is_the_nearest_there_is() {
    let numbers = some_coefficients(600, 1.0);
    let matrices = numbers.as_chunks::<6>().0.iter().map(|n| [[n[0], n[1], n[2]], [n[3], n[4], n[5]]]);
    let parallel = [[[1.0, 2.0, -1.0], [2.0, 4.0, -2.0]], [[0.0; 3], [0.0, 3.0, 0.0]]];
    assert!(nearest_isometry(&[[0.0; 3]; 2]).is_none());
    for f in matrices.chain(parallel) {
        let near = nearest_isometry(&f).unwrap();
        let [a, b] = near.map(Vector3::from);
        assert!((a.norm() - 1.0).abs() < 1e-12 && (b.norm() - 1.0).abs() < 1e-12 && a.dot(&b).abs() < 1e-12);
        let columns = |m: &[[f64; 3]; 2]| Matrix3x2::from_columns(&m.map(Vector3::from));
        let distance = (columns(&f) - columns(&near)).norm_squared();
        for turned in some_coefficients(3000, 3.0).as_chunks::<3>().0 {
            for size in [1.0, 1e-3] {
                let other = Rotation3::new(size * Vector3::from(*turned)).matrix() * columns(&near);
                assert!((columns(&f) - other).norm_squared() > distance - 1e-12);
            }
        }
    }
}

#[test]
fn a_rolled_sheet_has_the_energy_of_a_bent_plate() {
    let shape = square(40).placed([0.5, 0.5, 1.0], [0.0; 3]).surface();
    let radius = 0.7;
    let (arc, rest) = (|x: f64| x / radius, shape.points());
    let rolled =
        moved(rest, |x| Vector3::new(radius * arc(x[0]).sin(), x[1], radius * arc(x[0]).cos() - radius));
    let zeros = vec![[0.0; 3]; rest.len()];
    for poisson in [0.0, 0.3, 0.45] {
        let Layers(_, bending) = Layers::of(&shape, poisson);
        let energy = bending.evaluate(&rolled, &zeros, &mut zeros.clone());
        // Boundary vertices have no bending energy: 39 of 40 rows and columns have.
        let stiffness = 2e5 * THICKNESS.powi(3) / 12.0 / (1.0 - poisson * poisson);
        let plate = stiffness / (2.0 * radius * radius) * (39.0_f64 / 40.0).powi(2);
        assert!((energy / plate - 1.0).abs() < 1e-3, "{poisson}: {energy} {plate}");
    }
}

/// Cloth stretched along one axis resists by Young's modulus if free to contract across.
#[test]
fn a_drawn_sheet_resists_by_youngs_modulus_and_gets_narrower() {
    let shape = square(6).placed([0.5, 0.3, 1.0], [0.0; 3]).surface();
    let drawn = 0.02;
    for poisson in [0.0, 0.3, 0.45] {
        let layers = Layers::of(&shape, poisson);
        let energy = |narrower: f64| {
            let places =
                moved(shape.points(), |x| Vector3::new((1.0 + drawn) * x[0], (1.0 - narrower) * x[1], x[2]));
            layers.evaluate(&places).0[0]
        };
        let (least, right) = (energy(poisson * drawn), 0.5 * 2e5 * drawn * drawn * 0.6 * THICKNESS);
        assert!((least / right - 1.0).abs() < 1e-9, "{poisson}: {least} {right}");
        assert!([-1e-3, 1e-3].iter().all(|more| energy(poisson * drawn + more) > least), "{poisson}");
    }
}

#[test]
fn a_curvature_keeps_its_length_and_its_side() {
    // When a sphere is flattened or turned inside out, each vertex lacks its curvature once or twice.
    let (shape, radius) = (sphere(4).surface(), 1.0);
    let Layers(_, bending) = Layers::new(&shape);
    let layers = Layers::new(&shape);
    let energy = |scale: f64| layers.evaluate(&moved(shape.points(), |x| x * scale)).0[1];
    let whole =
        2e5 * THICKNESS.powi(3) / 12.0 * 0.5 * (2.0_f64 / radius).powi(2) * 4.0 * std::f64::consts::PI;
    assert_eq!(bending.len(), shape.points().len());
    // The normals of a sphere scaled through its centre flip together with the curvature: the mirrored
    // sphere is bent the other way.
    for (scale, share) in [(1.0, 0.0), (0.5, 0.25), (0.0, 1.0), (-1.0, 4.0)] {
        assert!((energy(scale) / whole - share).abs() < 0.02, "{scale}: {} of {whole}", energy(scale));
    }
}

/// Pushes in the top of a dome with growing force until it is halfway down, then releases it.
#[test]
fn a_pressed_dome_returns_to_its_side() {
    let shape = dome().surface();
    let model = surface(&shape, Fabric { thickness: 0.01, bending: 4.0 }, 40);
    let params = SimulationParams { damping: 1.0, max_iterations: 200, dt: 1.0 / 60.0, ..Default::default() };
    let mut sim = Simulation::new(model.clone(), params).unwrap();
    let top =
        (0..shape.points().len()).max_by(|&a, &b| shape.points()[a][2].total_cmp(&shape.points()[b][2]));
    // The rim may go down too.
    let height = |sim: &Simulation| {
        let places = places(sim);
        places[top.unwrap()][2] - places.iter().map(|x| x[2]).fold(f64::MAX, f64::min)
    };
    let pressed = |strength: f64| {
        let mass = projective(&model).vertex_mass().iter();
        let push =
            shape.points().iter().zip(mass).map(|(x, m)| if x[2] > 0.15 { -strength * m } else { 0.0 });
        let forces: Vec<f64> = push.flat_map(|z| [0.0, 0.0, z]).collect();
        model.projector(None).unwrap().reduce_forces(&forces).unwrap()
    };
    let mut strength = 0.0;
    while height(&sim) > 0.1 {
        strength += 20.0;
        assert!(strength < 2e4, "{}", height(&sim));
        let force = pressed(strength);
        sim.step_with(&StepInput { force: Some(&force), ..StepInput::default() }, &silent()).unwrap();
    }
    (0..400).for_each(|_| assert!(sim.step(None).is_ok()));
    // The dome keeps flying and may rotate, so its side is told by the volume that its top spans with three
    // points of its rim.
    let outermost = |axis: usize, sign: f64| {
        let along = |v: usize| sign * shape.points()[v][axis];
        (0..shape.points().len()).max_by(|&a, &b| along(a).total_cmp(&along(b))).unwrap()
    };
    let [top, left, right, front] = [(2, 1.0), (0, -1.0), (0, 1.0), (1, 1.0)].map(|(a, s)| outermost(a, s));
    let volume = |x: &[Vector3<f64>]| {
        let edge = |v: usize| x[v] - x[left];
        edge(right).cross(&edge(front)).dot(&edge(top))
    };
    let rest: Vec<Vector3<f64>> = shape.points().iter().map(|x| Vector3::from(*x)).collect();
    let share = volume(&places(&sim)) / volume(&rest);
    assert!((share - 1.0).abs() < 0.02, "{share}");
    assert!(sim.step(None).unwrap().energy < 1e-6);
}

#[test]
fn what_has_shrunk_to_a_point_opens_as_it_was_at_rest() {
    for shape in shapes() {
        let (layers, rest) = (Layers::new(&shape), shape.points());
        let (energies, gradients) = layers.evaluate(&vec![[0.3; 3]; rest.len()]);
        // With the projections of rest, the energy is `(1 - scale)^2` times this one.
        for (energy, gradient) in energies.iter().zip(&gradients) {
            let slope: f64 =
                gradient.as_flattened().iter().zip(rest.as_flattened()).map(|(g, x)| g * x).sum();
            assert!((slope + 2.0 * energy).abs() <= 1e-9 * energy, "{slope} {energy}");
        }
        assert!(energies[0] > 0.0);
    }
    let shape = dome().surface();
    let all = vec![1.0; shape.points().len()];
    let handles = Handles::over(&shape, 12, 0, &silent()).unwrap();
    let model = ProjectiveModel::surface(
        &shape,
        &cloth(),
        Fabric { thickness: 0.01, bending: 1.0 },
        &handles,
        &silent(),
    );
    let rig = Rig::new(all.len(), 1, &all).unwrap();
    let model = Model::Projective(model.unwrap().attached(&rig, &all, 30.0).unwrap().into());
    let params = SimulationParams { damping: 0.5, max_iterations: 200, ..Default::default() };
    let mut sim = Simulation::new(model.clone(), params).unwrap();
    sim.reset(Some(&[REST])).unwrap();
    (0..10).for_each(|_| assert!(sim.step(Some(&[[[0.0; 4]; 3]])).is_ok()));
    assert!(places(&sim).iter().all(|x| x.norm() < 0.1));
    (0..100).for_each(|_| assert!(sim.step(Some(&[REST])).is_ok()));
    let rest: Vec<Vector3<f64>> = shape.points().iter().map(|x| Vector3::from(*x)).collect();
    assert!(furthest(&places(&sim), &rest) < 1e-4 * diagonal(&model));
}

/// A sheet in the plane x y, attached to two bones along its edge x = 0 with weights a.
fn hung(a: f64, frequency: f64) -> Model {
    let shape = sheet();
    let handles = Handles::over(&shape, 20, 0, &silent()).unwrap();
    let fabric = Fabric { thickness: 2e-3, bending: 1.0 };
    let model = ProjectiveModel::surface(&shape, &cloth(), fabric, &handles, &silent()).unwrap();
    let weights: Vec<f64> = shape.points().iter().flat_map(|x| [1.0 - x[1] / 0.4, x[1] / 0.4]).collect();
    let rig = Rig::new(shape.points().len(), 2, &weights).unwrap();
    let held: Vec<f64> = shape.points().iter().map(|x| if x[0] < 0.07 { a } else { 0.0 }).collect();
    Model::Projective(model.attached(&rig, &held, frequency).unwrap().into())
}

#[test]
fn what_hangs_stays_at_rest_where_its_bones_take_it() {
    let model = hung(1.0, 30.0);
    let size = diagonal(&model);
    for shift in [[0.0; 3], [100.0 * size, -30.0 * size, 70.0 * size]] {
        let pose = [turn([1.0, 2.0, -0.5], 2.3, [0.1, 0.0, 0.3], shift); 2];
        let mut sim = Simulation::new(model.clone(), SimulationParams::default()).unwrap();
        sim.reset(Some(&pose)).unwrap();
        let want: Vec<Vector3<f64>> = model
            .vertices()
            .iter()
            .map(|x| Vector3::from(pose[0].map(|r| r[0] * x[0] + r[1] * x[1] + r[2] * x[2] + r[3])))
            .collect();
        for _ in 0..100 {
            sim.step(Some(&pose)).unwrap();
            assert!(furthest(&places(&sim), &want) < 1e-10 * size, "{}", furthest(&places(&sim), &want));
        }
        sim.cut(&StepInput { pose: Some(&[REST, REST]), ..StepInput::default() }).unwrap();
        let rest: Vec<Vector3<f64>> = model.vertices().iter().map(|x| Vector3::from(*x)).collect();
        assert!(furthest(&places(&sim), &rest) < 1e-10 * size);
    }
}

#[test]
fn a_rig_that_goes_on_takes_what_coasts_along_without_a_jolt() {
    let model = hung(1.0, 30.0);
    let at = |frame: f64| [turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [0.1 * frame, 0.0, 0.05 * frame]); 2];
    let mut sim = Simulation::new(model.clone(), SimulationParams::default()).unwrap();
    sim.reset(Some(&at(0.0))).unwrap();
    sim.coast(&StepInput { pose: Some(&at(1.0)), ..StepInput::default() }).unwrap();
    for frame in 1..10 {
        assert!(sim.step(Some(&at(f64::from(frame)))).unwrap().energy < 1e-18);
    }
}

#[test]
fn damping_slows_what_hangs_as_still_air_does() {
    // With almost no attachment it keeps flying as fast as its bones were.
    let model = hung(1.0, 1e-5);
    let at = |frame: f64| [turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [0.1 * frame, 0.0, 0.05 * frame]); 2];
    let params = SimulationParams { damping: 0.3, ..SimulationParams::default() };
    let mut sim = Simulation::new(model.clone(), params).unwrap();
    sim.reset(Some(&at(0.0))).unwrap();
    sim.coast(&StepInput { pose: Some(&at(1.0)), ..StepInput::default() }).unwrap();
    let kept = (-2.0 * 0.3 * std::f64::consts::TAU * projective(&model).frequency() * params.dt).exp();
    assert!(kept < 0.999);
    let (mut before, mut speed) = (places(&sim)[0], Vector3::new(0.1, 0.0, 0.05));
    for _ in 0..10 {
        sim.step(Some(&at(0.0))).unwrap();
        speed *= kept;
        let now = places(&sim)[0];
        assert!((now - before - speed).norm() < 1e-6, "{} {speed}", now - before);
        before = now;
    }
}

#[test]
fn a_hanging_sheet_sags_as_its_springs_say_and_comes_to_rest() {
    let (model, g) = (hung(0.5, 30.0), 9.81);
    let params = SimulationParams { gravity: [-g, 0.0, 0.0], tolerance: 1e-10, ..Default::default() };
    let mut sim = Simulation::new(model.clone(), params).unwrap();
    let pose = [REST, REST];
    sim.settle(&StepInput { pose: Some(&pose), ..StepInput::default() }, 3000, &silent()).unwrap();
    let (mass, rest) = (projective(&model).vertex_mass(), model.vertices());
    // The springs of the attached points carry the whole weight.
    let (mut weight, mut pull) = (0.0, 0.0);
    for ((x, was), m) in places(&sim).iter().zip(rest).zip(mass) {
        let held = if was[0] < 0.07 { 0.5 } else { 0.0 };
        weight += g * m;
        pull += held * m * (std::f64::consts::TAU * 30.0).powi(2) * (was[0] - x[0]);
    }
    assert!((pull / weight - 1.0).abs() < 1e-5, "{pull} {weight}");
    let before = places(&sim);
    (0..50).for_each(|_| assert!(sim.step(Some(&pose)).is_ok()));
    assert!(furthest(&places(&sim), &before) < 1e-6);
}

#[test]
fn what_hangs_follows_replays_and_has_the_same_bits_for_any_threads() {
    let swing = |frame: u32| {
        let angle = 0.5 * (0.4 * f64::from(frame)).sin();
        [turn([0.0, 1.0, 0.0], angle, [0.0; 3], [0.0; 3]), turn([0.0, 1.0, 0.3], angle, [0.0; 3], [0.0; 3])]
    };
    let params =
        SimulationParams { gravity: [0.0, 0.0, -9.81], substeps: 2, damping: 0.1, ..Default::default() };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut sim = Simulation::new(hung(1.0, 30.0), params).unwrap();
            let frames = |sim: &mut Simulation, frames: std::ops::Range<u32>| -> Vec<Vec<f64>> {
                let step = |frame| {
                    sim.step(Some(&swing(frame))).unwrap();
                    sim.coefficients().to_vec()
                };
                frames.map(step).collect()
            };
            frames(&mut sim, 0..10);
            let state = sim.save_state();
            let first = frames(&mut sim, 10..20);
            sim.restore_state(&state).unwrap();
            assert_eq!(frames(&mut sim, 10..20), first);
            first
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let shape = sheet();
    let handles = Handles::over(&shape, 8, 0, &silent()).unwrap();
    let made = |shape: &SurfaceMesh, material: &Material, thickness: f64, bending: f64, handles: &Handles| {
        ProjectiveModel::surface(shape, material, Fabric { thickness, bending }, handles, &silent())
            .map(|_| ())
    };
    for (thickness, bending) in [(0.0, 1.0), (-1.0, 1.0), (1e-3, -1.0), (1e-3, f64::NAN)] {
        assert!(matches!(made(&shape, &cloth(), thickness, bending, &handles), Err(Error::Range { .. })));
    }
    assert!(matches!(made(&shape, &cloth(), f64::NAN, 1.0, &handles), Err(Error::NotFinite { .. })));
    let number = Field::Uniform;
    let other = Material::new(Law::Corotated, number(1e5), number(0.3), number(300.0)).unwrap();
    assert!(matches!(made(&shape, &other, 1e-3, 1.0, &handles), Err(Error::Unsupported { what: "law", .. })));
    let lonely =
        SurfaceMesh::new([shape.points(), &[[5.0; 3]]].concat(), shape.triangles().to_vec()).unwrap();
    let handles = Handles::over(&lonely, 8, 0, &silent()).unwrap();
    assert!(matches!(made(&lonely, &cloth(), 1e-3, 1.0, &handles), Err(Error::Massless { vertex: 121 })));
    let flat = SurfaceMesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0]], vec![[0, 1, 1]]).unwrap();
    let handles = Handles::over(&flat, 8, 0, &silent()).unwrap();
    assert!(matches!(made(&flat, &cloth(), 1e-3, 1.0, &handles), Err(Error::Empty { .. })));
}
