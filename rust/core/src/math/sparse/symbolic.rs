//! Symbolic elimination: the pattern of a sparse Cholesky factor, as dense blocks of columns.

use super::panels::packed_len;
use crate::math::Sparse;

/// Consecutive columns of nearly equal pattern: a dense block of the factor.
pub(super) struct Node {
    /// First column, in elimination order.
    pub first: usize,
    /// Number of columns.
    pub width: usize,
    /// Rows below the columns, ascending, numbered within the node's part.
    pub rows: Vec<u32>,
    /// The next eliminated node among those updated by this node.
    pub parent: Option<usize>,
}

/// Accepted extra entries of a block for one block fewer.
const BLOCK: usize = 16;
/// No block.
const NONE: u32 = u32::MAX;

/// Dense blocks of the factor of a symmetric matrix, stored whole, in a postordered elimination order.
///
/// Columns of equal pattern form a block. A block is merged with its direct predecessor, if it is the
/// predecessor's parent and hardly more memory is needed.
pub(super) fn nodes_of(matrix: &Sparse, order: &[u32]) -> Vec<Node> {
    // Blocks with their remaining allowance of extra entries.
    let mut merged: Vec<(Node, usize)> = Vec::new();
    for mut node in equal_columns(matrix, order) {
        let mut allowed = BLOCK + packed_len(node.width, node.rows.len());
        while let Some((before, more)) = merged.last() {
            let changes = before.rows.first().is_some_and(|&row| (row as usize) < node.first + node.width);
            let width = before.width + node.width;
            if !changes || packed_len(width, node.rows.len()) > allowed + more {
                break;
            }
            (node.first, node.width, allowed) = (before.first, width, allowed + more);
            merged.pop();
        }
        merged.push((node, allowed));
    }
    merged.into_iter().map(|(node, _)| node).collect()
}

/// Blocks of columns with exactly equal pattern.
fn equal_columns(matrix: &Sparse, order: &[u32]) -> Vec<Node> {
    let mut position = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &row)| position[row as usize] = place as u32);
    let mut found = Blocks::new(order.len());
    let mut below = Vec::new();
    for (column, &vertex) in order.iter().enumerate() {
        below.clear();
        let rows = matrix.row_idx_of_col_raw(vertex as usize).iter().map(|&row| position[row as usize]);
        below.extend(rows.filter(|&row| row > column as u32));
        found.append(column, &mut below);
    }
    for node in &mut found.nodes {
        node.rows.drain(..node.width - 1);
    }
    found.nodes
}

/// Blocks of the present columns. A growing block has the rows of its first column.
struct Blocks {
    nodes: Vec<Node>,
    /// For each column the newest block with its first row below at this column, and for each block the
    /// previous block of the kind.
    newest: Vec<u32>,
    older: Vec<u32>,
    /// Last block with each row.
    owner: Vec<u32>,
}

impl Blocks {
    fn new(columns: usize) -> Self {
        Self { nodes: Vec::new(), newest: vec![NONE; columns], older: Vec::new(), owner: vec![NONE; columns] }
    }

    /// Rows below a block without the first.
    fn further_rows(&self, block: u32) -> &[u32] {
        let node = &self.nodes[block as usize];
        &node.rows[node.width..]
    }

    /// Adds the next column with rows `below` of the matrix; the rows of all blocks that update the column
    /// are merged into them.
    fn append(&mut self, column: usize, below: &mut Vec<u32>) {
        let mut child = self.newest[column];
        let before = (child != NONE && child as usize + 1 == self.nodes.len()).then_some(child);
        if before.is_some() {
            child = self.older[child as usize];
        }
        while child != NONE {
            below.extend_from_slice(self.further_rows(child));
            child = self.older[child as usize];
        }
        let block = match before {
            Some(before) if below.iter().all(|&row| self.owner[row as usize] == before) => {
                self.nodes[before as usize].width += 1;
                before
            }
            _ => {
                below.extend_from_slice(before.map_or(&[], |before| self.further_rows(before)));
                self.open(column, below)
            }
        };
        let node = &self.nodes[block as usize];
        if let Some(&next) = node.rows.get(node.width - 1) {
            self.older[block as usize] = std::mem::replace(&mut self.newest[next as usize], block);
        }
    }

    /// Opens a block of one column.
    fn open(&mut self, first: usize, below: &[u32]) -> u32 {
        let block = self.nodes.len() as u32;
        let mut rows = Vec::with_capacity(below.len());
        for &row in below {
            if std::mem::replace(&mut self.owner[row as usize], block) != block {
                rows.push(row);
            }
        }
        rows.sort_unstable();
        self.nodes.push(Node { first, width: 1, rows, parent: None });
        self.older.push(NONE);
        block
    }
}
