//! Sparse direct solver for symmetric positive definite systems, with or without linear constraints.

use faer::prelude::ReborrowMut;
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use faer::{Mat, MatMut};
use rayon::prelude::*;

use super::fronts::{Update, eliminate};
use super::substitution::{Block, LANES, Row, Substitution};
use super::supernodes::{Node, Part, Supernodes};
use crate::math::Sparse;
use crate::{Error, Result};

/// What elimination must leave of a diagonal entry: less is rounding error, and its column depends on others.
const LEAST_PIVOT: f64 = 1e-15;

/// The factor of a sparse symmetric positive definite K, or of K bordered by constraints.
///
/// Bordered, it is the multifrontal `L D L'` of `[K A; A' 0]`, K in nested-dissection order and the constraints
/// last; D is 1, and -1 for the constraints. That order needs no pivoting (K positive definite, A of full column
/// rank), and the sparsity of A is used: a column of A only meets the parts of the factor above the vertices it
/// touches. The same bits for any number of threads.
pub struct SparseCholesky {
    structure: Supernodes,
    /// For each node its columns of L, row by row, the diagonal inverted.
    values: Vec<Vec<f64>>,
}

impl SparseCholesky {
    /// Factors a symmetric positive definite matrix, stored whole, n x n.
    ///
    /// # Errors
    /// [`Error::Numerical`] if the matrix is not numerically positive definite.
    pub fn new(matrix: &Sparse) -> Result<Self> {
        let none = SymbolicSparseColMat::new_checked(matrix.nrows(), 0, vec![0], None, vec![]);
        Self::constrained(matrix, &SparseColMat::new(none, vec![]))
    }

    /// Factors `[K A; A' 0]`; K is n x n, symmetric positive definite, stored whole; A is n x c, of rank c.
    ///
    /// # Errors
    /// [`Error::Numerical`] if K is not positive definite or the columns of A are dependent.
    pub fn constrained(matrix: &Sparse, constraint: &Sparse) -> Result<Self> {
        let structure = Supernodes::new(matrix, constraint)?;
        let input = Input::new(matrix, constraint, &structure.order);
        let (last, independent) = structure.parts.split_last().ok_or_else(|| failed("no rows"))?;
        let mut done: Vec<Eliminated> = independent
            .par_iter()
            .with_max_len(1)
            .map(|part| input.eliminate_part(&structure, part, &[]))
            .collect::<Result<_>>()?;
        let left: Vec<(usize, Update)> = done.iter_mut().flat_map(|part| part.left.drain(..)).collect();
        done.push(input.eliminate_part(&structure, last, &left)?);
        let values = done.into_iter().flat_map(|part| part.values).collect();
        Ok(Self { structure, values })
    }

    /// Memory of the factor's numbers, bytes.
    pub fn bytes(&self) -> usize {
        self.values.iter().map(|values| size_of_val(values.as_slice())).sum()
    }

    /// Replaces each column b by the x of `K x + A y = b, A' x = 0` (by `K^-1 b` without constraints); n x k.
    pub fn solve_in_place(&self, mut rhs: MatMut<'_, f64>) {
        let order = &self.structure.order;
        let last = &self.structure.parts[self.structure.parts.len() - 1];
        let mut x: Vec<Row> = vec![[0.0; LANES]; last.columns.end];
        for first in (0..rhs.ncols()).step_by(LANES) {
            let width = LANES.min(rhs.ncols() - first);
            let mut columns = rhs.rb_mut().subcols_mut(first, width);
            for (row, &vertex) in x.iter_mut().zip(order) {
                *row = [0.0; LANES];
                (0..width).for_each(|lane| row[lane] = columns[(vertex as usize, lane)]);
            }
            x[order.len()..].fill([0.0; LANES]);
            self.solve_rows(&mut x);
            for (row, &vertex) in x.iter().zip(order) {
                (0..width).for_each(|lane| columns[(vertex as usize, lane)] = row[lane]);
            }
        }
    }

    /// Solves for one block of right-hand sides in elimination order.
    fn solve_rows(&self, x: &mut [Row]) {
        let (last, independent) = self.structure.parts.split_last().expect("a factor has a last part");
        let (own, top) = x.split_at_mut(last.columns.start);
        let tails: Vec<Vec<Row>> = slices(own, independent)
            .into_par_iter()
            .zip(independent)
            .with_max_len(1)
            .map(|(own, part)| self.forward(part, own))
            .collect();
        for (part, tail) in independent.iter().zip(tails) {
            for (&row, from) in part.tail.iter().zip(&tail) {
                let into = &mut top[row as usize - last.columns.start];
                (0..LANES).for_each(|lane| into[lane] += from[lane]);
            }
        }
        self.forward(last, top);
        top[self.structure.order.len() - last.columns.start..]
            .as_flattened_mut()
            .iter_mut()
            .for_each(|y| *y = -*y);
        self.backward(last, top, &[]);
        let top = &*top;
        slices(own, independent).into_par_iter().zip(independent).with_max_len(1).for_each(|(own, part)| {
            let tail: Vec<Row> =
                part.tail.iter().map(|&row| top[row as usize - last.columns.start]).collect();
            self.backward(part, own, &tail);
        });
    }

    /// Forward substitution within a part; returns what is to be added to the rows of its tail.
    fn forward(&self, part: &Part, own: &mut [Row]) -> Vec<Row> {
        let mut x = own.to_vec();
        x.resize(part.size(), [0.0; LANES]);
        self.substitute(part, &mut x, true);
        own.copy_from_slice(&x[..own.len()]);
        x.split_off(own.len())
    }

    fn backward(&self, part: &Part, own: &mut [Row], tail: &[Row]) {
        let mut x = own.to_vec();
        x.extend_from_slice(tail);
        self.substitute(part, &mut x, false);
        own.copy_from_slice(&x[..own.len()]);
    }

    fn substitute(&self, part: &Part, x: &mut [Row], forward: bool) {
        let blocks = part.nodes.clone().map(|index| {
            let node = &self.structure.nodes[index];
            let first = node.first - part.columns.start;
            Block { width: node.width, first, rows: &node.rows, values: &self.values[index] }
        });
        pulp::Arch::new().dispatch(Substitution { blocks, x, forward });
    }
}

fn failed(why: impl Into<String>) -> Error {
    Error::Numerical { what: "sparse factorisation", why: why.into() }
}

/// The rows of each part.
fn slices<'a>(mut rows: &'a mut [Row], parts: &[Part]) -> Vec<&'a mut [Row]> {
    let mut slices = Vec::with_capacity(parts.len());
    for part in parts {
        let (own, rest) = rows.split_at_mut(part.columns.len());
        slices.push(own);
        rows = rest;
    }
    slices
}

/// What eliminating a part gives: values of L for each node, and updates to nodes of the last part.
struct Eliminated {
    values: Vec<Vec<f64>>,
    left: Vec<(usize, Update)>,
}

/// The matrix to factor, with what finds its entries in elimination order.
struct Input<'a> {
    matrix: &'a Sparse,
    order: &'a [u32],
    position: Vec<u32>,
    /// A by rows: where each row starts, and its columns and values.
    constraint_starts: Vec<usize>,
    constraint: Vec<(u32, f64)>,
}

impl<'a> Input<'a> {
    fn new(matrix: &'a Sparse, constraint: &Sparse, order: &'a [u32]) -> Self {
        let mut position = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &row)| position[row as usize] = place as u32);
        let mut starts = vec![0; order.len() + 1];
        constraint.row_idx().iter().for_each(|&row| starts[row as usize + 1] += 1);
        (1..starts.len()).for_each(|row| starts[row] += starts[row - 1]);
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); starts[order.len()]];
        for column in 0..constraint.ncols() {
            let rows = constraint.row_idx_of_col_raw(column).iter();
            for (&row, &value) in rows.zip(constraint.val_of_col(column)) {
                entries[next[row as usize]] = (column as u32, value);
                next[row as usize] += 1;
            }
        }
        Self { matrix, order, position, constraint_starts: starts, constraint: entries }
    }

    /// Eliminates the nodes of a part; `given` are updates from other parts, in the numbering of the whole.
    fn eliminate_part(
        &self,
        structure: &Supernodes,
        part: &Part,
        given: &[(usize, Update)],
    ) -> Result<Eliminated> {
        let mut place = vec![u32::MAX; part.size()];
        let mut waiting: Vec<Vec<Update>> = part.nodes.clone().map(|_| Vec::new()).collect();
        let mut outside: Vec<Vec<&Update>> = vec![Vec::new(); part.nodes.len()];
        given.iter().for_each(|(node, update)| outside[node - part.nodes.start].push(update));
        let mut result = Eliminated { values: Vec::with_capacity(part.nodes.len()), left: Vec::new() };
        for index in part.nodes.clone() {
            let node = &structure.nodes[index];
            let first = (node.first - part.columns.start) as u32;
            let own = first..first + node.width as u32;
            own.clone().zip(0..).for_each(|(row, at)| place[row as usize] = at);
            node.rows.iter().zip(node.width as u32..).for_each(|(&row, at)| place[row as usize] = at);
            let mut front = Mat::zeros(node.width + node.rows.len(), node.width + node.rows.len());
            self.fill(part, node, &place, &mut front);
            for update in std::mem::take(&mut waiting[index - part.nodes.start]) {
                update.add_to(&mut front, |row| place[row as usize] as usize);
            }
            for update in &outside[index - part.nodes.start] {
                update.add_to(&mut front, |row| place[row as usize - part.columns.start] as usize);
            }
            if node.first >= self.order.len() {
                front *= faer::Scale(-1.0);
            }
            let diagonal: Vec<f64> = (0..node.width).map(|column| front[(column, column)]).collect();
            let pivots = eliminate(front.as_mut(), node.width);
            let lost = |&column: &usize| front[(column, column)].powi(2) <= LEAST_PIVOT * diagonal[column];
            if let Some(column) = pivots.err().or_else(|| (0..node.width).find(lost)) {
                return Err(self.not_definite(node.first + column));
            }
            result.values.push(factor_rows(&front, node.width));
            if let Some(parent) = node.parent {
                let matrix = front
                    .as_ref()
                    .submatrix(node.width, node.width, node.rows.len(), node.rows.len())
                    .to_owned();
                if part.nodes.contains(&parent) {
                    waiting[parent - part.nodes.start].push(Update { rows: node.rows.clone(), matrix });
                } else {
                    let rows =
                        node.rows.iter().map(|&row| part.tail[row as usize - part.columns.len()]).collect();
                    result.left.push((parent, Update { rows, matrix }));
                }
            }
        }
        Ok(result)
    }

    /// Puts a node's columns of the matrix into its front.
    fn fill(&self, part: &Part, node: &Node, place: &[u32], front: &mut Mat<f64>) {
        let at = |row: u32| part.local(row).map(|local| place[local as usize] as usize);
        for column in 0..node.width.min(self.order.len().saturating_sub(node.first)) {
            let current = (node.first + column) as u32;
            let vertex = self.order[current as usize] as usize;
            let entries = self.matrix.row_idx_of_col_raw(vertex).iter().zip(self.matrix.val_of_col(vertex));
            for (&row, &value) in entries {
                let row = self.position[row as usize];
                if row >= current
                    && let Some(row) = at(row)
                {
                    front[(row, column)] += value;
                }
            }
            let constraints = self.constraint_starts[vertex]..self.constraint_starts[vertex + 1];
            for &(constraint, value) in &self.constraint[constraints] {
                if let Some(row) = at(self.order.len() as u32 + constraint) {
                    front[(row, column)] += value;
                }
            }
        }
    }

    fn not_definite(&self, column: usize) -> Error {
        match self.order.get(column) {
            Some(row) => failed(format!("the matrix is not positive definite (row {row})")),
            None => failed(format!("constraint {} depends on others", column - self.order.len())),
        }
    }
}

/// The first columns of an eliminated front, row by row, zero above the diagonal, the diagonal inverted.
fn factor_rows(front: &Mat<f64>, width: usize) -> Vec<f64> {
    let mut rows = vec![0.0; front.nrows() * width];
    for column in 0..width {
        let values = front.col_as_slice(column);
        rows[column * width + column] = 1.0 / values[column];
        (column + 1..front.nrows()).for_each(|row| rows[row * width + column] = values[row]);
    }
    rows
}
