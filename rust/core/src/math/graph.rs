//! Undirected graphs, and sides of them.

/// Not reached by a search, or not in a part.
const FAR: u32 = u32::MAX;

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

/// A graph, in compressed rows, of some of the vertices of a larger one.
pub(super) struct Graph {
    /// Where the neighbours of each vertex start, and their number at the end.
    pub starts: Vec<u32>,
    /// Neighbours, each edge once from both of its ends, none from a vertex to itself.
    pub neighbours: Vec<u32>,
    /// The name of each vertex in the larger graph.
    pub names: Vec<u32>,
}

impl Graph {
    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The neighbours of a vertex.
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.neighbours[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    /// Some of the vertices, in the given order, and the edges between them.
    pub fn part(&self, inside: &[u32]) -> Self {
        let mut places = vec![FAR; self.len()];
        inside.iter().zip(0..).for_each(|(&vertex, place)| places[vertex as usize] = place);
        let (mut starts, mut neighbours) = (Vec::with_capacity(inside.len() + 1), Vec::new());
        starts.push(0);
        for &vertex in inside {
            let near = self.neighbours(vertex).iter().map(|&other| places[other as usize]);
            neighbours.extend(near.filter(|&place| place != FAR));
            starts.push(neighbours.len() as u32);
        }
        Self { starts, neighbours, names: inside.iter().map(|&vertex| self.names[vertex as usize]).collect() }
    }

    /// Numbers of edges from a vertex to all others that it reaches, which are listed nearest first.
    pub fn distances(&self, from: u32, reached: &mut Vec<u32>) -> Vec<u32> {
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
