//! Random poses of a rig with known weights only.

use nalgebra::{Rotation3, Vector3};
use rand_chacha::ChaCha8Rng;

use crate::math::random::{normal, uniform};
use crate::model::skinning_modes::body::Body;

/// Largest rotation of a bone relative to its parent, radians.
const TURN: f64 = 0.6;

/// Joints inferred from weights: the parent of a bone is the bone with the largest shared mass, and the
/// joint is the centre of this mass.
pub(super) struct Joints {
    /// Bones in topological order with their parents, and joint positions, `X^`.
    order: Vec<(usize, Option<usize>, Vector3<f64>)>,
    size: f64,
}

impl Joints {
    pub(super) fn new(body: &Body<'_>) -> Self {
        let bones = body.handles;
        let (shared, centres) = overlaps(body);
        let mean = |i: usize, j: usize| {
            let mass = shared[i * bones + j];
            if mass > 0.0 { centres[i * bones + j] / mass } else { Vector3::zeros() }
        };
        let heaviest = |left: &[usize]| {
            let own = |&j: &usize| shared[j * bones + j];
            left.iter().copied().max_by(|a, b| own(a).total_cmp(&own(b)))
        };
        let mut left: Vec<usize> = (0..bones).collect();
        let mut order: Vec<(usize, Option<usize>, Vector3<f64>)> = Vec::with_capacity(bones);
        while let Some(root) = heaviest(&left) {
            let links = order.iter().flat_map(|&(i, ..)| left.iter().map(move |&j| (i, j)));
            let strongest =
                links.max_by(|a, b| shared[a.0 * bones + a.1].total_cmp(&shared[b.0 * bones + b.1]));
            let (bone, above) = match strongest.filter(|&(i, j)| shared[i * bones + j] > 0.0) {
                Some((i, j)) => (j, Some(i)),
                None => (root, None),
            };
            order.push((bone, above, mean(above.unwrap_or(bone), bone)));
            left.retain(|&other| other != bone);
        }
        Self { order, size: body.size }
    }

    /// Rows of a pose, four a bone, with random rotations of all joints.
    pub(super) fn pose(&self, random: &mut ChaCha8Rng) -> Vec<[f64; 3]> {
        let mut moved = vec![(Rotation3::identity(), Vector3::zeros()); self.order.len()];
        for (bone, above, center) in &self.order {
            let axis = Vector3::from_fn(|_, _| normal(random)).normalize();
            let turn = Rotation3::from_scaled_axis(axis * TURN * uniform(random));
            let shift = center - turn * center;
            let (rotation, offset) =
                above.map_or((Rotation3::identity(), Vector3::zeros()), |above| moved[above]);
            moved[*bone] = (rotation * turn, rotation * shift + offset);
        }
        moved.iter().flat_map(|(rotation, offset)| rows(self.size, rotation, offset)).collect()
    }

    /// The rest pose.
    pub(super) fn rest(&self) -> Vec<[f64; 3]> {
        let rest = rows(self.size, &Rotation3::identity(), &Vector3::zeros());
        self.order.iter().flat_map(|_| rest).collect()
    }
}

/// Rows of a pose for a rotation and a translation of `X^`.
fn rows(size: f64, rotation: &Rotation3<f64>, offset: &Vector3<f64>) -> [[f64; 3]; 4] {
    std::array::from_fn(|d| std::array::from_fn(|i| size * if d < 3 { rotation[(i, d)] } else { offset[i] }))
}

/// `sum of m w_i w_j` and `sum of m w_i w_j X^` over the vertices, b x b.
fn overlaps(body: &Body<'_>) -> (Vec<f64>, Vec<Vector3<f64>>) {
    let bones = body.handles;
    let (mut shared, mut centres) = (vec![0.0; bones * bones], vec![Vector3::zeros(); bones * bones]);
    for (vertex, [x, y, z, _]) in body.points.iter().enumerate() {
        for &(i, first) in body.handles_of(vertex) {
            for &(j, second) in body.handles_of(vertex) {
                let (place, mass) = (i as usize * bones + j as usize, body.mass[vertex] * first * second);
                shared[place] += mass;
                centres[place] += mass * Vector3::new(*x, *y, *z);
            }
        }
    }
    (shared, centres)
}
