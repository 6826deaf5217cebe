//! The limit of stretch: flesh stiffens before it tears, against what the rig makes of it.
//!
//! With `F_rig = R_rig S` and S_c its stretch as far as rest shapes follow it, what is limited is the stretch of each tet in `F
//! S_c^-1`, which is a rotation where the flesh is as the rig has it; what the rig crushes further, `|S S_c^-1 - I|`, is
//! allowed besides. A length that the rig makes longer is held to the share of what it was at rest: skin may hang in
//! tets that the rig tears apart without being torn itself. Tets, and not the cells of a lattice, because skin hangs in them.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::FullSpaceModel;
use super::conduction::Conduction;
use super::elements::{Chunk, Element, ElementLaw, Elements, deformation_in_lanes};
use super::objective::Terms;
use super::opening::Opened;
use crate::Result;
use crate::material::growth::KNEE;
use crate::material::stretch_limit::{LaneLimit, distance_in_lanes};
use crate::material::{PrincipalStretch, StretchLimit};
use crate::math::SparseCholesky;
use crate::math::lanes::lane_counts;
use crate::math::rows::Rows;
use crate::mesh::TetMesh;
use crate::operators::gradients;

/// Stiffness of the limit, as a share of that of the metric: steeper ones hold flesh hardly better, for many more iterations.
const STIFFNESS: f64 = 0.25;

/// Share of the tets whose limits are felt up to which a metric need not know of them.
const HARDLY_ANY: f64 = 0.01;

/// Share of a limit that a tet has from which it is looked after in a descent that starts there.
pub(super) const NEAR: f64 = 0.3;
/// That from which its limit is felt.
pub(super) const FELT: f64 = KNEE;

/// What limits the stretch of flesh of a law.
pub(in crate::method) fn limit_law(law: &PrincipalStretch) -> ElementLaw {
    ElementLaw::Limit(STIFFNESS * law.slope())
}

/// Some tets of a mesh, each with the law of its element; vertices are the rows that `place` says.
pub(in crate::method) fn tet_elements(
    mesh: &TetMesh,
    energies: &[PrincipalStretch],
    tets: &[u32],
    place: &[u32],
) -> Vec<Element> {
    let hats = gradients(mesh);
    let split = if mesh.cells().is_empty() { 1 } else { mesh.tets_per_cell() };
    let element = |&tet: &u32| {
        let t = tet as usize;
        Element {
            corners: mesh.tets()[t].iter().map(|&vertex| place[vertex as usize]).collect(),
            gradients: hats[t].to_vec(),
            volume: mesh.volumes()[t],
            energy: energies[t / split].clone(),
        }
    };
    tets.iter().map(element).collect()
}

/// The tets of a body as elements that a limit stiffens: at rest, and as they follow the rig.
pub(super) struct StretchLimits {
    rest: Elements,
    pub(super) now: Elements,
    /// Where the metric is told of them, and of the flesh itself.
    conduction: [Conduction; 2],
    tet_count: usize,
}

impl StretchLimits {
    /// Of all tets that move, stiff as a share of what they are in the metric.
    pub(super) fn new(model: &FullSpaceModel) -> Self {
        let mesh = model.mesh();
        let mut place = vec![0; model.vertices.len()];
        (0..).zip(&model.vertices).for_each(|(row, &vertex)| place[vertex as usize] = row);
        let moves =
            |t: &u32| mesh.tets()[*t as usize].iter().any(|&v| (place[v as usize] as usize) < model.free);
        let tets: Vec<u32> = (0..mesh.tets().len() as u32).filter(moves).collect();
        let rest = Elements::new(&tet_elements(mesh, &model.energies, &tets, &place), limit_law);
        let conduction = [&rest, &model.elements].map(|elements| Conduction::new(model, elements));
        Self { now: rest.clone(), rest, conduction, tet_count: mesh.tets().len() }
    }

    /// Limits tets to a share of length where the rig has them; none is evaluated until it is watched.
    pub(super) fn set(&mut self, limit: f64, rig: &Rows) {
        self.now.follow(&self.rest, rig, 1.0, limit);
        self.now.chunks_mut().iter_mut().for_each(|chunk| chunk.evaluated.fill(false));
    }

    /// The metric with the limits that are felt at positions; none where hardly any is. `flesh` is what the body is
    /// made of as it follows the rig, and that at rest.
    pub(super) fn metric(
        &mut self,
        model: &FullSpaceModel,
        opened: Option<&Opened>,
        terms: &Terms,
        flesh: (&Elements, Option<&Elements>),
        x: &Rows,
    ) -> Result<Option<SparseCholesky>> {
        let Some(steepness) = self.steepness(x) else { return Ok(None) };
        let metric @ [_, stiffness] = terms.metric();
        let mut laplacian = model.laplacian(opened);
        // All of the Laplacian counts by its damping too, which is that at rest.
        let scale = terms.stiffness / stiffness;
        let [limits, posed] = &mut self.conduction;
        limits.add(&self.now, None, (&steepness, scale), &mut laplacian);
        if let (now, rest @ Some(_)) = flesh {
            posed.add(now, rest, (&model.slopes, scale), &mut laplacian);
        }
        model.metric_of(laplacian, metric).map(Some)
    }

    /// How stiffly the limit of each tet that moves resists at positions, Pa; none where hardly any is felt.
    fn steepness(&mut self, x: &Rows) -> Option<Vec<f64>> {
        let mut steepness = vec![0.0; self.tet_count];
        let mut distances = Vec::new();
        let mut felt = 0;
        for chunk in self.now.chunks_mut().iter_mut().filter(|chunk| chunk.is_evaluated()) {
            chunk.gather(x);
            Arch::new().dispatch(Distances { chunk, distances: &mut distances });
            for slot in chunk.slots() {
                let own = chunk.stretch_limit(slot).steepness(distances[slot]);
                steepness[chunk.elements[slot] as usize] = own;
                felt += usize::from(own > 0.0);
            }
        }
        (felt as f64 > HARDLY_ANY * self.tet_count as f64).then_some(steepness)
    }

    /// Has what may be beyond a share of its limit at positions evaluated as well; whether there is any.
    pub(super) fn watch(&mut self, x: &Rows, share: f64) -> bool {
        let watch = |chunk: &mut Chunk| {
            chunk.gather(x);
            Arch::new().dispatch(Watch { chunk, share })
        };
        self.now.chunks_mut().par_iter_mut().with_max_len(1).map(watch).reduce(|| false, |a, b| a | b)
    }
}

/// How far the elements of a chunk that are evaluated are from a rotation, one a slot; its places are known.
struct Distances<'a> {
    chunk: &'a Chunk,
    distances: &'a mut Vec<f64>,
}

impl WithSimd for Distances<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Chunk { corners, gradients, evaluated, places, .. } = self.chunk;
        let (gradients, _) = S::as_simd_f64s(gradients);
        self.distances.clear();
        for block in 0..evaluated.len() {
            let mut distance = [simd.splat_f64s(0.0)];
            if evaluated[block] {
                let mut x = [[simd.splat_f64s(0.0); 3]; 4];
                let corners = &corners[block * 4 * S::F64_LANES..][..4 * S::F64_LANES];
                let f = deformation_in_lanes(simd, corners, &gradients[block * 9..][..9], places, &mut x);
                let mut apart = f;
                distance = [distance_in_lanes(simd, &f, &mut apart)];
            }
            self.distances.extend_from_slice(pulp::bytemuck::cast_slice(&distance));
        }
    }
}

/// Looks for blocks of a chunk beyond a share of their limit that are not evaluated yet.
struct Watch<'a> {
    chunk: &'a mut Chunk,
    share: f64,
}

impl WithSimd for Watch<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Chunk { corners, gradients, parameters, evaluated, places, .. } = self.chunk;
        let (gradients, _) = S::as_simd_f64s(gradients);
        let (parameters, _) = S::as_simd_f64s(parameters);
        let mut found = false;
        for block in 0..evaluated.len() {
            if evaluated[block] {
                continue;
            }
            let mut x = [[simd.splat_f64s(0.0); 3]; 4];
            let corners = &corners[block * 4 * S::F64_LANES..][..4 * S::F64_LANES];
            let f = deformation_in_lanes(simd, corners, &gradients[block * 9..][..9], places, &mut x);
            let own = [parameters[3 * block], parameters[3 * block + 1], parameters[3 * block + 2]];
            evaluated[block] = !LaneLimit::is_within(simd, &f, &own, self.share);
            found |= evaluated[block];
        }
        found
    }
}

impl Chunk {
    /// The limit of a slot.
    pub(super) fn stretch_limit(&self, slot: usize) -> StretchLimit {
        let (lanes, _) = lane_counts();
        let [stiffness, limit, allowed] =
            [0, 1, 2].map(|parameter| self.parameters[(slot / lanes * 3 + parameter) * lanes + slot % lanes]);
        StretchLimit { stiffness, limit, allowed }
    }
}
