//! Nested dissection of a graph: cut in two by few vertices that are eliminated last, each half likewise, in parallel.

use super::separator::refine;

/// Vertices below which a part is ordered by minimum degree: as many as a word has bits.
const LEAF: usize = 64;
/// Vertices below which a part is not worth a task.
const TASK: usize = 1000;
/// Share of the vertices that the smaller side of a cut should keep at least.
pub(super) const SMALLEST_SIDE: f64 = 0.3;
/// How much a separator costs more, relatively, for each square of what the smaller side lacks of half.
const IMBALANCE: f64 = 4.0;
/// Not reached by a search.
const FAR: u32 = u32::MAX;

/// A graph, in compressed rows, of some of the vertices of a larger one.
pub(super) struct Graph {
    /// Where the neighbours of each vertex start, and their number at the end.
    pub starts: Vec<u32>,
    /// Neighbours, each edge from both of its ends, none from a vertex to itself.
    pub neighbours: Vec<u32>,
    /// The name of each vertex in the larger graph.
    pub names: Vec<u32>,
}

/// Which part of a cut graph a vertex is in; no edge goes from left to right.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    /// On one side.
    Left,
    /// On the other side.
    Right,
    /// Between them.
    Separator,
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
    fn distances(&self, from: u32, reached: &mut Vec<u32>) -> Vec<u32> {
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

/// Cuts a graph between the two ends of it that are farthest apart. Also lists the vertices so that neighbours
/// stand close to each other.
fn cut(graph: &Graph) -> (Vec<Side>, Vec<u32>) {
    let mut reached = Vec::with_capacity(graph.len());
    graph.distances(0, &mut reached);
    if reached.len() < graph.len() {
        return (separate(graph, &reached), (0..graph.len() as u32).collect());
    }
    let one = reached[reached.len() - 1];
    let from_one = graph.distances(one, &mut reached);
    let other = reached[reached.len() - 1];
    let from_other = graph.distances(other, &mut reached);
    let apart = from_one[other as usize];
    // From 0 at one end to twice their distance at the other; the sets of equal level are nearly flat.
    let level: Vec<u32> = from_one.iter().zip(&from_other).map(|(a, b)| apart + a - b).collect();
    let mut sides = cut_levels(graph, &level, 2 * apart as usize + 1);
    refine(graph, &mut sides);
    (sides, reached)
}

/// What is connected to the first vertex on one side, the rest on the other.
fn separate(graph: &Graph, reached: &[u32]) -> Vec<Side> {
    let mut sides = vec![Side::Right; graph.len()];
    reached.iter().for_each(|&vertex| sides[vertex as usize] = Side::Left);
    sides
}

/// Cuts between two levels so that few vertices separate sides of similar size.
fn cut_levels(graph: &Graph, level: &[u32], count: usize) -> Vec<Side> {
    let (cut, border) = best_level(graph, level, count);
    let side = |vertex: u32| if level[vertex as usize] <= cut { Side::Left } else { Side::Right };
    let separates = |vertex: u32| {
        side(vertex) == border && graph.neighbours(vertex).iter().any(|&other| side(other) != border)
    };
    let vertices = 0..graph.len() as u32;
    vertices.map(|vertex| if separates(vertex) { Side::Separator } else { side(vertex) }).collect()
}

/// The level after which to cut, and the side whose border is to be the separator.
fn best_level(graph: &Graph, level: &[u32], count: usize) -> (u32, Side) {
    // A vertex is on the border of all cuts between its level and the highest, or lowest, of its neighbours'.
    let (mut at, mut left, mut right) = (vec![0; count], vec![0; count], vec![0; count]);
    for (vertex, &own) in level.iter().enumerate() {
        let near = || graph.neighbours(vertex as u32).iter().map(|&other| level[other as usize]);
        let (lowest, highest) = (near().min().unwrap_or(own).min(own), near().max().unwrap_or(own).max(own));
        at[own as usize] += 1;
        left[own as usize] += 1;
        left[highest as usize] -= 1;
        right[lowest as usize] += 1;
        right[own as usize] -= 1;
    }
    let (mut below, mut borders) = (0, [0, 0]);
    let mut best = (f64::INFINITY, 0, Side::Left);
    for cut in 0..count {
        below += at[cut];
        borders[0] += left[cut];
        borders[1] += right[cut];
        let above = graph.len() as i32 - below;
        let candidates = [(borders[0], below - borders[0], above), (borders[1], below, above - borders[1])];
        for ((border, a, b), side) in candidates.into_iter().zip([Side::Left, Side::Right]) {
            let cost = cost(border as usize, a.min(b) as usize, graph.len());
            if cost < best.0 {
                best = (cost, cut as u32, side);
            }
        }
    }
    (best.1, best.2)
}

/// What a separator costs that leaves so many vertices on the smaller side.
fn cost(separator: usize, smaller: usize, all: usize) -> f64 {
    let balance = smaller as f64 / all as f64;
    let penalty = (SMALLEST_SIDE - balance).max(0.0) * all as f64;
    separator as f64 * (1.0 + IMBALANCE * (0.5 - balance).powi(2)) + penalty
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
