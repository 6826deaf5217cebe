//! Colliders and skins as C and WebAssembly give them.

use jounce::potentials::contact::{Collider, Shape};
use jounce::rig::Rig;
use jounce::{Error, Result};

use crate::obstacles::{Obstacle, Skin};
use crate::pointers::slice;

/// Bones of a point in a [`JounceSkin`].
const INFLUENCES: usize = 4;

/// `JounceCollider` of the header.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct JounceCollider {
    /// 0 for a plane, 1 for a capsule.
    pub shape: u32,
    /// Bone that carries it, or a negative number.
    pub bone: i32,
    /// A point of the plane, or an end of the capsule's segment.
    pub start: [f64; 3],
    /// Normal of the plane, or the other end.
    pub end: [f64; 3],
    /// Radius of the capsule, metres.
    pub radius: f64,
    /// Coulomb's coefficient of friction.
    pub friction: f64,
}

impl JounceCollider {
    /// The collider of a player.
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown shape, and those of [`Shape`] and [`Collider`].
    pub(crate) fn obstacle(&self) -> Result<Obstacle> {
        let shape = match self.shape {
            0 => Shape::plane(self.start, self.end),
            1 => Shape::capsule(self.start, self.end, self.radius),
            other => Err(Error::Index { what: "shape", element: 0, index: other.into(), count: 2 }),
        };
        let bone = usize::try_from(self.bone).ok();
        Ok(Obstacle { collider: Collider::new(shape?, self.friction)?, bone })
    }
}

/// `JounceSkin` of the header.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct JounceSkin {
    /// Four bones of each point.
    pub bones: *const u32,
    /// Their weights.
    pub weights: *const f32,
    /// Three points of each triangle.
    pub triangles: *const u32,
    /// Number of triangles.
    pub triangle_count: usize,
}

impl JounceSkin {
    /// The skin of a player with some points and bones. Weights of a point are scaled to a sum of one.
    ///
    /// # Errors
    /// [`Error::Empty`] for a null pointer, [`Error::Index`] for an unknown bone, and those of [`Rig::new`].
    ///
    /// # Safety
    /// Each pointer is null or to as many numbers as the header says.
    pub(crate) unsafe fn read(&self, points: usize, bones: usize) -> Result<Skin> {
        let count = INFLUENCES * points;
        let given = unsafe { (slice("bones", self.bones, count)?, slice("weights", self.weights, count)?) };
        let triangles = match self.triangle_count.saturating_mul(3) {
            0 => &[],
            corners => unsafe { slice("triangles", self.triangles, corners)? },
        };
        let mut dense = vec![0.0; points * bones];
        let influences = given.0.iter().zip(given.1).enumerate();
        for (row, (bone, weight)) in influences.filter(|(_, (_, weight))| **weight != 0.0) {
            let (element, index) = (row / INFLUENCES, i64::from(*bone));
            if *bone as usize >= bones {
                return Err(Error::Index { what: "bones", element, index, count: bones });
            }
            dense[element * bones + *bone as usize] += f64::from(*weight);
        }
        for row in dense.chunks_exact_mut(bones.max(1)) {
            let sum: f64 = row.iter().sum();
            row.iter_mut().filter(|_| sum > 0.0).for_each(|weight| *weight /= sum);
        }
        let rig = if bones > 0 { Some(Rig::new(points, bones, &dense)?) } else { None };
        Ok(Skin { rig, triangles: triangles.as_chunks::<3>().0.to_vec() })
    }
}
