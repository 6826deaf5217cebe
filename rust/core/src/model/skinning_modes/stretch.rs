//! Stretch limit: a potential that is zero up to half of the limit and steep towards it. Flesh stiffens
//! before it tears.
//!
//! `U = sum over places s of kappa_s L_s^2 phi(|F_s S_s^-1 - R_s| / L_s)`, phi as for displacements
//! ([`limit`](super::limit)), `F = R_rig S + G B z`, S the clamped stretch of the rig, R the rotation nearest
//! to `F S^-1`: rotated flesh, or flesh in the rig's shape, is not stretched. No length changes by a larger
//! share of its length in the rig, or of its rest length if shorter: L is the limit divided by the largest
//! stretch of S above 1. kappa_s is a share of the smallest elastic energy of a stretch of 1 there, J.
//!
//! phi continues as a parabola near the limit, which allows a step to start beyond it. Places that end near
//! the limit or beyond it become firmer, repeatedly, until none does: by a factor that grows continuously
//! from 1, and only where all active places are watched, so that states close together end close together.

use faer::{Mat, MatMut};
use nalgebra::Matrix3;
use pulp::{Arch, Simd, WithSimd};

use super::SkinningModel;
use super::local::RigGradients;
use super::stretch_bound::{follow, is_far_below, length2, longest_sum};
use crate::material::growth::{KNEE, continued};
use crate::math::dense::add_lower_product;
use crate::math::lanes::{Buffer, Packed, PackedSparse, add_adjoint, columns_product, select_items};
use crate::math::polar::{multiply, rotations_in_lanes};
use crate::math::sort_few;

/// Share of the limit from which a place that ends there becomes firmer.
const FIRM: f64 = 0.9;
/// Largest growth of a penalty at a time, and maximum number of times in a substep.
const FIRMER: f64 = 10.0;
pub(super) const TIMES: u32 = 8;
/// Least number of active places in the metric: the resistance of fewer does not pay for a factor.
const MANY: usize = 16;
/// Share of the limit from which a place is watched together with active ones.
const NEAR: f64 = 0.4;

/// An active stretch limit, and scratch for its places.
pub(super) struct StretchLimit {
    memory: Option<Memory>,
    /// Largest relative change of length; `None` for no limit.
    limit: Option<f64>,
    /// s, the factor on the elastic energy.
    stiffness: f64,
    /// Largest stretch at the last evaluation, as a share of the limit.
    last: f64,
}

type Watched<'a> = (&'a Packed<3>, &'a mut Apart, (&'a [usize], &'a [f64]), &'a mut [f64]);

struct Memory {
    /// All places.
    whole: Apart,
    /// Watched places, ascending.
    places: Vec<usize>,
    /// The watched places, and `G B Phi` there; unused while all places are watched.
    near: Apart,
    basis: Packed<3>,
    /// Derivatives of the potential by the gradients, blocks x 9 x lanes.
    pulls: Buffer<f64>,
    /// Weighted changes `S^-1 G B Phi` of the active places, 3k x r.
    rows: Mat<f64>,
    /// `s kappa` of all places, J, multiplied by the growth of firmer places.
    kappa: Vec<f64>,
}

impl Memory {
    fn new(model: &SkinningModel) -> Self {
        let basis = &model.stretch_places.basis;
        Self {
            whole: Apart::new(basis),
            places: Vec::with_capacity(basis.items()),
            near: Apart::new(basis),
            basis: basis.clone(),
            rows: Mat::new(),
            kappa: vec![0.0; basis.items()],
            pulls: Buffer::zeros(9 * basis.blocks() * basis.lanes()),
        }
    }

    /// `G B Phi` of the watched places, their distances, their indices with kappa of all places, and
    /// scratch for derivatives.
    fn watched<'a>(&'a mut self, model: &'a SkinningModel) -> Watched<'a> {
        let Self { whole, places, near, basis, pulls, kappa, .. } = self;
        let all = &model.stretch_places.basis;
        let (basis, apart) = if places.len() == all.items() { (all, whole) } else { (&*basis, near) };
        (basis, apart, (places, kappa), pulls)
    }
}

/// Distances of places from their shape in the rig, up to rotation.
struct Apart {
    posed: PosedPlaces,
    /// `F S^-1 - R`, blocks x 9 x lanes.
    apart: Buffer<f64>,
    /// Norm of `apart`, and its share of the limit, each blocks x lanes.
    norms: Buffer<f64>,
    shares: Buffer<f64>,
    /// Lengths of the rows of y, r.
    lengths: Vec<f64>,
}

impl Apart {
    fn new(basis: &Packed<3>) -> Self {
        let places = basis.blocks() * basis.lanes();
        let [apart, norms, shares] = [9, 1, 1].map(|numbers| Buffer::zeros(numbers * places));
        let lengths = vec![0.0; basis.columns()];
        Self { posed: PosedPlaces::new(basis), apart, norms, shares, lengths }
    }

    /// `S^-1` of a slot.
    fn back(&self, slot: usize, lanes: usize) -> Matrix3<f64> {
        let (block, lane) = (slot / lanes, slot % lanes);
        Matrix3::from_fn(|i, j| self.posed.back[(9 * block + 3 * i + j) * lanes + lane])
    }

    /// Measures all places of a basis; returns the largest share of the limit. `known` has the lengths of the
    /// columns of all places.
    fn measure(&mut self, basis: &Packed<3>, known: &Packed<1>, y: &[[f64; 3]]) -> f64 {
        let size = |row: &[f64; 3]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        self.lengths.iter_mut().zip(y).for_each(|(length, row)| *length = size(row));
        Arch::new().dispatch(Measure { basis, known, y, at: self })
    }
}

/// Rig data of places, one a SIMD lane. The stretch S of a register of places is found when it is first
/// needed.
struct PosedPlaces {
    /// `R_rig`, in `rig`; before S is known `F_rig`.
    gradients: RigGradients,
    /// The limit, and `true` for each register with S.
    limit: f64,
    is_followed: Vec<bool>,
    /// `S^-1`, blocks x 9 x lanes.
    back: Buffer<f64>,
    /// L, blocks x lanes.
    reach: Buffer<f64>,
}

impl PosedPlaces {
    fn new(basis: &Packed<3>) -> Self {
        let places = basis.blocks() * basis.lanes();
        let [back, reach] = [9, 1].map(|numbers| Buffer::zeros(numbers * places));
        let is_followed = vec![true; basis.blocks()];
        Self { gradients: RigGradients::new(basis), limit: f64::INFINITY, is_followed, back, reach }
    }

    /// Sets a pose, with the contribution of offsets to the gradients (3k rows or none), and a limit.
    fn set(&mut self, limit: f64, rig: &PackedSparse<3>, pose: &[[f64; 3]], offsets: &[[f64; 3]]) {
        self.gradients.set_pose(rig, pose, offsets, 0.0);
        self.limit = limit;
        self.is_followed.fill(false);
    }

    /// Copies some places of another set.
    fn select(&mut self, from: &Self, places: &[usize]) {
        self.gradients.select(&from.gradients, places);
        select_items(&from.back, 9, places, &mut self.back);
        select_items(&from.reach, 1, places, &mut self.reach);
    }
}

impl StretchLimit {
    pub(super) fn new() -> Self {
        Self { memory: None, limit: None, stiffness: 0.0, last: 0.0 }
    }

    /// Sets the limit, the factor on the elastic energy, and the rig's pose, with the contribution of
    /// offsets to the gradients (3k rows or none). Allocates the first time; watches all places.
    pub(super) fn set(
        &mut self,
        model: &SkinningModel,
        (limit, stiffness): (Option<f64>, f64),
        pose: &[[f64; 3]],
        offsets: &[[f64; 3]],
    ) {
        (self.limit, self.stiffness) = (limit, stiffness);
        if let Some(limit) = limit {
            let memory = self.memory.get_or_insert_with(|| Memory::new(model));
            memory.whole.posed.set(limit, &model.stretch_places.rig, pose, offsets);
            let kappa = model.data.stretch.stiffness.iter().map(|kappa| stiffness * kappa);
            memory.kappa.iter_mut().zip(kappa).for_each(|(out, kappa)| *out = kappa);
            memory.places.clear();
            memory.places.extend(0..model.stretch_places.basis.items());
        }
    }

    /// Largest stretch of the watched places at y, as a share of the limit; 0 without a limit.
    fn largest(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> f64 {
        let (Some(_), Some(memory)) = (self.limit, &mut self.memory) else { return 0.0 };
        let (basis, apart, _, _) = memory.watched(model);
        apart.measure(basis, &model.stretch_places.lengths, y)
    }

    /// Watches no place, until one is found with an active limit.
    pub(super) fn look_away(&mut self, model: &SkinningModel) {
        if let Some(memory) = &mut self.memory {
            memory.places.clear();
            memory.basis.select(&model.stretch_places.basis, &[]);
        }
    }

    /// Watches places whose limit is active at y; `true` if there are new ones.
    pub(super) fn look(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> bool {
        let (Some(_), Some(memory)) = (self.limit, &mut self.memory) else { return false };
        let Memory { whole, places, near, basis, .. } = memory;
        let all = &model.stretch_places.basis;
        if places.len() == all.items() || whole.measure(all, &model.stretch_places.lengths, y) <= KNEE {
            return false;
        }
        let is_new = |place: &usize| places.binary_search(place).is_err();
        if !(0..all.items()).filter(is_new).any(|place| whole.shares[place] > KNEE) {
            return false;
        }
        let known = places.len();
        for place in 0..all.items() {
            if whole.shares[place] > NEAR && places[..known].binary_search(&place).is_err() {
                places.push(place);
            }
        }
        sort_few(places, |a, b| a < b);
        basis.select(all, places);
        near.posed.select(&whole.posed, places);
        true
    }

    /// `true` if a watched place is too near its limit to stay as firm as it is at y.
    pub(super) fn is_beyond(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> bool {
        self.largest(model, y) > FIRM
    }

    /// Makes places near the limit or beyond it at y firmer; `true` if there are any.
    pub(super) fn firm(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> bool {
        if !self.is_beyond(model, y) {
            return false;
        }
        let Some(memory) = &mut self.memory else { return false };
        let Memory { whole, places, near, kappa, .. } = memory;
        let shares = if places.len() == kappa.len() { &whole.shares } else { &near.shares };
        let beyond = places.iter().zip(shares.iter()).filter(|(_, share)| **share > FIRM);
        beyond.for_each(|(&place, &share)| kappa[place] *= growth(share));
        true
    }

    /// `true` if the limit was active at the last evaluation.
    pub(super) fn was_felt(&self) -> bool {
        self.limit.is_some() && self.last > KNEE
    }

    /// `true` if enough places were active at the last evaluation to belong in the metric.
    pub(super) fn was_felt_widely(&self) -> bool {
        let Some(Memory { whole, places, near, kappa, .. }) =
            self.memory.as_ref().filter(|_| self.was_felt())
        else {
            return false;
        };
        let shares = if places.len() == kappa.len() { &whole.shares } else { &near.shares };
        shares.iter().take(places.len()).filter(|share| **share > KNEE).count() >= MANY
    }

    /// Potential at y, J.
    pub(super) fn potential(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> f64 {
        self.last = self.largest(model, y);
        let (Some(_), Some(memory)) = (self.limit, &mut self.memory) else { return 0.0 };
        if self.last <= KNEE {
            return 0.0;
        }
        if !self.last.is_finite() {
            return f64::INFINITY;
        }
        let lanes = model.stretch_places.basis.lanes();
        let (basis, apart, (places, kappa), _) = memory.watched(model);
        let mut energy = 0.0;
        for slot in 0..basis.blocks() * lanes {
            // Slots beyond the last place are padding.
            let kappa = places.get(slot).map_or(0.0, |&place| kappa[place]);
            let share = apart.shares[slot];
            let [potential, slope, _] = continued(share);
            let (block, lane) = (slot / lanes, slot % lanes);
            let length = apart.posed.reach[slot];
            energy += kappa * length * length * potential;
            // Force along F S^-1 - R, as a factor on it; the slope is zero below the knee.
            let factor = if share > KNEE { kappa * length * slope / apart.norms[slot] } else { 0.0 };
            (0..9).for_each(|e| apart.apart[(9 * block + e) * lanes + lane] *= factor);
        }
        energy
    }

    /// Adds the active places at the last evaluation to the lower half of a metric, r x r: stiffness
    /// `kappa phi' L / |A|` for all changes of `A = F S^-1 - R`, that across A. Allocates the first time.
    pub(super) fn add_metric(&mut self, model: &SkinningModel, lower: MatMut<'_, f64>) {
        let Some(memory) = &mut self.memory else { return };
        let mut rows = std::mem::replace(&mut memory.rows, Mat::new());
        rows.resize_with(3 * model.stretch_places.basis.items(), lower.ncols(), |_, _| 0.0);
        let (basis, apart, (places, kappa), _) = memory.watched(model);
        let mut count = 0;
        for (slot, &place) in places.iter().enumerate() {
            let share = apart.shares[slot];
            let across = kappa[place] * continued(share)[1] / share.max(KNEE);
            if across > 0.0 {
                let back = across.sqrt() * apart.back(slot, basis.lanes());
                for j in 0..lower.ncols() {
                    let moved = back * model.data.stretch.change(place, j);
                    rows.col_as_slice_mut(j)[count..count + 3].copy_from_slice(moved.as_slice());
                }
                count += 3;
            }
        }
        let felt = rows.get(..count, ..);
        add_lower_product(lower, felt.transpose(), felt);
        memory.rows = rows;
    }

    /// Adds the gradient of the potential at the last evaluated y.
    pub(super) fn add_gradient(&mut self, model: &SkinningModel, gradient: &mut [[f64; 3]]) {
        if !self.was_felt() {
            return;
        }
        let Some(memory) = &mut self.memory else { return };
        let (basis, apart, _, pulls) = memory.watched(model);
        Arch::new().dispatch(Gather { basis, apart: &apart.apart, back: &apart.posed.back, pulls, gradient });
    }
}

/// Growth of the penalty of a place that ends at a share of its limit: the square of the growth of its force
/// since [`FIRM`], continuous from 1 on.
///
/// The growth alone takes a place under a constant force back to [`FIRM`]; places under other forces need
/// more.
fn growth(share: f64) -> f64 {
    let [force, most] = [share, FIRM].map(|share| continued(share)[1]);
    (force / most).powi(2).min(FIRMER)
}

/// Measures the distance of each place from its shape in the rig; returns the largest share of the limit.
struct Measure<'a> {
    basis: &'a Packed<3>,
    known: &'a Packed<1>,
    y: &'a [[f64; 3]],
    at: &'a mut Apart,
}

impl WithSimd for Measure<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Apart { posed, apart, norms, shares, lengths } = self.at;
        let (rig, _) = S::as_mut_simd_f64s(&mut posed.gradients.rig);
        let (back, _) = S::as_mut_simd_f64s(&mut posed.back);
        let (reach, _) = S::as_mut_simd_f64s(&mut posed.reach);
        let (apart, _) = S::as_mut_simd_f64s(apart);
        let (norms, _) = S::as_mut_simd_f64s(norms);
        let (shares, _) = S::as_mut_simd_f64s(shares);
        let zero = simd.splat_f64s(0.0);
        let mut largest = zero;
        for block in 0..self.basis.blocks() {
            let f_rig = rig[9 * block..].first_chunk_mut().expect("nine numbers a block");
            let back = back[9 * block..].first_chunk_mut().expect("nine numbers a block");
            let most = NEAR * posed.limit;
            let is_open = !posed.is_followed[block];
            // A bound of each column alone costs a ninth.
            if is_open && is_far_below(simd, most, longest_sum(simd, self.known.block(block), lengths), f_rig)
            {
                (norms[block], shares[block]) = (zero, zero);
                apart[9 * block..9 * block + 9].fill(zero);
                continue;
            }
            let moved = columns_product::<S, 3, 9>(simd, self.basis.block(block), self.y.iter());
            if is_open {
                if is_far_below(simd, most, length2(simd, &moved), f_rig) {
                    (norms[block], shares[block]) = (zero, zero);
                    apart[9 * block..9 * block + 9].fill(zero);
                    continue;
                }
                follow(simd, posed.limit, f_rig, back, &mut reach[block]);
                posed.is_followed[block] = true;
            }
            let mut f = multiply(simd, &moved, back);
            for e in 0..9 {
                f[e] = simd.add_f64s(f[e], f_rig[e]);
            }
            let r = rotations_in_lanes(simd, f);
            let mut own = zero;
            for e in 0..9 {
                let difference = simd.sub_f64s(f[e], r[e]);
                own = simd.mul_add_e_f64s(difference, difference, own);
                apart[9 * block + e] = difference;
            }
            norms[block] = simd.sqrt_f64s(own);
            shares[block] = simd.div_f64s(norms[block], reach[block]);
            largest = simd.max_f64s(shares[block], largest);
        }
        simd.reduce_max_f64s(largest)
    }
}

/// Adds `G'P S^-1` for one 3 x 3 matrix P a place.
struct Gather<'a> {
    basis: &'a Packed<3>,
    apart: &'a [f64],
    back: &'a [f64],
    pulls: &'a mut [f64],
    gradient: &'a mut [[f64; 3]],
}

impl WithSimd for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (apart, _) = S::as_simd_f64s(self.apart);
        let (back, _) = S::as_simd_f64s(self.back);
        let (pulls, _) = S::as_mut_simd_f64s(self.pulls);
        for block in 0..self.basis.blocks() {
            let pull: &[S::f64s; 9] = apart[9 * block..].first_chunk().expect("nine numbers a block");
            let back: &[S::f64s; 9] = back[9 * block..].first_chunk().expect("nine numbers a block");
            pulls[9 * block..9 * block + 9].copy_from_slice(&multiply(simd, pull, back));
        }
        add_adjoint::<S, 3, 9>(simd, self.basis, pulls, self.gradient);
    }
}
