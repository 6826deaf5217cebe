//! Points that hang in a body: their displacement from the coefficients of the modes.

use std::sync::Arc;

use jounce::mesh::{Embedding, bounds};
use jounce::model::skinning_modes::SkinningModel;
use jounce::{Error, Result};
use pulp::{Arch, Simd, WithSimd};

/// Points of a block: those of the widest registers.
const LANES: usize = 16;

/// One number of each of some points.
type Lane = [f32; LANES];

/// Points with the weights of the modes, `u = sum over k of W_k Z_k [X; 1]`. Clones share their numbers.
#[derive(Clone)]
pub struct Points {
    places: Arc<[[f64; 3]]>,
    /// Weights, p x m in C order.
    weights: Arc<[f64]>,
    modes: usize,
    /// Centre of the points, from which places are measured to keep digits.
    center: [f64; 3],
    /// For each block of points the three coordinates and the weights of the modes.
    packed: Arc<[Lane]>,
    /// 3x4 transforms of the modes by columns, about the centre.
    transforms: Vec<[f32; 12]>,
}

impl Points {
    /// The vertices of the model's mesh.
    pub fn of_mesh(model: &SkinningModel) -> Self {
        Self::pack(model.mesh().vertices().to_vec(), model.weights().to_vec(), model.mode_count())
    }

    /// Points anywhere in or at the body: at rest, metres. A point outside moves with the nearest of the
    /// body.
    ///
    /// # Errors
    /// [`Error::Empty`] without points, [`Error::NotFinite`] for the first that is not finite.
    pub fn embedded(model: &SkinningModel, places: Vec<[f64; 3]>) -> Result<Self> {
        let embedding = Embedding::new(model.mesh(), places)?;
        let weights = embedding.interpolate(model.mesh(), model.weights(), model.mode_count())?;
        Ok(Self::pack(embedding.points().to_vec(), weights, model.mode_count()))
    }

    fn pack(places: Vec<[f64; 3]>, weights: Vec<f64>, modes: usize) -> Self {
        let (low, high) = bounds(&places);
        let center: [f64; 3] = std::array::from_fn(|c| 0.5 * (low[c] + high[c]));
        let size = 3 + modes;
        let mut packed = vec![[0.0; LANES]; places.len().div_ceil(LANES) * size];
        for (i, place) in places.iter().enumerate() {
            let block = &mut packed[i / LANES * size..][..size];
            let local = (0..3).map(|c| place[c] - center[c]);
            let numbers = local.chain(weights[i * modes..][..modes].iter().copied());
            block.iter_mut().zip(numbers).for_each(|(lane, number)| lane[i % LANES] = number as f32);
        }
        let (places, weights, packed) = (places.into(), weights.into(), packed.into());
        Self { places, weights, modes, center, packed, transforms: vec![[0.0; 12]; modes] }
    }

    /// Number of points p.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Places at rest, metres.
    pub fn places(&self) -> &[[f64; 3]] {
        &self.places
    }

    /// Weights of the modes, p x m in C order.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Weights of a point and its place at rest.
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown point.
    pub fn point(&self, index: usize) -> Result<(&[f64], [f64; 3])> {
        let (what, count) = ("point", self.count());
        let missing = || Error::Index { what, element: 0, index: index as i64, count };
        let place = self.places.get(index).ok_or_else(missing)?;
        Ok((&self.weights[index * self.modes..][..self.modes], *place))
    }

    /// Writes the displacements, p x 3, of coefficients Z, m x 3 x 4; the last ones may be left out as zero.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of displacements.
    pub fn displace(&mut self, coefficients: &[f64], out: &mut [f32]) -> Result<()> {
        if out.len() != 3 * self.count() {
            let (expected, got) = (format!("({}, 3)", self.count()), format!("{} numbers", out.len()));
            return Err(Error::Shape { what: "displacements", expected, got });
        }
        let played = coefficients.as_chunks::<12>().0;
        for (transform, z) in self.transforms.iter_mut().zip(played) {
            *transform = about(&self.center, z);
        }
        let transforms = &self.transforms[..played.len().min(self.modes)];
        Arch::new().dispatch(Blocks { packed: &self.packed, size: 3 + self.modes, transforms, out });
        Ok(())
    }
}

/// A transform by columns, for places measured from a centre.
fn about(center: &[f64; 3], z: &[f64; 12]) -> [f32; 12] {
    let moved = |row: usize| (0..3).fold(z[4 * row + 3], |sum, d| sum + z[4 * row + d] * center[d]);
    std::array::from_fn(|e| {
        let (column, row) = (e / 3, e % 3);
        (if column < 3 { z[4 * row + column] } else { moved(row) }) as f32
    })
}

/// Displacements of all blocks of points, compiled for the instructions found at run time.
struct Blocks<'a> {
    packed: &'a [Lane],
    /// Numbers of a block, one for each of its points.
    size: usize,
    transforms: &'a [[f32; 12]],
    out: &'a mut [f32],
}

impl WithSimd for Blocks<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let blocks = self.packed.chunks_exact(self.size);
        for (block, out) in blocks.zip(self.out.chunks_mut(3 * LANES)) {
            let (block, _) = S::as_simd_f32s(block.as_flattened());
            let mut moved = [[0.0; LANES]; 3];
            for part in 0..LANES / S::F32_LANES {
                let of_part = displaced(simd, &block[part..], self.transforms);
                for (moved, of_part) in moved.iter_mut().zip(of_part) {
                    S::as_mut_simd_f32s(moved).0[part] = of_part;
                }
            }
            for (lane, out) in out.as_chunks_mut::<3>().0.iter_mut().enumerate() {
                *out = moved.map(|moved| moved[lane]);
            }
        }
    }
}

/// Displacements of the points of a register: the first of every [`LANES`] numbers are theirs.
#[inline(always)]
fn displaced<S: Simd>(simd: S, numbers: &[S::f32s], transforms: &[[f32; 12]]) -> [S::f32s; 3] {
    let each = LANES / S::F32_LANES;
    let mut blend = [simd.splat_f32s(0.0); 12];
    for (k, transform) in transforms.iter().enumerate() {
        let weight = numbers[each * (3 + k)];
        for e in 0..12 {
            blend[e] = simd.mul_add_e_f32s(weight, simd.splat_f32s(transform[e]), blend[e]);
        }
    }
    let mut moved = [blend[9], blend[10], blend[11]];
    for axis in 0..3 {
        let place = numbers[each * axis];
        for c in 0..3 {
            moved[c] = simd.mul_add_e_f32s(blend[3 * axis + c], place, moved[c]);
        }
    }
    moved
}
