//! Nested dissection of a graph: bisection by a small separator that is eliminated last, recursively and in
//! parallel.

use super::cut::cut;
use super::graph::{Graph, Side};

/// Largest part ordered by minimum degree: one bit of a word a vertex.
const LEAF: usize = 64;
/// Smallest part worth a task.
const TASK: usize = 1000;

/// Writes the elimination order of the vertices to `order`. Depends on the graph only, not on the number of
/// threads.
pub(super) fn dissect(graph: &Graph, order: &mut [u32]) {
    if graph.len() <= LEAF {
        return minimum_degree(graph, order);
    }
    let (sides, near) = cut(graph);
    let on = |side| near.iter().copied().filter(|&v| sides[v as usize] == side).collect::<Vec<u32>>();
    let (left, right) = (on(Side::Left), on(Side::Right));
    if left.is_empty() || right.is_empty() {
        return by_degree(graph, order);
    }
    let (left, right) = (graph.part(&left), graph.part(&right));
    let (first, rest) = order.split_at_mut(left.len());
    let (second, last) = rest.split_at_mut(right.len());
    let separator = sides.iter().zip(&graph.names).filter(|(side, _)| **side == Side::Separator);
    last.iter_mut().zip(separator).for_each(|(place, (_, &name))| *place = name);
    if graph.len() < TASK {
        dissect(&left, first);
        dissect(&right, second);
    } else {
        crate::parallel::join(|| dissect(&left, first), || dissect(&right, second));
    }
}

/// Fallback order for dense graphs without a useful separator: vertices with the most neighbours last.
fn by_degree(graph: &Graph, order: &mut [u32]) {
    let mut vertices: Vec<u32> = (0..graph.len() as u32).collect();
    vertices.sort_by_key(|&vertex| graph.neighbours(vertex).len());
    order.iter_mut().zip(vertices).for_each(|(place, vertex)| *place = graph.names[vertex as usize]);
}

/// Exact minimum degree order of up to [`LEAF`] vertices, one word of neighbours each.
fn minimum_degree(graph: &Graph, order: &mut [u32]) {
    let mut near: Vec<u64> = (0..graph.len() as u32)
        .map(|vertex| graph.neighbours(vertex).iter().fold(0, |set, &other| set | 1 << other))
        .collect();
    let mut left: Vec<u32> = (0..graph.len() as u32).collect();
    for place in order {
        let degree = |&index: &usize| (near[left[index] as usize].count_ones(), left[index]);
        let Some(index) = (0..left.len()).min_by_key(degree) else { return };
        let vertex = left.swap_remove(index);
        *place = graph.names[vertex as usize];
        let front = near[vertex as usize];
        let mut others = front;
        while others != 0 {
            let other = others.trailing_zeros();
            others &= others - 1;
            near[other as usize] = (near[other as usize] | front) & !(1 << other | 1 << vertex);
        }
    }
}
