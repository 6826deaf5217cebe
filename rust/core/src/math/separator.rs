//! Makes the vertices that separate two sides of a graph fewer, after Fiduccia and Mattheyses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::dissection::{Graph, SMALLEST_SIDE, Side};

/// Times that both sides are grown in turn.
const PASSES: usize = 2;
/// Moves that may follow the best state that was found, before it is returned to.
const PATIENCE: usize = 150;

/// A cut that is being changed.
struct Cut<'a> {
    graph: &'a Graph,
    sides: &'a mut [Side],
    sizes: [usize; 3],
    /// What was changed since the best state: a vertex and the side it was on.
    undo: Vec<(u32, Side)>,
}

/// Moves vertices of the separator to either side, and what they touch on the other into it, while that pays.
pub(super) fn refine(graph: &Graph, sides: &mut [Side]) {
    let mut sizes = [0; 3];
    sides.iter().for_each(|&side| sizes[side as usize] += 1);
    let mut cut = Cut { graph, sides, sizes, undo: Vec::new() };
    let mut idle = 0;
    for pass in 0..2 * PASSES {
        // The larger side shrinks first.
        let grow = if (cut.sizes[0] > cut.sizes[1]) == (pass % 2 == 0) { Side::Right } else { Side::Left };
        idle = if cut.grow(grow) { 0 } else { idle + 1 };
        if idle == 2 {
            return;
        }
    }
}

impl Cut<'_> {
    /// Grows one side; returns whether that made the cut better.
    fn grow(&mut self, side: Side) -> bool {
        let other = if side == Side::Left { Side::Right } else { Side::Left };
        let least = ((SMALLEST_SIDE * self.graph.len() as f64) as usize).min(self.sizes[other as usize]);
        let separator = (0..self.graph.len() as u32).filter(|&v| self.sides[v as usize] == Side::Separator);
        let mut candidates: BinaryHeap<(Reverse<usize>, u32)> =
            separator.map(|vertex| (Reverse(self.touched(vertex, other)), vertex)).collect();
        let start = self.quality();
        let (mut best, mut since) = (start, 0);
        while let Some((Reverse(touched), vertex)) = candidates.pop() {
            // What has moved, or touches less by now, is in the heap in vain or once more.
            if self.sides[vertex as usize] != Side::Separator || touched != self.touched(vertex, other) {
                continue;
            }
            if since == PATIENCE || self.sizes[other as usize] < least + touched {
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

    /// Moves a vertex of the separator to `side`, and what it touches on the other side into the separator.
    fn advance(
        &mut self,
        vertex: u32,
        side: Side,
        other: Side,
        candidates: &mut BinaryHeap<(Reverse<usize>, u32)>,
    ) {
        let graph = self.graph;
        self.set(vertex, side);
        for &near in graph.neighbours(vertex) {
            if self.sides[near as usize] != other {
                continue;
            }
            self.set(near, Side::Separator);
            candidates.push((Reverse(self.touched(near, other)), near));
            for &beside in graph.neighbours(near) {
                if self.sides[beside as usize] == Side::Separator {
                    candidates.push((Reverse(self.touched(beside, other)), beside));
                }
            }
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

    /// Neighbours on a side.
    fn touched(&self, vertex: u32, side: Side) -> usize {
        self.graph.neighbours(vertex).iter().filter(|&&near| self.sides[near as usize] == side).count()
    }

    /// Size of the separator, then how unequal the sides are: less is better.
    fn quality(&self) -> (usize, usize) {
        (self.sizes[Side::Separator as usize], self.sizes[0].abs_diff(self.sizes[1]))
    }
}
