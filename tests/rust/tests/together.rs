//! Cuts without a jolt, and several bodies stepped at once, each as if alone.

use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::simulation::{Participant, Simulation, step_together};
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, REST, Transform, compose, largest, swing, turn};

fn params() -> SimulationParams {
    SimulationParams { substeps: 3, damping: 0.1, stiffness: 0.3, limit: Some(0.2), ..Default::default() }
}

fn simulations(count: usize) -> Vec<Simulation> {
    let bodies = Body::bars();
    let make = |i: usize| {
        let integrator = if i.is_multiple_of(3) { Integrator::Bdf2 } else { Integrator::BackwardEuler };
        let params = SimulationParams { integrator, substeps: 1 + i as u32, ..params() };
        Simulation::new(bodies[i % 2].model(), params).unwrap()
    };
    (0..count).map(make).collect()
}

fn at(pose: &[Transform; 2]) -> StepInput<'_> {
    StepInput { pose: Some(pose), ..StepInput::default() }
}

fn pose(body: usize, frame: u32) -> [Transform; 2] {
    swing(f64::from(frame) / 24.0 + 0.3 * body as f64)
}

#[test]
fn together_is_as_alone_for_any_number_of_threads() {
    for count in [2, 5] {
        let mut alone = simulations(count);
        let mut expected = Vec::new();
        for frame in 0..20 {
            for (i, sim) in alone.iter_mut().enumerate() {
                expected.push((sim.step(Some(&pose(i, frame))).unwrap(), sim.coefficients().to_vec()));
            }
        }
        for threads in [1, 2, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut bodies = simulations(count);
            let mut got = Vec::new();
            for frame in 0..20 {
                let poses: Vec<_> = (0..count).map(|i| pose(i, frame)).collect();
                let turns = bodies.iter_mut().zip(&poses);
                let mut turns: Vec<_> =
                    turns.map(|(simulation, pose)| Participant { simulation, input: at(pose) }).collect();
                let reports = pool.install(|| step_together(&mut turns)).unwrap();
                got.extend(reports.into_iter().zip(bodies.iter().map(|sim| sim.coefficients().to_vec())));
            }
            assert_eq!(got, expected);
        }
    }
}

#[test]
fn if_one_refuses_none_has_moved() {
    let mut bodies = simulations(3);
    for frame in 0..3 {
        bodies.iter_mut().enumerate().for_each(|(i, sim)| _ = sim.step(Some(&pose(i, frame))).unwrap());
    }
    let before: Vec<_> = bodies.iter().map(|sim| (sim.save_state(), sim.coefficients().to_vec())).collect();
    let mut poses: Vec<_> = (0..3).map(|i| pose(i, 3)).collect();
    poses[1][0][0][0] = f64::NAN;
    let turns = bodies.iter_mut().zip(&poses);
    let mut turns: Vec<_> =
        turns.map(|(simulation, pose)| Participant { simulation, input: at(pose) }).collect();
    assert!(matches!(step_together(&mut turns), Err(Error::Pose { bone: 0, .. })));
    let after: Vec<_> = bodies.iter().map(|sim| (sim.save_state(), sim.coefficients().to_vec())).collect();
    assert_eq!(before, after);
}

/// Largest displacement and largest velocity, per frame, of a swinging bar that jumps far away and rotates
/// at frame 8.
fn across_a_jump(body: &Body, cut: impl Fn(&mut Simulation, &[Transform; 2])) -> Vec<Vec<[f64; 3]>> {
    let away = turn([0.3, 1.0, 0.2], 2.0, [0.0; 3], [9.0, -4.0, 2.0]);
    let mut sim = Simulation::new(body.model(), SimulationParams { limit: None, ..params() }).unwrap();
    let mut shown = Vec::new();
    for frame in 0..14 {
        let held = pose(0, frame.min(7));
        let pose = if frame < 8 { held } else { held.map(|bone| compose(&away, &bone)) };
        if frame == 8 {
            cut(&mut sim, &pose)
        } else {
            sim.step(Some(&pose)).unwrap();
        }
        shown.push(jounce_tests::bodies::displacement(body, sim.coefficients()));
    }
    shown
}

fn change(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let rows = a.iter().zip(b).map(|(a, b)| std::array::from_fn(|c| a[c] - b[c]));
    largest(&rows.collect::<Vec<_>>())
}

#[test]
fn a_cut_leaves_no_jolt() {
    for body in Body::bars() {
        let kick = across_a_jump(&body, |sim, pose| _ = sim.step(Some(pose)).unwrap());
        let usual = kick[..8].windows(2).map(|pair| change(&pair[0], &pair[1])).fold(0.0, f64::max);
        assert!(change(&kick[7], &kick[8]) > 5.0 * usual, "no jolt to take away");

        let reset = across_a_jump(&body, |sim, pose| sim.reset(Some(pose)).unwrap());
        assert!(reset[8..].iter().all(|u| largest(u) < 1e-9));
        let settled =
            across_a_jump(&body, |sim, pose| _ = sim.settle(&at(pose), 1000, &Progress::default()).unwrap());
        assert!(settled[8..].iter().all(|u| largest(u) < 1e-9));

        let kept = across_a_jump(&body, |sim, pose| sim.cut(&at(pose)).unwrap());
        let size =
            |u: &[[f64; 3]]| u.iter().map(|u| u.iter().map(|x| x * x).sum::<f64>()).sum::<f64>().sqrt();
        assert!((size(&kept[8]) / size(&kept[7]) - 1.0).abs() < 1e-9, "the displacement is the same, turned");
        assert!(kept[8..].windows(2).all(|pair| change(&pair[0], &pair[1]) < 1.5 * usual));
    }
}

#[test]
fn a_cut_turns_the_displacement_with_the_body_and_takes_its_velocity() {
    let body = Body::bar();
    let away = turn([0.3, 1.0, 0.2], 2.0, [0.0; 3], [9.0, -4.0, 2.0]);
    let mut sim = Simulation::new(body.model(), SimulationParams { limit: None, ..params() }).unwrap();
    (0..8).for_each(|frame| _ = sim.step(Some(&pose(0, frame))).unwrap());
    let mut moved = Simulation::new(body.model(), SimulationParams { limit: None, ..params() }).unwrap();
    moved.restore_state(&sim.save_state()).unwrap();
    sim.cut(&at(&pose(0, 7))).unwrap();
    moved.cut(&at(&pose(0, 7).map(|bone| compose(&away, &bone)))).unwrap();
    // The rest of the motion is the same, seen from the rotated body.
    for frame in 8..14 {
        let u = jounce_tests::bodies::displacement(&body, sim.coefficients());
        let turned = jounce_tests::bodies::displacement(&body, moved.coefficients());
        let expected: Vec<[f64; 3]> =
            u.iter().map(|u| std::array::from_fn(|i| (0..3).map(|j| away[i][j] * u[j]).sum())).collect();
        assert!(change(&turned, &expected) < 1e-5 * largest(&u), "{frame}");
        sim.step(Some(&pose(0, frame))).unwrap();
        moved.step(Some(&pose(0, frame).map(|bone| compose(&away, &bone)))).unwrap();
    }
}

#[test]
fn a_cut_before_the_first_step_starts_at_rest() {
    let mut sim = Simulation::new(Body::bar().model(), params()).unwrap();
    sim.cut(&at(&[REST, REST])).unwrap();
    assert!(sim.coefficients().iter().all(|&z| z == 0.0));
}

#[test]
fn what_coasts_into_a_shot_feels_no_jolt() {
    let moving = |frame: i32| [turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [0.3 * f64::from(frame), 0.0, 0.0]); 2];
    for body in Body::bars() {
        for substeps in [1, 3] {
            let largest_after = |coasts: bool| {
                let params = SimulationParams { substeps, limit: None, ..params() };
                let mut sim = Simulation::new(body.model(), params).unwrap();
                sim.reset(Some(&moving(0))).unwrap();
                if coasts {
                    sim.coast(&at(&moving(1))).unwrap();
                }
                let shown = (1..6).map(|frame| {
                    sim.step(Some(&moving(frame))).unwrap();
                    largest(&jounce_tests::bodies::displacement(&body, sim.coefficients()))
                });
                shown.fold(0.0, f64::max)
            };
            let jolt = largest_after(false);
            assert!(jolt > 1e-3, "no jolt to take away");
            assert!(largest_after(true) < 1e-9 * jolt);
        }
    }
}

#[test]
fn posed_samples_follow_the_rig_alone() {
    let model = Body::bar().model();
    let samples = model.force_samples(6).unwrap();
    let mut sim = Simulation::new(model.clone(), params()).unwrap();
    (0..8).for_each(|frame| _ = sim.step(Some(&pose(0, frame))).unwrap());
    let moving = sim.sample_positions(&samples).unwrap();
    let posed = model.posed_samples(&samples, Some(&pose(0, 7))).unwrap();
    assert!(change(&moving, &posed) > 1e-3);
    sim.reset(Some(&pose(0, 7))).unwrap();
    assert!(change(&sim.sample_positions(&samples).unwrap(), &posed) < 1e-12);
    assert!(change(&model.posed_samples(&samples, Some(&[REST, REST])).unwrap(), samples.points()) < 1e-12);
}
