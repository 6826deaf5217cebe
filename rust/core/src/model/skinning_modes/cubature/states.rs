//! Training states of a body, and the forces in them.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rand_chacha::ChaCha8Rng;

use super::elements::Elements;
use super::joints::Joints;
use crate::math::dense::diagonal::FREE;
use crate::math::dense::{inner, product, symmetric_eigen};
use crate::math::polar::{Matrix, rotations};
use crate::math::random::{normal, uniform};
use crate::model::skinning_modes::body::Body;
use crate::parallel::*;
use crate::sampling::cubature::Works;
use crate::{Progress, Result};

/// Number of poses, the first at rest.
const POSES: usize = 9;
/// States in each pose.
const STATES: usize = 9;
/// Number of test directions for the force of a state.
const DIRECTIONS: usize = 12;
/// Root mean square displacement gradient of the smallest and the largest state.
const STRAIN: (f64, f64) = (0.05, 0.6);
/// Range of the power of compliance in random states without a load.
const FALL: (f64, f64) = (1.0, 1.5);
/// Overall acceleration in units of the body's size, relative to joint accelerations of one radian in a
/// second squared.
const WHOLE: f64 = 0.3;
/// Elements whose rotations are computed at once.
const BATCH: usize = 256;

type Rows = Vec<[f64; 3]>;

/// Training set of a body: states, and candidate elements.
pub(super) struct Training<'a> {
    body: &'a Body<'a>,
    /// Phi, 4m x r.
    basis: Mat<f64>,
    /// Map from white noise of 4m coordinates to white noise in the basis, r x 4m.
    whitening: Mat<f64>,
    elements: &'a Elements,
    candidates: &'a [usize],
    /// `G B Phi` of the candidates, 3k x r.
    gradients: Mat<f64>,
    soft: Softness,
}

/// Directions of deformation, 3r x 3r, and the relative compliance of each.
struct Softness {
    directions: Mat<f64>,
    compliance: Vec<f64>,
}

/// A body in a pose: `F_rig` and the rest stretch of each element.
struct Posed {
    rig: Vec<Matrix>,
    stretch: Vec<Matrix>,
}

/// Random data of one state.
struct Draw {
    /// Reduced coordinates up to scale, 3r.
    shape: Mat<f64>,
    /// Root mean square of the gradient.
    strain: f64,
    /// Virtual displacements, 3r x [`DIRECTIONS`].
    directions: Mat<f64>,
}

impl<'a> Training<'a> {
    pub(super) fn new(
        body: &'a Body<'a>,
        elements: &'a Elements,
        candidates: &'a [usize],
        (basis, whitening): (Mat<f64>, Mat<f64>),
    ) -> Result<Self> {
        let gradients = elements.mode_gradients(body, candidates, &basis);
        let of = |values: &[f64]| candidates.iter().map(|&element| values[element]).collect::<Vec<f64>>();
        let soft = Softness::new(gradients.as_ref(), &of(&elements.stiffness), &of(&elements.volumes))?;
        Ok(Self { body, basis, whitening, elements, candidates, gradients, soft })
    }

    /// Works of each candidate's force and of the total force in all states.
    pub(super) fn works_of_states(&self, random: &mut ChaCha8Rng, progress: &Progress) -> Result<Vec<Works>> {
        let joints = Joints::new(self.body);
        let mut blocks: Vec<Works> = Vec::with_capacity(POSES * STATES);
        for pose in 0..POSES {
            progress.report(0.9 * pose as f32 / POSES as f32)?;
            let pose = if pose == 0 { joints.rest() } else { joints.pose(random) };
            let posed = self.posed(&pose);
            let draws: Vec<Draw> =
                (0..STATES).map(|state| self.draw((state % 2 == 0).then_some(&joints), random)).collect();
            blocks.par_extend(draws.par_iter().map(|draw| self.works(&posed, draw)));
        }
        Ok(blocks)
    }

    /// A random state: response to the inertia of accelerating joints, or random motion along soft
    /// directions.
    fn draw(&self, joints: Option<&Joints>, random: &mut ChaCha8Rng) -> Draw {
        let (low, high) = FALL;
        let fall = low + (high - low) * uniform(random);
        let share = uniform(random);
        let shape = match joints {
            Some(joints) => self.soft.moved(&self.load(joints, random), 1.0),
            None => self.soft.moved(&self.noise(1, random), fall),
        };
        let directions = self.soft.moved(&self.noise(DIRECTIONS, random), 1.0);
        Draw { shape, strain: STRAIN.0 * (STRAIN.1 / STRAIN.0).powf(share), directions }
    }

    /// White noise in the coordinates, 3r x k: the same motions for any choice of eigenvectors in the
    /// basis.
    fn noise(&self, columns: usize, random: &mut ChaCha8Rng) -> Mat<f64> {
        let drawn = Mat::from_fn(self.whitening.ncols(), 3 * columns, |_, _| normal(random));
        let noise = product(self.whitening.as_ref(), drawn.as_ref());
        Mat::from_fn(3 * noise.nrows(), columns, |e, k| noise[(e / 3, 3 * k + e % 3)])
    }

    /// Inertial load of joints accelerating towards a random pose, with an overall acceleration, 3r.
    fn load(&self, joints: &Joints, random: &mut ChaCha8Rng) -> Mat<f64> {
        let (pose, rest) = (joints.pose(random), joints.rest());
        let whole: [f64; 3] = std::array::from_fn(|_| WHOLE * self.body.size * normal(random));
        let turned: Rows =
            pose.iter().zip(&rest).map(|(pose, rest)| std::array::from_fn(|c| pose[c] - rest[c])).collect();
        let mut forces = self.body.rigged(&turned);
        for (force, mass) in forces.iter_mut().zip(&self.body.mass) {
            (0..3).for_each(|c| force[c] = mass * (force[c] + whole[c]));
        }
        self.reduced(&forces)
    }

    fn posed(&self, pose: &[[f64; 3]]) -> Posed {
        let rig = self.elements.gradients(&self.body.rigged(pose));
        let mut turned = vec![[0.0; 9]; rig.len()];
        rotations(&rig, &mut turned);
        let stretch = |(r, f): (&Matrix, &Matrix)| {
            let entry = |i: usize, j: usize| (0..3).map(|k| r[3 * k + i] * f[3 * k + j]).sum::<f64>();
            std::array::from_fn(|e| 0.5 * (entry(e / 3, e % 3) + entry(e % 3, e / 3)))
        };
        Posed { stretch: turned.iter().zip(&rig).map(stretch).collect(), rig }
    }

    /// Work of the candidates' forces and of the total force along the directions of a state, relative to
    /// the motion under the total force.
    fn works(&self, posed: &Posed, draw: &Draw) -> Works {
        let stresses = self.stresses(posed, draw);
        let total = self.total(&stresses);
        let moved = product(self.soft.directions.transpose(), total.as_ref());
        let moved =
            (0..moved.nrows()).map(|k| (self.soft.compliance[k] * moved[(k, 0)]).powi(2)).sum::<f64>();
        let scale = if moved > 0.0 { 1.0 / moved.sqrt() } else { 0.0 };
        let rank = self.basis.ncols();
        // Column 3 k + i is coordinate i of direction k.
        let turned = Mat::from_fn(rank, 3 * DIRECTIONS, |j, column| {
            scale * draw.directions[(3 * j + column % 3, column / 3)]
        });
        let mut strained = Mat::zeros(self.gradients.nrows(), 3 * DIRECTIONS);
        matmul(strained.as_mut(), Accum::Replace, &self.gradients, &turned, 1.0, Par::Seq);
        let works = Mat::from_fn(DIRECTIONS, self.candidates.len(), |k, s| {
            let stress = &stresses[self.candidates[s]];
            (0..9).map(|e| stress[e] * strained[(3 * s + e % 3, 3 * k + e / 3)]).sum()
        });
        let target = product(draw.directions.transpose(), total.as_ref());
        (works, (0..DIRECTIONS).map(|k| scale * target[(k, 0)]).collect())
    }

    /// `w (R S - F) - v e R S` of each element, with `e = tr((R S)'(F - R S))`: zero in the posed rest
    /// shape.
    fn stresses(&self, posed: &Posed, draw: &Draw) -> Vec<Matrix> {
        let rank = self.basis.ncols();
        let shape = Mat::from_fn(rank, 3, |j, i| draw.shape[(3 * j + i, 0)]);
        let shape = product(self.basis.as_ref(), shape.as_ref());
        let rows: Rows = (0..shape.nrows()).map(|j| std::array::from_fn(|i| shape[(j, i)])).collect();
        let mut strain = self.elements.gradients(&self.body.displaced(&rows));
        let stiffness = &self.elements.stiffness;
        let weighted = strain.iter().zip(stiffness);
        let square: f64 = weighted.map(|(f, w)| w * f.iter().map(|x| x * x).sum::<f64>()).sum();
        let scale = draw.strain * (stiffness.iter().sum::<f64>() / square.max(f64::MIN_POSITIVE)).sqrt();
        strain.iter_mut().zip(&posed.rig).for_each(|(f, rig)| {
            (0..9).for_each(|e| f[e] = scale * f[e] + rig[e]);
        });
        let mut stresses = vec![[0.0; 9]; strain.len()];
        for first in (0..strain.len()).step_by(BATCH) {
            let batch = first..(first + BATCH).min(strain.len());
            self.batch(posed, &strain[batch.clone()], first, &mut stresses[batch]);
        }
        stresses
    }

    fn batch(&self, posed: &Posed, f: &[Matrix], first: usize, out: &mut [Matrix]) {
        let stretches = &posed.stretch[first..];
        let stretched: Vec<Matrix> = f.iter().zip(stretches).map(|(f, s)| times(f, s)).collect();
        let mut turned = vec![[0.0; 9]; f.len()];
        rotations(&stretched, &mut turned);
        for (place, f) in f.iter().enumerate() {
            let tet = first + place;
            let target = times(&turned[place], &stretches[place]);
            let growth: f64 = target.iter().zip(f).map(|(t, f)| t * (f - t)).sum();
            let (w, pressure) = (self.elements.stiffness[tet], self.elements.volumes[tet] * growth);
            out[place] = std::array::from_fn(|e| w * (target[e] - f[e]) - pressure * target[e]);
        }
    }

    /// `Phi' B' sum of G_t' P_t`, 3r.
    fn total(&self, stresses: &[Matrix]) -> Mat<f64> {
        self.reduced(&self.elements.forces(stresses, self.body.points.len()))
    }

    /// `Phi' B' f` of forces at the vertices, 3r.
    fn reduced(&self, forces: &[[f64; 3]]) -> Mat<f64> {
        let rows = self.body.gathered(forces);
        let reduced =
            product(self.basis.transpose(), Mat::from_fn(rows.len(), 3, |j, i| rows[j][i]).as_ref());
        Mat::from_fn(3 * reduced.nrows(), 1, |e, _| reduced[(e / 3, e % 3)])
    }
}

/// `A S`, row-major.
fn times(a: &Matrix, s: &Matrix) -> Matrix {
    std::array::from_fn(|e| (0..3).map(|k| a[e / 3 * 3 + k] * s[3 * k + e % 3]).sum())
}

impl Softness {
    /// Compliance for the stiffness at rest, `sum of w |sym F|^2 + v tr(F)^2` over the candidates.
    fn new(gradients: MatRef<'_, f64>, weights: &[f64], volumes: &[f64]) -> Result<Self> {
        let rank = gradients.ncols();
        let (shear, pressure) = (pairs(gradients, weights), pairs(gradients, volumes));
        let stiffness = Mat::from_fn(3 * rank, 3 * rank, |row, column| {
            let ((j, a), (k, b)) = ((row / 3, row % 3), (column / 3, column % 3));
            let trace: f64 = if a == b { (0..3).map(|d| shear[4 * d][(j, k)]).sum() } else { 0.0 };
            0.5 * (trace + shear[3 * b + a][(j, k)]) + pressure[3 * a + b][(j, k)]
        });
        let (values, directions) = symmetric_eigen(stiffness.as_ref())?;
        let largest = values.iter().copied().fold(0.0, f64::max);
        let deforms = |value: f64| value > FREE * largest;
        let least = values.iter().copied().filter(|&value| deforms(value)).fold(largest, f64::min);
        let compliance =
            values.iter().map(|&value| if deforms(value) { least / (value + least) } else { 0.0 }).collect();
        Ok(Self { directions, compliance })
    }

    /// Motion under loads, 3r x k, with the compliance raised to a power.
    fn moved(&self, loads: &Mat<f64>, power: f64) -> Mat<f64> {
        let along = product(self.directions.transpose(), loads.as_ref());
        let scale = |k: usize| if self.compliance[k] > 0.0 { self.compliance[k].powf(power) } else { 0.0 };
        let scaled = Mat::from_fn(along.nrows(), along.ncols(), |k, column| scale(k) * along[(k, column)]);
        product(self.directions.as_ref(), scaled.as_ref())
    }
}

/// `sum of w g_a g_b'` for each pair of axes, at `3 a + b`; g_a is row a of a gradient.
fn pairs(gradients: MatRef<'_, f64>, weights: &[f64]) -> Vec<Mat<f64>> {
    let part = |axis: usize, weigh: bool| {
        Mat::from_fn(weights.len(), gradients.ncols(), |s, j| {
            gradients[(3 * s + axis, j)] * if weigh { weights[s] } else { 1.0 }
        })
    };
    let (left, right) = ([0, 1, 2].map(|axis| part(axis, false)), [0, 1, 2].map(|axis| part(axis, true)));
    let pair = |e: usize| inner(left[e / 3].as_ref(), right[e % 3].as_ref());
    (0..9).map(pair).collect()
}
