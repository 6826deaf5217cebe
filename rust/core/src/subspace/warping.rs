//! Rotation-strain warping: what linear displacements say of strain and rotation, with rotations of any size
//! `[MOR eq. 19-25]`.

use faer::{Mat, MatRef};
use nalgebra::{Matrix3, Rotation3, SymmetricEigen, Vector3};
use rayon::prelude::*;

use crate::math::{Selection, Sets, SparseCholesky, on_pool};
use crate::mesh::TetMesh;
use crate::operators::{gradients, laplacian};
use crate::{Error, Result};

/// The least principal strain: less would turn a tet inside out.
const LEAST_STRAIN: f64 = -0.9;

/// Turns amplitudes z of displacements Psi into displacements that bend and twist without growing.
///
/// In each tet the gradient of `Psi z` is a strain e and an infinitesimal rotation w, both linear in z; the tet is to have the
/// deformation gradient `exp(w) (I + e)`. The displacement that comes closest, weighted by volumes, solves
/// `L q = sum over tets of V (exp(w) (I + e) - I) g'`, with the Laplacian L of the mesh. `[MOR eq. 20, 25]`
pub struct Warping {
    tets: Vec<[u32; 4]>,
    volumes: Vec<f64>,
    /// Of the hat functions, t x 4 x 3, 1/m.
    gradients: Vec<[[f64; 3]; 4]>,
    /// Gradients of the displacements, t x k.
    slopes: Vec<Matrix3<f64>>,
    parts: Vec<LoosePart>,
    free: Selection,
    factor: SparseCholesky,
}

/// A part of the mesh that nothing holds: its centre goes where the displacements take it.
struct LoosePart {
    /// With the share of the part's volume at each.
    vertices: Vec<(u32, f64)>,
    /// How far each displacement takes the centre, k.
    centre: Vec<Vector3<f64>>,
}

impl Warping {
    /// Of displacements, 3n x k, rows interleaved, which leave the vertices `held` (n) in place.
    ///
    /// # Errors
    /// [`Error::Shape`] for what is of another mesh; [`Error::Numerical`] for tets so flat that they have no gradients.
    pub fn new(mesh: &TetMesh, displacements: MatRef<'_, f64>, held: &[bool]) -> Result<Self> {
        let n = mesh.vertices().len();
        for (what, expected, got) in
            [("displacements", 3 * n, displacements.nrows()), ("held", n, held.len())]
        {
            if got != expected {
                let [expected, got] = [expected, got].map(|rows| format!("{rows} rows"));
                return Err(Error::Shape { what, expected, got });
            }
        }
        let parts = loose_parts(mesh, displacements, held);
        let mut still = held.to_vec();
        // The Laplacian does not say where a part is, so one of its vertices stays until the whole part is moved.
        parts.iter().for_each(|part| still[part.vertices[0].0 as usize] = true);
        let free = Selection::new(n, |vertex| !still[vertex]);
        let matrix = free.square(&laplacian(mesh, &vec![1.0; mesh.tets().len()])?);
        let gradients = gradients(mesh);
        Ok(Self {
            slopes: slopes(mesh, &gradients, displacements),
            tets: mesh.tets().to_vec(),
            volumes: mesh.volumes().to_vec(),
            gradients,
            parts,
            free,
            factor: on_pool(|| SparseCholesky::new(&matrix))?,
        })
    }

    /// The warped displacement at amplitudes, k: n x 3, rows one after the other.
    ///
    /// # Errors
    /// [`Error::Shape`] and [`Error::NotFinite`] for the amplitudes.
    pub fn displacement(&self, amplitudes: &[f64]) -> Result<Vec<f64>> {
        let count = self.slopes.len() / self.tets.len();
        if amplitudes.len() != count {
            let (expected, got) = (format!("({count},)"), format!("({},)", amplitudes.len()));
            return Err(Error::Shape { what: "amplitudes", expected, got });
        }
        if let Some(element) = amplitudes.iter().position(|amplitude| !amplitude.is_finite()) {
            return Err(Error::NotFinite { what: "amplitudes", element, value: amplitudes[element] });
        }
        let wanted = |t: usize| {
            let slopes = &self.slopes[t * count..(t + 1) * count];
            let slope: Matrix3<f64> = slopes.iter().zip(amplitudes).map(|(slope, z)| *z * slope).sum();
            self.volumes[t] * (deformation(&slope) - Matrix3::identity())
        };
        let wanted: Vec<Matrix3<f64>> = (0..self.tets.len()).into_par_iter().map(wanted).collect();
        let mut load = vec![Vector3::zeros(); self.free.total()];
        for ((corners, gradients), wanted) in self.tets.iter().zip(&self.gradients).zip(&wanted) {
            for (&vertex, &gradient) in corners.iter().zip(gradients) {
                load[vertex as usize] += wanted * Vector3::from(gradient);
            }
        }
        let rows = self.free.rows();
        let mut solved = Mat::from_fn(rows.len(), 3, |row, c| load[rows[row] as usize][c]);
        on_pool(|| self.factor.solve_in_place(solved.as_mut()));
        let mut moved = vec![Vector3::zeros(); self.free.total()];
        for (row, &vertex) in rows.iter().enumerate() {
            moved[vertex as usize] = Vector3::from_fn(|c, _| solved[(row, c)]);
        }
        self.parts.iter().for_each(|part| part.put(&mut moved, amplitudes));
        Ok(moved.iter().flat_map(|u| [u.x, u.y, u.z]).collect())
    }
}

impl LoosePart {
    /// Moves the part so that its centre is where it belongs.
    fn put(&self, moved: &mut [Vector3<f64>], amplitudes: &[f64]) {
        let belongs: Vector3<f64> = self.centre.iter().zip(amplitudes).map(|(far, z)| *z * far).sum();
        let is: Vector3<f64> = self.vertices.iter().map(|&(v, share)| share * moved[v as usize]).sum();
        self.vertices.iter().for_each(|&(v, _)| moved[v as usize] += belongs - is);
    }
}

/// `exp(w) (I + e)` for the symmetric part e of a gradient, not below the least strain, and its skew part w.
fn deformation(slope: &Matrix3<f64>) -> Matrix3<f64> {
    let mut strain = 0.5 * (slope + slope.transpose());
    let turn = 0.5 * (slope - slope.transpose());
    let axis = Vector3::new(turn[(2, 1)], turn[(0, 2)], turn[(1, 0)]);
    if strain.norm() > -LEAST_STRAIN {
        let mut principal = SymmetricEigen::new(strain);
        principal.eigenvalues.apply(|value| *value = value.max(LEAST_STRAIN));
        strain = principal.recompose();
    }
    Rotation3::from_scaled_axis(axis).matrix() * (Matrix3::identity() + strain)
}

/// Gradients of displacements in all tets, t x k.
fn slopes(mesh: &TetMesh, gradients: &[[[f64; 3]; 4]], displacements: MatRef<'_, f64>) -> Vec<Matrix3<f64>> {
    let slope = |(t, k): (usize, usize)| {
        let term = |(&vertex, &gradient): (&u32, &[f64; 3])| {
            at(displacements, vertex, k) * Vector3::from(gradient).transpose()
        };
        mesh.tets()[t].iter().zip(&gradients[t]).map(term).sum()
    };
    let count = displacements.ncols();
    (0..mesh.tets().len() * count)
        .into_par_iter()
        .map(|index| slope((index / count, index % count)))
        .collect()
}

/// The parts of the mesh, connected through tets, of which nothing is held.
fn loose_parts(mesh: &TetMesh, displacements: MatRef<'_, f64>, held: &[bool]) -> Vec<LoosePart> {
    let n = mesh.vertices().len();
    let (mut sets, mut volume) = (Sets::new(n), vec![0.0; n]);
    for (tet, share) in mesh.tets().iter().zip(mesh.volumes()) {
        tet.iter().for_each(|&vertex| {
            sets.unite(tet[0], vertex);
            volume[vertex as usize] += share;
        });
    }
    let mut members: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
    for (vertex, volume) in (0..).zip(volume) {
        members[sets.root(vertex) as usize].push((vertex, volume));
    }
    let is_loose = |part: &Vec<(u32, f64)>| !part.is_empty() && part.iter().all(|&(v, _)| !held[v as usize]);
    let made = |vertices: Vec<(u32, f64)>| {
        let whole: f64 = vertices.iter().map(|&(_, volume)| volume).sum();
        let vertices: Vec<(u32, f64)> = vertices.iter().map(|&(v, volume)| (v, volume / whole)).collect();
        let far = |k: usize| vertices.iter().map(|&(v, share)| share * at(displacements, v, k)).sum();
        LoosePart { centre: (0..displacements.ncols()).map(far).collect(), vertices }
    };
    members.into_iter().filter(is_loose).map(made).collect()
}

fn at(displacements: MatRef<'_, f64>, vertex: u32, k: usize) -> Vector3<f64> {
    Vector3::from_fn(|c, _| displacements[(3 * vertex as usize + c, k)])
}
