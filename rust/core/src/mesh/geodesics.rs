//! Geodesic distances in a mesh, by marching outwards from a vertex.
//!
//! Vertices are reached in the order of their distances, as in Dijkstra's algorithm. The path to a vertex
//! enters its element through the corners reached before. Their distances are those from one point, the
//! *source*, in a flat unfolding of the element and all elements before; from there the path is straight.
//! Distances in convex bodies are therefore exact, except around elements with obtuse angles, which a path
//! may have to enter before their other corners are reached.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use nalgebra::Vector3;

use crate::math::Sets;

/// Accepted overshoot of a path beyond corners, as a share of their distance, to allow paths along an edge.
const BESIDE: f64 = 1e-9;
/// Smallest squared sine of a triangle's angle; a thinner triangle counts as a line.
const FLAT: f64 = 1e-12;

/// Elements with N corners, triangles or tets, and the elements around each vertex.
pub(crate) struct Geodesics<'a, const N: usize> {
    places: &'a [[f64; 3]],
    elements: &'a [[u32; N]],
    starts: Vec<usize>,
    around: Vec<u32>,
}

/// Scratch of a march.
pub(crate) struct Front {
    /// Distances of vertices as far as known, otherwise infinite.
    ways: Vec<f64>,
    reached: Vec<bool>,
    /// Vertices with known distance.
    known: Vec<u32>,
    ahead: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Front {
    /// Scratch for a mesh with given number of vertices.
    pub(crate) fn new(vertices: usize) -> Self {
        Self {
            ways: vec![f64::INFINITY; vertices],
            reached: vec![false; vertices],
            known: Vec::new(),
            ahead: BinaryHeap::new(),
        }
    }

    fn offer(&mut self, vertex: u32, way: f64) {
        let known = &mut self.ways[vertex as usize];
        if way < *known {
            if *known == f64::INFINITY {
                self.known.push(vertex);
            }
            *known = way;
            // The bits of non-negative numbers are in the order of the numbers.
            self.ahead.push(Reverse((way.to_bits(), vertex)));
        }
    }

    /// The nearest vertex not reached yet.
    fn next(&mut self) -> Option<u32> {
        loop {
            let Reverse((_, vertex)) = self.ahead.pop()?;
            if !std::mem::replace(&mut self.reached[vertex as usize], true) {
                return Some(vertex);
            }
        }
    }

    fn clear(&mut self) {
        for vertex in self.known.drain(..) {
            self.ways[vertex as usize] = f64::INFINITY;
            self.reached[vertex as usize] = false;
        }
        self.ahead.clear();
    }
}

impl<'a, const N: usize> Geodesics<'a, N> {
    pub(crate) fn new(places: &'a [[f64; 3]], elements: &'a [[u32; N]]) -> Self {
        let mut starts = vec![0; places.len() + 1];
        elements.as_flattened().iter().for_each(|&vertex| starts[vertex as usize + 1] += 1);
        (1..starts.len()).for_each(|v| starts[v] += starts[v - 1]);
        let (mut next, mut around) = (starts.clone(), vec![0; N * elements.len()]);
        for (element, corners) in (0..).zip(elements) {
            for &vertex in corners {
                around[next[vertex as usize]] = element;
                next[vertex as usize] += 1;
            }
        }
        Self { places, elements, starts, around }
    }

    pub(crate) fn vertex_count(&self) -> usize {
        self.places.len()
    }

    /// Length of the shortest edge of nonzero length.
    pub(crate) fn shortest_edge(&self) -> f64 {
        let edges =
            |corners: &'a [u32; N]| (0..N).flat_map(move |i| (0..i).map(move |j| (corners[i], corners[j])));
        let lengths = self.elements.iter().flat_map(edges).map(|(a, b)| self.between(a, b).norm());
        lengths.filter(|&length| length > 0.0).fold(f64::INFINITY, f64::min)
    }

    /// Connected component of each vertex, numbered by first vertices.
    pub(crate) fn parts(&self) -> Vec<u32> {
        let n = self.vertex_count();
        let mut sets = Sets::new(n);
        for corners in self.elements {
            corners[1..].iter().for_each(|&other| sets.unite(corners[0], other));
        }
        let (mut numbers, mut next) = (vec![u32::MAX; n], 0);
        (0..n as u32)
            .map(|vertex| {
                let number = &mut numbers[sets.root(vertex) as usize];
                if *number == u32::MAX {
                    *number = next;
                    next += 1;
                }
                *number
            })
            .collect()
    }

    /// Marches from a vertex to others, nearest first, continuing from vertices accepted by `visit`, which
    /// receives the distance.
    pub(crate) fn march(&self, from: u32, front: &mut Front, mut visit: impl FnMut(u32, f64) -> bool) {
        front.offer(from, 0.0);
        while let Some(vertex) = front.next() {
            if !visit(vertex, front.ways[vertex as usize]) {
                continue;
            }
            for &element in &self.around[self.starts[vertex as usize]..self.starts[vertex as usize + 1]] {
                let corners = &self.elements[element as usize];
                for &next in corners.iter().filter(|&&corner| corner != vertex) {
                    if !front.reached[next as usize] {
                        // No path is shorter than the straight line, despite obtuse elements.
                        let straight = self.between(from, next).norm();
                        front.offer(next, self.way(next, vertex, corners, front).max(straight));
                    }
                }
            }
        }
        front.clear();
    }

    fn between(&self, from: u32, to: u32) -> Vector3<f64> {
        Vector3::from(self.places[to as usize]) - Vector3::from(self.places[from as usize])
    }

    /// Shortest path to a corner of an element through corners reached before, including `last`.
    fn way(&self, next: u32, last: u32, corners: &[u32; N], front: &Front) -> f64 {
        let way = |vertex: u32| front.ways[vertex as usize];
        let across = self.between(last, next);
        let mut shortest = way(last) + across.norm();
        let (mut sides, mut count) = ([(Vector3::zeros(), 0.0); 2], 0);
        for &other in corners.iter().filter(|&&other| other != last && other != next) {
            if front.reached[other as usize] {
                sides[count] = (self.between(last, other), way(other));
                count += 1;
            }
        }
        if let [first, second] = &sides[..count]
            && let Some(way) = through_face(way(last), [first, second], &across)
        {
            return way;
        }
        for side in &sides[..count] {
            shortest = through_edge(way(last), side, &across).map_or(shortest, |way| shortest.min(way));
        }
        shortest
    }
}

/// Length of the straight path to x through an edge from the origin to e, with distances `near` and `far`
/// of its ends from the source; `None` if the path misses the edge.
fn through_edge(near: f64, (e, far): &(Vector3<f64>, f64), x: &Vector3<f64>) -> Option<f64> {
    let length = e.norm_squared();
    let (source, target) = (0.5 * (length + near * near - far * far) / length, x.dot(e) / length);
    let depth = (near * near - source * source * length).max(0.0).sqrt();
    let height = (x.norm_squared() - target * target * length).max(0.0).sqrt();
    let along = source + (target - source) * depth / (depth + height);
    let inside = (-BESIDE..=1.0 + BESIDE).contains(&along);
    inside.then(|| ((target - source).powi(2) * length + (depth + height).powi(2)).sqrt())
}

/// The same through a triangle from the origin to two points.
fn through_face(near: f64, [first, second]: [&(Vector3<f64>, f64); 2], x: &Vector3<f64>) -> Option<f64> {
    let ((e, far_e), (f, far_f)) = (first, second);
    let [ee, ef, ff] = [e.dot(e), e.dot(f), f.dot(f)];
    let determinant = ee * ff - ef * ef;
    if determinant <= FLAT * ee * ff {
        return None;
    }
    // Coefficients of e and f for given products with e and f.
    let shares = |[a, b]: [f64; 2]| [(ff * a - ef * b) / determinant, (ee * b - ef * a) / determinant];
    let from_source = |square: f64, far: f64| 0.5 * (square + near * near - far * far);
    let (source_products, target_products) =
        ([from_source(ee, *far_e), from_source(ff, *far_f)], [x.dot(e), x.dot(f)]);
    let (source, target) = (shares(source_products), shares(target_products));
    let dot = |a: &[f64; 2], b: &[f64; 2]| a[0] * b[0] + a[1] * b[1];
    let depth = (near * near - dot(&source, &source_products)).max(0.0).sqrt();
    let height = (x.norm_squared() - dot(&target, &target_products)).max(0.0).sqrt();
    let gone = depth / (depth + height);
    let [u, v] = [0, 1].map(|i| source[i] + (target[i] - source[i]) * gone);
    let [p, q] = [0, 1].map(|i| target[i] - source[i]);
    let inside = u >= -BESIDE && v >= -BESIDE && u + v <= 1.0 + BESIDE;
    inside.then(|| (ee * p * p + 2.0 * ef * p * q + ff * q * q + (depth + height).powi(2)).sqrt())
}
