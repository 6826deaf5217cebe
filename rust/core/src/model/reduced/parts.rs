//! Parts of a body, and sample places all over it.

use faer::{Mat, MatRef};

use crate::kinematics::rig_rows::RigRows;
use crate::math::columns::Columns;
use crate::math::dense::inner;
use crate::math::rows::Rows;
use crate::mesh::TetMesh;
use crate::parallel::*;
use crate::subspace::cluster_tets_by_place;
use crate::{Progress, Result};

/// Number of parts; their mean motion represents the motion of their vertices.
const PARTS: usize = 128;

/// Sample places all over the body.
pub(super) struct Places {
    pub(super) rig: RigRows,
    /// Basis displacements at the places, 3 rows each.
    pub(super) basis: Columns,
}

impl Places {
    /// Adds posed positions, from a pose with 4 rows a handle.
    pub(super) fn add_posed(&self, pose: &Rows, places: &mut Rows) {
        for (place, rows) in places.iter_mut().zip(&self.rig) {
            for (handle, entries) in rows {
                for (entry, row) in entries.iter().zip(&pose[4 * *handle as usize..][..4]) {
                    (0..3).for_each(|c| place[c] += entry * row[c]);
                }
            }
        }
    }
}

/// Parts of a body: connected groups of neighbouring tets.
pub(super) struct Parts {
    /// Part of each vertex, n.
    pub(super) of: Vec<u32>,
    /// Masses of the parts, kg.
    pub(super) masses: Vec<f64>,
    /// Centres of mass of the parts.
    pub(super) centers: Places,
    /// `B_p'M_p B_p` of each part, a column of the lower half, k (k + 1) / 2, row by row.
    pub(super) inertias: Columns,
}

impl Parts {
    /// Parts of a mesh from vertex masses, rig rows and displacement fields, 3n x k.
    pub(super) fn new(mesh: &TetMesh, mass: &[f64], rig: &RigRows, fields: MatRef<'_, f64>) -> Result<Self> {
        let labels = cluster_tets_by_place(mesh, PARTS.min(mesh.tets().len()), 0, &Progress::default())?;
        let mut of = vec![0; mass.len()];
        for (tet, &label) in mesh.tets().iter().zip(&labels).rev() {
            tet.iter().for_each(|&vertex| of[vertex as usize] = label as u32);
        }
        let count = 1 + of.iter().max().map_or(0, |&part| part as usize);
        let mut masses = vec![0.0; count];
        of.iter().zip(mass).for_each(|(&part, mass)| masses[part as usize] += mass);
        let mut moves = Mat::<f64>::zeros(3 * count, fields.ncols());
        let mut posed: RigRows = vec![Vec::new(); count];
        for (vertex, (&part, mass)) in of.iter().zip(mass).enumerate() {
            let (part, share) = (part as usize, mass / masses[part as usize]);
            for k in 0..fields.ncols() {
                (0..3).for_each(|c| moves[(3 * part + c, k)] += share * fields[(3 * vertex + c, k)]);
            }
            for (handle, entries) in &rig[vertex] {
                let place = posed[part].iter().position(|(known, _)| known == handle).unwrap_or_else(|| {
                    posed[part].push((*handle, [0.0; 4]));
                    posed[part].len() - 1
                });
                posed[part][place].1.iter_mut().zip(entries).for_each(|(sum, entry)| *sum += share * entry);
            }
        }
        let basis = Columns::new(3 * count, fields.ncols(), |i, k| moves[(i, k)]);
        let inertias = inertias(&of, mass, fields, count);
        Ok(Self { of, masses, centers: Places { rig: posed, basis }, inertias })
    }
}

/// `B_p'M_p B_p` of all parts in packed form.
fn inertias(of: &[u32], mass: &[f64], fields: MatRef<'_, f64>, count: usize) -> Columns {
    let rank = fields.ncols();
    let mut vertices = vec![Vec::new(); count];
    of.iter().enumerate().for_each(|(vertex, &part)| vertices[part as usize].push(vertex));
    let own = |vertices: &Vec<usize>| {
        let entry = |i: usize, k| mass[vertices[i / 3]].sqrt() * fields[(3 * vertices[i / 3] + i % 3, k)];
        let rows = Mat::from_fn(3 * vertices.len(), rank, entry);
        inner(rows.as_ref(), rows.as_ref())
    };
    let parts: Vec<Mat<f64>> = vertices.par_iter().map(own).collect();
    let places: Vec<(usize, usize)> = (0..rank).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
    Columns::new(places.len(), count, |at, part| parts[part][places[at]])
}
