//! Metric of a domain tree: inertia, stiffness and damping, eliminated from the leaves to the root.
//!
//! A domain moves by the twist t of its frame, six numbers, and by its coordinates y. The twist of a child
//! is `t' = X t + N y`. Elimination of y leaves a 6 x 6 articulated inertia for the twist, which adds to
//! the parent's. A factorisation of all coordinates therefore takes time linear in the number of domains.

use std::cell::Cell;

use nalgebra::{Cholesky, Const, Matrix3, Matrix6, Vector3, Vector6};

use super::kinematics::inertia;
use super::station::{Node, Station};
use crate::math::DenseCholesky;
use crate::math::rows::Rows;

/// Articulated inertia of a domain.
struct Limb {
    /// Own inertia of twists, and coupling of twists and coordinates.
    own: Matrix6<f64>,
    across: Vec<Vector6<f64>>,
    /// Linear maps from the parent's twist, and from the parent's coordinates, to the own twist.
    carried: Matrix6<f64>,
    follows: Vec<Vector6<f64>>,
    /// Blocks with all children added: twists, twists and coordinates, coordinates.
    twist: Matrix6<f64>,
    mixed: Vec<Vector6<f64>>,
    block: Block,
    /// `block^-1 mixed`.
    answer: Vec<[f64; 6]>,
    /// Scratch of a solve: wrench on the twist, coordinates at zero twist, and solved twist.
    wrench: Vector6<f64>,
    alone: Vec<f64>,
    moved: Cell<Vector6<f64>>,
    /// Scratch, k rows of 6.
    product: Vec<Vector6<f64>>,
}

/// Factor of the coordinate block of a domain.
enum Block {
    /// A leaf: one number a coordinate.
    Diagonal(Vec<f64>),
    Full(DenseCholesky),
}

impl Block {
    fn new(rank: usize, bears: bool) -> Self {
        if !bears {
            return Self::Diagonal(vec![0.0; rank]);
        }
        Self::Full(DenseCholesky::zeros(rank))
    }

    fn start(&mut self, diagonal: impl Fn(usize) -> f64) {
        match self {
            Self::Diagonal(values) => {
                values.iter_mut().enumerate().for_each(|(k, value)| *value = diagonal(k))
            }
            Self::Full(DenseCholesky { matrix, .. }) => {
                matrix.fill(0.0);
                (0..matrix.ncols()).for_each(|k| matrix[(k, k)] = diagonal(k));
            }
        }
    }

    /// Factors the block; `false` if it is not positive definite.
    fn factor(&mut self) -> bool {
        match self {
            Self::Diagonal(values) => values.iter().all(|value| *value > 0.0 && value.is_finite()),
            Self::Full(block) => block.factor(),
        }
    }

    /// Solves in place for right-hand sides of `each` columns.
    fn solve(&self, rows: &mut [f64], each: usize) {
        match self {
            Self::Diagonal(values) => {
                for (row, value) in rows.chunks_mut(each).zip(values) {
                    row.iter_mut().for_each(|x| *x /= value);
                }
            }
            Self::Full(block) => block.solve(rows, each),
        }
    }
}

impl Limb {
    fn new(node: &Node, parent_rank: usize, bears: bool) -> Self {
        let rank = node.domain.rank();
        let (rows, zero) = (vec![Vector6::zeros(); rank], Matrix6::zeros());
        Self {
            own: zero,
            across: rows.clone(),
            carried: zero,
            follows: vec![Vector6::zeros(); parent_rank],
            twist: zero,
            mixed: rows,
            block: Block::new(rank, bears),
            answer: vec![[0.0; 6]; rank],
            wrench: Vector6::zeros(),
            alone: vec![0.0; rank],
            moved: Cell::new(Vector6::zeros()),
            product: vec![Vector6::zeros(); parent_rank],
        }
    }

    /// Sets the blocks of the domain alone at its current placement.
    fn start(&mut self, node: &Node, station: &mut Station, stiffness: f64) {
        let (domain, firm) = (&node.domain, station.inertia);
        let places = (station.q.as_slice(), station.push.as_mut_slice());
        self.own = inertia(domain, &station.frame, places, &mut self.across);
        self.twist = firm * self.own;
        self.mixed.iter_mut().zip(&self.across).for_each(|(mixed, across)| *mixed = firm * across);
        let (spectrum, damping) = (&domain.spectrum, &station.damping);
        self.block.start(|k| firm + stiffness * spectrum[k] + damping[k]);
    }

    /// Eliminates the coordinates; `false` if the block is not positive definite.
    fn eliminate(&mut self) -> bool {
        if !self.block.factor() {
            return false;
        }
        self.answer.iter_mut().zip(&self.mixed).for_each(|(answer, mixed)| *answer = (*mixed).into());
        self.block.solve(self.answer.as_flattened_mut(), 6);
        for (mixed, answer) in self.mixed.iter().zip(&self.answer) {
            self.twist.ger(-1.0, mixed, &Vector6::from(*answer), 1.0);
        }
        true
    }

    /// Adds the articulated inertia to the parent's.
    fn join(&mut self, parent: &mut Self) {
        let felt = self.twist * self.carried;
        parent.twist += self.carried.transpose() * felt;
        for (product, follows) in self.product.iter_mut().zip(&self.follows) {
            *product = self.twist * follows;
        }
        for (mixed, product) in parent.mixed.iter_mut().zip(&self.product) {
            *mixed += self.carried.transpose() * product;
        }
        if let Block::Full(DenseCholesky { matrix, .. }) = &mut parent.block {
            for (j, product) in self.product.iter().enumerate() {
                let column = &mut matrix.col_as_slice_mut(j)[j..];
                for (entry, follows) in column.iter_mut().zip(&self.follows[j..]) {
                    *entry += follows.dot(product);
                }
            }
        }
    }
}

/// The factored metric with its scratch.
pub(super) struct Articulated {
    limbs: Vec<Limb>,
    /// For a free root: Cholesky factor of its articulated inertia, and derivative of its rotation by its
    /// angles.
    root: Option<(Cholesky<f64, Const<6>>, Matrix3<f64>)>,
}

impl Articulated {
    pub(super) fn new(nodes: &[Node]) -> Self {
        let parent = |node: &Node| node.interface.as_ref().map(|interface| interface.parent);
        let bears = |number: usize| nodes.iter().any(|node| parent(node) == Some(number));
        let limb = |(number, node): (usize, &Node)| {
            let above = parent(node).map_or(0, |parent| nodes[parent].domain.rank());
            Limb::new(node, above, bears(number))
        };
        Self { limbs: nodes.iter().enumerate().map(limb).collect(), root: None }
    }

    /// Factors the tree at its current placement; `turning` is the rotation derivative of a free root.
    /// Returns `false` if a block is not positive definite.
    pub(super) fn factor(
        &mut self,
        nodes: &[Node],
        stations: &mut [Station],
        stiffness: f64,
        turning: Option<Matrix3<f64>>,
    ) -> bool {
        for ((limb, node), station) in self.limbs.iter_mut().zip(nodes).zip(stations.iter_mut()) {
            limb.start(node, station, stiffness);
        }
        for (number, node) in nodes.iter().enumerate().rev() {
            let (before, own) = self.limbs.split_at_mut(number);
            if !own[0].eliminate() {
                return false;
            }
            let (Some(interface), Some(hinge)) = (&node.interface, &stations[number].hinge) else { continue };
            let above = &stations[interface.parent].frame;
            let apart = stations[number].frame.centre - above.centre;
            own[0].carried = Matrix6::identity();
            own[0].carried.fixed_view_mut::<3, 3>(0, 3).copy_from(&-apart.cross_matrix());
            for (k, follows) in own[0].follows.iter_mut().enumerate() {
                *follows = interface.rate(hinge, &above.rotation, k);
            }
            own[0].join(&mut before[interface.parent]);
        }
        self.root = turning.and_then(|turning| Some((self.limbs[0].twist.cholesky()?, turning)));
        self.root.is_some() == turning.is_some()
    }

    /// Applies the inverse metric in place to forces on coordinates, for given domains in order. Either all
    /// domains, or a set closed under parents with forces on the set alone.
    pub(super) fn solve(
        &mut self,
        nodes: &[Node],
        which: impl DoubleEndedIterator<Item = usize> + Clone,
        rows: &mut Rows,
    ) {
        which.clone().for_each(|number| self.limbs[number].wrench = Vector6::zeros());
        for number in which.clone().rev() {
            let node = &nodes[number];
            let (before, own) = self.limbs.split_at_mut(number);
            let limb = &mut own[0];
            // The children have already added their share to the rows.
            limb.alone.copy_from_slice(node.part(rows));
            limb.block.solve(&mut limb.alone, 1);
            for (mixed, y) in limb.mixed.iter().zip(&limb.alone) {
                limb.wrench -= *y * mixed;
            }
            let Some(interface) = &node.interface else { continue };
            before[interface.parent].wrench += limb.carried.transpose() * limb.wrench;
            for (row, follows) in nodes[interface.parent].part_mut(rows).iter_mut().zip(&limb.follows) {
                *row += follows.dot(&limb.wrench);
            }
        }
        let first = self.first(rows);
        for number in which {
            let moved = self.twist(nodes, number, first, rows);
            let limb = &self.limbs[number];
            limb.moved.set(moved);
            for ((row, y), answer) in
                nodes[number].part_mut(rows).iter_mut().zip(&limb.alone).zip(&limb.answer)
            {
                *row = y - Vector6::from(*answer).dot(&moved);
            }
        }
    }

    /// Solves for the root's twist and writes its rows.
    fn first(&self, rows: &mut Rows) -> Vector6<f64> {
        let Some((factor, turning)) = &self.root else {
            rows[..2].fill([0.0; 3]);
            return Vector6::zeros();
        };
        let Some(back) = turning.try_inverse() else { return Vector6::zeros() };
        let (force, torque) = (Vector3::from(rows[0]), back.transpose() * Vector3::from(rows[1]));
        let works = Vector6::new(force.x, force.y, force.z, torque.x, torque.y, torque.z);
        let twist = factor.solve(&(works + self.limbs[0].wrench));
        let angles = back * Vector3::new(twist[3], twist[4], twist[5]);
        rows[0] = [twist[0], twist[1], twist[2]];
        rows[1] = angles.into();
        twist
    }

    /// Twist of a domain from the rows of its ancestors and the root's twist.
    fn twist(&self, nodes: &[Node], number: usize, first: Vector6<f64>, rows: &Rows) -> Vector6<f64> {
        let Some(interface) = &nodes[number].interface else { return first };
        let (limb, above) = (&self.limbs[number], self.limbs[interface.parent].moved.get());
        let moves = limb.follows.iter().zip(nodes[interface.parent].part(rows));
        moves.fold(limb.carried * above, |sum, (follows, y)| sum + *y * follows)
    }

    /// Computes the twists of given domains for a step of the coordinates. The domains are in order and
    /// closed under parents.
    pub(super) fn go(&self, nodes: &[Node], which: impl Iterator<Item = usize>, step: &Rows) {
        let turned = |(_, turning): &(_, Matrix3<f64>)| turning * Vector3::from(step[1]);
        let angles = self.root.as_ref().map_or(Vector3::zeros(), turned);
        let [x, y, z] = step[0];
        let first = Vector6::new(x, y, z, angles.x, angles.y, angles.z);
        for number in which {
            self.limbs[number].moved.set(self.twist(nodes, number, first, step));
        }
    }

    /// Twist of a domain in the last solve or step.
    pub(super) fn moved(&self, number: usize) -> Vector6<f64> {
        self.limbs[number].moved.get()
    }

    /// Mass norm of a step of the coordinates.
    pub(super) fn length(&self, nodes: &[Node], step: &Rows) -> f64 {
        self.go(nodes, 0..nodes.len(), step);
        let mut square = 0.0;
        for (limb, node) in self.limbs.iter().zip(nodes) {
            let moved = limb.moved.get();
            square += moved.dot(&(limb.own * moved));
            for (across, y) in limb.across.iter().zip(node.part(step)) {
                square += (2.0 * across.dot(&moved) + y) * y;
            }
        }
        square.max(0.0).sqrt()
    }
}
