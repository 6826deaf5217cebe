//! Truncating a set of modes equals computing fewer.

use jounce::inputs::SimulationParams;
use jounce::model::Model;
use jounce::model::skinning_modes::SkinningModel;
use jounce::operators::lumped_mass;
use jounce::simulation::Simulation;
use jounce::subspace::{SkinningModes, skinning_modes};
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, displacement, largest, swing};

fn modes(body: &Body, count: usize) -> SkinningModes {
    skinning_modes(&body.mesh, &body.material, count, Some(&body.rig), None, &Progress::default()).unwrap()
}

#[test]
fn truncated_modes_are_those_computed_for_fewer() {
    let body = Body::bar();
    let mass = lumped_mass(&body.mesh, &body.material);
    let (many, few) = (modes(&body, 12), modes(&body, 5));
    let truncated = many.truncated(5).unwrap();
    for k in 0..5 {
        let (a, b) = (truncated.eigenvalues[k], few.eigenvalues[k]);
        assert!((a - b).abs() < 1e-9 * b, "{a} {b}");
        let overlap: f64 =
            mass.iter().enumerate().map(|(i, m)| m * truncated.weights[(i, k)] * few.weights[(i, k)]).sum();
        // If a mode has opposite largest entries, rounding decides its sign.
        assert!((overlap.abs() - 1.0).abs() < 1e-9, "{overlap}");
    }
    assert_eq!(truncated.rows(), many.truncated(8).unwrap().truncated(5).unwrap().rows());
    for count in [0, 13] {
        assert!(matches!(many.truncated(count), Err(Error::Range { what: "count", .. })));
    }
}

fn motion(model: Model, body: &Body) -> Vec<[f64; 3]> {
    let p =
        SimulationParams { gravity: [0.0, 0.0, -9.81], pose_rest: 0.4, strength: 1.2, ..Default::default() };
    let p = SimulationParams { tolerance: 1e-12, max_iterations: 500, ..p };
    let mut sim = Simulation::new(model, p).unwrap();
    for frame in 0..12 {
        sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
    }
    displacement(body, sim.coefficients())
}

#[test]
fn a_truncated_model_moves_as_one_of_fewer_modes() {
    for mut body in Body::bars() {
        body.modes = modes(&body, 10);
        let whole: SkinningModel = body.reduced();
        for count in [1, 4, 10] {
            let truncated = whole.truncated(count).unwrap();
            body.modes = modes(&body, 10).truncated(count).unwrap();
            let direct: SkinningModel = body.reduced();
            assert_eq!((truncated.mode_count(), truncated.frequency()), (count, direct.frequency()));
            let [a, b] = [truncated, direct].map(|model| motion(Model::Skinning(model.into()), &body));
            let error: Vec<[f64; 3]> =
                a.iter().zip(&b).map(|(a, b)| std::array::from_fn(|c| a[c] - b[c])).collect();
            assert!(largest(&a) > 1e-3 && largest(&error) < 1e-8 * largest(&a), "{}", largest(&error));
        }
        assert!(matches!(whole.truncated(0), Err(Error::Range { .. })));
        assert!(matches!(whole.truncated(11), Err(Error::Range { .. })));
    }
}
