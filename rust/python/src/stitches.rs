//! `Stitches`: springs between points of a mesh.

use std::sync::Arc;

use jounce::body::PointStitches;
use jounce::material::Field;
use jounce::{file, operators};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::arrays::{self, Axis};
use crate::errors::{refused, run};
use crate::mesh::{Embedding, TetMesh};
use crate::recipe::made_by;

/// Default stiffness of a spring, N/m.
const STIFFNESS: f64 = 1e4;

/// Springs between points of one mesh: `sum_s k_s / 2 |x_a - x_b - gap_s d_s|^2` of total positions.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     Mesh of the points.
/// pairs : (s, 2) array of integers
///     Vertex indices of both ends, or with `emb` indices of the points of an Embedding in the mesh.
/// stiffness : float or array, default 10000.0
///     Stiffness k of each spring, N/m, one number or (s,).
/// gap : float or array, default 0.0
///     Share of the rest distance to keep, one number or (s,): 0 pulls the ends together, 1 keeps their
///     rest distance d, turned along with the rig.
/// emb : Embedding, optional
///     Embedding of the points in `pairs`; None for vertices.
/// group : (s,) array of integers, optional
///     Group of each spring, below 32, for separate opening by a Simulation's `stitching`; None for one
///     group.
/// radius : float or array, default 0.0
///     Metres, one number or (s,): each end acts on the mean of the flesh in a ball of this radius,
///     which makes the compliance independent of the mesh; 0 acts on points.
///
/// Raises
/// ------
/// ValueError
///     For an index out of range, a stiffness that is not positive and a gap outside of [0, 1].
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> ends = [int(np.argmin(mesh.vertices[:, 0])), int(np.argmax(mesh.vertices[:, 0]))]
/// >>> stitches = jounce.Stitches(mesh, [ends], stiffness=100.0, gap=1.0)
/// >>> len(stitches)
/// 1
#[pyclass(frozen, module = "jounce", name = "Stitches")]
pub struct Stitches(pub Arc<operators::Stitches>);

#[pymethods]
impl Stitches {
    #[new]
    #[pyo3(signature = (mesh, pairs, stiffness=None, gap=None, emb=None, group=None, radius=None),
           text_signature = "(mesh, pairs, stiffness=1e4, gap=0.0, emb=None, group=None, radius=0.0)")]
    fn new(
        py: Python<'_>,
        mesh: &TetMesh,
        pairs: &Bound<'_, PyAny>,
        stiffness: Option<&Bound<'_, PyAny>>,
        gap: Option<&Bound<'_, PyAny>>,
        emb: Option<&Embedding>,
        group: Option<&Bound<'_, PyAny>>,
        radius: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let count = emb.map_or(mesh.0.vertices().len(), |emb| emb.inner.points().len());
        let pairs = arrays::indices::<2>(pairs, "pairs", &[Axis::Any("s"), Axis::Is(2)], count)?;
        let stiffness = numbers(stiffness, "stiffness", STIFFNESS, pairs.len())?;
        let gap = numbers(gap, "gap", 0.0, pairs.len())?;
        let groups = groups(group, "group", pairs.len())?;
        let radii = numbers(radius, "radius", 0.0, pairs.len())?;
        let made = run(py, || {
            let made = match emb {
                Some(emb) => {
                    operators::Stitches::between_points(&mesh.0, &emb.inner, &pairs, &stiffness, &gap)
                }
                None => operators::Stitches::between_vertices(&mesh.0, &pairs, &stiffness, &gap),
            };
            made?.in_groups(&groups)?.spread(&mesh.0, &radii)
        });
        Ok(Self(Arc::new(made?)))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    #[staticmethod]
    fn _decoded(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        run(py, || file::decode_stitches(data)).map(|made| Self(Arc::new(made)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        made_by::<Self>(py, "_decoded", (PyBytes::new(py, &file::encode_stitches(&self.0)),), None)
    }

    fn __repr__(&self) -> String {
        format!("Stitches({} springs)", self.0.len())
    }
}

/// Springs between p points of a surface, with common or individual stiffness and gap.
pub fn point_stitches(
    pairs: &Bound<'_, PyAny>,
    stiffness: Option<&Bound<'_, PyAny>>,
    gap: Option<&Bound<'_, PyAny>>,
    [group, radius, known]: [Option<&Bound<'_, PyAny>>; 3],
    p: usize,
) -> PyResult<PointStitches> {
    let pairs = arrays::indices::<2>(pairs, "stitches", &[Axis::Any("s"), Axis::Is(2)], p)?;
    let stiffness = numbers(stiffness, "stitch_stiffness", STIFFNESS, pairs.len())?;
    let gaps = numbers(gap, "stitch_gap", 0.0, pairs.len())?;
    let groups = groups(group, "stitch_group", pairs.len())?;
    let radii = numbers(radius, "stitch_radius", 0.0, pairs.len())?;
    let known = numbers(known, "stitch_known", 1.0, pairs.len())?;
    Ok(PointStitches { pairs, stiffness, gaps, groups, radii, known })
}

/// Group of each of `count` springs; group 0 for all if none is given.
/// Adds the settings of stitches by the names of the constructor of `Body`.
pub fn name(stitches: &PointStitches, settings: &Bound<'_, PyDict>) -> PyResult<()> {
    let py = settings.py();
    let PointStitches { pairs, stiffness, gaps, groups, radii, known } = stitches;
    if pairs.is_empty() {
        return settings.set_item("stitches", None::<usize>);
    }
    let pairs = arrays::owned(py, arrays::signed(pairs.as_flattened()), &[pairs.len(), 2])?;
    settings.set_item("stitches", pairs)?;
    settings.set_item("stitch_group", arrays::owned(py, arrays::signed(groups), &[groups.len()])?)?;
    let numbers = [("stiffness", stiffness), ("gap", gaps), ("radius", radii), ("known", known)];
    for (name, values) in numbers {
        let values = arrays::owned(py, values.clone(), &[values.len()])?;
        settings.set_item(format!("stitch_{name}"), values)?;
    }
    Ok(())
}

fn groups(given: Option<&Bound<'_, PyAny>>, what: &'static str, count: usize) -> PyResult<Vec<u32>> {
    let Some(given) = given else { return Ok(vec![0; count]) };
    let most = operators::Stitches::MOST_GROUPS;
    Ok(arrays::indices::<1>(given, what, &[Axis::Is(count)], most)?.into_flattened())
}

/// One number for each of `count` springs, from one for all, from as many, or from the default.
fn numbers(
    given: Option<&Bound<'_, PyAny>>,
    what: &'static str,
    default: f64,
    count: usize,
) -> PyResult<Vec<f64>> {
    let Some(given) = given else { return Ok(vec![default; count]) };
    match arrays::field(given, what, &[Axis::Is(count)])? {
        Field::Uniform(value) if value.is_finite() => Ok(vec![value; count]),
        Field::Uniform(value) => Err(refused(jounce::Error::NotFinite { what, element: 0, value })),
        Field::PerTet(values) => Ok(values),
    }
}
