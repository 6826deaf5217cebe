//! Undirected graphs and their bisections.

/// Marks a vertex as not reached by a search, or not in a part.
const FAR: u32 = u32::MAX;

/// Assignment of a vertex in a bisected graph; no edge goes from left to right.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    /// On the first side.
    Left,
    /// On the second side.
    Right,
    /// Between the sides.
    Separator,
}

/// A graph on some vertices of a larger one, in compressed rows.
pub(super) struct Graph {
    /// Start of each vertex's neighbours, then the total number.
    pub starts: Vec<u32>,
    /// Neighbours; each edge appears at both ends, without loops.
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

    /// Subgraph of some vertices, in the given order.
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

    /// Distances in edges from a vertex; lists the reached vertices, nearest first.
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
