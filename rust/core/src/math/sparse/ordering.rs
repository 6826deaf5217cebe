//! Fill-reducing elimination orders.

use super::dissection::dissect;
use super::graph::Graph;
use crate::math::Sparse;

/// Degree of a hub, in units of the root of the number of vertices.
const HUB: f64 = 10.0;

/// Nested-dissection order of a symmetric matrix's graph: `order[k]` is the row eliminated k-th.
///
/// The graph is bisected by a small vertex separator, eliminated last, and recursively in each half. Hubs,
/// which would connect everything, come at the very end. The result is a postorder of its elimination tree:
/// the same fill, with columns of equal pattern adjacent.
pub(super) fn nested_dissection(matrix: &Sparse) -> Vec<u32> {
    let n = matrix.ncols();
    let (mut starts, mut neighbours) = (Vec::with_capacity(n + 1), Vec::with_capacity(matrix.compute_nnz()));
    starts.push(0);
    for column in 0..n {
        let rows = matrix.symbolic().row_idx_of_col_raw(column).iter();
        neighbours.extend(rows.filter(|row| **row as usize != column));
        starts.push(neighbours.len() as u32);
    }
    let graph = Graph { starts, neighbours, names: (0..n as u32).collect() };
    let hub = HUB * (n as f64).sqrt();
    let (others, hubs): (Vec<u32>, Vec<u32>) =
        (0..n as u32).partition(|&vertex| graph.neighbours(vertex).len() as f64 <= hub);
    let mut order = vec![0; n];
    let (first, last) = order.split_at_mut(others.len());
    let rest = if hubs.is_empty() { graph } else { graph.part(&others) };
    dissect(&rest, first);
    last.copy_from_slice(&hubs);
    postorder(&elimination_tree(matrix, &order)).into_iter().map(|place| order[place as usize]).collect()
}

/// Parent of a root of the elimination tree.
const ROOT: u32 = u32::MAX;

/// Parent of each position in the elimination tree of a symmetric matrix, stored whole, in a given order.
fn elimination_tree(matrix: &Sparse, order: &[u32]) -> Vec<u32> {
    let mut position = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &row)| position[row as usize] = place as u32);
    let mut parent = vec![ROOT; order.len()];
    let mut ancestor = vec![ROOT; order.len()];
    for (place, &column) in order.iter().enumerate() {
        let place = place as u32;
        for &row in matrix.row_idx_of_col_raw(column as usize) {
            let mut node = position[row as usize];
            while node < place {
                let next = std::mem::replace(&mut ancestor[node as usize], place);
                if next == ROOT {
                    parent[node as usize] = place;
                }
                node = next;
            }
        }
    }
    parent
}

/// Postorder: children before parents, each subtree contiguous.
fn postorder(parent: &[u32]) -> Vec<u32> {
    let mut first_child = vec![ROOT; parent.len()];
    let mut sibling = vec![ROOT; parent.len()];
    let mut pending = Vec::new();
    for node in (0..parent.len() as u32).rev() {
        match parent[node as usize] {
            ROOT => pending.push(node),
            above => sibling[node as usize] = std::mem::replace(&mut first_child[above as usize], node),
        }
    }
    let mut order = Vec::with_capacity(parent.len());
    while let Some(&node) = pending.last() {
        match std::mem::replace(&mut first_child[node as usize], ROOT) {
            ROOT => {
                order.push(node);
                pending.pop();
            }
            child => {
                let first = pending.len();
                let mut next = child;
                while next != ROOT {
                    pending.push(next);
                    next = sibling[next as usize];
                }
                pending[first..].reverse();
            }
        }
    }
    order
}
