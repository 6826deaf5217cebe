//! Attachment of a body to a rig: springs from vertices to their posed positions.

use faer::Mat;
use nalgebra::{Matrix3, Vector3};

use crate::kinematics::coordinates::Coordinates;
use crate::kinematics::handles::HandleCoordinates;
use crate::kinematics::rig_rows::rig_rows;
use crate::math::lanes::{Packed, multiply_add};
use crate::math::polar::nearest_rotation;
use crate::math::rows::{Rows, add};
use crate::math::symmetric::{Scratch, Symmetric};
use crate::rig::Rig;
use crate::subspace::Handles;
use crate::{Error, Result, check};

/// Attachment weight from which a vertex follows its bones and has no contact.
const HELD: f64 = 0.5;

/// The energy `sum_i a_i m_i (2 pi f)^2 / 2 |x_i - J_i p|^2` of springs from vertices to their posed
/// positions `J_i p`.
///
/// f is the frequency of a single vertex on its spring, and a_i in [0, 1] the attachment weight, both
/// independent of units.
pub(super) struct Attachment {
    pub(super) bones: usize,
    /// a, n.
    weights: Vec<f64>,
    /// `(2 pi f)^2 U'aMU`, r x r, N/m.
    pub(super) hold: Mat<f64>,
    packed_hold: Symmetric,
    /// `(2 pi f)^2 U'aMJ`, r x 4b.
    reach: Packed<1>,
    /// The attached parts.
    parts: Vec<Held>,
    /// The rest pose, 4b rows.
    rest: Vec<[f64; 3]>,
}

/// A part with attached vertices.
struct Held {
    part: usize,
    /// The mean of J over the attached vertices: a bone and four entries.
    mean: Vec<(u32, [f64; 4])>,
}

impl Attachment {
    /// Attachment of vertices of mass m to a rig with weights a, at f Hz.
    pub(super) fn new(
        (handles, coordinates, mass): (&Handles, &HandleCoordinates, &[f64]),
        rig: &Rig,
        weights: &[f64],
        frequency: f64,
    ) -> Result<Self> {
        check(handles.places().len(), rig, weights, frequency)?;
        let places = Coordinates::of(handles.places());
        let (joints, bones) = (rig_rows(&places, handles.places(), Some(rig)), rig.bone_count());
        let (rank, stiffness) = (coordinates.count(), (std::f64::consts::TAU * frequency).powi(2));
        let (mut hold, mut reach) = (Mat::<f64>::zeros(rank, rank), Mat::<f64>::zeros(rank, 4 * bones));
        let count = coordinates.parts.len();
        let mut sums: Vec<(f64, Vec<[f64; 4]>)> = vec![(0.0, vec![[0.0; 4]; bones]); count];
        for (vertex, (&a, m)) in weights.iter().zip(mass).enumerate().filter(|(_, (a, _))| **a > 0.0) {
            let row: Vec<(u32, f64)> = coordinates.row(handles, vertex).collect();
            let (total, sum) = &mut sums[handles.parts_of_vertices()[vertex] as usize];
            *total += a * m;
            for &(bone, entries) in &joints[vertex] {
                (0..4).for_each(|d| sum[bone as usize][d] += a * m * entries[d]);
            }
            for &(i, value) in &row {
                let scaled = stiffness * a * m * value;
                row.iter().for_each(|&(j, other)| hold[(i as usize, j as usize)] += scaled * other);
                for &(bone, entries) in &joints[vertex] {
                    let first = 4 * bone as usize;
                    (0..4).for_each(|d| reach[(i as usize, first + d)] += scaled * entries[d]);
                }
            }
        }
        let held = |(part, (total, sum)): (usize, (f64, Vec<[f64; 4]>))| {
            let felt = (0..).zip(sum).filter(|(_, entries)| *entries != [0.0; 4]);
            let mean = felt.map(|(bone, entries)| (bone, entries.map(|x| x / total))).collect();
            (total > 0.0).then_some(Held { part, mean })
        };
        let parts = sums.into_iter().enumerate().filter_map(held).collect();
        let still: [[f64; 4]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j)));
        let rest = (0..bones).flat_map(|_| places.enter(&still)).collect();
        let packed_hold = coordinates.packed(&hold);
        let reach = Packed::of(reach.as_ref());
        Ok(Self { bones, weights: weights.to_vec(), hold, packed_hold, reach, parts, rest })
    }

    /// `true` if a vertex follows its bones.
    pub(super) fn holds(&self, vertex: usize) -> bool {
        self.weights[vertex] >= HELD
    }

    /// Indices of the attached parts.
    pub(super) fn parts(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().map(|held| held.part)
    }

    /// Adds the gradient of the energy at coordinates in a pose; `bones` and `near` are scratch with the
    /// rows of a pose and of coordinates.
    ///
    /// Both products are relative to the bones' common translation. A common translation therefore exerts
    /// no force and costs no precision.
    pub(super) fn pull(
        &self,
        [y, pose]: [&Rows; 2],
        [bones, near]: [&mut Rows; 2],
        Scratch { rows: sum, spread }: &mut Scratch,
        gradient: &mut Rows,
    ) {
        let Some(held) = self.parts.first() else { return };
        let gone: [f64; 3] = (held.place(pose) - held.place(&self.rest)).into();
        bones.copy_from_slice(pose);
        add(bones, -1.0, &self.rest);
        near.copy_from_slice(y);
        let of_bones = bones.iter_mut().skip(3).step_by(4);
        of_bones.for_each(|row| (0..3).for_each(|c| row[c] -= gone[c]));
        for part in self.parts() {
            (0..3).for_each(|c| near[4 * part + 3][c] -= gone[c]);
        }
        sum.fill([0.0; 3]);
        multiply_add(&self.reach, bones, sum);
        add(gradient, -1.0, sum);
        self.packed_hold.multiply(near, sum, spread);
        add(gradient, 1.0, sum);
    }

    /// Moves the coordinates of a body at its modelled place to the pose of its bones, rotated but not
    /// strained.
    pub(super) fn begin(&self, coordinates: &HandleCoordinates, pose: &Rows, y: &mut Rows) {
        self.carry(coordinates, [&self.rest, pose], y);
    }

    /// Moves each part rigidly with the mean motion of its attached vertices between two poses.
    pub(super) fn carry(&self, coordinates: &HandleCoordinates, [from, to]: [&Rows; 2], y: &mut Rows) {
        for held in &self.parts {
            let ((turn_from, place_from), (turn_to, place_to)) = (held.frame(from), held.frame(to));
            let turn = turn_to * turn_from.transpose();
            let part = &coordinates.parts[held.part];
            let own = |&(_, &part): &(usize, &u32)| part as usize == held.part;
            for (column, _) in coordinates.parts_of_columns.iter().enumerate().filter(own) {
                let whole = part.whole(column.wrapping_sub(4 * held.part));
                let row = Vector3::from(y[column]) + whole;
                let moved = if column == 4 * held.part + 3 {
                    turn * (row - place_from) + place_to
                } else {
                    turn * row
                };
                y[column] = (moved - whole).into();
            }
        }
    }
}

impl Held {
    /// Mean posed position of the attached vertices.
    fn place(&self, pose: &Rows) -> Vector3<f64> {
        let rows = |(bone, entries): &(u32, [f64; 4])| -> Vector3<f64> {
            (0..4).map(|d| entries[d] * Vector3::from(pose[4 * *bone as usize + d])).sum()
        };
        self.mean.iter().map(rows).sum()
    }

    /// Rotation nearest to the mean bone transform at the attached vertices, and their mean position.
    fn frame(&self, pose: &Rows) -> (Matrix3<f64>, Vector3<f64>) {
        let mut linear = Matrix3::zeros();
        for (bone, entries) in &self.mean {
            for d in 0..3 {
                let row = Vector3::from(pose[4 * *bone as usize + d]);
                linear.column_mut(d).axpy(entries[3], &row, 1.0);
            }
        }
        (nearest_rotation(&linear), self.place(pose))
    }
}

fn check(n: usize, rig: &Rig, weights: &[f64], frequency: f64) -> Result<()> {
    if rig.vertex_count() != n {
        let (expected, got) = (format!("weights of {n} vertices"), format!("{}", rig.vertex_count()));
        return Err(Error::Shape { what: "rig", expected, got });
    }
    let what = "attached";
    check::length(what, n, weights.len())?;
    check::each(what, "numbers in [0, 1]", weights, |a| (0.0..=1.0).contains(&a))?;
    if weights.iter().all(|&a| a == 0.0) {
        return Err(Error::Unsupported {
            what,
            why: "no vertex is; leave out the rig, and it is a loose body",
        });
    }
    check::range("attachment", "a positive number of Hz", frequency, check::is_positive(frequency))?;
    Ok(())
}
