//! Dents of a player's points by its obstacles.

use jounce::Result;
use jounce::model::skinning_modes::SkinningModel;
use jounce::potentials::contact::{Collider, ContactSkin, Dents};
use jounce::rig::Pose;

/// A skin with dents, and the places of its points by the bones alone.
pub struct DentedSkin {
    dents: Dents,
    colliders: Vec<Collider>,
    /// Points near flesh that gives way, with the start of their bones and weights.
    near: Vec<(usize, usize)>,
    weights: Vec<(u32, f64)>,
    /// At rest, metres.
    rest: Vec<[f64; 3]>,
    /// Places of the points near flesh with their displacement, before and after, metres.
    places: [Vec<[f64; 3]>; 2],
}

impl DentedSkin {
    /// The skin of a body among colliders.
    ///
    /// # Errors
    /// Those of [`Dents::new`].
    pub fn new(model: &SkinningModel, colliders: &[Collider], skin: &ContactSkin) -> Result<Self> {
        let dents = Dents::new(model.mesh(), &skin.points, &skin.triangles, &model.pinned())?;
        let rest = skin.points.points().to_vec();
        let mut own = vec![Vec::new(); rest.len()];
        if let Some(rig) = &skin.rig {
            for bone in 0..rig.bone_count() {
                rig.bone(bone)
                    .iter()
                    .for_each(|&(point, weight)| own[point as usize].push((bone as u32, weight)));
            }
        }
        let (mut near, mut weights) = (Vec::new(), Vec::new());
        for point in dents.read_points() {
            near.push((point as usize, weights.len()));
            weights.append(&mut own[point as usize]);
        }
        let places = [rest.clone(), rest.clone()];
        Ok(Self { dents, colliders: colliders.to_vec(), near, weights, rest, places })
    }

    /// Moves displaced points out of the colliders at some placements, in a pose of the bones.
    ///
    /// # Errors
    /// Those of [`Dents::press`].
    pub fn press(
        &mut self,
        placements: &[[[f64; 4]; 3]],
        pose: &Pose,
        displacements: &mut [f32],
    ) -> Result<()> {
        let displacements = displacements.as_chunks_mut::<3>().0;
        let ends = self.near.iter().skip(1).map(|&(_, start)| start).chain([self.weights.len()]);
        let [before, after] = &mut self.places;
        for (&(point, start), end) in self.near.iter().zip(ends) {
            let by = displacements[point].map(f64::from);
            let posed = posed(&self.rest[point], &self.weights[start..end], pose);
            before[point] = std::array::from_fn(|c| posed[c] + by[c]);
        }
        after.copy_from_slice(before);
        self.dents.press(&self.colliders, placements, after)?;
        for &(point, _) in &self.near {
            for c in 0..3 {
                displacements[point][c] += (after[point][c] - before[point][c]) as f32;
            }
        }
        Ok(())
    }
}

/// A point by its bones alone; at rest without any.
fn posed(rest: &[f64; 3], weights: &[(u32, f64)], pose: &Pose) -> [f64; 3] {
    if weights.is_empty() {
        return *rest;
    }
    let mut place = [0.0; 3];
    for &(bone, weight) in weights {
        for (place, row) in place.iter_mut().zip(&pose[bone as usize]) {
            *place += weight * (row[0] * rest[0] + row[1] * rest[1] + row[2] * rest[2] + row[3]);
        }
    }
    place
}
