//! The limit of stretch: a potential that is zero up to half of the limit and steep towards it, so that flesh stiffens
//! before it tears.
//!
//! `U = sum over places s of kappa_s L_s^2 phi((|F_s S_s^-1 - R_s| - a_s) / L_s)`, phi as for displacements
//! ([`limit`](super::limit)), `F = F_rig + G B z`, S the stretch that the rig gives as far as rest shapes follow it, R the
//! rotation that is nearest to `F S^-1`: flesh that is turned, or as the rig makes it, is not stretched. What the rig crushes
//! further is allowed besides, `a = |F_rig S^-1 - R_rig|`. No length there changes by a larger share of what the rig
//! makes of it than the limit, nor of what it was at rest where that is shorter: L is the limit over the largest stretch
//! of S that is beyond 1. kappa_s is a share of the least elastic energy of a stretch of 1 there, J.
//!
//! phi goes on as a parabola near the limit, so that a step may begin beyond it. Places that would also end beyond it are made
//! firmer, again and again, until they do not.

use nalgebra::Matrix3;
use pulp::{Arch, Simd, WithSimd};

use super::SkinningModel;
use super::local::{RigGradients, accumulate};
use super::metric::{MOST_STIFF, Metric};
use super::stretch_places::StretchPlaces;
use crate::material::growth::{KNEE, continued};
use crate::math::lanes::{Buffer, Packed, PackedSparse, columns_product, select_items};
use crate::math::polar::{multiply, rotations_in_lanes};
use crate::method::quasi_newton::rest_stretch_in_lanes;

/// How many times as firm a place becomes that would end beyond its limit, and how often.
const FIRMER: f64 = 10.0;
const TIMES: i32 = 8;
/// Stretches of the rig that the limit follows: skin folds at armpits and groins to a tenth of its length.
const FOLLOWED: (f64, f64) = (0.1, 30.0);
/// Share of the limit at which places are looked at with others that feel it.
const NEAR: f64 = 0.4;

/// Places, packed for a step.
pub(super) struct PackedPlaces {
    basis: Packed<3>,
    rig: PackedSparse<3>,
}

impl PackedPlaces {
    pub(super) fn new(places: &StretchPlaces) -> Self {
        let (count, rank, handles) = (places.tets.len(), places.basis.ncols(), places.rig.ncols());
        Self {
            basis: Packed::new(count, rank, |i, row, j| places.basis[(3 * i + row, j)]),
            rig: PackedSparse::new(count, handles, |i, row, j| places.rig[(3 * i + row, j)]),
        }
    }
}

/// A limit in force, and memory for the places.
pub(super) struct StretchLimit {
    memory: Option<Memory>,
    /// Share of length; `None` for no limit.
    limit: Option<f64>,
    /// s, the factor on the elastic energy.
    stiffness: f64,
    /// The largest stretch where the potential was last found, as a share of the limit.
    last: f64,
}

type Watched<'a> = (&'a Packed<3>, &'a mut Apart, (&'a [usize], &'a [f64]), &'a mut [f64]);

struct Memory {
    /// All places.
    whole: Apart,
    /// The places that are looked at, ascending.
    places: Vec<usize>,
    /// Those, and `G B Phi` there; in use while they are not all.
    near: Apart,
    basis: Packed<3>,
    /// The force, still spread over the lanes: r x 3 x lanes.
    spread: Buffer<f64>,
    /// How stiff the places are that feel the limit, and which they are.
    felt: Vec<(f64, usize)>,
    /// `s kappa` of all places, J: what it is, and then as many times as much as the place has become firmer.
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
            felt: Vec::with_capacity(basis.items()),
            kappa: vec![0.0; basis.items()],
            spread: Buffer::zeros(3 * model.rank() * basis.lanes()),
        }
    }

    /// `G B Phi` of the places that are looked at, how far apart they are, which they are with kappa of all, and memory
    /// for the force.
    fn watched<'a>(&'a mut self, model: &'a SkinningModel) -> Watched<'a> {
        let Self { whole, places, near, basis, spread, kappa, .. } = self;
        let all = &model.stretch_places.basis;
        let (basis, apart) = if places.len() == all.items() { (all, whole) } else { (&*basis, near) };
        (basis, apart, (places, kappa), spread)
    }
}

/// How far places are from what the rig makes of them, turned.
struct Apart {
    posed: PosedPlaces,
    /// `F S^-1 - R`, blocks x 9 x lanes.
    apart: Buffer<f64>,
    /// Its norm, and the share of the limit that this is, each blocks x lanes.
    norms: Buffer<f64>,
    shares: Buffer<f64>,
}

impl Apart {
    fn new(basis: &Packed<3>) -> Self {
        let places = basis.blocks() * basis.lanes();
        let [apart, norms, shares] = [9, 1, 1].map(|numbers| Buffer::zeros(numbers * places));
        Self { posed: PosedPlaces::new(basis), apart, norms, shares }
    }

    /// The gradient of the norm of a slot by the gradient of displacements.
    fn direction(&self, slot: usize, lanes: usize) -> Matrix3<f64> {
        let (block, lane) = (slot / lanes, slot % lanes);
        let nine = |numbers: &[f64]| Matrix3::from_fn(|i, j| numbers[(9 * block + 3 * i + j) * lanes + lane]);
        nine(&self.apart).try_normalize(0.0).unwrap_or_default() * nine(&self.posed.back)
    }

    /// Measures all places of a basis; the largest share of the limit.
    fn measure(&mut self, basis: &Packed<3>, y: &[[f64; 3]]) -> f64 {
        Arch::new().dispatch(Measure { basis, y, at: self })
    }
}

/// What a rig does to places, one a SIMD lane.
struct PosedPlaces {
    /// `F_rig S^-1`, in `rig`.
    gradients: RigGradients,
    /// `S^-1`, blocks x 9 x lanes.
    back: Buffer<f64>,
    /// L and a, blocks x 2 x lanes.
    reach: Buffer<f64>,
}

impl PosedPlaces {
    fn new(basis: &Packed<3>) -> Self {
        let places = basis.blocks() * basis.lanes();
        let [back, reach] = [9, 2].map(|numbers| Buffer::zeros(numbers * places));
        Self { gradients: RigGradients::new(basis), back, reach }
    }

    /// Sets a pose, with what offsets add to the gradients (3k rows or none), and how far a limit lets places go.
    fn set(&mut self, limit: f64, rig: &PackedSparse<3>, pose: &[[f64; 3]], offsets: &[[f64; 3]]) {
        self.gradients.set_pose(rig, pose, offsets, 0.0);
        let Self { gradients, back, reach } = self;
        Arch::new().dispatch(Follow { limit, rig: &mut gradients.rig, back, reach });
    }

    /// Becomes those of another's places.
    fn select(&mut self, from: &Self, places: &[usize]) {
        self.gradients.select(&from.gradients, places);
        select_items(&from.back, 9, places, &mut self.back);
        select_items(&from.reach, 2, places, &mut self.reach);
    }
}

impl StretchLimit {
    pub(super) fn new() -> Self {
        Self { memory: None, limit: None, stiffness: 0.0, last: 0.0 }
    }

    /// Sets the limit, the factor on the elastic energy, and what the rig does in a pose, with what offsets add to
    /// the gradients (3k rows or none); allocates the first time. All places are looked at.
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

    /// The largest stretch at y of what is looked at, as a share of the limit; 0 without one.
    fn largest(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> f64 {
        let (Some(_), Some(memory)) = (self.limit, &mut self.memory) else { return 0.0 };
        let (basis, apart, _, _) = memory.watched(model);
        apart.measure(basis, y)
    }

    /// Looks at no place, until one is found to feel the limit.
    pub(super) fn look_away(&mut self, model: &SkinningModel) {
        if let Some(memory) = &mut self.memory {
            memory.places.clear();
            memory.basis.select(&model.stretch_places.basis, &[]);
        }
    }

    /// Whether places that are not looked at feel the limit at y; from then on they are.
    pub(super) fn look(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> bool {
        let (Some(_), Some(memory)) = (self.limit, &mut self.memory) else { return false };
        let Memory { whole, places, near, basis, .. } = memory;
        let all = &model.stretch_places.basis;
        if places.len() == all.items() || whole.measure(all, y) <= KNEE {
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
        places.sort_unstable();
        basis.select(all, places);
        near.posed.select(&whole.posed, places);
        true
    }

    /// Whether the largest stretch of what is looked at is beyond the limit at y.
    pub(super) fn is_beyond(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> bool {
        self.largest(model, y) >= 1.0
    }

    /// Makes places firmer that are beyond the limit at y; whether there are any that may become so.
    pub(super) fn firm(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> bool {
        if !self.is_beyond(model, y) {
            return false;
        }
        let Some(memory) = &mut self.memory else { return false };
        let Memory { whole, places, near, kappa, .. } = memory;
        let shares = if places.len() == kappa.len() { &whole.shares } else { &near.shares };
        let most = self.stiffness * FIRMER.powi(TIMES);
        let mut is_any = false;
        for (&place, _) in places.iter().zip(shares.iter()).filter(|(_, share)| **share >= 1.0) {
            if kappa[place] < most * model.data.stretch.stiffness[place] {
                kappa[place] *= FIRMER;
                is_any = true;
            }
        }
        is_any
    }

    /// Whether it was felt where the potential was last found.
    pub(super) fn was_felt(&self) -> bool {
        self.limit.is_some() && self.last > KNEE
    }

    /// The potential at y, J.
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
            // Slots beyond the last place are filling.
            let kappa = places.get(slot).map_or(0.0, |&place| kappa[place]);
            let share = apart.shares[slot];
            let [potential, slope, _] = continued(share);
            let (block, lane) = (slot / lanes, slot % lanes);
            let length = apart.posed.reach[2 * block * lanes + lane];
            energy += kappa * length * length * potential;
            // The force along F S^-1 - R, written as a factor on it; below the knee the slope is zero.
            let factor = if share > KNEE { kappa * length * slope / apart.norms[slot] } else { 0.0 };
            (0..9).for_each(|e| apart.apart[(9 * block + e) * lanes + lane] *= factor);
        }
        energy
    }

    /// Tells a metric how stiff the places that feel the limit most make it where the potential was last
    /// found: `kappa phi''` along the gradient of `|F S^-1 - R|`, as it was when they first felt it.
    pub(super) fn stiffen(&mut self, model: &SkinningModel, metric: &mut Metric) {
        metric.slacken();
        if let Some(memory) = self.memory.as_mut().filter(|_| self.limit.is_some() && self.last > KNEE) {
            let mut felt = std::mem::take(&mut memory.felt);
            let (basis, apart, (places, kappa), _) = memory.watched(model);
            let stiff = |slot: usize| (kappa[places[slot]] * continued(apart.shares[slot])[2], slot);
            felt.clear();
            felt.extend((0..places.len()).filter(|&slot| apart.shares[slot] > KNEE).map(stiff));
            felt.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            for &(stiffness, slot) in felt.iter().take(MOST_STIFF) {
                let direction = || apart.direction(slot, basis.lanes());
                metric.stiffen(places[slot], stiffness, |u| {
                    model.data.stretch.pull(places[slot], &direction(), u)
                });
            }
            memory.felt = felt;
        }
        metric.prepare();
    }

    /// Adds the gradient of the potential at the y for which it was last found.
    pub(super) fn add_gradient(&mut self, model: &SkinningModel, gradient: &mut [[f64; 3]]) {
        if !self.was_felt() {
            return;
        }
        let Some(memory) = &mut self.memory else { return };
        let (basis, apart, _, spread) = memory.watched(model);
        Arch::new().dispatch(Gather { basis, apart: &apart.apart, back: &apart.posed.back, spread });
        for (slope, spread) in gradient.as_flattened_mut().iter_mut().zip(spread.chunks_exact(basis.lanes()))
        {
            *slope += spread.iter().sum::<f64>();
        }
    }
}

/// Has places follow the rig: takes `F_rig` to `F_rig S^-1`.
struct Follow<'a> {
    limit: f64,
    rig: &'a mut [f64],
    back: &'a mut [f64],
    reach: &'a mut [f64],
}

impl WithSimd for Follow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (rig, _) = S::as_mut_simd_f64s(self.rig);
        let (back, _) = S::as_mut_simd_f64s(self.back);
        let (reach, _) = S::as_mut_simd_f64s(self.reach);
        let limit = simd.splat_f64s(self.limit);
        let places = rig.as_chunks_mut().0.iter_mut().zip(back.as_chunks_mut().0);
        for ((rig, back), reach) in places.zip(reach.as_chunks_mut::<2>().0) {
            let stretch = rest_stretch_in_lanes(simd, *rig, 1.0, FOLLOWED);
            (*rig, *back) = (multiply(simd, rig, &stretch.inverse), stretch.inverse);
            *reach = [simd.div_f64s(limit, stretch.longest), stretch.missed];
        }
    }
}

/// Finds how far each place is from what the rig makes of it; gives the largest share of the limit.
struct Measure<'a> {
    basis: &'a Packed<3>,
    y: &'a [[f64; 3]],
    at: &'a mut Apart,
}

impl WithSimd for Measure<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Apart { posed, apart, norms, shares } = self.at;
        let (rig, _) = S::as_simd_f64s(&posed.gradients.rig);
        let (back, _) = S::as_simd_f64s(&posed.back);
        let (reach, _) = S::as_simd_f64s(&posed.reach);
        let (apart, _) = S::as_mut_simd_f64s(apart);
        let (norms, _) = S::as_mut_simd_f64s(norms);
        let (shares, _) = S::as_mut_simd_f64s(shares);
        let zero = simd.splat_f64s(0.0);
        let mut largest = zero;
        for block in 0..self.basis.blocks() {
            let f_rig: &[S::f64s; 9] = rig[9 * block..].first_chunk().expect("nine numbers a block");
            let back: &[S::f64s; 9] = back[9 * block..].first_chunk().expect("nine numbers a block");
            let moved = columns_product::<S, 3, 9>(simd, self.basis.block(block), self.y.iter());
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
            let beyond = simd.sub_f64s(norms[block], reach[2 * block + 1]);
            shares[block] = simd.max_f64s(simd.div_f64s(beyond, reach[2 * block]), zero);
            largest = simd.max_f64s(shares[block], largest);
        }
        simd.reduce_max_f64s(largest)
    }
}

/// `G'P S^-1` of one 3 x 3 matrix P a place, spread over the lanes.
struct Gather<'a> {
    basis: &'a Packed<3>,
    apart: &'a [f64],
    back: &'a [f64],
    spread: &'a mut [f64],
}

impl WithSimd for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (apart, _) = S::as_simd_f64s(self.apart);
        let (back, _) = S::as_simd_f64s(self.back);
        let (spread, _) = S::as_mut_simd_f64s(self.spread);
        spread.fill(simd.splat_f64s(0.0));
        for block in 0..self.basis.blocks() {
            let pull: &[S::f64s; 9] = apart[9 * block..].first_chunk().expect("nine numbers a block");
            let back: &[S::f64s; 9] = back[9 * block..].first_chunk().expect("nine numbers a block");
            accumulate(simd, self.basis.block(block), &multiply(simd, pull, back), spread);
        }
    }
}
