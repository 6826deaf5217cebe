//! Obstacles of a player: colliders in the world or carried by bones, and the skin that they touch.

use std::sync::Arc;

use jounce::mesh::Embedding;
use jounce::model::skinning_modes::SkinningModel;
use jounce::potentials::contact::{Collider, ContactSkin, check_placement};
use jounce::rig::{Pose, Rig};
use jounce::{Error, Result};

use crate::dented_skin::DentedSkin;

/// Weight of a bone above which a point belongs to it.
const OWN: f64 = 0.5;
/// A transform that moves nothing.
const STILL: [[f64; 4]; 3] = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

/// A collider of a player.
pub struct Obstacle {
    /// Shape and friction: at its place in the world, or at the place at rest for one with a bone.
    pub collider: Collider,
    /// Bone that carries it; `None` for an obstacle of the world.
    pub bone: Option<usize>,
}

/// Skinning of the attached points, for contact.
pub struct Skin {
    /// Skinning weights of the points; `None` for a body without bones.
    pub rig: Option<Rig>,
    /// Triangles between the points, which are in contact as well; empty for contact of the points alone.
    pub triangles: Vec<[u32; 3]>,
}

/// The obstacles of a body, their places, and the dented skin.
#[derive(Default)]
pub struct Obstacles {
    bones: Vec<Option<usize>>,
    placements: Vec<[[f64; 4]; 3]>,
    /// `None` for a skin without triangles.
    dented: Option<DentedSkin>,
}

impl Obstacles {
    /// Obstacles at their initial places.
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown bone.
    pub fn new(obstacles: &[Obstacle], bone_count: usize) -> Result<Self> {
        let bones: Vec<_> = obstacles.iter().map(|obstacle| obstacle.bone).collect();
        for (element, bone) in bones.iter().enumerate() {
            if let Some(index) = bone.filter(|bone| *bone >= bone_count) {
                let (what, index, count) = ("bone of a collider", index as i64, bone_count);
                return Err(Error::Index { what, element, index, count });
            }
        }
        Ok(Self { placements: vec![STILL; bones.len()], bones, dented: None })
    }

    /// Begins to dent a skin of triangles, with the colliders of [`surroundings`].
    ///
    /// # Errors
    /// Those of [`DentedSkin::new`].
    pub fn dent(&mut self, model: &SkinningModel, colliders: &[Collider], skin: &ContactSkin) -> Result<()> {
        let dented = || DentedSkin::new(model, colliders, skin);
        self.dented = (!skin.triangles.is_empty()).then(dented).transpose()?;
        Ok(())
    }

    /// Moves displaced points out of the obstacles once there is a pose.
    ///
    /// # Errors
    /// Those of [`DentedSkin::press`].
    pub fn press(&mut self, pose: &Pose, displacements: &mut [f32]) -> Result<()> {
        match &mut self.dented {
            Some(dented) if !pose.is_empty() => dented.press(&self.placements, pose, displacements),
            _ => Ok(()),
        }
    }

    /// Transform of each obstacle from its initial place; `None` without obstacles.
    pub fn placements(&self) -> Option<&[[[f64; 4]; 3]]> {
        (!self.placements.is_empty()).then_some(&self.placements)
    }

    /// Moves an obstacle of the world; `true` if that changes its place.
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown obstacle, [`Error::Unsupported`] for one that a bone carries, and
    /// those of [`check_placement`].
    pub fn place(&mut self, index: usize, transform: &[[f64; 4]; 3]) -> Result<bool> {
        let count = self.bones.len();
        match self.bones.get(index) {
            None => Err(Error::Index { what: "collider", element: 0, index: index as i64, count }),
            Some(Some(_)) => {
                let why = "its bone carries it; give it no bone to move it yourself";
                Err(Error::Unsupported { what: "collider", why })
            }
            Some(None) => {
                check_placement(transform)?;
                let before = std::mem::replace(&mut self.placements[index], *transform);
                Ok(before != *transform)
            }
        }
    }

    /// Takes obstacles along with their bones. A pose of another number of bones moves none.
    pub fn follow(&mut self, pose: &Pose) {
        for (bone, placement) in self.bones.iter().zip(&mut self.placements) {
            if let Some(transform) = bone.and_then(|bone| pose.get(bone)) {
                *placement = rigid(transform);
            }
        }
    }
}

/// The colliders without the contact that each would always have, and the points as skin.
///
/// A collider on a bone spares the points of the bone, those inside of it at rest, and the corners of their
/// triangles.
///
/// # Errors
/// [`Error::Unsupported`] for a body with bones and no weights, [`Error::Shape`] for a rig of other points or
/// bones, [`Error::Index`] for a triangle of unknown points.
pub fn surroundings(
    model: &SkinningModel,
    places: &[[f64; 3]],
    obstacles: &[Obstacle],
    skin: &Skin,
) -> Result<(Vec<Collider>, ContactSkin)> {
    let count = places.len();
    if skin.rig.is_none() && model.bone_count() > 0 && !obstacles.is_empty() {
        let why = "a body with bones needs the skinning weights of its points for contact; give them";
        return Err(Error::Unsupported { what: "weights", why });
    }
    let sizes = skin.rig.as_ref().map(|rig| (rig.vertex_count(), rig.bone_count()));
    if let Some(got) = sizes.filter(|sizes| *sizes != (count, model.bone_count())) {
        let [expected, got] = [(count, model.bone_count()), got].map(|(p, b)| format!("({p}, {b})"));
        return Err(Error::Shape { what: "weights", expected, got });
    }
    let unknown = |corners: &[u32; 3]| corners.iter().copied().find(|&corner| corner as usize >= count);
    let missing = skin.triangles.iter().map(unknown).enumerate().find_map(|(row, found)| Some((row, found?)));
    if let Some((element, index)) = missing {
        return Err(Error::Index { what: "triangles", element, index: index.into(), count });
    }
    let colliders = obstacles.iter().map(|obstacle| match (obstacle.bone, &skin.rig) {
        (Some(bone), Some(rig)) => {
            obstacle.collider.clone().sparing(&spared(&obstacle.collider, places, rig.bone(bone), skin))
        }
        _ => obstacle.collider.clone(),
    });
    let points = Arc::new(Embedding::new(model.mesh(), places.to_vec())?);
    let rig = skin.rig.clone().map(Arc::new);
    let triangles = skin.triangles.as_slice().into();
    Ok((colliders.collect(), ContactSkin { points, triangles, rig, self_collision: false }))
}

/// Points without contact with a collider on a bone with the given weights.
fn spared(collider: &Collider, places: &[[f64; 3]], weights: &[(u32, f64)], skin: &Skin) -> Vec<u32> {
    let mut own: Vec<bool> = places.iter().map(|place| collider.shape().distance(*place).0 < 0.0).collect();
    for &(point, weight) in weights {
        own[point as usize] |= weight > OWN;
    }
    let mut spared = own.clone();
    for corners in skin.triangles.iter().filter(|corners| corners.iter().any(|&c| own[c as usize])) {
        corners.iter().for_each(|&corner| spared[corner as usize] = true);
    }
    (0..).zip(spared).filter_map(|(point, is_spared)| is_spared.then_some(point)).collect()
}

/// The rotation along the first axes of a transform, and its translation: colliders keep their size.
fn rigid(transform: &[[f64; 4]; 3]) -> [[f64; 4]; 3] {
    let column = |c: usize| [transform[0][c], transform[1][c], transform[2][c]];
    let dot = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let unit = |a: [f64; 3]| {
        let length = dot(&a, &a).sqrt();
        a.map(|x| x / length)
    };
    let (x, y) = (unit(column(0)), column(1));
    let along = dot(&x, &y);
    let y = unit(std::array::from_fn(|c| y[c] - along * x[c]));
    let z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
    std::array::from_fn(|row| [x[row], y[row], z[row], transform[row][3]])
}

#[cfg(test)]
mod tests {
    use jounce::potentials::contact::{Collider, Shape};

    use super::{Skin, rigid, spared};

    /// Four points in a row: the bone's own, one inside at rest, their neighbour on a triangle, and one far
    /// away.
    #[test]
    fn points_of_the_bone_inside_and_beside_are_spared() {
        let places = [0.0, 1.0, 2.0, 3.0].map(|x| [x, 0.0, 0.0]);
        let collider = Collider::new(Shape::sphere([1.0, 0.0, 0.0], 0.5).unwrap(), 0.5).unwrap();
        let skin = |triangles: &[[u32; 3]]| Skin { rig: None, triangles: triangles.to_vec() };
        let weights = [(0, 0.9), (2, 0.5), (3, 0.1)];
        assert_eq!(spared(&collider, &places, &weights, &skin(&[])), [0, 1]);
        assert_eq!(spared(&collider, &places, &weights, &skin(&[[0, 1, 2], [2, 3, 3]])), [0, 1, 2]);
        assert!(spared(&collider, &places[2..], &[], &skin(&[[0, 1, 1]])).is_empty());
    }

    /// Placement of a sheared, grown and mirrored bone: a rotation about the same place.
    #[test]
    fn a_placement_is_rigid() {
        let bone = [[-2.0, 0.3, 0.0, 5.0], [0.1, 1.0, 0.0, 6.0], [0.0, 0.2, 0.5, 7.0]];
        let made = rigid(&bone);
        for i in 0..3 {
            assert_eq!(made[i][3], bone[i][3]);
            for j in 0..3 {
                let dot: f64 = (0..3).map(|row| made[row][i] * made[row][j]).sum();
                assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
        let still = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
        assert_eq!(rigid(&still), still);
    }
}
