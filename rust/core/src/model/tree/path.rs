//! Motion of a domain in a substep, for its vertices and bounding spheres.

use nalgebra::{Vector3, Vector6};

use super::domain::Domain;
use super::kinematics::Frame;
use crate::potentials::contact::{Bound, Course};

/// Motion of a domain: at the start of the substep, at present, and along a direction.
pub(super) struct DomainPath<'a> {
    domain: &'a Domain,
    /// Frames at the start and at present.
    frames: [Frame; 2],
    /// Coordinates at the start and at present, and their change along the direction.
    y: [&'a [f64]; 3],
    /// Twist of the frame along the direction.
    twist: Vector6<f64>,
    /// Rotation since the start, as a bound on the motion of a point at unit distance.
    turned: f64,
    /// Change of the coordinates since the start.
    since: Vec<f64>,
}

impl<'a> DomainPath<'a> {
    pub(super) fn new(
        domain: &'a Domain,
        frames: [Frame; 2],
        y: [&'a [f64]; 3],
        twist: Vector6<f64>,
    ) -> Self {
        let turned = (frames[1].rotation - frames[0].rotation).norm();
        let since = y[1].iter().zip(y[0]).map(|(here, start)| here - start).collect();
        Self { domain, frames, y, twist, turned, since }
    }

    pub(super) fn course(&self, vertex: usize) -> Course {
        let at = |when: usize| self.frames[when].vertex(self.domain, vertex, self.y[when]);
        let here = at(1);
        let gone = self.frames[1].velocity(self.domain, (vertex, &here), &self.twist, self.y[2]);
        Course { start: at(0), here, ahead: here + gone }
    }

    /// Bounding sphere of a part at the start.
    pub(super) fn start(&self, part: usize) -> (Vector3<f64>, f64) {
        let sphere = self.domain.spheres.sphere(part, self.y[0]);
        (self.frames[0].world(&sphere.centre), sphere.radius)
    }

    /// Bound on the courses of all vertices of a part.
    pub(super) fn bound(&self, part: usize) -> Bound {
        let (spheres, frame) = (&self.domain.spheres, &self.frames[1]);
        let (start, around_start) = self.start(part);
        let sphere = spheres.sphere(part, self.y[1]);
        let here = frame.world(&sphere.centre);
        let shift = frame.rotation * spheres.shift(part, self.y[2]);
        let [moves, turns] = [0, 3].map(|first| self.twist.fixed_rows::<3>(first).into_owned());
        let gone = moves + turns.cross(&(here - frame.centre)) + shift;
        Bound {
            start,
            here,
            around_start,
            around_here: sphere.radius,
            beside: self.turned * around_start + spheres.spread(part, &self.since),
            ahead: gone.norm() + turns.norm() * sphere.radius + spheres.spread(part, self.y[2]),
        }
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use nalgebra::Rotation3;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::subspace::LinearModes;

    const VERTICES: usize = 90;
    const RANK: usize = 3;

    fn domain(random: &mut ChaCha8Rng) -> Domain {
        let mut point = || std::array::from_fn(|_| random.random_range(-1.0..1.0));
        let points: Vec<[f64; 3]> = (0..VERTICES).map(|_| point()).collect();
        let shapes = Mat::from_fn(3 * VERTICES, RANK, |_, _| random.random_range(-0.1..0.1));
        let modes = LinearModes { shapes, eigenvalues: vec![1.0; RANK] };
        let all: Vec<u32> = (0..VERTICES as u32).collect();
        Domain::of_modes(&points, &[1.0; VERTICES], &all, &modes).unwrap()
    }

    #[test]
    fn bounds_hold_the_course_of_every_vertex() {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let domain = domain(&mut random);
        for size in [0.0, 1e-6, 0.3, 2.0, 1e4] {
            let mut some = |size: f64| random.random_range(-1.0..1.0) * size;
            let mut frame = |size: f64| Frame {
                rotation: Rotation3::from_scaled_axis(Vector3::from_fn(|_, _| some(size))).into_inner(),
                centre: Vector3::from_fn(|_, _| some(size)),
            };
            let frames = [frame(1.0), frame(size)];
            let y = [1.0, size, size].map(|size| [0; RANK].map(|_| some(size)));
            let twist = Vector6::from_fn(|_, _| some(size));
            let path = DomainPath::new(&domain, frames, y.each_ref().map(|y| y.as_slice()), twist);
            for part in 0..domain.spheres.part_count() {
                let bound = path.bound(part);
                let slack =
                    1e-13 * (1.0 + bound.here.norm() + bound.around_here + bound.beside + bound.ahead);
                for &vertex in domain.spheres.vertices(part) {
                    let course = path.course(vertex as usize);
                    let (start, here) = (course.start - bound.start, course.here - bound.here);
                    assert!(start.norm() <= bound.around_start + slack);
                    assert!(here.norm() <= bound.around_here + slack);
                    assert!((here - start).norm() <= bound.beside + slack);
                    assert!((course.ahead - course.here).norm() <= bound.ahead + slack);
                }
            }
        }
    }
}
