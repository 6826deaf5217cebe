//! Stretch limit relative to the rig: flesh stiffens before it tears.
//!
//! With `F_rig = R S` and S_c the clamped stretch of the rest shapes, the limit acts on the stretch of each
//! tet in `(F + E) S_c^-1`, a rotation for flesh in the rig's shape; `E = R S_c - F_rig` is the surplus of
//! the rest shapes, zero unless the clamp acts. For lengths stretched by the rig, the limit is a share of the
//! rest length, since skin embedded in a tet torn apart by the rig may itself be intact. The limit acts on
//! tets and not on lattice cells, because skin is embedded in tets.

use pulp::{Arch, Simd, WithSimd};

use super::FullSpaceModel;
use super::conduction::Conduction;
use super::opening::Opened;
use crate::Result;
use crate::material::StretchLimit;
use crate::material::growth::KNEE;
use crate::material::stretch_limit::{LaneLimit, distance_in_lanes};
use crate::math::SparseCholesky;
use crate::math::lanes::lane_counts;
use crate::math::rows::Rows;
use crate::parallel::*;
use crate::potentials::elastic::elements::{Chunk, Elements, TASK, deformation_in_lanes};
use crate::potentials::elastic::mesh_elements::{limit_law, tet_elements};

/// Share of tets with active limits below which the metric ignores them.
const HARDLY_ANY: f64 = 0.01;

/// Share of its limit at which a tet is watched in a descent from its state.
pub(super) const NEAR: f64 = 0.3;
/// Share of its limit at which the limit of a tet becomes active.
pub(super) const FELT: f64 = KNEE;

/// Tets of a body as limit elements: at rest, and following the rig.
pub(super) struct StretchLimits {
    rest: Elements,
    pub(super) now: Elements,
    /// Metric updates for the limits, and for the flesh.
    conduction: [Conduction; 2],
    tet_count: usize,
}

impl StretchLimits {
    /// Limits on all moving tets, with stiffness proportional to the metric's.
    pub(super) fn new(model: &FullSpaceModel) -> Self {
        let mesh = model.mesh();
        let moves = |t: &u32| {
            mesh.tets()[*t as usize].iter().any(|&v| (model.rows[v as usize] as usize) < model.free)
        };
        let tets: Vec<u32> = (0..mesh.tets().len() as u32).filter(moves).collect();
        let rest = Elements::new(&tet_elements(mesh, &model.energies, &tets, &model.rows), limit_law);
        let conduction = [&rest, &model.elements].map(|elements| Conduction::new(model, elements));
        Self { now: rest.clone(), rest, conduction, tet_count: mesh.tets().len() }
    }

    /// Sets a limit relative to the rig's lengths; no tet is evaluated until watched.
    pub(super) fn set(&mut self, limit: f64, rig: &Rows) {
        self.now.follow(&self.rest, rig, 1.0, limit);
        self.now.chunks_mut().iter_mut().for_each(|chunk| chunk.evaluated.fill(false));
    }

    /// Metric with the limits active at given positions; `None` if hardly any is active. `scale` is the
    /// factor on the elastic energy, `metric` the factors of mass and Laplacian; `flesh` is the
    /// body's elements following the rig, and at rest.
    pub(super) fn metric(
        &mut self,
        model: &FullSpaceModel,
        opened: Option<&Opened>,
        (scale, metric): (f64, [f64; 2]),
        flesh: (&Elements, Option<&Elements>),
        x: &Rows,
    ) -> Result<Option<SparseCholesky>> {
        let Some(steepness) = self.steepness(x) else { return Ok(None) };
        let [_, stiffness] = metric;
        let mut laplacian = model.laplacian(opened);
        // The damping multiplies the whole Laplacian, but belongs to the rest shape.
        let scale = scale / stiffness;
        let [limits, posed] = &mut self.conduction;
        limits.add(&self.now, None, (&steepness, scale), &mut laplacian);
        if let (now, rest @ Some(_)) = flesh {
            posed.add(now, rest, (&model.slopes, scale), &mut laplacian);
        }
        model.metric_of(laplacian, metric).map(Some)
    }

    /// Stiffness of each moving tet's limit at given positions, Pa; `None` if hardly any is active.
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

    /// Activates limits that may exceed a share at given positions; `true` if there are new ones.
    pub(super) fn watch(&mut self, x: &Rows, share: f64) -> bool {
        let watch = |chunk: &mut Chunk| {
            chunk.gather(x);
            Arch::new().dispatch(Watch { chunk, share })
        };
        self.now.chunks_mut().par_iter_mut().with_min_len(TASK).map(watch).filter(|new| *new).count() > 0
    }
}

/// Distance of each watched element of a chunk from a rotation, one a slot; positions are gathered before.
struct Distances<'a> {
    chunk: &'a Chunk,
    distances: &'a mut Vec<f64>,
}

impl WithSimd for Distances<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Chunk { corners, gradients, evaluated, places, surplus, clamped, .. } = self.chunk;
        let (surplus, _) = S::as_simd_f64s(surplus).0.as_chunks::<9>();
        let (gradients, _) = S::as_simd_f64s(gradients);
        let none = [simd.splat_f64s(0.0); 9];
        self.distances.clear();
        for block in 0..evaluated.len() {
            let mut distance = [simd.splat_f64s(0.0)];
            if evaluated[block] {
                let mut x = [[simd.splat_f64s(0.0); 3]; 4];
                let corners = &corners[block * 4 * S::F64_LANES..][..4 * S::F64_LANES];
                let gradients = &gradients[block * 9..][..9];
                let more = if clamped[block] { &surplus[block] } else { &none };
                let f = deformation_in_lanes(simd, corners, gradients, more, places, &mut x);
                let mut apart = f;
                distance = [distance_in_lanes(simd, &f, &mut apart)];
            }
            self.distances.extend_from_slice(pulp::bytemuck::cast_slice(&distance));
        }
    }
}

/// Activates blocks of a chunk beyond a share of their limit.
struct Watch<'a> {
    chunk: &'a mut Chunk,
    share: f64,
}

impl WithSimd for Watch<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Chunk { corners, gradients, parameters, evaluated, places, surplus, clamped, .. } = self.chunk;
        let (surplus, _) = S::as_simd_f64s(surplus).0.as_chunks::<9>();
        let (gradients, _) = S::as_simd_f64s(gradients);
        let (parameters, _) = S::as_simd_f64s(parameters);
        let none = [simd.splat_f64s(0.0); 9];
        let mut found = false;
        for block in 0..evaluated.len() {
            if evaluated[block] {
                continue;
            }
            let mut x = [[simd.splat_f64s(0.0); 3]; 4];
            let corners = &corners[block * 4 * S::F64_LANES..][..4 * S::F64_LANES];
            let gradients = &gradients[block * 9..][..9];
            let more = if clamped[block] { &surplus[block] } else { &none };
            let f = deformation_in_lanes(simd, corners, gradients, more, places, &mut x);
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
        let [stiffness, limit] =
            [0, 1].map(|parameter| self.parameters[(slot / lanes * 3 + parameter) * lanes + slot % lanes]);
        StretchLimit { stiffness, limit }
    }
}
