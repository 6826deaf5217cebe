//! Sparse direct solver for symmetric positive definite systems, with or without linear constraints.

use std::sync::Arc;

use faer::prelude::{Reborrow, ReborrowMut};
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use faer::{Mat, MatMut};

use super::few_columns::{COLUMNS, Sides, substitute};
use super::fronts::{Front, Update};
use super::matrix::SparseRows;
use super::ordering::nested_dissection;
use super::panels::Panels;
use super::substitution::{LANES, MARGIN, Row, backward, forward};
use super::supernodes::{Part, Supernodes};
use super::symbolic::Node;
use crate::math::Sparse;
use crate::parallel::*;
use crate::{Error, Result};

/// Smallest relative pivot after elimination; a smaller one is rounding error, and its column depends on
/// others.
const LEAST_PIVOT: f64 = 1e-15;

/// Memory of a factor, bytes, up to which one thread solves for the coordinates of vertices.
const ALONE: usize = 4 << 20;

/// Factor of a sparse symmetric positive definite K, or of K bordered by constraints.
///
/// Bordered, it is the multifrontal `L D L'` of `[K A; A' 0]`, K in nested-dissection order and the
/// constraints last; D is 1, and -1 for the constraints. This order needs no pivoting (K positive definite,
/// A of full column rank) and uses the sparsity of A: a column of A affects only the parts of the factor
/// above its vertices. The same bits for any number of threads.
pub struct SparseCholesky {
    structure: Structure,
    /// Columns of L, part by part.
    panels: Vec<Panels>,
}

/// Elimination order and pattern of a factor, shared by all matrices with the same sparsity.
#[derive(Clone)]
pub(crate) struct Structure(Arc<Supernodes>);

/// Scratch of a solve, reusable between solves.
#[derive(Default)]
pub(crate) struct Scratch(Vec<Row>);

/// Scratch of [`SparseCholesky::solve_vertices`].
#[derive(Default)]
pub struct VertexScratch {
    x: Vec<f64>,
    below: Vec<Vec<f64>>,
}

impl SparseCholesky {
    /// Factors a symmetric positive definite matrix, stored whole, n x n.
    ///
    /// # Errors
    /// [`Error::Numerical`] if the matrix is not numerically positive definite.
    pub fn new(matrix: &Sparse) -> Result<Self> {
        Self::constrained(matrix, &unconstrained(matrix.nrows()))
    }

    /// Factors `[K A; A' 0]`; K is n x n, symmetric positive definite, stored whole; A is n x c, of rank c.
    ///
    /// # Errors
    /// [`Error::Numerical`] if K is not positive definite or the columns of A are dependent.
    pub fn constrained(matrix: &Sparse, constraint: &Sparse) -> Result<Self> {
        let (order, rows) = crate::parallel::join(|| nested_dissection(matrix), || by_rows(constraint));
        let rows = rows?;
        Structure(Arc::new(Supernodes::new(matrix, &rows, order))).eliminate(matrix, &rows)
    }

    /// Structure for other factors of the same sparsity.
    pub(crate) fn structure(&self) -> Structure {
        self.structure.clone()
    }

    /// Memory of the factor's values, bytes.
    pub fn bytes(&self) -> usize {
        self.panels.iter().map(Panels::bytes).sum()
    }

    /// Factor of another K of the same sparsity, or sparser.
    ///
    /// # Errors
    /// As [`SparseCholesky::new`].
    pub fn refactored(&self, matrix: &Sparse) -> Result<Self> {
        self.structure.factor(matrix, None)
    }

    /// Row of K for each row of an ordered right-hand side, in the order of elimination.
    pub fn order(&self) -> &[u32] {
        &self.structure.0.order
    }

    /// Replaces each column b by the solution x of `K x + A y = b, A' x = 0` (by `K^-1 b` without
    /// constraints); n x k.
    pub fn solve_in_place(&self, mut rhs: MatMut<'_, f64>) {
        let mut ordered =
            Mat::from_fn(rhs.nrows(), rhs.ncols(), |row, k| rhs[(self.structure.0.order[row] as usize, k)]);
        self.solve_ordered(&mut Scratch::default(), |_| 1.0, ordered.as_mut());
        for (mut column, ordered) in rhs.rb_mut().col_iter_mut().zip(ordered.col_iter()) {
            self.structure.0.order.iter().zip(ordered.iter()).for_each(|(&row, x)| column[row as usize] = *x);
        }
    }

    /// As [`SparseCholesky::solve_in_place`] for `D K^-1 D` with a diagonal D (`D A` in place of A), with
    /// rows in the factor's order.
    pub(crate) fn solve_ordered(
        &self,
        scratch: &mut Scratch,
        scale: impl Fn(usize) -> f64 + Sync,
        mut rhs: MatMut<'_, f64>,
    ) {
        scratch.0.resize(self.scratch(), [0.0; LANES]);
        for first in (0..rhs.ncols()).step_by(LANES) {
            let width = LANES.min(rhs.ncols() - first);
            self.solve_lanes(&mut scratch.0, &scale, rhs.rb_mut().subcols_mut(first, width));
        }
    }

    /// Replaces b by the solution x of `K x + A y = b, A' x = 0`: three coordinates of each vertex, rows in
    /// the factor's order.
    pub fn solve_vertices(&self, scratch: &mut VertexScratch, rows: &mut [[f64; COLUMNS]]) {
        scratch.x.resize(COLUMNS * self.scratch(), 0.0);
        scratch.below.resize_with(self.structure.0.parts.len(), Vec::new);
        let last = &self.structure.0.parts[self.structure.0.parts.len() - 1];
        let mut pieces = self.vertex_pieces(scratch, rows);
        let Some((top, independent)) = pieces.split_last_mut() else { return };
        let least = if self.bytes() < ALONE { independent.len().max(1) } else { 1 };
        independent.par_iter_mut().with_min_len(least).for_each(VertexPiece::descend);
        top.load();
        for piece in &*independent {
            for c in 0..COLUMNS {
                for (&row, from) in piece.part.tail.iter().zip(&piece.sides.x[c][piece.part.columns.len()..])
                {
                    top.sides.x[c][row as usize - last.columns.start] += from;
                }
            }
        }
        substitute(top.panels, &mut top.sides, true);
        let constraints = top.rows.len()..last.columns.len();
        top.sides.x.iter_mut().for_each(|x| x[constraints.clone()].iter_mut().for_each(|y| *y = -*y));
        substitute(top.panels, &mut top.sides, false);
        top.store();
        let solved = &top.sides.x;
        independent.par_iter_mut().with_min_len(least).for_each(|piece| {
            for c in 0..COLUMNS {
                for (&row, into) in
                    piece.part.tail.iter().zip(&mut piece.sides.x[c][piece.part.columns.len()..])
                {
                    *into = solved[c][row as usize - last.columns.start];
                }
            }
            substitute(piece.panels, &mut piece.sides, false);
            piece.store();
        });
    }

    fn vertex_pieces<'a>(
        &'a self,
        scratch: &'a mut VertexScratch,
        mut rows: &'a mut [[f64; COLUMNS]],
    ) -> Vec<VertexPiece<'a>> {
        let mut pieces = Vec::with_capacity(self.structure.0.parts.len());
        let mut scratch_left = &mut scratch.x[..];
        for ((part, panels), below) in self.structure.0.parts.iter().zip(&self.panels).zip(&mut scratch.below)
        {
            let size = part.size() + MARGIN;
            let (own, others) = scratch_left.split_at_mut(COLUMNS * size);
            let (x, rest) = own.split_at_mut(size);
            let (y, z) = rest.split_at_mut(size);
            let count = part.columns.len().min(rows.len());
            let (first, later) = rows.split_at_mut(count);
            pieces.push(VertexPiece { part, panels, sides: Sides { x: [x, y, z], below }, rows: first });
            (scratch_left, rows) = (others, later);
        }
        pieces
    }

    fn scratch(&self) -> usize {
        self.structure.0.parts.iter().map(|part| part.size() + MARGIN).sum()
    }

    /// `L^-1 b` for at most [`LANES`] columns b in the factor's order, each row at its [place](Self::places)
    /// in the scratch.
    ///
    /// Rows after the last row of K belong to constraints, with D = -1.
    pub(super) fn forward_substitution(&self, scratch: &mut Vec<Row>, rhs: MatMut<'_, f64>) {
        scratch.resize(self.scratch(), [0.0; LANES]);
        self.descend(&mut self.pieces(scratch, rhs), &|_| 1.0);
    }

    /// Place in the scratch of each row in the factor's order, constraints last.
    pub(super) fn places(&self) -> Vec<usize> {
        let mut start = 0;
        let mut places = Vec::with_capacity(self.structure.0.order.len());
        for part in &self.structure.0.parts {
            places.extend(start..start + part.columns.len());
            start += part.size() + MARGIN;
        }
        places
    }

    /// Second half of a solve, from the scratch of [`Self::forward_substitution`], into columns in the
    /// factor's order.
    pub(super) fn finish(&self, scratch: &mut [Row], out: MatMut<'_, f64>) {
        self.ascend(&mut self.pieces(scratch, out), &|_| 1.0);
    }

    fn solve_lanes(&self, scratch: &mut [Row], scale: &(impl Fn(usize) -> f64 + Sync), rhs: MatMut<'_, f64>) {
        let mut pieces = self.pieces(scratch, rhs);
        self.descend(&mut pieces, scale);
        self.ascend(&mut pieces, scale);
    }

    /// Applies `L^-T D` and stores the solutions.
    fn ascend(&self, pieces: &mut [Piece<'_>], scale: &(impl Fn(usize) -> f64 + Sync)) {
        let last = &self.structure.0.parts[self.structure.0.parts.len() - 1];
        let Some((top, independent)) = pieces.split_last_mut() else { return };
        let constraints = self.structure.0.order.len() - last.columns.start..last.columns.len();
        top.x[constraints].as_flattened_mut().iter_mut().for_each(|y| *y = -*y);
        backward(top.panels, top.x);
        top.store(scale);
        let solved = &*top.x;
        independent.par_iter_mut().with_max_len(1).for_each(|piece| {
            for (&row, into) in piece.part.tail.iter().zip(&mut piece.x[piece.part.columns.len()..]) {
                *into = solved[row as usize - last.columns.start];
            }
            backward(piece.panels, piece.x);
            piece.store(scale);
        });
    }

    /// Loads the right-hand sides and applies `L^-1`.
    fn descend(&self, pieces: &mut [Piece<'_>], scale: &(impl Fn(usize) -> f64 + Sync)) {
        let last = &self.structure.0.parts[self.structure.0.parts.len() - 1];
        let Some((top, independent)) = pieces.split_last_mut() else { return };
        independent.par_iter_mut().with_max_len(1).for_each(|piece| {
            piece.load(scale);
            forward(piece.panels, piece.x);
        });
        top.load(scale);
        for piece in &*independent {
            for (&row, from) in piece.part.tail.iter().zip(&piece.x[piece.part.columns.len()..]) {
                let into = &mut top.x[row as usize - last.columns.start];
                (0..LANES).for_each(|lane| into[lane] += from[lane]);
            }
        }
        forward(top.panels, top.x);
    }

    /// Parts with their shares of scratch and right-hand sides.
    fn pieces<'a>(&'a self, mut scratch: &'a mut [Row], mut rhs: MatMut<'a, f64>) -> Vec<Piece<'a>> {
        let mut pieces = Vec::with_capacity(self.structure.0.parts.len());
        for (part, panels) in self.structure.0.parts.iter().zip(&self.panels) {
            let (x, others) = scratch.split_at_mut(part.size() + MARGIN);
            let count = part.columns.len().min(rhs.nrows());
            let (rows, rest) = rhs.split_at_row_mut(count);
            pieces.push(Piece { part, panels, x, rows });
            (scratch, rhs) = (others, rest);
        }
        pieces
    }
}

impl Structure {
    /// Factors a matrix and constraint of the same or smaller sparsity pattern, with the same bits as a
    /// factorisation from scratch.
    ///
    /// # Errors
    /// As [`SparseCholesky::constrained`].
    pub(crate) fn factor(&self, matrix: &Sparse, constraint: Option<&Sparse>) -> Result<SparseCholesky> {
        match constraint {
            Some(constraint) => self.eliminate(matrix, &by_rows(constraint)?),
            None => self.eliminate(matrix, &by_rows(&unconstrained(matrix.nrows()))?),
        }
    }

    fn eliminate(&self, matrix: &Sparse, constraint: &SparseRows) -> Result<SparseCholesky> {
        let Supernodes { order, parts, .. } = &*self.0;
        let input = Input::new(matrix, constraint, order);
        let (last, independent) = parts.split_last().ok_or_else(|| failed("no rows"))?;
        let mut done: Vec<Eliminated> = independent
            .par_iter()
            .with_max_len(1)
            .map(|part| input.eliminate_part(&self.0, part, &[]))
            .collect::<Result<_>>()?;
        let left: Vec<(usize, Update)> = done.iter_mut().flat_map(|part| part.left.drain(..)).collect();
        done.push(input.eliminate_part(&self.0, last, &left)?);
        let panels = done.into_iter().map(|part| part.panels).collect();
        Ok(SparseCholesky { structure: self.clone(), panels })
    }
}

/// Rows copied at a time, to keep source and target in the nearest cache.
const STRIP: usize = 64;

/// A part of the factor with its share of a solve.
struct Piece<'a> {
    part: &'a Part,
    panels: &'a Panels,
    /// Rows of the part's columns, its tail and the margin.
    x: &'a mut [Row],
    /// Right-hand sides of the part's columns.
    rows: MatMut<'a, f64>,
}

impl Piece<'_> {
    /// Copies scaled right-hand sides into the rows; others become zero.
    fn load(&mut self, scale: &impl Fn(usize) -> f64) {
        let (own, others) = self.x.split_at_mut(self.rows.nrows());
        others.fill([0.0; LANES]);
        for (strip, x) in own.chunks_mut(STRIP).enumerate() {
            x.fill([0.0; LANES]);
            let first = STRIP * strip;
            for lane in 0..self.rows.ncols() {
                let column = self.rows.rb().col(lane).subrows(first, x.len());
                for (row, (x, &value)) in x.iter_mut().zip(column.iter()).enumerate() {
                    x[lane] = value * scale(self.part.columns.start + first + row);
                }
            }
        }
    }

    /// Copies the scaled solution back.
    fn store(&mut self, scale: &impl Fn(usize) -> f64) {
        for (strip, x) in self.x[..self.rows.nrows()].chunks(STRIP).enumerate() {
            let first = STRIP * strip;
            for lane in 0..self.rows.ncols() {
                let column = self.rows.rb_mut().col_mut(lane).subrows_mut(first, x.len());
                for (row, (x, value)) in x.iter().zip(column.iter_mut()).enumerate() {
                    *value = x[lane] * scale(self.part.columns.start + first + row);
                }
            }
        }
    }
}

/// A part of the factor with its share of a solve for vertices.
struct VertexPiece<'a> {
    part: &'a Part,
    panels: &'a Panels,
    sides: Sides<'a>,
    rows: &'a mut [[f64; COLUMNS]],
}

impl VertexPiece<'_> {
    fn load(&mut self) {
        for (c, x) in self.sides.x.iter_mut().enumerate() {
            let (own, others) = x.split_at_mut(self.rows.len());
            own.iter_mut().zip(&*self.rows).for_each(|(x, row)| *x = row[c]);
            others.fill(0.0);
        }
    }

    /// Loads the right-hand sides and applies `L^-1`.
    fn descend(&mut self) {
        self.load();
        substitute(self.panels, &mut self.sides, true);
    }

    fn store(&mut self) {
        for (c, x) in self.sides.x.iter().enumerate() {
            self.rows.iter_mut().zip(&**x).for_each(|(row, x)| row[c] = *x);
        }
    }
}

/// A constraint matrix of n rows without columns.
fn unconstrained(n: usize) -> Sparse {
    SparseColMat::new(SymbolicSparseColMat::new_checked(n, 0, vec![0], None, vec![]), vec![])
}

fn by_rows(constraint: &Sparse) -> Result<SparseRows> {
    constraint.to_row_major().map_err(|error| failed(format!("{error:?}")))
}

fn failed(why: impl Into<String>) -> Error {
    Error::Numerical { what: "sparse factorisation", why: why.into() }
}

/// Result of the elimination of a part: its columns of L, and updates to nodes of the last part.
struct Eliminated {
    panels: Panels,
    left: Vec<(usize, Update)>,
}

/// The matrix to factor, with lookup of entries in elimination order.
struct Input<'a> {
    matrix: &'a Sparse,
    order: &'a [u32],
    position: Vec<u32>,
    constraint: &'a SparseRows,
}

impl<'a> Input<'a> {
    fn new(matrix: &'a Sparse, constraint: &'a SparseRows, order: &'a [u32]) -> Self {
        let mut position = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &row)| position[row as usize] = place as u32);
        Self { matrix, order, position, constraint }
    }

    /// Eliminates the nodes of a part; `given` are updates from other parts, in global numbering.
    fn eliminate_part(
        &self,
        structure: &Supernodes,
        part: &Part,
        given: &[(usize, Update)],
    ) -> Result<Eliminated> {
        let mut place = vec![u32::MAX; part.size()];
        let tail = part.tail_numbers();
        let mut waiting: Vec<Vec<Update>> = part.nodes.clone().map(|_| Vec::new()).collect();
        let mut outside: Vec<Vec<&Update>> = vec![Vec::new(); part.nodes.len()];
        given.iter().for_each(|(node, update)| outside[node - part.nodes.start].push(update));
        let nodes = structure.nodes[part.nodes.clone()].iter();
        let panels = Panels::for_nodes(nodes.map(|node| (node.width, node.rows.len())));
        let mut result = Eliminated { panels, left: Vec::new() };
        let mut front = Front::default();
        for index in part.nodes.clone() {
            let node = &structure.nodes[index];
            let first = (node.first - part.columns.start) as u32;
            let own = first..first + node.width as u32;
            own.clone().zip(0..).for_each(|(row, at)| place[row as usize] = at);
            node.rows.iter().zip(node.width as u32..).for_each(|(&row, at)| place[row as usize] = at);
            front.reset(node.width + node.rows.len());
            self.fill(node, |row| place[part.number(row, &tail) as usize] as usize, &mut front);
            for update in std::mem::take(&mut waiting[index - part.nodes.start]) {
                front.add(&update, |row| place[row as usize] as usize);
            }
            for update in &outside[index - part.nodes.start] {
                front.add(update, |row| place[row as usize - part.columns.start] as usize);
            }
            if node.first >= self.order.len() {
                front.negate();
            }
            let diagonal: Vec<f64> = (0..node.width).map(|column| front.column(column)[column]).collect();
            let pivots = front.eliminate(node.width);
            let lost =
                |&column: &usize| front.column(column)[column].powi(2) <= LEAST_PIVOT * diagonal[column];
            if let Some(column) = pivots.err().or_else(|| (0..node.width).find(lost)) {
                return Err(self.not_definite(node.first + column));
            }
            result.panels.push(&front, first as usize, node.width, &node.rows);
            if let Some(parent) = node.parent {
                if part.nodes.contains(&parent) {
                    waiting[parent - part.nodes.start].push(front.update(node.width, node.rows.clone()));
                } else {
                    let rows =
                        node.rows.iter().map(|&row| part.tail[row as usize - part.columns.len()]).collect();
                    result.left.push((parent, front.update(node.width, rows)));
                }
            }
        }
        Ok(result)
    }

    /// Adds a node's columns of the matrix to its front; `place` maps rows to rows of the front.
    fn fill(&self, node: &Node, place: impl Fn(u32) -> usize, front: &mut Front) {
        for column in 0..node.width.min(self.order.len().saturating_sub(node.first)) {
            let current = (node.first + column) as u32;
            let vertex = self.order[current as usize] as usize;
            let values = front.column_mut(column);
            let rows = self.matrix.row_idx_of_col_raw(vertex).iter().map(|&row| self.position[row as usize]);
            for (row, &value) in rows.zip(self.matrix.val_of_col(vertex)).filter(|(row, _)| *row >= current) {
                values[place(row)] += value;
            }
            let constraints = self.constraint.col_idx_of_row_raw(vertex).iter();
            for (&constraint, &value) in constraints.zip(self.constraint.val_of_row(vertex)) {
                values[place(self.order.len() as u32 + constraint)] += value;
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
