//! Elements packed one per SIMD lane, in chunks with vertices in a near cache.

use nalgebra::{Matrix3, Vector3};
use pulp::bytemuck::{cast_slice, cast_slice_mut};
use pulp::{Arch, Simd, WithSimd};

use crate::material::PrincipalStretch;
use crate::material::lanes::{self, Evaluate, LaneLaw, PARAMETERS};
use crate::material::stretch_limit::LaneLimit;
use crate::math::lanes::{Buffer, lane_counts};
use crate::math::rows::Rows;
use crate::parallel::*;

/// Most elements of a chunk.
const CHUNK: usize = 512;
/// Fewest chunks of a task, about 50 microseconds: another thread may be busy with another program, and wake
/// up late.
pub(crate) const TASK: usize = 2;
/// Largest number of chunks of a body that one thread evaluates.
const ALONE: usize = 3;

/// An element: corners and gradients of the deformation, volume and law.
pub(crate) struct Element {
    /// Rows of the body.
    pub(crate) corners: Vec<u32>,
    /// Gradients of the corners' shape functions, which sum to zero, 1/m.
    pub(crate) gradients: Vec<[f64; 3]>,
    /// m^3.
    pub(crate) volume: f64,
    pub(crate) energy: PrincipalStretch,
}

/// Energy law of packed elements.
#[derive(Debug, Clone)]
pub(crate) enum ElementLaw {
    /// Elastic energy.
    Elastic(PrincipalStretch),
    /// Stretch limit of a stiffness, Pa; the limit itself is set with the rig.
    Limit(f64),
}

impl ElementLaw {
    fn shares_lanes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Elastic(a), Self::Elastic(b)) => a.shares_lanes(b),
            (Self::Limit(_), Self::Limit(_)) => true,
            _ => false,
        }
    }

    pub(crate) fn parameters(&self) -> [f64; PARAMETERS] {
        match self {
            Self::Elastic(law) => law.in_lanes().1,
            Self::Limit(stiffness) => [*stiffness, 1.0, 0.0],
        }
    }

    /// The law with unit scale; lanes apply the scale.
    pub(crate) fn scaled_to_one(&self) -> Self {
        match self {
            Self::Elastic(law) => Self::Elastic(law.scaled_to_one()),
            Self::Limit(_) => self.clone(),
        }
    }
}

/// All elements of a body, and the scratch of their evaluation.
#[derive(Clone)]
pub(crate) struct Elements {
    chunks: Vec<Chunk>,
}

/// Neighbouring elements of one law, with the same number of corners.
#[derive(Clone)]
pub(crate) struct Chunk {
    /// The law with a scale of 1.
    law: ElementLaw,
    pub(crate) corners_each: usize,
    /// Index of each element, and the first padding lane of the last block.
    pub(crate) elements: Vec<u32>,
    /// Rows of the body used by the chunk.
    pub(super) rows: Vec<u32>,
    /// Blocks x corners x lanes, places in `rows`.
    pub(crate) corners: Vec<u32>,
    /// Blocks x (corners - 1) x 3 x lanes; the gradient of the first corner is minus the sum of the others.
    pub(crate) gradients: Buffer<f64>,
    /// Blocks x lanes; 0 in padding lanes.
    pub(crate) volumes: Buffer<f64>,
    /// Gradient of the rest shape beyond the rig's, blocks x 9 x lanes, and `true` for the blocks with any.
    pub(crate) surplus: Buffer<f64>,
    pub(crate) clamped: Vec<bool>,
    /// Blocks x parameters x lanes, or a single block if all are equal and constant.
    pub(crate) parameters: Buffer<f64>,
    /// `true` for blocks to evaluate; limits far from active are skipped.
    pub(crate) evaluated: Vec<bool>,
    pub(crate) places: Vec<[f64; 3]>,
    forces: Vec<[f64; 3]>,
    energy: f64,
}

impl Elements {
    /// Packs elements with their laws, grouped by law with neighbours adjacent.
    pub(crate) fn new(elements: &[Element], law: impl Fn(&PrincipalStretch) -> ElementLaw) -> Self {
        let mut order: Vec<(usize, u32, u32)> = Vec::with_capacity(elements.len());
        let own: Vec<ElementLaw> = elements.iter().map(|element| law(&element.energy)).collect();
        let mut laws: Vec<&ElementLaw> = Vec::new();
        for (index, element) in elements.iter().enumerate() {
            let known = laws.iter().position(|law| law.shares_lanes(&own[index]));
            let law = known.unwrap_or_else(|| {
                laws.push(&own[index]);
                laws.len() - 1
            });
            order.push((law, element.corners.iter().copied().min().unwrap_or(0), index as u32));
        }
        order.sort_unstable();
        let chunks = order
            .chunk_by(|a, b| a.0 == b.0)
            .flat_map(|same| same.chunks(evenly(same.len())))
            .map(|some| Chunk::new(elements, &own, some.iter().map(|place| place.2).collect()))
            .collect();
        Self { chunks }
    }

    /// The chunks.
    pub(crate) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// The chunks, mutable.
    pub(crate) fn chunks_mut(&mut self) -> &mut [Chunk] {
        &mut self.chunks
    }

    /// `true` if flesh and its limits are work for several threads.
    pub(crate) fn are_shared(&self, limits: Option<&Self>) -> bool {
        self.chunks.len() + limits.map_or(0, |limits| limits.chunks.len()) > ALONE
    }

    /// Evaluates flesh and its limits at the positions of all rows, for [`Elements::add`]. The same bits for
    /// any number of threads: chunks do not depend on the threads, and are added in order.
    pub(crate) fn evaluate(&mut self, limits: Option<&mut Self>, x: &Rows) {
        let limits = limits.map_or(&mut [][..], |limits| &mut limits.chunks);
        let chunks = self.chunks.par_iter_mut().chain(limits.par_iter_mut());
        chunks.with_min_len(TASK).for_each(|chunk| chunk.evaluate(x));
    }

    /// Elastic energy at the last evaluation, J; adds the gradient, N, times a factor to the first rows.
    pub(crate) fn add(&self, factor: f64, gradient: &mut Rows) -> f64 {
        let mut energy = 0.0;
        for chunk in self.chunks.iter().filter(|chunk| chunk.is_evaluated()) {
            energy += chunk.energy;
            for (&row, force) in chunk.rows.iter().zip(&chunk.forces) {
                if let Some(sum) = gradient.get_mut(row as usize) {
                    (0..3).for_each(|c| sum[c] += factor * force[c]);
                }
            }
        }
        energy
    }
}

impl Chunk {
    fn new(all: &[Element], laws: &[ElementLaw], elements: Vec<u32>) -> Self {
        let (lanes, _) = lane_counts();
        let first = &all[elements[0] as usize];
        let corners_each = first.corners.len();
        let mut rows: Vec<u32> =
            elements.iter().flat_map(|&element| all[element as usize].corners.iter().copied()).collect();
        rows.sort_unstable();
        rows.dedup();
        let blocks = elements.len().div_ceil(lanes);
        let of = |slot: usize| &all[elements[slot.min(elements.len() - 1)] as usize];
        let mut corners = vec![0; blocks * corners_each * lanes];
        for (place, slot) in corners.iter_mut().enumerate() {
            let (lane, corner, block) = unpack(place, lanes, corners_each);
            *slot = rows.partition_point(|&row| row < of(block * lanes + lane).corners[corner]) as u32;
        }
        let mut gradients = Buffer::zeros(blocks * 3 * (corners_each - 1) * lanes);
        for (place, slot) in gradients.iter_mut().enumerate() {
            let (lane, entry, block) = unpack(place, lanes, 3 * (corners_each - 1));
            *slot = of(block * lanes + lane).gradients[1 + entry / 3][entry % 3];
        }
        let mut volumes = Buffer::zeros(blocks * lanes);
        for (slot, &element) in volumes.iter_mut().zip(&elements) {
            *slot = all[element as usize].volume;
        }
        let own = |slot: usize| laws[elements[slot.min(elements.len() - 1)] as usize].parameters();
        let law = laws[elements[0] as usize].scaled_to_one();
        let alike =
            matches!(law, ElementLaw::Elastic(_)) && (1..elements.len()).all(|slot| own(slot) == own(0));
        let mut parameters = Buffer::zeros(if alike { 1 } else { blocks } * PARAMETERS * lanes);
        for (place, slot) in parameters.iter_mut().enumerate() {
            let (lane, parameter, block) = unpack(place, lanes, PARAMETERS);
            *slot = own(block * lanes + lane)[parameter];
        }
        Self {
            evaluated: vec![matches!(law, ElementLaw::Elastic(_)); blocks],
            law,
            corners_each,
            places: vec![[0.0; 3]; rows.len()],
            forces: vec![[0.0; 3]; rows.len()],
            energy: 0.0,
            surplus: Buffer::zeros(blocks * 9 * lanes),
            clamped: vec![false; blocks],
            elements,
            rows,
            corners,
            gradients,
            volumes,
            parameters,
        }
    }

    /// `true` if any block is evaluated.
    pub(crate) fn is_evaluated(&self) -> bool {
        self.evaluated.contains(&true)
    }

    fn evaluate(&mut self, x: &Rows) {
        if !self.is_evaluated() {
            return;
        }
        self.gather(x);
        self.forces.fill([0.0; 3]);
        Arch::new().dispatch(Sum { chunk: self });
    }

    /// Copies the positions of the chunk's rows.
    pub(crate) fn gather(&mut self, x: &Rows) {
        for (place, &row) in self.places.iter_mut().zip(&self.rows) {
            *place = x[row as usize];
        }
    }

    /// `true` for stretch limits.
    pub(crate) fn is_limit(&self) -> bool {
        matches!(self.law, ElementLaw::Limit(_))
    }

    /// Slots of evaluated elements.
    pub(crate) fn slots(&self) -> impl Iterator<Item = usize> {
        let (lanes, _) = lane_counts();
        (0..self.elements.len()).filter(move |slot| self.evaluated[slot / lanes])
    }

    /// Rows of the body, and packed gradients, of a slot's element.
    pub(crate) fn element(&self, slot: usize) -> (Vec<u32>, Vec<[f64; 3]>) {
        let (lanes, _) = lane_counts();
        let (block, lane, count) = (slot / lanes, slot % lanes, self.corners_each);
        let corner = |i: usize| self.rows[self.corners[(block * count + i) * lanes + lane] as usize];
        let entry = |i: usize, c: usize| self.gradients[((block * (count - 1) + i) * 3 + c) * lanes + lane];
        let mut gradients = vec![[0.0; 3]];
        for i in 0..count - 1 {
            let gradient: [f64; 3] = std::array::from_fn(|c| entry(i, c));
            (0..3).for_each(|c| gradients[0][c] -= gradient[c]);
            gradients.push(gradient);
        }
        ((0..count).map(corner).collect(), gradients)
    }

    /// Gradient of a slot's element relative to its rest shape.
    pub(crate) fn gradient(&self, slot: usize, x: &Rows) -> Matrix3<f64> {
        let (lanes, _) = lane_counts();
        let (corners, gradients) = self.element(slot);
        let f = deformation(x, &corners, &gradients);
        let more = |i: usize, j: usize| self.surplus[((slot / lanes) * 9 + 3 * i + j) * lanes + slot % lanes];
        if self.clamped[slot / lanes] { f + Matrix3::from_fn(more) } else { f }
    }
}

/// Size of equal chunks of some elements, in whole blocks of lanes.
fn evenly(count: usize) -> usize {
    let (lanes, _) = lane_counts();
    count.div_ceil(count.div_ceil(CHUNK)).next_multiple_of(lanes)
}

/// Lane, entry and block of an index in storage of blocks x entries x lanes.
fn unpack(place: usize, lanes: usize, entries: usize) -> (usize, usize, usize) {
    let (lane, rest) = (place % lanes, place / lanes);
    (lane, rest % entries, rest / entries)
}

/// Sums energy and forces of a chunk.
struct Sum<'a> {
    chunk: &'a mut Chunk,
}

impl WithSimd for Sum<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let law = match self.chunk.law.clone() {
            ElementLaw::Limit(_) => return of_law(simd, LaneLimit, self.chunk),
            ElementLaw::Elastic(law) => law,
        };
        match law.in_lanes().0 {
            LaneLaw::Corotated => of_law(simd, lanes::Corotated, self.chunk),
            LaneLaw::StVenantKirchhoff => of_law(simd, lanes::StVenantKirchhoff, self.chunk),
            LaneLaw::NeoHookean => of_law(simd, lanes::NeoHookean, self.chunk),
            LaneLaw::MooneyRivlin => of_law(simd, lanes::MooneyRivlin, self.chunk),
            LaneLaw::Polynomial => of_law(simd, lanes::Polynomial, self.chunk),
            LaneLaw::Spline => of_law(simd, lanes::Spline(&law), self.chunk),
        }
    }
}

// Plain loops only from here on: a closure would not be compiled for the instruction set of its caller.

#[inline(always)]
fn of_law<S: Simd, L: Evaluate>(simd: S, law: L, chunk: &mut Chunk) {
    if chunk.corners_each == 4 {
        sum::<S, L, 4>(simd, law, chunk);
    } else {
        sum::<S, L, 8>(simd, law, chunk);
    }
}

#[inline(always)]
fn sum<S: Simd, L: Evaluate, const CORNERS: usize>(simd: S, law: L, chunk: &mut Chunk) {
    let lanes = S::F64_LANES;
    let (gradients, _) = S::as_simd_f64s(&chunk.gradients);
    let (volumes, _) = S::as_simd_f64s(&chunk.volumes);
    let (surplus, _) = S::as_simd_f64s(&chunk.surplus);
    let (parameters, _) = S::as_simd_f64s(&chunk.parameters);
    let stride = if parameters.len() > PARAMETERS { PARAMETERS } else { 0 };
    let zero = simd.splat_f64s(0.0);
    let mut energy = zero;
    for block in 0..volumes.len() {
        if !chunk.evaluated[block] {
            continue;
        }
        let corners = &chunk.corners[block * CORNERS * lanes..][..CORNERS * lanes];
        let gradients = &gradients[block * 3 * (CORNERS - 1)..][..3 * (CORNERS - 1)];
        let mut x = [[zero; 3]; CORNERS];
        let mut more = [zero; 9];
        if chunk.clamped[block] {
            more.copy_from_slice(&surplus[9 * block..][..9]);
        }
        let f = deformation_in_lanes(simd, corners, gradients, &more, &chunk.places, &mut x);
        let mut own = [zero; PARAMETERS];
        for parameter in 0..PARAMETERS {
            own[parameter] = parameters[block * stride + parameter];
        }
        let mut stress = [zero; 9];
        let density = law.evaluate(simd, &f, &own, &mut stress);
        energy = simd.mul_add_e_f64s(volumes[block], density, energy);
        for e in 0..9 {
            stress[e] = simd.mul_f64s(volumes[block], stress[e]);
        }
        x[0] = [zero; 3];
        for corner in 1..CORNERS {
            for i in 0..3 {
                let mut force = zero;
                for j in 0..3 {
                    let gradient = gradients[3 * (corner - 1) + j];
                    force = simd.mul_add_e_f64s(stress[3 * i + j], gradient, force);
                }
                x[corner][i] = force;
                x[0][i] = simd.sub_f64s(x[0][i], force);
            }
        }
        scatter::<S>(corners, cast_slice(x.as_flattened()), &mut chunk.forces);
    }
    chunk.energy = simd.reduce_sum_f64s(energy);
}

/// `F = sum_i x_i g_i'`.
pub(crate) fn deformation(x: &Rows, corners: &[u32], gradients: &[[f64; 3]]) -> Matrix3<f64> {
    let term = |(&row, gradient): (&u32, &[f64; 3])| {
        (Vector3::from(x[row as usize]) - Vector3::from(x[corners[0] as usize]))
            * Vector3::from(*gradient).transpose()
    };
    corners.iter().zip(gradients).map(term).sum()
}

/// `F = more + sum_i x_i g_i'` of the elements of a block; writes the positions of their corners.
#[inline(always)]
pub(crate) fn deformation_in_lanes<S: Simd, const CORNERS: usize>(
    simd: S,
    corners: &[u32],
    gradients: &[S::f64s],
    more: &[S::f64s; 9],
    places: &Rows,
    x: &mut [[S::f64s; 3]; CORNERS],
) -> [S::f64s; 9] {
    gather::<S>(corners, places, cast_slice_mut(x.as_flattened_mut()));
    let mut f = *more;
    for corner in 1..CORNERS {
        for i in 0..3 {
            let edge = simd.sub_f64s(x[corner][i], x[0][i]);
            for j in 0..3 {
                f[3 * i + j] = simd.mul_add_e_f64s(edge, gradients[3 * (corner - 1) + j], f[3 * i + j]);
            }
        }
    }
    f
}

/// Positions of corners, corners x 3 x lanes.
#[inline(always)]
fn gather<S: Simd>(corners: &[u32], places: &Rows, out: &mut [f64]) {
    let lanes = S::F64_LANES;
    for (corners, out) in corners.chunks_exact(lanes).zip(out.chunks_exact_mut(3 * lanes)) {
        for lane in 0..lanes {
            let place = &places[corners[lane] as usize];
            out[lane] = place[0];
            out[lanes + lane] = place[1];
            out[2 * lanes + lane] = place[2];
        }
    }
}

/// Adds forces on corners, corners x 3 x lanes, element after element.
#[inline(always)]
fn scatter<S: Simd>(corners: &[u32], forces: &[f64], sums: &mut Rows) {
    let lanes = S::F64_LANES;
    for (corners, forces) in corners.chunks_exact(lanes).zip(forces.chunks_exact(3 * lanes)) {
        for lane in 0..lanes {
            let sum = &mut sums[corners[lane] as usize];
            sum[0] += forces[lane];
            sum[1] += forces[lanes + lane];
            sum[2] += forces[2 * lanes + lane];
        }
    }
}
