//! Values where nothing else is asked for.

use jounce::Progress;
use jounce::body::standard;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays;
use crate::errors::run;
use crate::mesh::surface;

/// The values by name.
pub fn values(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("modes", standard::MODES)?;
    all.set_item("cubature", standard::CUBATURE)?;
    all.set_item("tets", standard::TETS)?;
    all.set_item("core", standard::CORE)?;
    all.set_item("young", standard::YOUNG)?;
    all.set_item("density", standard::DENSITY)?;
    all.set_item("frequency", standard::FREQUENCY)?;
    all.set_item("damping", standard::DAMPING)?;
    all.set_item("substeps", standard::SUBSTEPS)?;
    all.set_item("smoothing", standard::SMOOTHING)?;
    all.set_item("limit", standard::LIMIT)?;
    all.set_item("stretch", standard::STRETCH)?;
    Ok(all)
}

/// Cells along the longest side of a surface for about a given number of tets, between 16 and 64.
///
/// Parameters
/// ----------
/// points : (p, 3) array
///     Positions on the surface, metres.
/// triangles : (q, 3) array of integers
///     Indices of the points.
/// tets : int, default 12000
///     Number of tets to come near.
///
/// Returns
/// -------
/// int
///     Cells along the longest side.
///
/// Raises
/// ------
/// ValueError
///     As `TetMesh.lattice`.
///
/// Examples
/// --------
/// >>> jounce.standard.resolution(*jounce.shapes.box())
/// 16
#[pyfunction]
#[pyo3(signature = (points, triangles, tets=standard::TETS as i64),
       text_signature = "(points, triangles, tets=12000)")]
pub fn resolution(
    py: Python<'_>,
    points: &Bound<'_, PyAny>,
    triangles: &Bound<'_, PyAny>,
    tets: i64,
) -> PyResult<usize> {
    let (surface, tets) = (surface(points, triangles)?, arrays::count(tets, "tets")?);
    run(py, || standard::resolution(&surface, tets, &Progress::default()))
}

/// Frequency of a pressure wave across a cube of `YOUNG`, `DENSITY` and a volume.
///
/// Bones and pins do not change it; the lowest mode of a body on bones is near.
///
/// Parameters
/// ----------
/// volume : float
///     Volume of the flesh, m^3.
///
/// Returns
/// -------
/// float
///     `sqrt(E / rho) / V^(1/3)`, Hz.
///
/// Examples
/// --------
/// >>> round(jounce.standard.size_frequency(0.08), 2)
/// 7.34
#[pyfunction]
pub fn size_frequency(volume: f64) -> f64 {
    standard::size_frequency(volume)
}
