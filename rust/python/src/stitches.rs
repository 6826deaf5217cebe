//! `Stitches`: springs between points of a mesh.

use std::sync::Arc;

use jounce::body::PointStitches;
use jounce::material::Field;
use jounce::operators;
use pyo3::prelude::*;

use crate::arrays::{self, Axis};
use crate::errors::{refused, run};
use crate::mesh::{Embedding, TetMesh};

/// Stiffness of a spring that is given none, N/m.
const STIFFNESS: f64 = 1e4;

/// Springs that pull points of one mesh together: `sum_s k_s / 2 |x_a - x_b - gap_s d_s|^2` of whole positions.
///
/// mesh: the TetMesh. pairs: (s, 2) int32 or int64, indices of its vertices, or of the points of an Embedding in it
/// where emb is given. stiffness: k, N/m. gap: 0 pulls the ends into one place, 1 keeps the distance d that they have
/// at rest, turned along with the rig. Both one number or (s,) float64 each.
/// Raises ValueError for a pair that is not there, a stiffness that is not positive and a gap outside of [0, 1].
#[pyclass(frozen, module = "jounce", name = "Stitches")]
pub struct Stitches(pub Arc<operators::Stitches>);

#[pymethods]
impl Stitches {
    #[new]
    #[pyo3(signature = (mesh, pairs, stiffness=None, gap=None, emb=None),
           text_signature = "(mesh, pairs, stiffness=1e4, gap=0.0, emb=None)")]
    fn new(
        py: Python<'_>,
        mesh: &TetMesh,
        pairs: &Bound<'_, PyAny>,
        stiffness: Option<&Bound<'_, PyAny>>,
        gap: Option<&Bound<'_, PyAny>>,
        emb: Option<&Embedding>,
    ) -> PyResult<Self> {
        let count = emb.map_or(mesh.0.vertices().len(), |emb| emb.inner.points().len());
        let pairs = arrays::indices::<2>(pairs, "pairs", &[Axis::Any("s"), Axis::Is(2)], count)?;
        let stiffness = numbers(stiffness, "stiffness", STIFFNESS, pairs.len())?;
        let gap = numbers(gap, "gap", 0.0, pairs.len())?;
        let made = run(py, || match emb {
            Some(emb) => operators::Stitches::between_points(&mesh.0, &emb.inner, &pairs, &stiffness, &gap),
            None => operators::Stitches::between_vertices(&mesh.0, &pairs, &stiffness, &gap),
        });
        Ok(Self(Arc::new(made?)))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("Stitches({} springs)", self.0.len())
    }
}

/// Springs between p points of a surface; of one stiffness and gap, or of one each.
pub fn point_stitches(
    pairs: &Bound<'_, PyAny>,
    stiffness: Option<&Bound<'_, PyAny>>,
    gap: Option<&Bound<'_, PyAny>>,
    p: usize,
) -> PyResult<PointStitches> {
    let pairs = arrays::indices::<2>(pairs, "stitches", &[Axis::Any("s"), Axis::Is(2)], p)?;
    let stiffness = numbers(stiffness, "stitch_stiffness", STIFFNESS, pairs.len())?;
    let gaps = numbers(gap, "stitch_gap", 0.0, pairs.len())?;
    Ok(PointStitches { pairs, stiffness, gaps })
}

/// One number for each of `count` springs, from one for all, from as many, or from none.
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
