//! Bisection of a graph by a small vertex separator.

use super::graph::{Graph, Side};
use super::separator::{SMALLEST_SIDE, refine};
use crate::parallel::*;

/// Relative penalty of a separator for the squared imbalance of its sides.
const IMBALANCE: f64 = 4.0;

/// Effort for a graph of a given size: number of searches, and of refined cuts. Large separators cause most
/// of the factorisation work.
fn effort(size: usize) -> (usize, usize) {
    match size {
        0..=4_000 => (2, 1),
        4_001..=12_000 => (3, 2),
        _ => (3, 5),
    }
}

/// Bisects a graph. Also lists the vertices with neighbours close to each other.
///
/// Breadth-first searches start at distant vertices. Each defines a function on the vertices, the distance
/// from its start; the difference of two such functions has nearly flat level sets. The best cuts between
/// two levels of each function are refined, and the best result wins, since the best function is not known
/// beforehand.
pub(super) fn cut(graph: &Graph) -> (Vec<Side>, Vec<u32>) {
    let (searches, refined) = effort(graph.len());
    let mut reached = Vec::with_capacity(graph.len());
    let mut distances = vec![graph.distances(0, &mut reached)];
    if reached.len() < graph.len() {
        return (separate(graph), (0..graph.len() as u32).collect());
    }
    let mut nearest = distances[0].clone();
    while distances.len() < searches {
        let far = reached.iter().rev().copied().max_by_key(|&vertex| nearest[vertex as usize]);
        let next = graph.distances(far.unwrap_or(0), &mut reached);
        nearest.iter_mut().zip(&next).for_each(|(nearest, &distance)| *nearest = distance.min(*nearest));
        distances.push(next);
    }
    let mut cuts: Vec<LevelCut> = functions(distances)
        .into_par_iter()
        .with_max_len(1)
        .map(|levels| best_level(graph, levels))
        .collect();
    cuts.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    cuts.truncate(refined);
    let refined = cuts.par_iter().with_max_len(1).map(|cut| {
        let mut sides = cut.sides(graph);
        let sizes = refine(graph, &mut sides);
        (cost(sizes[Side::Separator as usize], sizes[0].min(sizes[1]), graph.len()), sides)
    });
    let best = refined.collect::<Vec<_>>().into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    (best.map_or_else(Vec::new, |(_, sides)| sides), reached)
}

/// Connected components, each assigned to the currently smaller side.
fn separate(graph: &Graph) -> Vec<Side> {
    // A separator vertex has not been assigned to a side yet.
    let mut sides = vec![Side::Separator; graph.len()];
    let (mut sizes, mut pending) = ([0_usize; 2], Vec::new());
    for start in 0..graph.len() as u32 {
        let side = if sizes[0] <= sizes[1] { Side::Left } else { Side::Right };
        pending.push(start);
        while let Some(vertex) = pending.pop() {
            if sides[vertex as usize] == Side::Separator {
                sides[vertex as usize] = side;
                sizes[side as usize] += 1;
                pending.extend_from_slice(graph.neighbours(vertex));
            }
        }
    }
    sides
}

/// Pairwise differences of the distances, shifted to start at 0, and the distances themselves if there are
/// more than two.
fn functions(distances: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let mut functions = Vec::new();
    for (k, second) in distances.iter().enumerate() {
        for first in &distances[..k] {
            let shift = first.iter().zip(second).map(|(a, b)| b.saturating_sub(*a)).max().unwrap_or(0);
            functions.push(first.iter().zip(second).map(|(a, b)| shift + a - b).collect());
        }
    }
    if distances.len() > 2 {
        functions.extend(distances);
    }
    functions
}

/// A cut between two levels of a function.
struct LevelCut {
    levels: Vec<u32>,
    /// Level before the cut.
    last: u32,
    /// The side whose border forms the separator.
    border: Side,
    cost: f64,
}

impl LevelCut {
    fn sides(&self, graph: &Graph) -> Vec<Side> {
        let side =
            |vertex: u32| if self.levels[vertex as usize] <= self.last { Side::Left } else { Side::Right };
        // Levels of neighbours differ by at most two, since each distance differs by one.
        let near = |vertex: u32| self.levels[vertex as usize].abs_diff(self.last) <= 2;
        let separates = |vertex: u32| {
            side(vertex) == self.border
                && near(vertex)
                && graph.neighbours(vertex).iter().any(|&other| side(other) != self.border)
        };
        let vertices = 0..graph.len() as u32;
        vertices.map(|vertex| if separates(vertex) { Side::Separator } else { side(vertex) }).collect()
    }
}

/// The level cut with the best balance between separator size and side sizes.
fn best_level(graph: &Graph, levels: Vec<u32>) -> LevelCut {
    let count = levels.iter().max().map_or(0, |&highest| highest as usize + 1);
    // A vertex is on the border of all cuts between its own level and the highest, or lowest, level of its
    // neighbours.
    let (mut at, mut left, mut right) = (vec![0; count], vec![0; count], vec![0; count]);
    for (vertex, &own) in levels.iter().enumerate() {
        let (mut lowest, mut highest) = (own, own);
        for &other in graph.neighbours(vertex as u32) {
            let level = levels[other as usize];
            (lowest, highest) = (lowest.min(level), highest.max(level));
        }
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
    LevelCut { levels, last: best.1, border: best.2, cost: best.0 }
}

/// Cost of a separator for a given size of the smaller side.
fn cost(separator: usize, smaller: usize, all: usize) -> f64 {
    let balance = smaller as f64 / all as f64;
    let penalty = (SMALLEST_SIDE - balance).max(0.0) * all as f64;
    separator as f64 * (1.0 + IMBALANCE * (0.5 - balance).powi(2)) + penalty
}
