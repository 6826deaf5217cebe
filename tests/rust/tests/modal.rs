//! Independent modal oscillators against matrix exponentials and closed forms, and the sound of bars.

use std::f64::consts::TAU;

use faer::Mat;
use jounce::material::{Field, Law, Material};
use jounce::modal::{ModalForces, ModalOscillators, RayleighDamping, SoundParams, Strike, radiation, sound};
use jounce::operators::{Stitches, lumped_mass};
use jounce::subspace::{LinearModes, LinearProblem, Restraint};
use jounce::{Error, Progress};
use jounce_tests::bodies::bar;
use jounce_tests::dense::hooke;
use nalgebra::{DMatrix, Matrix4};

fn undamped() -> RayleighDamping {
    RayleighDamping::new(0.0, 0.0).unwrap()
}

/// State z and z' of one mode after a step: from z = 1, from z' = 1, and from rest under the loads (1, 1)
/// and (0, 1).
fn steps(eigenvalue: f64, rate: f64, h: f64) -> [[f64; 2]; 4] {
    let damping = RayleighDamping::new(rate, 0.0).unwrap();
    let after = |impulse: f64, loads: [f64; 2]| {
        let mut mode = ModalOscillators::new(&[eigenvalue], &damping, h).unwrap();
        mode.strike(&[impulse]).unwrap();
        mode.step(&[loads[0]], &[loads[1]]).unwrap();
        [mode.amplitudes()[0], mode.velocities()[0]]
    };
    // The response to z = 1 follows from two steps after an impulse, because amplitudes cannot be set.
    let pushed = after(1.0, [0.0; 2]);
    let mut mode = ModalOscillators::new(&[eigenvalue], &damping, h).unwrap();
    mode.strike(&[1.0]).unwrap();
    mode.step(&[0.0], &[0.0]).unwrap();
    mode.strike(&[-pushed[1]]).unwrap();
    mode.step(&[0.0], &[0.0]).unwrap();
    let dropped = [mode.amplitudes()[0] / pushed[0], mode.velocities()[0] / pushed[0]];
    [dropped, pushed, after(0.0, [1.0; 2]), after(0.0, [0.0, 1.0])]
}

/// As [`steps`], by the matrix exponential for z, z', load and its slope.
fn exponential(eigenvalue: f64, rate: f64, h: f64) -> [[f64; 2]; 4] {
    let matrix = Matrix4::new(
        0.0,
        h,
        0.0,
        0.0, //
        -eigenvalue * h,
        -rate * h,
        h,
        0.0, //
        0.0,
        0.0,
        0.0,
        1.0, //
        0.0,
        0.0,
        0.0,
        0.0,
    );
    let all = matrix.exp();
    [0, 1, 2, 3].map(|column| [all[(0, column)], all[(1, column)]])
}

#[test]
fn a_step_is_the_exponential_under_at_and_above_critical_damping() {
    for theta in [0.0, 1e-9, 1e-4, 0.03, 0.4, 0.99, 1.01, 3.0, 9.0] {
        for ratio in [0.0, 1e-3, 0.4, 0.999, 1.0 - 1e-9, 1.0, 1.0 + 1e-12, 1.0 + 1e-7, 1.02, 1.3, 4.0] {
            let (found, expected) = (
                steps(theta * theta, 2.0 * ratio * theta, 1.0),
                exponential(theta * theta, 2.0 * ratio * theta, 1.0),
            );
            let scale = theta.max(1.0);
            for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
                let apart = (found - expected).abs() / scale;
                assert!(apart < 1e-12, "theta {theta}, ratio {ratio}: {found}, not {expected}");
            }
        }
    }
}

#[test]
fn steps_of_any_length_are_the_closed_form() {
    let (frequency, ratio): (f64, f64) = (440.0, 2e-3);
    let omega = TAU * frequency;
    let turning = omega * (1.0 - ratio * ratio).sqrt();
    for h in [1e-7, 1e-5, 1.0 / 48000.0, 1e-3, 0.02, 0.3] {
        let [_, pushed, loaded, _] = steps(omega * omega, 2.0 * ratio * omega, h);
        let decay = (-ratio * omega * h).exp();
        let expected = decay * (turning * h).sin() / turning;
        assert!((pushed[0] - expected).abs() * omega < 1e-12, "{h} s");
        let (cos, sin) = ((turning * h).cos(), (turning * h).sin());
        let held = 1.0 - decay * (cos + ratio * omega / turning * sin);
        assert!((loaded[0] * omega * omega - held).abs() < 1e-12, "{h} s");
    }
}

/// Roots 1e14 apart: `z = (h - (1 - e^(-c h)) / c) / c` under a constant load without a spring.
#[test]
fn what_is_damped_beyond_measure_keeps_its_digits() {
    for rate in [1e-6, 1e-2, 0.3, 1.0, 7.0, 1e4, 1e8_f64] {
        let [_, pushed, loaded, _] = steps(0.0, rate, 1.0);
        let still = -(-rate).exp_m1() / rate;
        assert!((pushed[0] / still - 1.0).abs() < 1e-12, "{rate}");
        if rate > 0.1 {
            assert!((loaded[0] * rate / (1.0 - still) - 1.0).abs() < 1e-12, "{rate}");
        }
    }
    // It creeps back as `z = e^(-l / c)`.
    let [dropped, ..] = steps(2.0, 1e8, 1e8);
    assert!((dropped[0] - (-2.0_f64).exp()).abs() < 1e-12);
}

#[test]
fn damping_has_the_ratios_that_were_asked_for() {
    let damping = RayleighDamping::of_ratios([[100.0, 0.004], [3000.0, 0.02]]).unwrap();
    for (frequency, ratio) in [(100.0, 0.004), (3000.0, 0.02)] {
        let omega: f64 = TAU * frequency;
        assert!((damping.rate(omega * omega) / (2.0 * omega) / ratio - 1.0).abs() < 1e-12);
    }
    // At the largest possible difference all damping is proportional to mass, or to stiffness.
    assert_eq!(RayleighDamping::of_ratios([[10.0, 0.3], [30.0, 0.1]]).unwrap().beta(), 0.0);
    assert_eq!(RayleighDamping::of_ratios([[10.0, 0.1], [30.0, 0.3]]).unwrap().alpha(), 0.0);
    for refused in [[[10.0, 0.1], [30.0, 0.4]], [[10.0, 0.1], [10.0, 0.1]], [[0.0, 0.1], [1.0, 0.1]]] {
        assert!(matches!(RayleighDamping::of_ratios(refused), Err(Error::Range { what: "damping", .. })));
    }
}

/// The recursive filter of James and Pai under a constant load: `omega^2 z` at the end.
fn filtered(theta: f64, ratio: f64) -> f64 {
    let decay = (-ratio * theta).exp();
    let turn = theta * (1.0 - ratio * ratio).sqrt();
    let lag = ratio.asin();
    let gain =
        2.0 * (decay * (turn + lag).cos() - decay * decay * (2.0 * turn + lag).cos()) / (3.0 * theta * turn);
    let [mut before, mut now] = [0.0, 0.0];
    for _ in 0..400_000 {
        [before, now] = [now, 2.0 * decay * turn.cos() * now - decay * decay * before + gain];
    }
    theta * theta * now
}

/// The common filter for sound has a gain of `(1 + 2 cos theta) / 3` for constant loads.
#[test]
fn what_does_not_change_is_met_in_full_unlike_by_a_recursive_filter() {
    for theta in [0.1, 0.8, 1.6, 2.4] {
        let ratio = 1e-3;
        // Tolerance for the effect of the filter's own damping.
        let gain = filtered(theta, ratio);
        assert!((gain - (1.0 + 2.0 * theta.cos()) / 3.0).abs() < 2.0 * ratio / theta);
        let damping = RayleighDamping::new(2.0 * ratio * theta, 0.0).unwrap();
        let mut mode = ModalOscillators::new(&[theta * theta], &damping, 1.0).unwrap();
        (0..400_000).for_each(|_| mode.step(&[1.0], &[1.0]).unwrap());
        assert!((theta * theta * mode.amplitudes()[0] - 1.0).abs() < 1e-12);
    }
}

fn steel(poisson: f64) -> Material {
    let number = Field::Uniform;
    Material::new(Law::Corotated, number(2e11), number(poisson), number(7800.0)).unwrap()
}

fn modes_of(cells: [usize; 3], cell: f64, poisson: f64, count: usize, pinned: bool) -> LinearModes {
    let mesh = bar(cells, cell);
    let pinned = pinned.then(|| mesh.vertices().iter().map(|x| x[0] == 0.0).collect::<Vec<bool>>());
    let restraint = Restraint { pinned: pinned.as_deref(), ..Restraint::default() };
    let problem =
        LinearProblem::new(&mesh, &steel(poisson), &restraint, &Stitches::none(&mesh), &Progress::default())
            .unwrap();
    problem.lowest(count, &Progress::default()).unwrap()
}

/// All modes of a small body together are exact: `M u'' + (alpha M + beta K) u' + K u = f` by the
/// exponential of the whole matrix.
#[test]
fn all_modes_of_a_body_are_its_full_solution() {
    let (mesh, material) = (bar([2, 1, 1], 0.1), steel(0.3));
    let free: Vec<usize> = (0..36).filter(|row| mesh.vertices()[row / 3][0] > 0.0).collect();
    let modes = modes_of([2, 1, 1], 0.1, 0.3, free.len(), true);
    let (stiffness, mass) = (hooke(&mesh, &material), lumped_mass(&mesh, &material));
    let (alpha, beta, h, size) = (300.0, 2e-6, 4e-4, free.len());
    let force: Vec<f64> = (0..size).map(|i| 1e3 * (1.7 * i as f64).sin()).collect();
    // Times in units of a step.
    let whole = DMatrix::from_fn(2 * size + 1, 2 * size + 1, |i, j| {
        if i < size {
            return f64::from(u8::from(j == i + size));
        }
        let Some(&row) = free.get(i - size) else { return 0.0 };
        let same = |j: usize| if j == i - size { 1.0 } else { 0.0 };
        let entry = |j: usize| h * stiffness[(row, free[j])] / mass[row / 3];
        match j {
            j if j < size => -h * entry(j),
            j if j < 2 * size => -(h * alpha * same(j - size) + beta * entry(j - size)),
            _ => h * h * force[i - size] / mass[row / 3],
        }
    });
    let expected = whole.exp().column(2 * size).into_owned();
    let damping = RayleighDamping::new(alpha, beta).unwrap();
    let mut oscillators = ModalOscillators::new(&modes.eigenvalues, &damping, h).unwrap();
    let load: Vec<f64> = (0..size)
        .map(|k| free.iter().zip(&force).map(|(&row, f)| modes.shapes[(row, k)] * f).sum())
        .collect();
    oscillators.step(&load, &load).unwrap();
    let found = |row: usize| -> f64 {
        oscillators.amplitudes().iter().enumerate().map(|(k, z)| modes.shapes[(row, k)] * z).sum()
    };
    let most = expected.rows(0, size).amax();
    for (i, &row) in free.iter().enumerate() {
        assert!((found(row) - expected[i]).abs() < 1e-9 * most, "{}, not {}", found(row), expected[i]);
    }
}

#[test]
fn ringing_is_steps_without_load() {
    let eigenvalues: Vec<f64> = (1..=70).map(|k| (300.0 * f64::from(k)).powi(2)).collect();
    let weights: Vec<f64> = (0..70).map(|k| 1.0 + 0.1 * f64::from(k)).collect();
    let damping = RayleighDamping::new(5.0, 1e-7).unwrap();
    let mut ringing = ModalOscillators::new(&eigenvalues, &damping, 1.0 / 48000.0).unwrap();
    ringing.strike(&weights).unwrap();
    let mut stepping = ringing.clone();
    let mut samples = vec![0.0; 1000];
    ringing.ring(&weights, &mut samples).unwrap();
    let nothing = vec![0.0; 70];
    let most = samples.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    for sample in samples {
        stepping.step(&nothing, &nothing).unwrap();
        let sum: f64 = stepping.amplitudes().iter().zip(&weights).map(|(z, w)| z * w).sum();
        assert!((sum - sample).abs() < 1e-12 * most);
    }
}

fn params(rate: f64, damping: RayleighDamping) -> SoundParams<'static> {
    SoundParams { rate, damping, weights: None }
}

/// `|sum_t s(t) e^(-i omega t)|` under a Hann window.
fn spectrum(samples: &[f32], rate: f64, frequency: f64) -> f64 {
    let n = samples.len() as f64;
    let [mut re, mut im] = [0.0; 2];
    for (i, &sample) in (0..).zip(samples) {
        let at = f64::from(i);
        let value = f64::from(sample) * (1.0 - (TAU * at / n).cos());
        let angle = TAU * frequency * at / rate;
        re += value * angle.cos();
        im += value * angle.sin();
    }
    re.hypot(im)
}

/// Axial modes of a fixed bar, for which tets do not lock: `f_j = (2 j - 1) sqrt(E / rho) / 4 L`, all of
/// them audible.
#[test]
fn a_bar_struck_on_its_end_sounds_its_partials() {
    let mesh = bar([40, 1, 1], 0.025);
    let modes = modes_of([40, 1, 1], 0.025, 0.0, 120, true);
    let end: Vec<u32> = (0..164).filter(|&v| mesh.vertices()[v as usize][0] > 0.999).collect();
    let strikes: Vec<Strike> =
        end.iter().map(|&vertex| Strike { time: 0.0, vertex, impulse: [1.0, 0.0, 0.0] }).collect();
    let rate = 48000.0;
    let damping = RayleighDamping::of_ratios([[1000.0, 1e-3], [10_000.0, 1e-3]]).unwrap();
    let samples = sound(&modes, &strikes, None, &params(rate, damping), 0.5).unwrap();
    assert_eq!(samples.len(), 24000);
    let fundamental = (2e11_f64 / 7800.0).sqrt() / 4.0;
    for partial in [1.0, 3.0, 5.0] {
        let near: Vec<f64> =
            (-60..=60).map(|i| partial * fundamental * (1.0 + 5e-4 * f64::from(i))).collect();
        let loud: Vec<f64> = near.iter().map(|&f| spectrum(&samples, rate, f)).collect();
        let peak = (0..near.len()).max_by(|&a, &b| loud[a].total_cmp(&loud[b])).unwrap();
        let found = near[peak] / (partial * fundamental);
        assert!((found - 1.0).abs() < 0.005, "partial {partial}: {found} of the formula");
        assert!(loud[peak] > 20.0 * loud[0].max(loud[120]), "partial {partial} is no peak");
    }
}

#[test]
fn a_sound_dies_away_as_its_damping_says() {
    let modes =
        LinearModes { shapes: Mat::from_fn(3, 1, |_, _| 1.0), eigenvalues: vec![(TAU * 500.0).powi(2)] };
    let (rate, ratio) = (48000.0, 2e-3);
    let damping = RayleighDamping::of_ratios([[500.0, ratio], [5000.0, ratio]]).unwrap();
    let strike = Strike { time: 0.25, vertex: 0, impulse: [0.0, 2.0, 0.0] };
    let samples = sound(&modes, &[strike], None, &params(rate, damping), 1.25).unwrap();
    let first = 12000;
    assert!(samples[..=first].iter().all(|&sample| sample == 0.0));
    let omega = TAU * 500.0;
    let turning = omega * (1.0 - ratio * ratio).sqrt();
    for (i, &sample) in samples.iter().enumerate().skip(first) {
        let t = (i - first) as f64 / rate;
        let expected = 2.0 * (-ratio * omega * t).exp() * (turning * t).sin() / turning;
        assert!((f64::from(sample) - expected).abs() < 1e-6 * 2.0 / turning);
    }
}

#[test]
fn forces_of_frames_push_and_then_let_ring() {
    let omega = TAU * 200.0;
    let modes = LinearModes { shapes: Mat::zeros(3, 1), eigenvalues: vec![omega * omega] };
    let (rate, frames) = (48000.0, [0.0, 3.0, 3.0]);
    let forces = Some(ModalForces { rows: &frames, fps: 24.0 });
    let samples = sound(&modes, &[], forces, &params(rate, undamped()), 0.2).unwrap();
    // z = slope (t - sin(w t) / w) / w^2 while the load rises.
    let slope = 3.0 * 24.0;
    for i in (0..=2000).step_by(50) {
        let t = i as f64 / rate;
        let expected = slope * (t - (omega * t).sin() / omega) / (omega * omega);
        assert!((f64::from(samples[i]) - expected).abs() < 1e-6 * 3.0 / (omega * omega));
    }
    let rings = |range: std::ops::Range<usize>| samples[range].iter().fold(0.0_f32, |most, x| most.max(*x));
    assert!(f64::from(rings(4100..9600)) * omega * omega > 2.9);
    let mean: f64 = samples[4801..9601 - 1].iter().map(|&x| f64::from(x)).sum::<f64>() / 4799.0;
    assert!(mean.abs() * omega * omega < 0.05, "nothing holds it any more");
}

/// A body that expands moves air, `4 pi r^2` per metre; one that only bends or rotates moves none.
#[test]
fn what_swells_is_heard_and_what_turns_is_not() {
    let mesh = bar([2, 2, 2], 0.5);
    let column = |of: &dyn Fn([f64; 3]) -> [f64; 3]| -> Vec<f64> {
        mesh.vertices().iter().flat_map(|&x| of(x)).collect()
    };
    let columns = [column(&|x| x), column(&|[x, y, _]| [-y, x, 0.0]), column(&|_| [1.0, 2.0, 3.0])];
    let shapes = Mat::from_fn(columns[0].len(), 3, |i, j| columns[j][i]);
    let modes = LinearModes { shapes, eigenvalues: vec![4.0, 4.0, 4.0] };
    let found = radiation(&mesh, &modes).unwrap();
    // The integral of x over the normals is three volumes, here of 1 m^3.
    assert!((found[0] - 12.0).abs() < 1e-12 && found[1].abs() < 1e-12 && found[2].abs() < 1e-12);
    let other = bar([1, 1, 1], 1.0);
    assert!(matches!(radiation(&other, &modes), Err(Error::Shape { what: "modes", .. })));
}

#[test]
fn what_cannot_sound_is_refused() {
    let modes = LinearModes { shapes: Mat::zeros(6, 1), eigenvalues: vec![(TAU * 500.0).powi(2)] };
    let of = |strikes: &[Strike],
              forces: Option<ModalForces<'_>>,
              params: &SoundParams<'_>,
              duration: f64| { sound(&modes, strikes, forces, params, duration).unwrap_err() };
    let good = params(48000.0, undamped());
    let strike = |time: f64, vertex: u32| Strike { time, vertex, impulse: [0.0, 0.0, 1.0] };
    assert!(matches!(of(&[strike(0.0, 2)], None, &good, 1.0), Error::Index { what: "vertices", .. }));
    assert!(matches!(of(&[strike(1.5, 0)], None, &good, 1.0), Error::Range { what: "times", .. }));
    assert!(matches!(of(&[strike(f64::NAN, 0)], None, &good, 1.0), Error::Range { what: "times", .. }));
    assert!(matches!(of(&[], None, &good, 0.0), Error::Range { what: "duration", .. }));
    assert!(matches!(of(&[], None, &params(f64::NAN, undamped()), 1.0), Error::Range { what: "rate", .. }));
    let weights = SoundParams { weights: Some(&[1.0, 1.0]), ..good };
    assert!(matches!(of(&[], None, &weights, 1.0), Error::Shape { what: "weights", .. }));
    let forces = ModalForces { rows: &[f64::INFINITY], fps: 24.0 };
    assert!(matches!(of(&[], Some(forces), &good, 1.0), Error::NotFinite { what: "forces", .. }));
    // Above half the rate nothing is audible, nor are modes that do not oscillate.
    assert!(matches!(
        of(&[], None, &params(900.0, undamped()), 1.0),
        Error::Unsupported { what: "modes", .. }
    ));
    let slow = params(48000.0, RayleighDamping::new(1e5, 0.0).unwrap());
    assert!(matches!(of(&[], None, &slow, 1.0), Error::Unsupported { what: "modes", .. }));
}
