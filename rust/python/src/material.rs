//! `Material`.

use std::sync::Arc;

use jounce::material::{self, Field, Law, StressCurve, StressCurves};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::arrays::{self, Axis};
use crate::errors::refused;
use crate::recipe::made_by;

/// An elastic material: a law and its parameters, each one number or (t,) float64, one a tet.
///
/// Parameters
/// ----------
/// young : float or array, default 100000.0
///     Young's modulus, Pa, above 0.
/// poisson : float or array, default 0.0
///     Poisson's ratio, in [0, 0.5).
/// density : float or array, default 1000.0
///     Mass density, kg/m^3, above 0.
/// law : {'arap', 'corotated', ...}, default 'arap'
///     "arap", `psi = mu |F - R|^2` with `mu = young / (2 (1 + poisson))`, or "corotated", which
///     adds `lambda / 2 tr^2(R'F - I)` with `lambda = young poisson / ((1 + poisson) (1 - 2
///     poisson))`: resistance to change of volume, at the cost of a line search a step [FastCD
///     C.2]. Surfaces without volume take "arap", with poisson in effect in their plane and in
///     bending. `Model.full_space` also knows "neo_hookean", "stvk", "mooney_rivlin" (with c1 = 0.4
///     mu, c2 = 0.1 mu), "polynomial" and "spline". "polynomial" is `psi = mu sum_i (s_i - 1)^4` of
///     the principal stretches, without resistance to small strains or to change of volume.
///     "spline" has drawn stress curves.
/// curves : sequence of arrays, optional
///     For "spline" only, the derivatives of the energies of lengths, areas and the volume, each
///     (k, 2) float64 of ascending stretches and stresses in shares of young, or None for zero.
///     Natural cubic splines interpolate them, with straight lines beyond the ends. They must
///     balance at rest: length + 2 area + volume is 0 at 1; poisson is ignored.
///
/// Raises
/// ------
/// ValueError
///     For a parameter out of range and for an unknown law.
///
/// Examples
/// --------
/// >>> jelly = jounce.Material(young=2e4, poisson=0.4, density=1000.0, law="neo_hookean")
/// >>> jelly.young
/// 20000.0
#[pyclass(frozen, module = "jounce", name = "Material")]
pub struct Material(pub Arc<material::Material>);

#[pymethods]
impl Material {
    #[new]
    #[pyo3(signature = (young=None, poisson=None, density=None, law="arap", curves=None),
           text_signature = "(young=1e5, poisson=0.0, density=1000.0, law='arap', curves=None)")]
    fn new(
        young: Option<&Bound<'_, PyAny>>,
        poisson: Option<&Bound<'_, PyAny>>,
        density: Option<&Bound<'_, PyAny>>,
        law: &str,
        curves: Option<[Option<Bound<'_, PyAny>>; 3]>,
    ) -> PyResult<Self> {
        let law = self::law(law)?;
        let field = |argument: Option<&Bound<'_, PyAny>>, what, default| match argument {
            Some(argument) => arrays::field(argument, what, &[Axis::Any("t")]),
            None => Ok(Field::Uniform(default)),
        };
        let (young, poisson, density) = (
            field(young, "young", 1e5)?,
            field(poisson, "poisson", 0.0)?,
            field(density, "density", 1000.0)?,
        );
        let made = match (law, curves) {
            (Law::Spline, Some(curves)) => material::Material::drawn(drawn(curves)?, young, density),
            (_, None) => material::Material::new(law, young, poisson, density),
            _ => {
                let text = "curves: only the law \"spline\" is drawn; leave them out, or choose that law";
                return Err(PyValueError::new_err(text));
            }
        };
        made.map(|material| Self(Arc::new(material))).map_err(refused)
    }

    /// Name of the law.
    #[getter]
    fn law(&self) -> &'static str {
        law_name(self.0.law())
    }

    /// Young's modulus, Pa: one number, or (t,) float64.
    #[getter]
    fn young<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        field(py, self.0.young())
    }

    /// Poisson's ratio: one number, or (t,) float64.
    #[getter]
    fn poisson<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        field(py, self.0.poisson())
    }

    /// Density, kg/m^3: one number, or (t,) float64.
    #[getter]
    fn density<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        field(py, self.0.densities())
    }

    /// Drawn stress curves of lengths, areas and the volume, each (k, 2) float64 or None for zero, as in
    /// the constructor; None for other laws.
    #[getter]
    fn curves<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(curves) = self.0.curves() else { return Ok(None) };
        let made = curves.curves().map(|curve| match curve.knots() {
            [] => Ok(None),
            knots => arrays::owned(py, knots.as_flattened().to_vec(), &[knots.len(), 2]).map(Some),
        });
        let [length, area, volume] = made;
        PyList::new(py, [length?, area?, volume?]).map(Some)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let numbers = (self.young(py)?, self.poisson(py)?, self.density(py)?, self.law(), self.curves(py)?);
        made_by::<Self>(py, "", numbers, None)
    }

    pub fn __repr__(&self) -> String {
        let young = match self.0.young() {
            Field::Uniform(young) => format!("{young:e}"),
            Field::PerTet(young) => format!("<{} tets>", young.len()),
        };
        format!("Material({}, young={young})", law_name(self.0.law()))
    }
}

/// A parameter as Python has it: one number, or an array.
pub fn field<'py>(py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyAny>> {
    match field {
        Field::Uniform(value) => Ok(value.into_pyobject(py)?.into_any()),
        Field::PerTet(values) => Ok(arrays::owned(py, values.clone(), &[values.len()])?.into_any()),
    }
}

/// Stress curves of lengths, areas and the volume.
fn drawn(curves: [Option<Bound<'_, PyAny>>; 3]) -> PyResult<StressCurves> {
    let [length, area, volume] = curves;
    let curve = |knots: Option<Bound<'_, PyAny>>| match knots {
        Some(knots) => {
            let knots = arrays::array::<f64>(&knots, "curves", &[Axis::Any("k"), Axis::Is(2)])?;
            StressCurve::new(knots.slice().as_chunks::<2>().0).map_err(refused)
        }
        None => Ok(StressCurve::zero()),
    };
    StressCurves::new(curve(length)?, curve(area)?, curve(volume)?).map_err(refused)
}

/// Laws by their names.
const LAWS: [(&str, Law); 7] = [
    ("arap", Law::Arap),
    ("corotated", Law::Corotated),
    ("neo_hookean", Law::NeoHookean),
    ("stvk", Law::StVenantKirchhoff),
    ("mooney_rivlin", Law::MooneyRivlin),
    ("polynomial", Law::Polynomial),
    ("spline", Law::Spline),
];

/// Name of a law.
pub fn law_name(law: Law) -> &'static str {
    LAWS.iter().find(|(_, known)| *known == law).map_or("", |(name, _)| name)
}

/// Law with a given name.
pub fn law(name: &str) -> PyResult<Law> {
    LAWS.iter().find(|(known, _)| *known == name).map(|(_, law)| *law).ok_or_else(|| {
        let text = format!(
            "law: expected \"arap\", \"corotated\", \"neo_hookean\", \"stvk\", \"mooney_rivlin\", \
             \"polynomial\" or \"spline\", got {name:?}"
        );
        PyValueError::new_err(text)
    })
}
