//! Arguments of `Body` and `BodyJob`, checked before anything is computed.

use jounce::body::{self, BodyParams, CountingBones, Painted, PointStitches};
use jounce::material::Field;
use jounce::mesh::SurfaceMesh;
use jounce::skeleton::SkeletonCore;
use jounce::{Error, Progress};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{self, Axis};
use crate::errors::refused;
use crate::material;
use crate::mesh::surface;
use crate::stitches;

/// Checked arguments of `Body` and `BodyJob`, free of Python.
pub struct Input {
    surface: SurfaceMesh,
    weights: Vec<f64>,
    bones: usize,
    params: BodyParams,
}

/// Unchecked arguments given per surface point or per bone.
pub struct Maps<'a, 'py> {
    pub young: Option<&'a Bound<'py, PyAny>>,
    pub leak: Option<&'a Bound<'py, PyAny>>,
    pub strength: Option<&'a Bound<'py, PyAny>>,
    pub pinned: Option<&'a Bound<'py, PyAny>>,
    pub core: Option<SkeletonCore>,
    pub merge_into: Option<&'a Bound<'py, PyAny>>,
    pub bone_parents: Option<&'a Bound<'py, PyAny>>,
    pub shapes: Option<&'a Bound<'py, PyAny>>,
    pub stitches: Option<&'a Bound<'py, PyAny>>,
    pub stitch_stiffness: Option<&'a Bound<'py, PyAny>>,
    pub stitch_gap: Option<&'a Bound<'py, PyAny>>,
    /// Groups, radii, and the share of stiffness known to the modes.
    pub stitch_others: [Option<&'a Bound<'py, PyAny>>; 3],
}

impl Maps<'_, '_> {
    /// The settings with these maps of p points and b bones filled in.
    fn put(&self, p: usize, b: usize, params: BodyParams) -> PyResult<BodyParams> {
        let points = [Axis::Is(p)];
        let map = |map: Option<&Bound<'_, PyAny>>, what| -> PyResult<Option<Vec<f64>>> {
            map.map(|map| Ok(arrays::array::<f64>(map, what, &points)?.slice().to_vec())).transpose()
        };
        let pinned =
            self.pinned.map(|pinned| arrays::array::<bool>(pinned, "pinned", &points)).transpose()?;
        let young = match self.young {
            Some(young) => match arrays::field(young, "young", &points)? {
                Field::Uniform(young) => Painted::Uniform(young),
                Field::PerTet(young) => Painted::Points(young),
            },
            None => params.young,
        };
        let bones = match (self.merge_into, self.bone_parents) {
            (None, None) => CountingBones::All,
            (Some(into), None) => CountingBones::Merged(
                arrays::indices::<1>(into, "merge_into", &[Axis::Is(b)], b)?.into_flattened(),
            ),
            (None, Some(parents)) => CountingBones::Large(bones_above(parents, "bone_parents", b)?),
            _ => {
                return Err(PyValueError::new_err(
                    "merge_into, bone_parents: expected one of them, got both",
                ));
            }
        };
        Ok(BodyParams {
            young,
            leak: map(self.leak, "leak")?,
            strength: map(self.strength, "strength")?,
            pinned: pinned.map(|pinned| pinned.slice().to_vec()),
            core: self.core.clone(),
            bones,
            shapes: self.shapes(p)?,
            stitches: match self.stitches {
                Some(pairs) => {
                    let (stiffness, gap) = (self.stitch_stiffness, self.stitch_gap);
                    stitches::point_stitches(pairs, stiffness, gap, self.stitch_others, p)?
                }
                None => PointStitches::default(),
            },
            ..params
        })
    }
}

impl Maps<'_, '_> {
    fn shapes(&self, p: usize) -> PyResult<Vec<Vec<f64>>> {
        let Some(shapes) = self.shapes else { return Ok(Vec::new()) };
        let shapes = arrays::array::<f64>(shapes, "shapes", &[Axis::Any("s"), Axis::Is(p), Axis::Is(3)])?;
        Ok(shapes.slice().chunks_exact(3 * p.max(1)).map(<[f64]>::to_vec).collect())
    }
}

/// Parent of each of b bones, from integers; -1 is none.
pub fn bones_above(parents: &Bound<'_, PyAny>, what: &'static str, b: usize) -> PyResult<Vec<Option<u32>>> {
    let above = arrays::integers(parents, what, &[Axis::Is(b)])?;
    let bone = |(element, index): (usize, i64)| match u32::try_from(index) {
        Ok(index) => Ok(Some(index)),
        Err(_) if index == -1 => Ok(None),
        Err(_) => Err(refused(Error::Index { what, element, index, count: b })),
    };
    above.into_iter().enumerate().map(bone).collect()
}

impl Input {
    pub fn new(
        points: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
        maps: &Maps<'_, '_>,
        params: BodyParams,
    ) -> PyResult<Self> {
        let surface = surface(points, triangles)?;
        let p = surface.points().len();
        let weights = arrays::array::<f64>(weights, "weights", &[Axis::Is(p), Axis::Any("b")])?;
        let bones = weights.len(1);
        Ok(Self { surface, bones, weights: weights.slice().to_vec(), params: maps.put(p, bones, params)? })
    }

    pub fn build(self, like: Option<&body::Body>, progress: &Progress) -> jounce::Result<body::Body> {
        body::Body::new_like(like, &self.surface, &self.weights, self.bones, &self.params, progress)
    }
}

/// Settings from `[resolution, modes, clusters, cubature, seed]`, the law and `[poisson, density, locality]`.
pub fn params(
    counts: [i64; 5],
    law: &str,
    [poisson, density, locality]: [f64; 3],
    [driven, editable]: [bool; 2],
) -> PyResult<BodyParams> {
    let [resolution, modes, clusters, cubature, seed] = counts;
    Ok(BodyParams {
        resolution: arrays::count(resolution, "resolution")?,
        modes: arrays::count(modes, "modes")?,
        clusters: arrays::count(clusters, "clusters")?,
        cubature: arrays::count(cubature, "cubature")?,
        seed: arrays::count(seed, "seed")?,
        law: material::law(law)?,
        poisson,
        density,
        locality,
        driven,
        editable,
        ..BodyParams::default()
    })
}
