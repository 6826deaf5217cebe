//! Nested dissection of a graph: cut in two by few vertices that are eliminated last, each half likewise, in parallel.

use super::cut::{Side, cut};

/// Vertices below which a part is ordered by minimum degree: as many as a word has bits.
const LEAF: usize = 64;
/// Vertices below which a part is not worth a task.
const TASK: usize = 1000;
/// Not reached by a search.
pub(super) const FAR: u32 = u32::MAX;

/// A graph, in compressed rows, of some of the vertices of a larger one.
pub(super) struct Graph {
    /// Where the neighbours of each vertex start, and their number at the end.
    pub starts: Vec<u32>,
    /// Neighbours, each edge from both of its ends, none from a vertex to itself.
    pub neighbours: Vec<u32>,
    /// The name of each vertex in the larger graph.
    pub names: Vec<u32>,
}

impl Graph {
    /// Number of vertices.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The neighbours of a vertex.
    pub(super) fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.neighbours[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    /// The vertices of one side, in the given order, and the edges between them.
    fn part(&self, sides: &[Side], side: Side, order: &[u32]) -> Self {
        let mut places = vec![FAR; self.len()];
        let mut inside = Vec::new();
        for &vertex in order.iter().filter(|vertex| sides[**vertex as usize] == side) {
            places[vertex as usize] = inside.len() as u32;
            inside.push(vertex);
        }
        let (mut starts, mut neighbours) = (Vec::with_capacity(inside.len() + 1), Vec::new());
        starts.push(0);
        for &vertex in &inside {
            let near = self.neighbours(vertex).iter().map(|&other| places[other as usize]);
            neighbours.extend(near.filter(|&place| place != FAR));
            starts.push(neighbours.len() as u32);
        }
        Self { starts, neighbours, names: inside.iter().map(|&vertex| self.names[vertex as usize]).collect() }
    }

    /// Numbers of edges from a vertex to all others that it reaches, which are listed nearest first.
    pub(super) fn distances(&self, from: u32, reached: &mut Vec<u32>) -> Vec<u32> {
        let mut distance = vec![FAR; self.len()];
        distance[from as usize] = 0;
        reached.clear();
        reached.push(from);
        let mut next = 0;
        while let Some(&vertex) = reached.get(next) {
            next += 1;
            for &other in self.neighbours(vertex) {
                if distance[other as usize] == FAR {
                    distance[other as usize] = distance[vertex as usize] + 1;
                    reached.push(other);
                }
            }
        }
        distance
    }
}

/// Fills `order` with the names of the vertices, those to be eliminated first in front. It depends on the graph only, not
/// on the number of threads.
pub(super) fn dissect(graph: &Graph, order: &mut [u32]) {
    if graph.len() <= LEAF {
        return minimum_degree(graph, order);
    }
    let (sides, near) = cut(graph);
    // So dense that every cut takes a whole side: no order has less fill.
    if !sides.contains(&Side::Left) || !sides.contains(&Side::Right) {
        return order.copy_from_slice(&graph.names);
    }
    let (left, right) = (graph.part(&sides, Side::Left, &near), graph.part(&sides, Side::Right, &near));
    let (first, rest) = order.split_at_mut(left.len());
    let (second, last) = rest.split_at_mut(right.len());
    let separator = sides.iter().zip(&graph.names).filter(|(side, _)| **side == Side::Separator);
    last.iter_mut().zip(separator).for_each(|(place, (_, &name))| *place = name);
    if graph.len() < TASK {
        dissect(&left, first);
        dissect(&right, second);
    } else {
        rayon::join(|| dissect(&left, first), || dissect(&right, second));
    }
}

/// Exact minimum degree on up to [`LEAF`] vertices, one word of neighbours each.
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
