//! Fill-reducing elimination orders.

use std::sync::Mutex;

use crate::math::Sparse;
use crate::{Error, Result};

/// METIS draws from the process-wide generator of the C library: one at a time, or results would vary.
static METIS: Mutex<()> = Mutex::new(());

/// Nested-dissection order of a symmetric matrix's graph: `order[k]` is the row eliminated k-th.
///
/// The graph is cut in two by a small set of vertices that is eliminated last, and so on in each half. The order is
/// then a postorder of its elimination tree: the fill is the same, but columns of equal pattern stand side by side.
///
/// # Errors
/// [`Error::Numerical`] if METIS fails (out of memory, or more than 2^31 entries).
pub fn nested_dissection(matrix: &Sparse) -> Result<Vec<u32>> {
    let failed = |why: String| Error::Numerical { what: "nested dissection", why };
    let n = matrix.ncols();
    let mut starts: Vec<metis_sys::idx_t> = Vec::with_capacity(n + 1);
    let mut neighbours: Vec<metis_sys::idx_t> = Vec::with_capacity(matrix.compute_nnz());
    starts.push(0);
    for column in 0..n {
        let rows = matrix.symbolic().row_idx_of_col_raw(column);
        neighbours
            .extend(rows.iter().filter(|row| **row as usize != column).map(|row| *row as metis_sys::idx_t));
        let end = metis_sys::idx_t::try_from(neighbours.len());
        starts.push(end.map_err(|_| failed("the graph has more than 2^31 edges".into()))?);
    }
    let mut order = vec![0; n];
    let mut position = vec![0; n];
    let mut options = [0; metis_sys::METIS_NOPTIONS as usize];
    let mut count = n as metis_sys::idx_t;
    let guard = METIS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // SAFETY: every pointer is to a live buffer of the length METIS documents: n + 1 starts, starts[n] neighbours,
    // METIS_NOPTIONS options, n entries of each permutation; a null vertex weight means unit weights.
    let status = unsafe {
        metis_sys::METIS_SetDefaultOptions(options.as_mut_ptr());
        metis_sys::METIS_NodeND(
            &mut count,
            starts.as_mut_ptr(),
            neighbours.as_mut_ptr(),
            std::ptr::null_mut(),
            options.as_mut_ptr(),
            order.as_mut_ptr(),
            position.as_mut_ptr(),
        )
    };
    drop(guard);
    if status == metis_sys::rstatus_et_METIS_OK {
        let order: Vec<u32> = order.into_iter().map(|row| row as u32).collect();
        Ok(postorder(&elimination_tree(matrix, &order)).into_iter().map(|k| order[k as usize]).collect())
    } else {
        Err(failed(format!("METIS returned {status}")))
    }
}

/// No parent: a root of the elimination tree.
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

/// Children before parents, each subtree in one run.
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
                let mut children = vec![child];
                while sibling[children[children.len() - 1] as usize] != ROOT {
                    children.push(sibling[children[children.len() - 1] as usize]);
                }
                pending.extend(children.into_iter().rev());
            }
        }
    }
    order
}
