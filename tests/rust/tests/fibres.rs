//! Fibres in full-space flesh: energy tet by tet, analytic contraction of bars, and muscles over frames.

use std::sync::Arc;

use jounce::inputs::{Minimiser, Shares, SimulationParams, StepInput};
use jounce::material::{Energy, Fibre, Fibres, Field, Law, Material, PrincipalStretch};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel, FullSpaceStepper};
use jounce::operators::{gradients, lumped_mass};
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, REST, bar, swing};
use jounce_tests::hyperelastic::{Flesh, apart, longest};
use nalgebra::{Matrix3, Rotation3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Stiffness of the fibres, Pa.
const KAPPA: f64 = 2e4;
/// Stiffness of the flesh, Pa.
const MU: f64 = 5e3;

fn fibres(tets: usize, stiffness: Field, direction: [f64; 3]) -> Fibres {
    Fibres::new(stiffness, &vec![direction; tets]).unwrap()
}

/// A bar pinned at the vertices with the smallest x.
fn hung(flesh: &Flesh, fibres: Option<&Fibres>) -> Arc<FullSpaceModel> {
    let pinned = flesh.pinned();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let extras = FullSpaceExtras { fibres, ..FullSpaceExtras::default() };
    let laws = vec![flesh.law.clone(); flesh.mesh.tets().len()];
    let (material, progress) = (flesh.material(), Progress::default());
    FullSpaceModel::with_extras(&flesh.mesh, &material, &laws, &restraint, &extras, &progress).unwrap().into()
}

/// Flesh that resists each principal stretch separately.
fn separable(cells: [usize; 3]) -> Flesh {
    Flesh { mesh: bar(cells, 0.1), law: PrincipalStretch::Corotated { mu: MU, lambda: 0.0 } }
}

/// Nearly incompressible flesh.
fn meaty(cells: [usize; 3]) -> Flesh {
    Flesh { mesh: bar(cells, 0.1), law: PrincipalStretch::NeoHookean { mu: MU, lambda: 1e5 } }
}

fn along(flesh: &Flesh, direction: [f64; 3]) -> Fibres {
    fibres(flesh.mesh.tets().len(), Field::Uniform(KAPPA), direction)
}

/// Positions of the vertices in static equilibrium.
fn settled(model: &Arc<FullSpaceModel>, params: SimulationParams, input: &StepInput<'_>) -> Vec<[f64; 3]> {
    let mut sim = Simulation::new(Model::FullSpace(model.clone()), params).unwrap();
    sim.settle(input, 5000, &Progress::default()).unwrap();
    let u = sim.coefficients().as_chunks::<3>().0;
    model.mesh().vertices().iter().zip(u).map(|(x, u)| std::array::from_fn(|c| x[c] + u[c])).collect()
}

fn exact(contraction: f64) -> SimulationParams {
    SimulationParams {
        contraction: contraction.into(),
        tolerance: 1e-10,
        pose_rest: 0.0,
        ..SimulationParams::default()
    }
}

fn error_of(what: Result<Fibres, Error>) -> String {
    what.unwrap_err().to_string()
}

/// `2 mu (x - 1) + k (x - l) = 0`, without forces across.
#[test]
fn a_bar_relaxes_where_flesh_and_fibres_are_in_balance() {
    let flesh = separable([6, 2, 2]);
    let model = hung(&flesh, Some(&along(&flesh, [3.0, 0.0, 0.0])));
    for contraction in [0.0, 0.2, 0.5] {
        let expected = (2.0 * MU + KAPPA * (1.0 - contraction)) / (2.0 * MU + KAPPA);
        let places: Vec<[f64; 3]> =
            flesh.mesh.vertices().iter().map(|&[x, y, z]| [expected * x, y, z]).collect();
        let error = longest(&apart(&settled(&model, exact(contraction), &StepInput::default()), &places));
        assert!(error < 1e-7, "contraction {contraction}: {error:e}");
    }
}

/// Under a uniform pull on its end, a bar's extension is inversely proportional to its stiffness along the
/// fibres.
#[test]
fn fibres_stiffen_flesh_along_them_alone() {
    let flesh = separable([6, 2, 2]);
    let stretched = |by: f64| -> Vec<[f64; 3]> {
        flesh.mesh.vertices().iter().map(|&[x, y, z]| [(1.0 + by) * x, y, z]).collect()
    };
    let (_, pull) = flesh.elastic(&stretched(0.3));
    let input = StepInput { force: Some(pull.as_flattened()), ..StepInput::default() };
    let share = 2.0 * MU / (2.0 * MU + KAPPA);
    for (direction, by) in [(None, 0.3), (Some([1.0, 0.0, 0.0]), 0.3 * share), (Some([0.0, 1.0, 0.0]), 0.3)] {
        let fibres = direction.map(|direction| along(&flesh, direction));
        let places = settled(&hung(&flesh, fibres.as_ref()), exact(0.0), &input);
        let error = longest(&apart(&places, &stretched(by)));
        assert!(error < 1e-7, "{direction:?}: {error:e}");
    }
}

/// Two muscles: the near and the far half of a bar.
fn halves(flesh: &Flesh) -> [Fibres; 2] {
    let middle = |t: usize| flesh.mesh.corners(t).iter().map(|corner| corner[0]).sum::<f64>() / 4.0;
    let end = flesh.mesh.vertices().iter().map(|x| x[0]).fold(0.0, f64::max);
    let tets = flesh.mesh.tets().len();
    [false, true].map(|far| {
        let own = (0..tets).map(|t| if (middle(t) > 0.5 * end) == far { KAPPA } else { 0.0 }).collect();
        fibres(tets, Field::PerTet(own), [1.0, 0.0, 0.0])
    })
}

/// Each half has the length that it would have alone.
#[test]
fn muscles_contract_each_by_itself() {
    let flesh = separable([6, 2, 2]);
    let model = hung(&flesh, Some(&Fibres::joined(&halves(&flesh)).unwrap()));
    assert_eq!(model.muscle_count(), 2);
    let end = flesh.mesh.vertices().iter().map(|x| x[0]).fold(0.0, f64::max);
    for shares in [[0.0, 0.0], [0.5, 0.0], [0.0, 0.4], [0.2, 0.6]] {
        let [near, far] = shares.map(|share| (2.0 * MU + KAPPA * (1.0 - share)) / (2.0 * MU + KAPPA));
        let place = |x: f64| near * x.min(0.5 * end) + far * (x - 0.5 * end).max(0.0);
        let places: Vec<[f64; 3]> = flesh.mesh.vertices().iter().map(|&[x, y, z]| [place(x), y, z]).collect();
        let contraction = Shares::of_each("contraction", &shares).unwrap();
        let params = SimulationParams { contraction, ..exact(0.0) };
        let error = longest(&apart(&settled(&model, params, &StepInput::default()), &places));
        assert!(error < 1e-7, "{shares:?}: {error:e}");
    }
}

/// `2 mu (x - 1) + k_1 (x - l_1) + k_2 (x - l_2) = 0` if both are in the same tets.
#[test]
fn muscles_may_share_flesh() {
    let flesh = separable([6, 2, 2]);
    let other = fibres(flesh.mesh.tets().len(), Field::Uniform(0.5 * KAPPA), [1.0, 0.0, 0.0]);
    let both = Fibres::joined([&along(&flesh, [1.0, 0.0, 0.0]), &other]).unwrap();
    let contraction = Shares::of_each("contraction", &[0.6, 0.2]).unwrap();
    let params = SimulationParams { contraction, ..exact(0.0) };
    let expected = (2.0 * MU + KAPPA * 0.4 + 0.5 * KAPPA * 0.8) / (2.0 * MU + 1.5 * KAPPA);
    let places: Vec<[f64; 3]> = flesh.mesh.vertices().iter().map(|&[x, y, z]| [expected * x, y, z]).collect();
    let error = longest(&apart(&settled(&hung(&flesh, Some(&both)), params, &StepInput::default()), &places));
    assert!(error < 1e-7, "{error:e}");
}

#[test]
fn one_share_is_that_of_all_muscles_to_the_bit() {
    let flesh = meaty([6, 2, 2]);
    let model = hung(&flesh, Some(&Fibres::joined(&halves(&flesh)).unwrap()));
    let run = |contraction: Shares| {
        let params = SimulationParams { contraction, ..SimulationParams::default() };
        let mut sim = Simulation::new(Model::FullSpace(model.clone()), params).unwrap();
        (0..4).for_each(|_| {
            sim.step(None).unwrap();
        });
        sim.coefficients().to_vec()
    };
    let alike = run(0.3.into());
    assert!(longest(alike.as_chunks::<3>().0) > 1e-3);
    assert_eq!(alike, run(Shares::of_each("contraction", &[0.3, 0.3]).unwrap()));
    assert!(alike != run(Shares::of_each("contraction", &[0.3, 0.2]).unwrap()));
}

/// Energy and forces of flesh with muscle fibres, one per tet, under a rig that strains all tets by S; rest
/// shapes follow by a share.
fn by_tet(
    flesh: &Flesh,
    muscles: &[Vec<Fibre>],
    x: &[[f64; 3]],
    rig: &Matrix3<f64>,
    share: f64,
) -> (f64, Vec<[f64; 3]>, f64) {
    let rest = Matrix3::identity() + share * (rig - Matrix3::identity());
    let back = rest.try_inverse().unwrap();
    let mut forces = vec![[0.0; 3]; x.len()];
    let (mut sum, mut largest) = (0.0, 0.0_f64);
    for (t, (f, hats)) in flesh.deformations(x).iter().zip(gradients(&flesh.mesh)).enumerate() {
        let volume = flesh.mesh.volumes()[t] * rest.determinant();
        let f = f * back;
        let (mut density, mut stress) = (flesh.law.density(&f), flesh.law.stress(&f));
        for fibres in muscles {
            let turned = (rest * Vector3::from(fibres[t].direction)).normalize();
            let fibre = Fibre { direction: turned.into(), ..fibres[t] };
            density += fibre.density(&f);
            stress += fibre.stress(&f);
        }
        sum += volume * density;
        let stress = volume * stress * back;
        for (&v, hat) in flesh.mesh.tets()[t].iter().zip(hats) {
            let force = stress * Vector3::from(hat);
            largest = largest.max(force.norm());
            (0..3).for_each(|c| forces[v as usize][c] += force[c]);
        }
    }
    (sum, forces, largest)
}

/// A step ends where elastic, fibre and inertial forces balance, with either minimiser, in flesh with two
/// muscles that share tets and whose fibres differ from tet to tet, under a rig that rotates and strains
/// it.
#[test]
fn a_step_ends_where_the_forces_of_tets_are_in_balance() {
    let flesh =
        Flesh { mesh: bar([4, 2, 2], 0.1), law: PrincipalStretch::NeoHookean { mu: MU, lambda: 1e4 } };
    let tets = flesh.mesh.tets().len();
    let stiffness: Vec<f64> =
        (0..tets).map(|t| if t % 3 == 0 { 0.0 } else { KAPPA * (t % 5) as f64 }).collect();
    let direction: Vec<[f64; 3]> = (0..tets).map(|t| [1.0, 0.1 * (t % 7) as f64, -0.3]).collect();
    let first = Fibres::new(Field::PerTet(stiffness.clone()), &direction).unwrap();
    let across = [0.2, 1.0, 0.4];
    let second = fibres(tets, Field::Uniform(0.5 * KAPPA), across);
    let model = hung(&flesh, Some(&Fibres::joined([&first, &second]).unwrap()));
    let turn = Rotation3::from_scaled_axis(Vector3::new(0.3, -0.8, 0.5));
    for (sides, share) in [([1.0; 3], 0.0), ([1.4, 0.8, 1.1], 0.6), ([0.7, 1.2, 1.0], 1.0)] {
        let strain = Matrix3::from_diagonal(&Vector3::from(sides));
        let posed: Vec<[f64; 3]> =
            flesh.mesh.vertices().iter().map(|v| (turn * strain * Vector3::from(*v)).into()).collect();
        let params = SimulationParams {
            dt: 0.1,
            contraction: Shares::of_each("contraction", &[0.3, 0.6]).unwrap(),
            pose_rest: share,
            stiffness: 1.5,
            max_iterations: 3000,
            tolerance: 1e-12,
            ..SimulationParams::default()
        };
        let of = |stiffness: f64, direction: [f64; 3], relaxed: f64| Fibre {
            stiffness,
            direction: Vector3::from(direction).normalize().into(),
            relaxed,
        };
        let all = [
            (0..tets).map(|t| of(stiffness[t], direction[t], 0.7)).collect(),
            vec![of(0.5 * KAPPA, across, 0.4); tets],
        ];
        for minimiser in [Minimiser::default(), Minimiser::Newton] {
            let mut stepper = FullSpaceStepper::new(model.clone());
            stepper.reset(&posed, &vec![[0.0; 3]; posed.len()]).unwrap();
            let report =
                stepper.step(&posed, &SimulationParams { minimiser, ..params }, |_, _| Ok(())).unwrap();
            let x = stepper.positions();
            let (energy, mut forces, largest) = by_tet(&flesh, &all, &x, &strain, share);
            let off = (report.energy - 1.5 * energy).abs() / energy;
            assert!(off < 1e-10, "{sides:?} {minimiser:?}: {off:e}");
            let (mass, u) = (lumped_mass(&flesh.mesh, &flesh.material()), apart(&x, &posed));
            for (v, force) in forces.iter_mut().enumerate() {
                (0..3).for_each(|c| force[c] = 1.5 * force[c] + mass[v] * u[v][c] / (params.dt * params.dt));
            }
            let moving = flesh.pinned().into_iter().zip(forces).filter(|(pinned, _)| !pinned);
            let left = longest(&moving.map(|(_, force)| force).collect::<Vec<_>>());
            assert!(
                longest(&u) > 1e-3 && left < 1e-5 * largest,
                "{sides:?} {minimiser:?}: {left:e} of {largest}"
            );
        }
    }
}

/// A muscle gets shorter and thicker, and returns to its initial shape.
#[test]
fn a_contraction_over_frames_bulges_and_comes_back() {
    let flesh = meaty([8, 2, 2]);
    let model = hung(&flesh, Some(&along(&flesh, [1.0, 0.0, 0.0])));
    let params = SimulationParams { damping: 0.6, pose_rest: 0.0, ..SimulationParams::default() };
    let mut sim = Simulation::new(Model::FullSpace(model.clone()), params).unwrap();
    let sides = |u: &[f64]| {
        let u = u.as_chunks::<3>().0;
        let of = |c: usize| {
            let places = || flesh.mesh.vertices().iter().zip(u).map(move |(x, u)| x[c] + u[c]);
            places().fold(0.0, f64::max) - places().fold(0.0, f64::min)
        };
        [of(0), of(1)]
    };
    let rest = sides(&vec![0.0; 3 * flesh.mesh.vertices().len()]);
    let (mut most, mut iterations) = (0, 0);
    let mut step = |sim: &mut Simulation, contraction| {
        sim.set_params(SimulationParams { contraction: f64::into(contraction), ..params }).unwrap();
        let report = sim.step(None).unwrap();
        (most, iterations) = (most.max(report.iterations), iterations + report.iterations);
    };
    for frame in 0..=24 {
        step(&mut sim, 0.4 * f64::from(frame) / 24.0);
    }
    let pulled = sides(sim.coefficients());
    assert!(pulled[0] < 0.85 * rest[0] && pulled[1] > 1.05 * rest[1], "{rest:?} {pulled:?}");
    for frame in 0..=240 {
        step(&mut sim, 0.4 * f64::from(24 - frame.min(24)) / 24.0);
    }
    let left = longest(sim.coefficients().as_chunks::<3>().0);
    println!("{:.1} iterations a frame, {most} at most", f64::from(iterations) / 266.0);
    assert!(left < 1e-4, "{left:e}");
    assert!(most < 30 && iterations < 266 * 12, "{iterations} iterations, {most} at most");
}

/// Kinetic and elastic energy of a bar released while its muscle is contracted.
#[test]
fn energy_does_not_rise_in_what_nothing_drives() {
    let flesh = meaty([6, 2, 2]);
    let model = hung(&flesh, Some(&along(&flesh, [1.0, 0.3, 0.0])));
    let (mass, dt) = (lumped_mass(&flesh.mesh, &flesh.material()), 1.0 / 96.0);
    let params =
        SimulationParams { dt, contraction: 0.5.into(), max_iterations: 500, tolerance: 1e-9, ..exact(0.5) };
    let mut sim = Simulation::new(Model::FullSpace(model.clone()), params).unwrap();
    sim.reset(None).unwrap();
    let mut before = vec![0.0; 3 * mass.len()];
    let energies: Vec<f64> = (0..200)
        .map(|_| {
            let report = sim.step(None).unwrap();
            let now = sim.coefficients().to_vec();
            let speed = |i: usize| (now[i] - before[i]) / dt;
            let kinetic: f64 = (0..now.len()).map(|i| 0.5 * mass[i / 3] * speed(i).powi(2)).sum();
            before = now;
            report.energy + kinetic
        })
        .collect();
    let first = energies[0];
    assert!(energies.windows(2).all(|pair| pair[1] <= pair[0] + 1e-6 * first), "{energies:?}");
    assert!(energies[199] < 0.95 * first);
}

/// Two muscles contract at random, independently, in flesh whose rig jumps and spins; then everything is at
/// rest.
#[test]
fn two_thousand_violent_steps_of_two_muscles_end_at_rest() {
    let flesh = meaty([3, 1, 1]);
    let model = hung(&flesh, Some(&Fibres::joined(&halves(&flesh)).unwrap()));
    let mut stepper = FullSpaceStepper::new(model);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let calm = SimulationParams { damping: 0.1, max_iterations: 20, ..exact(0.0) };
    for _ in 0..2000 {
        let contraction =
            Shares::of_each("contraction", &[rng.random_range(0.0..=1.0), rng.random_range(0.0..=1.0)])
                .unwrap();
        let turn = Rotation3::from_scaled_axis(Vector3::from_fn(|_, _| rng.random_range(-3.0..3.0)));
        let leap = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        let posed: Vec<[f64; 3]> =
            flesh.mesh.vertices().iter().map(|v| (turn * Vector3::from(*v) + leap).into()).collect();
        let report = stepper.step(&posed, &SimulationParams { contraction, ..calm }, |_, _| Ok(())).unwrap();
        assert!(report.energy.is_finite());
    }
    assert!(longest(&stepper.displacement()) > 0.1);
    for _ in 0..1000 {
        stepper.step(flesh.mesh.vertices(), &calm, |_, _| Ok(())).unwrap();
    }
    let left = longest(&stepper.displacement());
    assert!(left < 1e-4, "{left} m are left");
}

/// Enough fibres for several tasks.
#[test]
fn threads_do_not_change_a_bit() {
    let flesh = meaty([12, 6, 6]);
    let model = hung(&flesh, Some(&along(&flesh, [1.0, 0.2, 0.0])));
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let params = SimulationParams { contraction: 0.3.into(), ..SimulationParams::default() };
            let mut sim = Simulation::new(Model::FullSpace(model.clone()), params).unwrap();
            (0..4).for_each(|_| {
                sim.step(None).unwrap();
            });
            sim.coefficients().to_vec()
        })
    };
    let alone = run(1);
    assert!(longest(alone.as_chunks::<3>().0) > 1e-3);
    assert_eq!(alone, run(2));
    assert_eq!(alone, run(5));
}

fn rigged(fibres: Option<&Fibres>) -> Model {
    let body = Body::bar();
    let number = Field::Uniform;
    let material = Material::new(Law::NeoHookean, number(8e3), number(0.3), number(1000.0)).unwrap();
    let restraint = Restraint { rig: Some(&body.rig), ..Restraint::default() };
    let extras = FullSpaceExtras { rig: Some(&body.rig), fibres, ..FullSpaceExtras::default() };
    let made = FullSpaceModel::of(&body.mesh, &material, &restraint, &extras, &Progress::default());
    Model::FullSpace(made.unwrap().into())
}

/// A muscle with zero stiffness everywhere has no effect; muscles that follow the rig are not stretched by
/// it.
#[test]
fn fibres_without_stiffness_and_those_that_follow_the_rig_change_nothing() {
    let shot = |model: Model, strength: f64| {
        let params = SimulationParams { strength, ..SimulationParams::default() };
        let mut sim = Simulation::new(model, params).unwrap();
        (0..12).for_each(|frame| {
            sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
        });
        sim.coefficients().to_vec()
    };
    let tets = Body::bar().mesh.tets().len();
    let none = fibres(tets, Field::Uniform(0.0), [0.0; 3]);
    let free = shot(rigged(None), 1.0);
    assert!(free == shot(rigged(Some(&none)), 1.0));
    let taut = fibres(tets, Field::Uniform(KAPPA), [1.0, 0.0, 0.0]);
    assert!(free != shot(rigged(Some(&taut)), 1.0));
    let still = longest(shot(rigged(Some(&taut)), 0.0).as_chunks::<3>().0);
    assert!(still < 1e-6, "{still:e}");
}

/// A former contraction has no effect on later steps.
#[test]
fn a_contraction_that_is_taken_off_leaves_nothing_behind() {
    let tets = Body::bar().mesh.tets().len();
    let model = rigged(Some(&fibres(tets, Field::Uniform(KAPPA), [1.0, 0.0, 0.0])));
    for pose_rest in [0.0, 0.5] {
        let params = SimulationParams { pose_rest: 0.0, ..SimulationParams::default() };
        let mut kept = Simulation::new(model.clone(), params).unwrap();
        kept.set_params(SimulationParams { contraction: 0.4.into(), pose_rest, ..params }).unwrap();
        (0..4).for_each(|frame| {
            kept.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
        });
        kept.set_params(params).unwrap();
        let mut fresh = Simulation::new(model.clone(), params).unwrap();
        fresh.restore_state(&kept.save_state()).unwrap();
        for _ in 0..3 {
            kept.step(Some(&[REST; 2])).unwrap();
            fresh.step(Some(&[REST; 2])).unwrap();
            assert!(kept.coefficients() == fresh.coefficients());
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_one_sentence() {
    let number = Field::Uniform;
    let up = [[0.0, 0.0, 1.0]; 2];
    assert!(Fibres::new(number(0.0), &[[0.0; 3]]).is_ok());
    assert!(error_of(Fibres::new(number(-1.0), &up)).contains("fibre stiffness"));
    assert!(error_of(Fibres::new(Field::PerTet(vec![1.0]), &up)).contains("(2,)"));
    assert!(error_of(Fibres::new(number(1.0), &[[0.0; 3]])).contains("fibre direction"));
    assert!(error_of(Fibres::new(number(1.0), &[[0.0, f64::NAN, 1.0]])).contains("fibre direction"));
    let flesh = separable([2, 1, 1]);
    let (material, progress) = (flesh.material(), Progress::default());
    let foreign = fibres(3, number(1.0), [1.0, 0.0, 0.0]);
    let extras = FullSpaceExtras { fibres: Some(&foreign), ..FullSpaceExtras::default() };
    let made = FullSpaceModel::of(&flesh.mesh, &material, &Restraint::default(), &extras, &progress);
    assert!(made.err().unwrap().to_string().contains("(12, 3)"));
    let pulled = SimulationParams { contraction: 0.1.into(), ..SimulationParams::default() };
    for model in [rigged(None), Model::Skinning(Body::bar().reduced().into())] {
        let refused = Simulation::new(model, pulled).err().unwrap().to_string();
        assert!(refused.contains("only full-space flesh with fibres contracts"), "{refused}");
    }
    let each = |count: usize| Shares::of_each("contraction", &vec![0.1; count]);
    let two = hung(&flesh, Some(&Fibres::joined(&halves(&flesh)).unwrap()));
    for (contraction, sentence) in [(each(3).unwrap(), "(2,)"), (each(1).unwrap(), "(2,)")] {
        let params = SimulationParams { contraction, ..pulled };
        let refused = Simulation::new(Model::FullSpace(two.clone()), params).err().unwrap().to_string();
        assert!(refused.contains(sentence), "{refused}");
    }
    assert!(each(0).unwrap_err().to_string().contains("contraction"));
    assert!(each(33).unwrap_err().to_string().contains("at most 32 parts"));
    assert!(error_of(Fibres::joined([])).contains("muscles"));
    assert!(error_of(Fibres::joined([&foreign, &halves(&flesh)[0]])).contains("(3, 3)"));
    assert!(error_of(Fibres::joined(std::iter::repeat_n(&foreign, 33))).contains("at most 32"));
    let beyond = SimulationParams { contraction: 1.5.into(), ..pulled };
    assert!(beyond.check().unwrap_err().to_string().contains("contraction"));
}
