//! Updates of the metric's Laplacian for rest shapes that follow the rig, and for active stretch limits.
//!
//! With S_c the rig's stretch of an element and c its conductivity, the Laplacian gains
//! `c V det S_c (S_c^-1 g)(S_c^-1 g)'`, and loses `c V g g'` if it already contains the element at rest.

use pulp::{Arch, Simd, WithSimd};

use super::FullSpaceModel;
use crate::math::Sparse;
use crate::math::lanes::lane_counts;
use crate::math::polar::dot3;
use crate::potentials::elastic::elements::{Chunk, Elements};

/// Positions of element entries in the metric's Laplacian.
pub(super) struct Conduction {
    /// Value index of each pair of corners of each element of a chunk, first corner first; past the end for
    /// a pinned corner.
    places: Vec<Vec<u32>>,
    weights: Vec<f64>,
}

impl Conduction {
    /// Positions for the elements of a body.
    pub(super) fn new(model: &FullSpaceModel, elements: &Elements) -> Self {
        let (moving, matrix) = (&model.data.moving, &model.stiffness);
        let place = |row: u32, column: u32| {
            let (row, column) = (moving.place(row)?, moving.place(column)? as usize);
            let at = matrix.row_idx_of_col_raw(column).binary_search(&row).ok()?;
            Some((matrix.col_range(column).start + at) as u32)
        };
        let of_chunk = |chunk: &Chunk| {
            let corners = |slot| chunk.element(slot).0.into_iter().map(|row| model.vertices[row as usize]);
            let of_slot = |slot| {
                let corners: Vec<u32> = corners(slot).collect();
                let pairs = corners.iter().flat_map(|&row| corners.iter().map(move |&column| (row, column)));
                pairs.map(|(row, column)| place(row, column).unwrap_or(u32::MAX)).collect::<Vec<_>>()
            };
            (0..chunk.elements.len()).flat_map(of_slot).collect()
        };
        Self { places: elements.chunks().iter().map(of_chunk).collect(), weights: Vec::new() }
    }

    /// Adds the conductivities of elements, Pa each, times a scale; subtracts their rest contribution if
    /// `rest` is given.
    pub(super) fn add(
        &mut self,
        elements: &Elements,
        rest: Option<&Elements>,
        (conducted, scale): (&[f64], f64),
        matrix: &mut Sparse,
    ) {
        let (lanes, _) = lane_counts();
        let values = matrix.val_mut();
        for (index, (chunk, places)) in elements.chunks().iter().zip(&self.places).enumerate() {
            let pairs = chunk.corners_each * chunk.corners_each;
            let rest = rest.map(|rest| &rest.chunks()[index]);
            self.weights.resize(chunk.volumes.len() * pairs, 0.0);
            Arch::new().dispatch(Weigh { chunk, rest, conducted, scale, weights: &mut self.weights });
            for (slot, places) in places.chunks_exact(pairs).enumerate() {
                if conducted[chunk.elements[slot] as usize] == 0.0 {
                    continue;
                }
                let own = &self.weights[slot / lanes * pairs * lanes + slot % lanes..];
                for (&place, weight) in places.iter().zip(own.iter().step_by(lanes)) {
                    if let Some(value) = values.get_mut(place as usize) {
                        *value += weight;
                    }
                }
            }
        }
    }
}

/// Weights of the corner pairs of a chunk's elements, blocks x pairs x lanes.
struct Weigh<'a> {
    chunk: &'a Chunk,
    rest: Option<&'a Chunk>,
    /// Conductivity of each element.
    conducted: &'a [f64],
    scale: f64,
    weights: &'a mut [f64],
}

impl WithSimd for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.chunk.corners_each == 4 {
            weigh::<S, 4>(simd, self);
        } else {
            weigh::<S, 8>(simd, self);
        }
    }
}

// Plain loops only from here on, as in `elements`.

#[inline(always)]
fn weigh<S: Simd, const CORNERS: usize>(simd: S, task: Weigh<'_>) {
    let Weigh { chunk, rest, conducted, scale, weights } = task;
    let (weights, _) = S::as_mut_simd_f64s(weights);
    for block in 0..chunk.volumes.len() / S::F64_LANES {
        let mut conductivity = [simd.splat_f64s(0.0)];
        let lanes = pulp::bytemuck::cast_slice_mut::<S::f64s, f64>(&mut conductivity);
        let elements = &chunk.elements[block * S::F64_LANES..];
        let mut conducts = false;
        for lane in 0..lanes.len().min(elements.len()) {
            lanes[lane] = scale * conducted[elements[lane] as usize];
            conducts |= conducted[elements[lane] as usize] != 0.0;
        }
        if !conducts {
            continue;
        }
        let weights = &mut weights[block * CORNERS * CORNERS..][..CORNERS * CORNERS];
        weights.fill(simd.splat_f64s(0.0));
        add_products::<S, CORNERS>(simd, chunk, block, conductivity[0], weights);
        if let Some(rest) = rest {
            add_products::<S, CORNERS>(simd, rest, block, simd.neg_f64s(conductivity[0]), weights);
        }
    }
}

/// Adds `c V g_i . g_j` of the elements of a block.
#[inline(always)]
fn add_products<S: Simd, const CORNERS: usize>(
    simd: S,
    chunk: &Chunk,
    block: usize,
    conductivity: S::f64s,
    weights: &mut [S::f64s],
) {
    let (volumes, _) = S::as_simd_f64s(&chunk.volumes);
    let (gradients, _) = S::as_simd_f64s(&chunk.gradients);
    let gradients = &gradients[block * 3 * (CORNERS - 1)..][..3 * (CORNERS - 1)];
    let scale = simd.mul_f64s(conductivity, volumes[block]);
    let mut all = [[simd.splat_f64s(0.0); 3]; CORNERS];
    for corner in 1..CORNERS {
        for c in 0..3 {
            all[corner][c] = gradients[3 * (corner - 1) + c];
            all[0][c] = simd.sub_f64s(all[0][c], all[corner][c]);
        }
    }
    for i in 0..CORNERS {
        for j in 0..CORNERS {
            let weight = &mut weights[CORNERS * i + j];
            *weight = simd.mul_add_e_f64s(scale, dot3(simd, all[i], all[j]), *weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Progress;
    use crate::material::{Field, Law, Material};
    use crate::mesh::TetMesh;
    use crate::operators::laplacian;
    use crate::subspace::Restraint;

    /// Five tets in a cube with one pinned corner.
    fn cube() -> (FullSpaceModel, Vec<[f64; 3]>) {
        let corner = |i: usize| [(i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64];
        let vertices: Vec<[f64; 3]> = (0..8).map(corner).collect();
        let tets = [[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]].to_vec();
        let mesh = TetMesh::new(vertices.clone(), tets).unwrap();
        let uniform = Field::Uniform;
        let material = Material::new(Law::Arap, uniform(1.0), uniform(0.0), uniform(1.0)).unwrap();
        let pinned: Vec<bool> = (0..8).map(|vertex| vertex == 5).collect();
        let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
        let energies = material.energies(5);
        let model = FullSpaceModel::new(&mesh, &material, &energies, &restraint, &Progress::default());
        (model.unwrap(), vertices)
    }

    /// Elements with rest shapes that follow a rig conduct like tets modelled in these shapes.
    #[test]
    fn elements_that_follow_conduct_as_their_shapes_do() {
        let (model, vertices) = cube();
        // A symmetric matrix is its own stretch, without rotation.
        let stretched = |[x, y, z]: [f64; 3]| [1.5 * x + 0.2 * y, 0.2 * x + 0.8 * y, 1.2 * z];
        let posed: Vec<[f64; 3]> = vertices.iter().map(|&vertex| stretched(vertex)).collect();
        let rig: Vec<[f64; 3]> = model.vertices.iter().map(|&vertex| posed[vertex as usize]).collect();
        let mut now = model.elements.clone();
        now.follow(&model.elements, &rig, 1.0, f64::INFINITY);
        let conducted = [1.0, 2.0, 0.5, 3.0, 1.5];
        let mut conduction = Conduction::new(&model, &now);
        let mut sum = model.stiffness.clone();
        conduction.add(&now, Some(&model.elements), (&conducted, 2.0), &mut sum);
        let of = |points: Vec<[f64; 3]>| {
            let mesh = TetMesh::new(points, model.mesh().tets().to_vec()).unwrap();
            model.data.moving.square(&laplacian(&mesh, &conducted).unwrap())
        };
        let (after, before) = (of(posed).to_dense(), of(vertices).to_dense());
        let expected = model.stiffness.to_dense() + faer::Scale(2.0) * (after - before);
        assert!((sum.to_dense() - expected).norm_max() < 1e-12);
    }
}
