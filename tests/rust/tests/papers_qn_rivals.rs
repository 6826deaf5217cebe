//! Alternatives that [QN] compares its method with: other initial Hessians, other intervals for the
//! metric's stiffness, strain limits in place of a law, and flesh without fibres.

use faer::linalg::solvers::Llt;
use faer::prelude::Solve;
use faer::{Mat, Scale};
use jounce::Progress;
use jounce::inputs::{Minimiser, SimulationParams};
use jounce::material::{Energy, Fibres, Field, PrincipalStretch};
use jounce::math::SignedSvd;
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::operators::{gradients, laplacian, lumped_mass};
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce_tests::bodies::bar;
use jounce_tests::hyperelastic::{Flesh, H, params, params_of, silent, start};
use jounce_tests::rivals::{
    Column, Pair, chebyshev_errors, dot, errors, factor, hessian, least, metric, rotations, turned,
};
use jounce_tests::touching::{self, ground};
use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

/// A bar of Neo-Hookean flesh with its far end twisted by an angle in radians, as the inertial target.
fn twisted(angle: f64) -> (Flesh, Vec<[f64; 3]>) {
    let law = PrincipalStretch::NeoHookean { mu: 3.6e4, lambda: 1.4e5 };
    let flesh = Flesh { mesh: bar([8, 2, 2], 0.1), law };
    let y = flesh.twisted(angle);
    (flesh, y)
}

/// Stiffness k of the line closest to the stress of one stretch in an interval [QN eq. 10], by Simpson's
/// rule.
fn slope(law: &PrincipalStretch, [from, to]: [f64; 2]) -> f64 {
    const PANELS: usize = 200;
    let (middle, step) = (0.5 * (from + to), (to - from) / (2 * PANELS) as f64);
    let at = |place: usize| {
        let x = from + step * place as f64;
        let weight = if place.is_multiple_of(2 * PANELS) { 1.0 } else { [2.0, 4.0][place % 2] };
        weight * (x - middle) * law.stress(&Matrix3::from_diagonal(&Vector3::new(x, 1.0, 1.0)))[(0, 0)]
    };
    12.0 / (to - from).powi(3) * step / 3.0 * (0..=2 * PANELS).map(at).sum::<f64>()
}

/// With the same initial Hessian, the rivals' solver and the core give the same iterates.
#[test]
fn the_rivals_run_in_the_core_s_own_iterations() {
    let (flesh, y) = twisted(2.0);
    let (k, least) = (slope(&flesh.law, [0.5, 1.5]), least(&flesh, &y));
    assert!((k / flesh.law.slope() - 1.0).abs() < 1e-3, "{k} of {}", flesh.law.slope());
    let first = factor(&metric(&flesh, flesh.law.slope()));
    let own = errors(&flesh, &y, least, 5, 10, &|q, _| first.solve(q));
    let mut stepper = flesh.free();
    start(&mut stepper, &flesh, &y);
    stepper.step(flesh.mesh.vertices(), &params_of(Minimiser::QuasiNewton { pairs: 5 }, 10), silent).unwrap();
    let [first, last] = [&y, &stepper.positions()].map(|x| flesh.incremental(x, &y, H).0 - least);
    let expected = last / first;
    assert!((own[9] / expected - 1.0).abs() < 1e-5, "{} of {expected}", own[9]);
}

/// Number of iterations after which an error falls below some share.
fn needed(errors: &[f64], share: f64) -> usize {
    errors.iter().position(|error| *error < share).unwrap_or(errors.len())
}

/// The metric is the best of the Hessians that are factorised only once. With the rest Hessian rotated at
/// each vertex, or with a Hessian for each frame, there are even fewer iterations [QN fig. 8].
#[test]
fn figure_8_the_metric_is_a_better_guess_than_identity_or_rest_hessian() {
    for angle in [1.0, 2.0] {
        let (flesh, y) = twisted(angle);
        let least = least(&flesh, &y);
        let of = |name: &str, first: &dyn Fn(&Column, Option<&Pair>) -> Column| {
            let errors = errors(&flesh, &y, least, 5, 30, first);
            let shown: Vec<String> = errors.iter().step_by(5).map(|e| format!("{e:.1e}")).collect();
            println!("{angle} rad, {name}: {}", shown.join(" "));
            errors
        };
        let factors =
            [metric(&flesh, flesh.law.slope()), hessian(&flesh, flesh.mesh.vertices()), hessian(&flesh, &y)];
        let [own, at_rest, of_frame] = factors.map(|matrix| factor(&matrix));
        let warp = rotations(&flesh, &y);
        let warped = |q: &Column, _: Option<&Pair>| {
            let turned_back = turned(warp.iter().map(Matrix3::transpose), q);
            turned(warp.iter().copied(), &at_rest.solve(turned_back))
        };
        // The scale printed as (12) is that of the inverse.
        let scaled =
            |q: &Column, pair: Option<&Pair>| Scale(pair.map_or(1.0, |(s, t)| dot(s, t) / dot(t, t))) * q;
        let own = of("metric", &|q, _| own.solve(q));
        let identity = of("scaled identity", &scaled);
        let rest = of("rest Hessian", &|q, _| at_rest.solve(q));
        let [warped, frame] = [of("warped", &warped), of("Hessian of the frame", &|q, _| of_frame.solve(q))];
        for worse in [&identity, &rest] {
            assert!(own.iter().zip(worse).skip(9).all(|(own, worse)| *own < 0.2 * worse));
            assert!(2 * needed(&own, 1e-2) < 3 * needed(worse, 1e-2));
        }
        for better in [&warped, &frame] {
            assert!(needed(better, 1e-4) < needed(&own, 1e-4) && needed(better, 1e-4) < needed(&rest, 1e-4));
        }
    }
}

/// Chebyshev extrapolation with its optimal radius is better than one pair and worse than two [QN alg. 3].
#[test]
fn chebyshev_s_weights_are_worth_one_to_two_pairs() {
    for angle in [1.0, 2.0] {
        let (flesh, y) = twisted(angle);
        let least = least(&flesh, &y);
        let own = factor(&metric(&flesh, flesh.law.slope()));
        let first = |q: &Column, _: Option<&Pair>| own.solve(q);
        let pairs = [0, 1, 2].map(|m| errors(&flesh, &y, least, m, 30, &first)[29]);
        let radii = [0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995];
        let ends = radii.map(|radius| chebyshev_errors(&flesh, &y, least, radius, 30, &first)[29]);
        let best = ends.into_iter().fold(f64::INFINITY, f64::min);
        println!("{angle} rad, 0, 1, 2 pairs: {pairs:?}; by radius {ends:?}");
        assert!(pairs[2] < best && best < pairs[1], "{best} by the best radius, by pairs {pairs:?}");
    }
}

/// The interval chosen for the stiffness hardly matters [QN fig. 14].
#[test]
fn figure_14_other_intervals_converge_alike() {
    let (flesh, y) = twisted(2.0);
    let least = least(&flesh, &y);
    let of = |interval| {
        let first = factor(&metric(&flesh, slope(&flesh.law, interval)));
        let errors = errors(&flesh, &y, least, 5, 30, &|q, _| first.solve(q));
        println!("{interval:?}: {:.1e} {:.1e} {:.1e}", errors[9], errors[19], errors[29]);
        needed(&errors, 1e-4)
    };
    let own = of([0.5, 1.5]);
    for interval in [[0.99, 1.01], [0.9, 1.1], [0.7, 1.3], [0.5, 2.0], [0.3, 1.7]] {
        let other = of(interval);
        assert!(4 * other.abs_diff(own) <= own, "{interval:?} takes {other} iterations, the own {own}");
    }
}

/// Projective dynamics with strain limits; each acts on stretches that differ from 1 by more than it
/// allows.
struct Limits {
    /// Allowed strain of each limit, and the stiffness beyond it, Pa.
    limits: [(f64, f64); 2],
}

impl Limits {
    /// Limits closest to the stress of the polynomial law between 0.5 and 1.5, by least squares.
    fn like(mu: f64) -> Self {
        let allowed = [0.15, 0.3];
        let (mut square, mut right) = (Matrix2::zeros(), Vector2::zeros());
        for place in 0..=500 {
            let strain = 0.001 * f64::from(place);
            let beyond = Vector2::from(allowed.map(|limit| (strain - limit).max(0.0)));
            square += beyond * beyond.transpose();
            right += 4.0 * mu * strain.powi(3) * beyond;
        }
        let stiffness = square.try_inverse().unwrap() * right;
        Self { limits: [0, 1].map(|i| (allowed[i], stiffness[i])) }
    }

    /// Stress of a stretch, Pa.
    fn stress(&self, stretch: f64) -> f64 {
        let of = |&(limit, stiffness): &(f64, f64)| {
            stiffness * (stretch - stretch.clamp(1.0 - limit, 1.0 + limit))
        };
        self.limits.iter().map(of).sum()
    }

    /// Energy of a deformation gradient, J/m^3.
    fn density(&self, f: &Matrix3<f64>) -> f64 {
        let svd = SignedSvd::new(f);
        let of = |&(limit, stiffness): &(f64, f64)| {
            svd.sigma.map(|x| 0.5 * stiffness * (x - x.clamp(1.0 - limit, 1.0 + limit)).powi(2)).sum()
        };
        self.limits.iter().map(of).sum()
    }

    /// Stiffness-weighted sum of the limits' projections of a deformation gradient, Pa.
    fn projected(&self, f: &Matrix3<f64>) -> Matrix3<f64> {
        let svd = SignedSvd::new(f);
        let of = |&(limit, stiffness): &(f64, f64)| {
            let clamped = svd.sigma.map(|x| x.clamp(1.0 - limit, 1.0 + limit));
            stiffness * svd.u * Matrix3::from_diagonal(&clamped) * svd.v.transpose()
        };
        self.limits.iter().map(of).sum()
    }
}

/// A free bar advanced by some local-global iterations from the inertial target.
struct Flying<'a> {
    flesh: &'a Flesh,
    limits: Limits,
    mass: Vec<f64>,
    system: Llt<f64>,
}

impl<'a> Flying<'a> {
    fn new(flesh: &'a Flesh, limits: Limits) -> Self {
        let mass = lumped_mass(&flesh.mesh, &flesh.material());
        let stiffness: f64 = limits.limits.iter().map(|limit| limit.1).sum();
        let laplacian = laplacian(&flesh.mesh, &vec![stiffness; flesh.mesh.tets().len()]).unwrap().to_dense();
        let inertia = |i: usize, j: usize| if i == j { mass[i] / (H * H) } else { 0.0 };
        let system = Mat::from_fn(mass.len(), mass.len(), |i, j| laplacian[(i, j)] + inertia(i, j));
        Self { flesh, limits, system: factor(&system), mass }
    }

    fn step(&self, y: &[[f64; 3]], iterations: usize) -> Vec<[f64; 3]> {
        let mut x = y.to_vec();
        for _ in 0..iterations {
            let mut right = Mat::from_fn(x.len(), 3, |v, c| self.mass[v] / (H * H) * y[v][c]);
            for (t, f) in self.flesh.deformations(&x).iter().enumerate() {
                let pull = self.flesh.mesh.volumes()[t] * self.limits.projected(f);
                for (&v, hat) in self.flesh.mesh.tets()[t].iter().zip(gradients(&self.flesh.mesh)[t]) {
                    let force = pull * Vector3::from(hat);
                    (0..3).for_each(|c| right[(v as usize, c)] += force[c]);
                }
            }
            let next = self.system.solve(right);
            x = (0..x.len()).map(|v| [0, 1, 2].map(|c| next[(v, c)])).collect();
        }
        x
    }

    fn elastic(&self, x: &[[f64; 3]]) -> f64 {
        let densities = self.flesh.deformations(x).into_iter().map(|f| self.limits.density(&f));
        densities.zip(self.flesh.mesh.volumes()).map(|(density, volume)| density * volume).sum()
    }
}

/// Energy that a bar flying apart keeps after some frames, J. `step` gives its next positions from the
/// inertial target.
fn kept(
    flesh: &Flesh,
    step: impl Fn(&[[f64; 3]]) -> Vec<[f64; 3]>,
    elastic: impl Fn(&[[f64; 3]]) -> f64,
) -> f64 {
    const FRAMES: usize = 24;
    let rest = flesh.mesh.vertices();
    let middle = rest.iter().map(|v| v[0]).fold(0.0, f64::max) / 2.0;
    let mut now = rest.to_vec();
    let mut before: Vec<[f64; 3]> =
        rest.iter().map(|v| [v[0] - 0.12 * (v[0] - middle), v[1], v[2]]).collect();
    for _ in 0..FRAMES {
        let y: Vec<[f64; 3]> =
            now.iter().zip(&before).map(|(x, old)| [0, 1, 2].map(|c| 2.0 * x[c] - old[c])).collect();
        before = std::mem::replace(&mut now, step(&y));
    }
    let squares =
        now.iter().zip(&before).map(|(x, old)| (Vector3::from(*x) - Vector3::from(*old)).norm_squared());
    let mass = lumped_mass(&flesh.mesh, &flesh.material());
    squares.zip(mass).map(|(square, mass)| 0.5 * mass * square / (H * H)).sum::<f64>() + elastic(&now)
}

/// Positions of a body after some iterations of the core, starting from the inertial target.
fn descended(flesh: &Flesh, y: &[[f64; 3]], iterations: u32) -> Vec<[f64; 3]> {
    let mut stepper = flesh.free();
    start(&mut stepper, flesh, y);
    stepper.step(flesh.mesh.vertices(), &params(iterations, 0.0), silent).unwrap();
    stepper.positions()
}

/// Strain limits imitate the stress of the polynomial law, but their stiffness is discontinuous, and after
/// ten iterations per frame they have dissipated energy that the flesh should keep; the law itself has
/// neither fault [QN fig. 10].
#[test]
fn figure_10_strain_limits_in_place_of_a_law_jump_and_damp() {
    let mu = 3e4;
    let flesh = Flesh { mesh: bar([8, 1, 1], 0.1), law: PrincipalStretch::Polynomial { mu } };
    let limits = Limits::like(mu);
    let stress = |x: f64| 4.0 * mu * (x - 1.0).powi(3);
    for strain in (0..=500).map(|place| 0.001 * f64::from(place)) {
        assert!((limits.stress(1.0 + strain) - stress(1.0 + strain)).abs() < 0.1 * stress(1.5));
    }
    let jump = |stress: &dyn Fn(f64) -> f64, x: f64| {
        let [low, middle, high] = [-1e-6, 0.0, 1e-6].map(|off| stress(x + off));
        (high - 2.0 * middle + low) / 1e-6
    };
    let steepest = 12.0 * mu * 0.25;
    for (limit, _) in limits.limits {
        assert!(jump(&|x| limits.stress(x), 1.0 + limit) > 0.15 * steepest);
        assert!(jump(&stress, 1.0 + limit) < 1e-3 * steepest);
    }
    let flying = Flying::new(&flesh, limits);
    let by_limits = [10, 200].map(|count| kept(&flesh, |y| flying.step(y, count), |x| flying.elastic(x)));
    let by_law = [10, 200].map(|count| kept(&flesh, |y| descended(&flesh, y, count), |x| flesh.elastic(x).0));
    let [damped, right] = [by_limits, by_law].map(|[soon, late]| soon / late);
    println!("after ten iterations limits keep {damped:.4} of their energy, the law {right:.4}");
    assert!(damped < 0.95 && (right - 1.0).abs() < 5e-3, "{damped} {right}");
}

/// Measurements of a dropped cube.
struct Dropped {
    /// Largest compression along z, as a share of its height.
    squeezed: f64,
    /// Largest bulge along x and y, as shares of its sides.
    wider: [f64; 2],
}

/// A cube of corotated flesh that falls on the ground, with fibres along a direction [QN 4.4]; all
/// stiffnesses are multiples of the paper's.
fn dropped(fibres: Option<[f64; 3]>) -> Dropped {
    const TIMES: f64 = 1e3;
    let law = PrincipalStretch::Corotated { mu: 10.0 * TIMES, lambda: 100.0 * TIMES };
    let flesh = Flesh { mesh: bar([4, 4, 4], 0.05), law };
    let tets = flesh.mesh.tets().len();
    let fibres =
        fibres.map(|direction| Fibres::new(Field::Uniform(50.0 * TIMES), &vec![direction; tets]).unwrap());
    let extras = FullSpaceExtras { fibres: fibres.as_ref(), ..FullSpaceExtras::default() };
    let laws = vec![flesh.law.clone(); tets];
    let (restraint, progress) = (Restraint::default(), Progress::default());
    let model =
        FullSpaceModel::with_extras(&flesh.mesh, &flesh.material(), &laws, &restraint, &extras, &progress);
    let settings = SimulationParams { substeps: 4, pose_rest: 0.0, ..touching::params() };
    let model = Model::FullSpace(model.unwrap().into());
    let mut sim = Simulation::among(model, settings, &[ground(-0.1, 0.0)], None).unwrap();
    let mut most = [0.0_f64; 3];
    for _ in 0..12 {
        sim.step(None).unwrap();
        for (c, most) in most.iter_mut().enumerate() {
            let places = || {
                flesh
                    .mesh
                    .vertices()
                    .iter()
                    .zip(sim.coefficients().as_chunks::<3>().0)
                    .map(|(x, u)| x[c] + u[c])
            };
            let side = places().fold(f64::MIN, f64::max) - places().fold(f64::MAX, f64::min);
            let change = side / 0.2 - 1.0;
            *most = most.max(if c == 2 { -change } else { change });
        }
    }
    Dropped { squeezed: most[2], wider: [most[0], most[1]] }
}

/// Fibres stiffen a cube that lands along them, and hardly one that lands across [QN fig. 5].
#[test]
fn figure_5_a_dropped_cube_gives_way_less_along_its_fibres() {
    let [plain, upright, lying] = [None, Some([0.0, 0.0, 1.0]), Some([1.0, 0.0, 0.0])].map(dropped);
    for each in [&plain, &upright, &lying] {
        println!("squeezed by {:.3}, wider by {:.3?}", each.squeezed, each.wider);
    }
    // Compression by an impact is proportional to the inverse root of the stiffness along the height: (29.1
    // / 79.1)^(1/2) = 0.61.
    let share = upright.squeezed / plain.squeezed;
    assert!((0.45..0.65).contains(&share), "{share}");
    assert!((lying.squeezed / plain.squeezed - 1.0).abs() < 0.1);
    assert!(lying.wider[0] < 0.5 * plain.wider[0] && lying.wider[1] > 1.2 * plain.wider[1]);
    assert!((plain.wider[0] / plain.wider[1] - 1.0).abs() < 0.01);
}
