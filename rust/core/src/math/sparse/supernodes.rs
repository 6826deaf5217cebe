//! Structure of a sparse Cholesky factor: dense blocks of columns, their tree, and its independent parts.

use std::collections::BinaryHeap;
use std::ops::Range;

use super::matrix::{Sparse, SparseRows};
use super::symbolic::{Node, nodes_of};

/// Share of all work below which a subtree is not divided further into parts.
const PART: f64 = 1.0 / 32.0;
/// Multiplications below which a part is not worth a task.
const LEAST_WORK: f64 = 1e6;

/// A run of nodes independent of all other parts except for the last.
#[derive(Clone)]
pub(super) struct Part {
    /// Nodes of the part, children before parents.
    pub nodes: Range<usize>,
    /// Columns of the part; row `r` of them has the local number `r - columns.start`.
    pub columns: Range<usize>,
    /// Rows of the last part used by the nodes, numbered after the columns.
    pub tail: Vec<u32>,
}

impl Part {
    /// Number of locally numbered rows.
    pub fn size(&self) -> usize {
        self.columns.len() + self.tail.len()
    }

    /// Local number of each global row after the part's own, if any.
    pub fn tail_numbers(&self) -> Vec<u32> {
        let after = |row: u32| row as usize - self.columns.end;
        let mut numbers = vec![u32::MAX; self.tail.last().map_or(0, |&last| after(last) + 1)];
        for (&row, number) in self.tail.iter().zip(self.columns.len() as u32..) {
            numbers[after(row)] = number;
        }
        numbers
    }

    /// Local number of a global row; `tail` is [`Part::tail_numbers`].
    pub fn number(&self, row: u32, tail: &[u32]) -> u32 {
        match (row as usize).checked_sub(self.columns.end) {
            None => row - self.columns.start as u32,
            Some(after) => tail[after],
        }
    }
}

/// Structure of the factor of `[K A; A' 0]`: K in nested-dissection order, the constraints as the last node.
pub(super) struct Supernodes {
    /// `order[k]` is the row of K eliminated k-th.
    pub order: Vec<u32>,
    /// Nodes in elimination order.
    pub nodes: Vec<Node>,
    /// Independent parts, then the final part above all of them.
    pub parts: Vec<Part>,
}

impl Supernodes {
    /// Analyses a symmetric matrix, stored whole, in a postordered elimination order, and its constraint.
    pub fn new(matrix: &Sparse, constraint: &SparseRows, order: Vec<u32>) -> Self {
        let mut nodes = nodes_of(matrix, &order);
        append_constraints(&mut nodes, &order, constraint);
        link(&mut nodes, order.len() + constraint.ncols());
        let parts = divide(&nodes);
        renumber(order, nodes, &parts, constraint.ncols())
    }
}

/// Appends to each node the constraints that affect its subtree, as further rows, and a node for the
/// constraints.
fn append_constraints(nodes: &mut Vec<Node>, order: &[u32], constraint: &SparseRows) {
    let (n, count) = (order.len(), constraint.ncols());
    if count == 0 {
        return;
    }
    let owner = owners(nodes, n);
    let mut below: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    let mut touched_by = vec![usize::MAX; count];
    for index in 0..nodes.len() {
        let node = &mut nodes[index];
        let mut touching = std::mem::take(&mut below[index]);
        touching.retain(|&column| std::mem::replace(&mut touched_by[column as usize], index) != index);
        for &vertex in &order[node.first..node.first + node.width] {
            let columns = constraint.col_idx_of_row_raw(vertex as usize).iter().copied();
            touching.extend(
                columns.filter(|&column| std::mem::replace(&mut touched_by[column as usize], index) != index),
            );
        }
        touching.sort_unstable();
        if let Some(&next) = node.rows.first() {
            below[owner[next as usize] as usize].extend_from_slice(&touching);
        }
        node.rows.extend(touching.iter().map(|column| n as u32 + column));
    }
    nodes.push(Node { first: n, width: count, rows: Vec::new(), parent: None });
}

/// Node of each column.
fn owners(nodes: &[Node], columns: usize) -> Vec<u32> {
    let mut owner = vec![0; columns];
    for (index, node) in nodes.iter().enumerate() {
        owner[node.first..node.first + node.width].fill(index as u32);
    }
    owner
}

fn link(nodes: &mut [Node], columns: usize) {
    let owner = owners(nodes, columns);
    for node in nodes {
        node.parent = node.rows.first().map(|&row| owner[row as usize] as usize);
    }
}

/// Number of multiplications for the elimination of a node.
fn work(node: &Node) -> f64 {
    let (width, rows) = (node.width as f64, node.rows.len() as f64);
    width * (width * width / 3.0 + width * rows + rows * rows)
}

/// Part of each node; `None` for the last part. Whole subtrees form a part, small ones share one. Depends
/// on the structure only, not on the machine.
fn divide(nodes: &[Node]) -> Vec<Option<usize>> {
    let mut total: Vec<f64> = nodes.iter().map(work).collect();
    let mut children = vec![Vec::new(); nodes.len()];
    let mut roots = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        match node.parent {
            Some(parent) => {
                total[parent] += total[index];
                children[parent].push(index);
            }
            None => roots.push(index),
        }
    }
    let limit = (PART * roots.iter().map(|&root| total[root]).sum::<f64>()).max(LEAST_WORK);
    let key = |node: usize| (total[node].to_bits(), node);
    let mut heap: BinaryHeap<(u64, usize)> = roots.into_iter().map(key).collect();
    let mut subtrees = Vec::new();
    while let Some((_, node)) = heap.pop() {
        if total[node] > limit || nodes[node].rows.is_empty() && node + 1 == nodes.len() {
            heap.extend(children[node].iter().map(|&child| key(child)));
        } else {
            subtrees.push(node);
        }
    }
    gather(nodes, &children, &total, subtrees, limit)
}

fn gather(
    nodes: &[Node],
    children: &[Vec<usize>],
    total: &[f64],
    mut subtrees: Vec<usize>,
    limit: f64,
) -> Vec<Option<usize>> {
    subtrees.sort_unstable();
    let mut part_of = vec![None; nodes.len()];
    let (mut part, mut filled) = (0, 0.0);
    for root in subtrees {
        if filled > 0.0 && filled + total[root] > limit {
            part += 1;
            filled = 0.0;
        }
        filled += total[root];
        let mut pending = vec![root];
        while let Some(node) = pending.pop() {
            part_of[node] = Some(part);
            pending.extend(&children[node]);
        }
    }
    part_of
}

/// Sorts nodes and columns by part and numbers rows within their parts.
fn renumber(order: Vec<u32>, nodes: Vec<Node>, part_of: &[Option<usize>], constraints: usize) -> Supernodes {
    let part_count = part_of.iter().flatten().max().map_or(0, |&last| last + 1);
    let key = |index: usize| part_of[index].unwrap_or(part_count);
    let mut sequence: Vec<usize> = (0..nodes.len()).collect();
    sequence.sort_by_key(|&index| key(index));
    let (mut new_column, mut new_node) = (vec![0; order.len() + constraints], vec![0; nodes.len()]);
    let mut parts = vec![Part { nodes: 0..0, columns: 0..0, tail: Vec::new() }; part_count + 1];
    let mut next = 0;
    for (place, &index) in sequence.iter().enumerate() {
        let part = &mut parts[key(index)];
        if part.nodes.is_empty() {
            (part.nodes, part.columns) = (place..place, next..next);
        }
        let node = &nodes[index];
        (node.first..node.first + node.width).for_each(|old| {
            new_column[old] = next as u32;
            next += 1;
        });
        (part.nodes.end, part.columns.end) = (place + 1, next);
        new_node[index] = place;
    }
    let mut new_order = vec![0; order.len()];
    order.iter().enumerate().for_each(|(old, &row)| new_order[new_column[old] as usize] = row);
    let renumbered = sequence.iter().map(|&index| Node {
        first: new_column[nodes[index].first] as usize,
        width: nodes[index].width,
        rows: nodes[index].rows.iter().map(|&row| new_column[row as usize]).collect(),
        parent: nodes[index].parent.map(|parent| new_node[parent]),
    });
    let mut supernodes = Supernodes { order: new_order, nodes: renumbered.collect(), parts };
    number_within_parts(&mut supernodes);
    supernodes
}

fn number_within_parts(supernodes: &mut Supernodes) {
    let rows = supernodes.parts.last().map_or(0, |last| last.columns.end);
    for part in &mut supernodes.parts {
        let nodes = &mut supernodes.nodes[part.nodes.clone()];
        let mut has = vec![false; rows];
        nodes.iter().flat_map(|node| &node.rows).for_each(|&row| has[row as usize] = true);
        part.tail = (part.columns.end..rows).filter(|&row| has[row]).map(|row| row as u32).collect();
        let tail = part.tail_numbers();
        for row in nodes.iter_mut().flat_map(|node| &mut node.rows) {
            *row = part.number(*row, &tail);
        }
    }
}
