//! Specks: pieces of flesh too small for visible sway, such as the tip of a finger left over in a lattice.

use crate::math::Sets;
use crate::mesh::TetMesh;

/// Largest volume of a speck, as a share of the body's: all fingers of a hand have less, a calf has more.
const SPECK: f64 = 0.01;

/// Adds pieces of flesh, connected through tets, below a share of the body's volume to the core, unless
/// they are `wanted`.
pub(super) fn hold(mesh: &TetMesh, wanted: impl Fn(usize) -> bool, held: &mut [bool]) {
    let mut volumes = vec![0.0; held.len()];
    let mut whole = 0.0;
    for (tet, volume) in mesh.tets().iter().zip(mesh.volumes()) {
        tet.iter().for_each(|&vertex| volumes[vertex as usize] += volume / 4.0);
        whole += volume;
    }
    let roots = pieces(mesh, |vertex| !held[vertex]);
    let mut sizes = vec![0.0; held.len()];
    for (vertex, &root) in roots.iter().enumerate() {
        sizes[root] += if wanted(vertex) { whole } else { volumes[vertex] };
    }
    held.iter_mut().zip(&roots).for_each(|(held, &root)| *held |= sizes[root] < SPECK * whole);
}

/// Connected piece of each counted vertex, n, identified by a vertex of the piece.
pub(super) fn pieces(mesh: &TetMesh, counts: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut pieces = Sets::new(mesh.vertices().len());
    for tet in mesh.tets() {
        let mut counted = tet.iter().copied().filter(|&vertex| counts(vertex as usize));
        if let Some(first) = counted.next() {
            counted.for_each(|vertex| pieces.unite(first, vertex));
        }
    }
    (0..mesh.vertices().len() as u32).map(|vertex| pieces.root(vertex) as usize).collect()
}
