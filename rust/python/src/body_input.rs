//! Arguments of `Body` and `BodyJob`, checked before anything is computed.

use jounce::Progress;
use jounce::body::{self, BodyParams, CountingBones, Painted, PointStitches, standard};
use jounce::material::Field;
use jounce::mesh::SurfaceMesh;
use jounce::skeleton::SkeletonCore;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Axis};
use crate::errors::unnamed;
use crate::material;
use crate::mesh::surface;
use crate::skeleton;
use crate::stitches;

/// Checked arguments of `Body` and `BodyJob`, free of Python.
pub struct Input {
    surface: SurfaceMesh,
    weights: Vec<f64>,
    bones: usize,
    params: BodyParams,
    /// `true` for a resolution that follows from the surface.
    is_estimated: bool,
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

/// Weights as given, p x b in C order: the numbers other than 0, and their indices.
pub struct Weights(Vec<(usize, f64)>);

impl Weights {
    /// All numbers.
    pub fn dense(&self, count: usize) -> Vec<f64> {
        let mut dense = vec![0.0; count];
        self.0.iter().for_each(|&(at, weight)| dense[at] = weight);
        dense
    }
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
            (None, Some(parents)) => CountingBones::Large(skeleton::bones_above(parents, "bone_parents", b)?),
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

impl Input {
    pub fn new(
        points: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
        maps: &Maps<'_, '_>,
        params: BodyParams,
        is_estimated: bool,
    ) -> PyResult<Self> {
        let surface = surface(points, triangles)?;
        let p = surface.points().len();
        let weights = arrays::array::<f64>(weights, "weights", &[Axis::Is(p), Axis::Any("b")])?;
        let bones = weights.len(1);
        let (params, weights) = (maps.put(p, bones, params)?, weights.slice().to_vec());
        Ok(Self { surface, bones, weights, params, is_estimated })
    }

    pub fn sparse_weights(&self) -> Weights {
        let given = self.weights.iter().copied().enumerate();
        Weights(given.filter(|(_, weight)| *weight != 0.0).collect())
    }

    pub fn build(mut self, like: Option<&body::Body>, progress: &Progress) -> jounce::Result<body::Body> {
        if self.is_estimated {
            // Short, and no part of the stages.
            let alone = Progress::default();
            self.params.resolution = standard::resolution(&self.surface, standard::TETS, &alone)?;
        }
        body::Body::new_like(like, &self.surface, &self.weights, self.bones, &self.params, progress)
    }
}

/// Settings of a body of p points by the names of its constructor.
pub fn named<'py>(py: Python<'py>, params: &BodyParams, p: usize) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let map = |map: &Option<Vec<f64>>| {
        map.as_ref().map(|map| arrays::owned(py, map.clone(), &[map.len()])).transpose()
    };
    all.set_item("resolution", params.resolution)?;
    all.set_item("solid", params.solid)?;
    all.set_item("modes", params.modes)?;
    all.set_item("clusters", params.clusters)?;
    all.set_item("cubature", params.cubature)?;
    match &params.young {
        Painted::Uniform(young) => all.set_item("young", young)?,
        Painted::Points(young) => all.set_item("young", arrays::owned(py, young.clone(), &[p])?)?,
        _ => return Err(unnamed("young")),
    }
    all.set_item("poisson", params.poisson)?;
    all.set_item("density", params.density)?;
    all.set_item("locality", params.locality)?;
    all.set_item("driven", params.driven)?;
    all.set_item("law", material::law_name(params.law))?;
    all.set_item("leak", map(&params.leak)?)?;
    all.set_item("strength", map(&params.strength)?)?;
    let pinned = params.pinned.as_ref().map(|pinned| arrays::owned(py, pinned.clone(), &[p])).transpose()?;
    all.set_item("pinned", pinned)?;
    all.set_item("core", params.core.clone().map(skeleton::SkeletonCore))?;
    all.set_item("merge_into", None::<usize>)?;
    all.set_item("bone_parents", None::<usize>)?;
    match &params.bones {
        CountingBones::All => (),
        CountingBones::Merged(into) => all.set_item("merge_into", into)?,
        CountingBones::Large(parents) => all.set_item("bone_parents", skeleton::parents(parents))?,
        _ => return Err(unnamed("bones")),
    }
    let shapes = params.shapes.concat();
    let shapes = (!shapes.is_empty()).then(|| arrays::owned(py, shapes, &[params.shapes.len(), p, 3]));
    all.set_item("shapes", shapes.transpose()?)?;
    all.set_item("seed", params.seed)?;
    stitches::name(&params.stitches, &all)?;
    all.set_item("editable", params.editable)?;
    Ok(all)
}

/// Numbers of clusters and of tets of the cubature: with given clusters alone there is no cubature.
pub fn counts(clusters: Option<i64>, cubature: Option<i64>) -> [i64; 2] {
    let usual = standard::CUBATURE as i64;
    [clusters.unwrap_or(usual), cubature.unwrap_or(if clusters.is_some() { 0 } else { usual })]
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
