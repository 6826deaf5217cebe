//! Final flesh in poses of a rig that crushes, flattens, mirrors or draws out cells.

use std::sync::Arc;

use jounce::Progress;
use jounce::inputs::SimulationParams;
use jounce::material::{Fibres, Field, PrincipalStretch};
use jounce::mesh::{TetMesh, solid_lattice};
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel, FullSpaceStepper};
use jounce::subspace::Restraint;
use jounce_tests::bodies::{bar, turn};
use jounce_tests::hyperelastic::{Flesh, apart, longest, silent};
use jounce_tests::laws::{laws, soft};
use jounce_tests::surfaces::sphere;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Stiffness of fibres, Pa.
const FIRM: f64 = 1e4;

/// Displacement of flesh that is in its pose, as a share of the diagonal.
const NONE: f64 = 1e-9;

/// The laws, and two at a Poisson's ratio of .49.
fn all_laws() -> Vec<(&'static str, PrincipalStretch)> {
    let (mu, lambda) = (1.3, 49.0 * 1.3);
    let mut all = laws();
    all.push(("corotated, .49", PrincipalStretch::Corotated { mu, lambda }));
    all.push(("Neo-Hookean, .49", PrincipalStretch::NeoHookean { mu, lambda }));
    all
}

/// A pose of a body whose middle third along x is bent, and `slope` times as long.
fn joint(mesh: &TetMesh, slope: f64, bend: f64) -> Vec<[f64; 3]> {
    let x = mesh.vertices().iter().map(|v| v[0]);
    let (first, last) = x.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let third = (last - first) / 3.0;
    let posed = |v: &[f64; 3]| {
        let x = v[0] - first;
        let inside = (x - third).clamp(0.0, third);
        let x = x + (slope - 1.0) * inside;
        let turned = turn([0.0, 0.0, 1.0], bend * inside / third, [first + third, 0.1, 0.1], [0.0; 3]);
        std::array::from_fn(|i| {
            let [p, q, r, s] = turned[i];
            p * (first + x) + q * v[1] + r * v[2] + s
        })
    };
    mesh.vertices().iter().map(posed).collect()
}

/// A hung body with fibres along it, if any.
fn hung(flesh: &Flesh, stiffness: f64) -> FullSpaceStepper {
    let pinned = flesh.pinned();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let tets = flesh.mesh.tets().len();
    let fibres = Fibres::new(Field::Uniform(stiffness), &vec![[1.0, 0.2, 0.0]; tets]).unwrap();
    let extras = FullSpaceExtras { fibres: Some(&fibres), ..FullSpaceExtras::default() };
    let laws = vec![flesh.law.clone(); tets];
    let (material, progress) = (flesh.material(), Progress::default());
    let model =
        FullSpaceModel::with_extras(&flesh.mesh, &material, &laws, &restraint, &extras, &progress).unwrap();
    FullSpaceStepper::new(Arc::new(model))
}

fn settings() -> SimulationParams {
    SimulationParams { dt: 1.0 / 30.0, max_iterations: 300, tolerance: 1e-10, ..SimulationParams::default() }
}

fn meshes() -> [TetMesh; 2] {
    [bar([6, 2, 2], 0.1), solid_lattice(&sphere(2).surface(), 8, &Progress::default()).unwrap()]
}

/// Nothing moves in a held pose, whatever the rig does to the flesh, with every law, with fibres and limits
/// of stretch, in tets and in cells that flesh fills in part.
#[test]
fn flesh_in_the_pose_of_its_rig_stays_there_however_crushed() {
    for mesh in meshes() {
        for (name, law) in all_laws() {
            let flesh = Flesh { mesh: mesh.clone(), law: soft(law) };
            for slope in [1.0, 0.4, 0.1, 0.0, -0.1, -0.8, 40.0] {
                for stretch in [None, Some(0.3)] {
                    let posed = joint(&flesh.mesh, slope, 1.2);
                    let mut stepper = hung(&flesh, FIRM);
                    for _ in 0..3 {
                        stepper.step(&posed, &SimulationParams { stretch, ..settings() }, silent).unwrap();
                    }
                    let off = longest(&stepper.displacement()) / flesh.mesh.diagonal();
                    assert!(off < NONE, "{name}, {slope}, limit {stretch:?}: {off:e} off the pose");
                }
            }
        }
    }
}

/// Flesh that is thrown out of a crushed pose comes back to it, as soon as to a whole one.
#[test]
fn flesh_comes_back_to_a_crushed_pose() {
    for (name, law) in all_laws() {
        let flesh = Flesh { mesh: bar([6, 2, 2], 0.1), law: soft(law) };
        let mut whole = 0.0;
        for slope in [1.0, 0.1, 0.0, -0.2] {
            let posed = joint(&flesh.mesh, slope, 0.8);
            let mut stepper = hung(&flesh, FIRM);
            let mut rng = ChaCha8Rng::seed_from_u64(7);
            let mut thrown = |row: usize| {
                let free = f64::from(u8::from(!flesh.pinned()[row]));
                std::array::from_fn(|_| 0.02 * free * rng.random_range(-1.0..1.0))
            };
            let start: Vec<[f64; 3]> = (0..posed.len()).map(&mut thrown).collect();
            stepper.reset(&posed, &start).unwrap();
            for _ in 0..400 {
                stepper.step(&posed, &SimulationParams { damping: 1.0, ..settings() }, silent).unwrap();
            }
            let off = longest(&stepper.displacement()) / flesh.mesh.diagonal();
            if slope == 1.0 {
                whole = off;
            }
            // The polynomial hardly resists small strains: flesh stays where it calms down, no farther than
            // it was thrown. Nearly incompressible flesh takes its time.
            let most = match (name, slope) {
                ("polynomial", _) => longest(&start) / flesh.mesh.diagonal(),
                (_, 1.0) => 0.02,
                _ => whole.max(1e-6),
            };
            assert!(off <= most, "{name}, {slope}: {off:e} off the pose, {whole:e} of whole flesh");
        }
    }
}

/// While a joint closes, flattens and turns inside out, flesh under a load moves little by little.
#[test]
fn flesh_under_load_does_not_pop_while_a_joint_closes() {
    const POSES: usize = 80;
    for (name, law) in all_laws() {
        let flesh = Flesh { mesh: bar([6, 2, 2], 0.1), law: soft(law) };
        let mut stepper = hung(&flesh, 0.0);
        let load = SimulationParams { dt: 1e2, gravity: [0.0, -1.0, 0.5], ..settings() };
        let sagging = |pose: usize, stepper: &mut FullSpaceStepper| {
            let slope = 0.6 - pose as f64 / POSES as f64;
            let posed = joint(&flesh.mesh, slope, 0.3);
            for _ in 0..2 {
                stepper.step(&posed, &load, silent).unwrap();
            }
            stepper.displacement()
        };
        let shapes: Vec<_> = (0..POSES).map(|pose| sagging(pose, &mut stepper)).collect();
        let most = shapes.iter().map(|u| longest(u)).fold(0.0, f64::max);
        let jump = shapes.windows(2).map(|u| longest(&apart(&u[0], &u[1]))).fold(0.0, f64::max);
        println!("{name}: largest {most:.4} m, {jump:.4} m from pose to pose");
        assert!(most > 1e-3 && jump < 0.03 * most, "{name}: {jump} of {most} m");
    }
}
