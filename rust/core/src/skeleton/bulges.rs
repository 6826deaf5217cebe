//! Bulges: thin parts of the trunk away from any bone and too bulky to follow one, such as breasts and
//! hanging bellies.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use super::specks::pieces;
use crate::mesh::TetMesh;

/// Largest distance of flesh from its bone, in radii of the flesh.
const ALONG: f64 = 3.0;
/// Smallest median radius of a bulge, relative to the radius below which parts are thin.
const BULKY: f64 = 0.5;
/// Largest volume of a bulge, in balls of its median radius: skirts and long hair have more.
const COMPACT: f64 = 8.0;

/// Removes bulges from the thin vertices, n. near: distance to bones, on the trunk alone. limit: radius
/// below which parts are thin.
pub(super) fn set_free(
    mesh: &TetMesh,
    (near, radius, volume): (impl Fn(usize) -> Option<f64>, &[f64], &[f64]),
    limit: f64,
    thin: &mut [bool],
) {
    let is_apart = |vertex: usize| near(vertex).is_some_and(|near| near > ALONG * radius[vertex]);
    let lies_apart: Vec<bool> = (0..thin.len()).map(|vertex| thin[vertex] && is_apart(vertex)).collect();
    let roots = pieces(mesh, |vertex| lies_apart[vertex]);
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for vertex in (0..thin.len()).filter(|&vertex| lies_apart[vertex]) {
        found.entry(roots[vertex]).or_default().push(vertex);
    }
    for mut piece in found.into_values() {
        piece.sort_by(|&a, &b| radius[a].total_cmp(&radius[b]));
        let (median, whole) = (radius[piece[piece.len() / 2]], piece.iter().map(|&v| volume[v]).sum::<f64>());
        if median > BULKY * limit && whole < COMPACT * 4.0 / 3.0 * PI * median.powi(3) {
            piece.into_iter().for_each(|vertex| thin[vertex] = false);
        }
    }
}
