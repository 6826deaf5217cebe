//! Rotation-strain warping: the displacement closest to the strain and the rotation of each tet
//! `[MOR eq. 19-25]`.

use nalgebra::{Matrix3, SymmetricEigen, Vector3};

use super::turns::{CHUNK, sines};
use crate::Result;
use crate::math::{Selection, Sets, SparseCholesky, VertexScratch};
use crate::mesh::TetMesh;
use crate::operators::{gradients, laplacian, vertex_volumes};
use crate::parallel::*;

/// Smallest principal strain: a smaller one would invert a tet.
const LEAST_STRAIN: f64 = -0.9;

/// In each tet the gradient of `Psi z` is a strain e and an infinitesimal rotation w, both linear in z; the
/// tet's target is the deformation gradient `exp(w) (I + e)`. The closest displacement, weighted by
/// volumes, solves `L q = sum over tets of V (exp(w) (I + e) - I) g'`, with the Laplacian L of the mesh.
/// `[MOR eq. 20, 25]`
pub(super) struct RotationStrain {
    tets: Vec<Tet>,
    parts: Vec<LoosePart>,
    /// Vertices of L, in the order of its factor.
    vertices: Vec<u32>,
    factor: SparseCholesky,
}

struct Tet {
    corners: [u32; 4],
    /// Gradients of the hat functions of the last three corners, 1/m; all four sum to zero.
    gradients: [Vector3<f64>; 3],
    volume: f64,
}

/// A free component: each vertex with its share of the component's volume. The component's centre follows
/// the displacements.
struct LoosePart(Vec<(u32, f64)>);

impl RotationStrain {
    /// Prepares the warping of a mesh whose vertices `held` stay in place.
    pub(super) fn new(mesh: &TetMesh, held: &[bool]) -> Result<Self> {
        let parts = loose_parts(mesh, held);
        let mut still = held.to_vec();
        // The Laplacian leaves a free component's translation undetermined, so one of its vertices stays
        // until the whole component is moved.
        parts.iter().for_each(|LoosePart(vertices)| still[vertices[0].0 as usize] = true);
        let free = Selection::new(held.len(), |vertex| !still[vertex]);
        let factor = SparseCholesky::new(&free.square(&laplacian(mesh, &vec![1.0; mesh.tets().len()])?))?;
        let all = mesh.tets().iter().zip(gradients(mesh)).zip(mesh.volumes());
        let tet = |((&corners, [_, a, b, c]), &volume): ((&[u32; 4], [[f64; 3]; 4]), &f64)| Tet {
            corners,
            gradients: [a, b, c].map(Vector3::from),
            volume,
        };
        let vertices = factor.order().iter().map(|&row| free.rows()[row as usize]).collect();
        Ok(Self { tets: all.map(tet).collect(), parts, vertices, factor })
    }

    /// Warped displacement, n x 3, of a linear one.
    pub(super) fn warp(&self, linear: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
        let pull = |tet: &Tet| tet.pull(&linear);
        let pulls: Vec<[Vector3<f64>; 3]> = self.tets.par_iter().with_min_len(CHUNK).map(pull).collect();
        let mut load = vec![Vector3::zeros(); linear.len()];
        for (tet, pulls) in self.tets.iter().zip(&pulls) {
            let [first, others @ ..] = tet.corners;
            for (vertex, pull) in others.into_iter().zip(pulls) {
                load[vertex as usize] += pull;
                load[first as usize] -= pull;
            }
        }
        let mut rows: Vec<[f64; 3]> = self.vertices.iter().map(|&v| load[v as usize].into()).collect();
        self.factor.solve_vertices(&mut VertexScratch::default(), &mut rows);
        let mut moved = vec![[0.0; 3]; linear.len()];
        self.vertices.iter().zip(rows).for_each(|(&v, row)| moved[v as usize] = row);
        self.parts.iter().for_each(|part| part.put(&mut moved, &linear));
        moved
    }
}

impl Tet {
    /// `V (exp(w) (I + e) - I) g` for the last three corners.
    fn pull(&self, linear: &[[f64; 3]]) -> [Vector3<f64>; 3] {
        let [first, others @ ..] = self.corners.map(|v| Vector3::from(linear[v as usize]));
        let slope: Matrix3<f64> =
            others.iter().zip(&self.gradients).map(|(u, g)| (u - first) * g.transpose()).sum();
        let change = self.volume * (deformation(&slope) - Matrix3::identity());
        self.gradients.map(|g| change * g)
    }
}

impl LoosePart {
    /// Moves the component's centre to that of the linear displacement.
    fn put(&self, moved: &mut [[f64; 3]], linear: &[[f64; 3]]) {
        let centre = |of: &[[f64; 3]]| -> Vector3<f64> {
            self.0.iter().map(|&(v, share)| share * Vector3::from(of[v as usize])).sum()
        };
        let off = centre(linear) - centre(moved);
        self.0.iter().for_each(|&(v, _)| moved[v as usize] = (Vector3::from(moved[v as usize]) + off).into());
    }
}

/// `exp(w) (I + e)` for the symmetric part e of a gradient, bounded by the smallest strain, and its skew
/// part w.
fn deformation(slope: &Matrix3<f64>) -> Matrix3<f64> {
    let mut strain = 0.5 * (slope + slope.transpose());
    let turn = 0.5 * (slope - slope.transpose());
    let axis = Vector3::new(turn[(2, 1)], turn[(0, 2)], turn[(1, 0)]);
    if strain.norm_squared() > LEAST_STRAIN * LEAST_STRAIN {
        let mut principal = SymmetricEigen::new(strain);
        principal.eigenvalues.apply(|value| *value = value.max(LEAST_STRAIN));
        strain = principal.recompose();
    }
    let [a, b] = sines(axis.norm_squared());
    let rotation = Matrix3::identity() + a * turn + b * turn * turn;
    rotation * (Matrix3::identity() + strain)
}

/// Free components: parts of the mesh connected through tets without a held vertex.
fn loose_parts(mesh: &TetMesh, held: &[bool]) -> Vec<LoosePart> {
    let n = mesh.vertices().len();
    let mut sets = Sets::new(n);
    mesh.tets().iter().for_each(|tet| tet.iter().for_each(|&vertex| sets.unite(tet[0], vertex)));
    let mut members: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
    for (vertex, volume) in (0..).zip(vertex_volumes(mesh)) {
        members[sets.root(vertex) as usize].push((vertex, volume));
    }
    let is_loose = |part: &Vec<(u32, f64)>| !part.is_empty() && part.iter().all(|&(v, _)| !held[v as usize]);
    let made = |vertices: Vec<(u32, f64)>| {
        let whole: f64 = vertices.iter().map(|&(_, volume)| volume).sum();
        LoosePart(vertices.iter().map(|&(v, volume)| (v, volume / whole)).collect())
    };
    members.into_iter().filter(is_loose).map(made).collect()
}
