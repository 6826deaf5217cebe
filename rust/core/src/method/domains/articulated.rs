//! The metric of a tree: its inertia, what resists in each domain, and damping, eliminated from the leaves to the root.
//!
//! A domain moves by the twist t of its frame, six numbers, and its coordinates y. The twist of what hangs on it is
//! `t' = X t + N y`. Without its y, which are its own business, it resists twists by six by six numbers, which join those of its
//! parent: a factor of all coordinates takes time linear in the number of domains.

use std::cell::Cell;

use nalgebra::{Cholesky, Const, Matrix3, Matrix6, Vector3, Vector6};

use super::kinematics::inertia;
use super::objective::{Node, Station};
use crate::math::DenseCholesky;
use crate::math::rows::Rows;

/// A domain as the metric sees it.
struct Limb {
    /// Its own inertia to twists, and to twists and coordinates.
    own: Matrix6<f64>,
    across: Vec<Vector6<f64>>,
    /// How its twist follows the parent's, and the parent's coordinates.
    carried: Matrix6<f64>,
    follows: Vec<Vector6<f64>>,
    /// With what hangs on it: resistance to twists, to twists and coordinates, to coordinates.
    twist: Matrix6<f64>,
    mixed: Vec<Vector6<f64>>,
    block: Block,
    /// `block^-1 mixed`.
    answer: Vec<[f64; 6]>,
    /// Memory of a solve: what works on its twist, what its coordinates would do without a twist, and its twist.
    wrench: Vector6<f64>,
    alone: Vec<f64>,
    moved: Cell<Vector6<f64>>,
    /// Memory of k rows of 6.
    product: Vec<Vector6<f64>>,
}

/// The resistance to the coordinates of one domain, factored.
enum Block {
    /// Nothing hangs on it: a number each.
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

    /// Whether it could be factored.
    fn factor(&mut self) -> bool {
        match self {
            Self::Diagonal(values) => values.iter().all(|value| *value > 0.0 && value.is_finite()),
            Self::Full(block) => block.factor(),
        }
    }

    /// Solves for rows of some numbers each.
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

    /// By itself, where its station is.
    fn start(&mut self, node: &Node, station: &mut Station, stiffness: f64) {
        let (domain, firm) = (&node.domain, station.inertia);
        let places = (station.q.as_slice(), station.push.as_mut_slice());
        self.own = inertia(domain, &station.frame, places, &mut self.across);
        self.twist = firm * self.own;
        self.mixed.iter_mut().zip(&self.across).for_each(|(mixed, across)| *mixed = firm * across);
        let (spectrum, damping) = (&domain.spectrum, &station.damping);
        self.block.start(|k| firm + stiffness * spectrum[k] + damping[k]);
    }

    /// Leaves twists alone; whether that could be done.
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

    /// Joins the limb that it hangs on.
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

/// The metric, and the memory to solve with it.
pub(super) struct Articulated {
    limbs: Vec<Limb>,
    /// Of a free root: its resistance to twists, factored, and how its angles turn it.
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

    /// Takes the tree as it stands, a free root with how its angles turn it; whether it could be factored.
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

    /// Replaces forces on the coordinates of some domains, in order, by what its inverse makes of them there: of all, or of some with all that these
    /// hang on, where forces act on these alone.
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
            // What hangs on it has left its share in the rows.
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

    /// The root's twist under what works on it, with its rows.
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

    /// The twist of a domain by the rows of all before it, of which the root's is given.
    fn twist(&self, nodes: &[Node], number: usize, first: Vector6<f64>, rows: &Rows) -> Vector6<f64> {
        let Some(interface) = &nodes[number].interface else { return first };
        let (limb, above) = (&self.limbs[number], self.limbs[interface.parent].moved.get());
        let moves = limb.follows.iter().zip(nodes[interface.parent].part(rows));
        moves.fold(limb.carried * above, |sum, (follows, y)| sum + *y * follows)
    }

    /// Moves some domains, in order and with all that these hang on, along a step of the coordinates where it was factored.
    pub(super) fn go(&self, nodes: &[Node], which: impl Iterator<Item = usize>, step: &Rows) {
        let turned = |(_, turning): &(_, Matrix3<f64>)| turning * Vector3::from(step[1]);
        let angles = self.root.as_ref().map_or(Vector3::zeros(), turned);
        let [x, y, z] = step[0];
        let first = Vector6::new(x, y, z, angles.x, angles.y, angles.z);
        for number in which {
            self.limbs[number].moved.set(self.twist(nodes, number, first, step));
        }
    }

    /// The twist by which a domain was moved last.
    pub(super) fn moved(&self, number: usize) -> Vector6<f64> {
        self.limbs[number].moved.get()
    }

    /// Length of a step of the coordinates where it was factored, in the norm of the tree's mass.
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
