//! Linear maps of vertices as sparse matrices: gradients in tets, and places in a pose.

use faer::sparse::{SparseColMat, SymbolicSparseColMat};

use super::gradients;
use crate::math::Sparse;
use crate::mesh::TetMesh;
use crate::rig::Rig;
use crate::{Error, Result};

/// Transpose of the gradient operator G of piecewise linear functions: `(G f)_(3 t + j) = df/dX_j` in tet t.
///
/// n x 3t, 1/m: four entries a column. With the volumes V of the tets, `G' (V x I) G` is the
/// [`laplacian`](super::laplacian) of conductivity 1, and the deformation gradients of positions x are the
/// transposed 3 x 3 blocks of `G x`.
pub fn gradient_map(mesh: &TetMesh) -> Sparse {
    let hats = gradients(mesh);
    let columns = mesh.tets().iter().zip(&hats).flat_map(|(tet, hats)| {
        (0..3).map(move |j| {
            let mut column: Vec<(u32, f64)> = (0..4).map(|k| (tet[k], hats[k][j])).collect();
            column.sort_unstable_by_key(|entry| entry.0);
            column
        })
    });
    from_columns(mesh.vertices().len(), columns)
}

/// Transpose of the Jacobian J of linear blend skinning, `x = J p`: the pose p has 12 numbers a bone, row by
/// row, and x has interleaved coordinates.
///
/// `J_(3 i + r, 12 j + 4 r + c) = w_ij [X_i; 1]_c`; 12b x 3n. Source: `[FastCD eq. 3]`.
///
/// # Errors
/// [`Error::Shape`] for points of another rig.
pub fn skinning_map(points: &[[f64; 3]], rig: &Rig) -> Result<Sparse> {
    let n = rig.vertex_count();
    if points.len() != n {
        let (expected, got) = (format!("({n}, 3)"), format!("({}, 3)", points.len()));
        return Err(Error::Shape { what: "points", expected, got });
    }
    let mut bones: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
    for bone in 0..rig.bone_count() {
        rig.bone(bone)
            .iter()
            .for_each(|&(vertex, weight)| bones[vertex as usize].push((bone as u32, weight)));
    }
    let columns = points.iter().zip(&bones).flat_map(|(&[x, y, z], bones)| {
        (0..3u32).map(move |r| {
            let of = move |&(bone, weight): &(u32, f64)| {
                (0..4).zip([x, y, z, 1.0]).map(move |(c, value)| (12 * bone + 4 * r + c, weight * value))
            };
            bones.iter().flat_map(of).collect::<Vec<_>>()
        })
    });
    Ok(from_columns(12 * rig.bone_count(), columns))
}

fn from_columns(rows: usize, columns: impl Iterator<Item = Vec<(u32, f64)>>) -> Sparse {
    let (mut ends, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in columns {
        indices.extend(column.iter().map(|entry| entry.0));
        values.extend(column.iter().map(|entry| entry.1));
        ends.push(indices.len() as u32);
    }
    let shape = SymbolicSparseColMat::new_checked(rows, ends.len() - 1, ends, None, indices);
    SparseColMat::new(shape, values)
}
