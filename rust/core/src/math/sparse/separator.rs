//! Refinement of vertex separators, after Fiduccia and Mattheyses.

use super::graph::{Graph, Side};

/// Preferred smallest share of the vertices on the smaller side of a cut.
pub(super) const SMALLEST_SIDE: f64 = 0.3;
/// Number of alternating passes over both sides.
const PASSES: usize = 2;
/// Moves after the best state before it is restored.
const PATIENCE: usize = 300;

/// A bisection during refinement.
struct Cut<'a> {
    graph: &'a Graph,
    sides: &'a mut [Side],
    sizes: [usize; 3],
    /// Number of neighbours on the shrinking side, for each separator vertex.
    touched: Vec<u32>,
    /// Changes since the best state: a vertex and its former side.
    undo: Vec<(u32, Side)>,
}

/// Refines a separator: moves its vertices to either side, and their neighbours on the opposite side into
/// it, as long as this helps. Returns the final numbers of vertices left, right and between.
pub(super) fn refine(graph: &Graph, sides: &mut [Side]) -> [usize; 3] {
    let mut sizes = [0; 3];
    sides.iter().for_each(|&side| sizes[side as usize] += 1);
    let mut cut = Cut { graph, sides, sizes, touched: vec![0; graph.len()], undo: Vec::new() };
    let mut idle = 0;
    for pass in 0..2 * PASSES {
        // The larger side shrinks first.
        let grow = if (cut.sizes[0] > cut.sizes[1]) == (pass % 2 == 0) { Side::Right } else { Side::Left };
        idle = if cut.grow(grow) { 0 } else { idle + 1 };
        if idle == 2 {
            break;
        }
    }
    cut.sizes
}

impl Cut<'_> {
    /// Grows one side; `true` if the cut has improved.
    fn grow(&mut self, side: Side) -> bool {
        let other = if side == Side::Left { Side::Right } else { Side::Left };
        let least = ((SMALLEST_SIDE * self.graph.len() as f64) as usize).min(self.sizes[other as usize]);
        let mut candidates = Queue::default();
        for vertex in 0..self.graph.len() as u32 {
            if self.sides[vertex as usize] == Side::Separator {
                self.count(vertex, other);
                candidates.push(self.touched[vertex as usize], vertex);
            }
        }
        let start = self.quality();
        let (mut best, mut since) = (start, 0);
        while let Some((touched, vertex)) = candidates.pop() {
            // Stale queue entries: the vertex has moved, or has fewer neighbours by now.
            if self.sides[vertex as usize] != Side::Separator || touched != self.touched[vertex as usize] {
                continue;
            }
            if since == PATIENCE || self.sizes[other as usize] < least + touched as usize {
                break;
            }
            self.advance(vertex, side, other, &mut candidates);
            since += 1;
            if self.quality() < best {
                (best, since) = (self.quality(), 0);
                self.undo.clear();
            }
        }
        self.take_back();
        best < start
    }

    /// Moves a separator vertex to `side`, and its neighbours on the other side into the separator.
    fn advance(&mut self, vertex: u32, side: Side, other: Side, candidates: &mut Queue) {
        let graph = self.graph;
        self.set(vertex, side);
        for &near in graph.neighbours(vertex) {
            if self.sides[near as usize] != other {
                continue;
            }
            self.set(near, Side::Separator);
            self.touched[near as usize] = 0;
            for &beside in graph.neighbours(near) {
                match self.sides[beside as usize] {
                    Side::Separator => {
                        self.touched[beside as usize] -= 1;
                        candidates.push(self.touched[beside as usize], beside);
                    }
                    at if at == other => self.touched[near as usize] += 1,
                    _ => {}
                }
            }
            candidates.push(self.touched[near as usize], near);
        }
    }

    fn take_back(&mut self) {
        while let Some((vertex, side)) = self.undo.pop() {
            self.sizes[self.sides[vertex as usize] as usize] -= 1;
            self.sizes[side as usize] += 1;
            self.sides[vertex as usize] = side;
        }
    }

    fn set(&mut self, vertex: u32, side: Side) {
        let old = std::mem::replace(&mut self.sides[vertex as usize], side);
        self.sizes[old as usize] -= 1;
        self.sizes[side as usize] += 1;
        self.undo.push((vertex, old));
    }

    /// Counts a vertex's neighbours on the shrinking side.
    fn count(&mut self, vertex: u32, side: Side) {
        let touches = self.graph.neighbours(vertex).iter().filter(|&&near| self.sides[near as usize] == side);
        self.touched[vertex as usize] = touches.count() as u32;
    }

    /// Quality of the cut: size of the separator, then imbalance of the sides; less is better.
    fn quality(&self) -> (usize, usize) {
        (self.sizes[Side::Separator as usize], self.sizes[0].abs_diff(self.sizes[1]))
    }
}

/// Priority queue of vertices by small integer keys, lowest first.
#[derive(Default)]
struct Queue {
    buckets: Vec<Vec<u32>>,
    lowest: usize,
}

impl Queue {
    fn push(&mut self, key: u32, vertex: u32) {
        let key = key as usize;
        if key >= self.buckets.len() {
            self.buckets.resize_with(key + 1, Vec::new);
        }
        self.buckets[key].push(vertex);
        self.lowest = self.lowest.min(key);
    }

    fn pop(&mut self) -> Option<(u32, u32)> {
        while self.lowest < self.buckets.len() {
            if let Some(vertex) = self.buckets[self.lowest].pop() {
                return Some((self.lowest as u32, vertex));
            }
            self.lowest += 1;
        }
        None
    }
}
