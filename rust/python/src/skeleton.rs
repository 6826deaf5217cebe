//! `SkeletonCore`: the part of a body that follows its bones.

use std::collections::BTreeMap;

use jounce::Error;
use jounce::rig::Rig;
use jounce::skeleton::{self, Bone, BoneRole, Part, PartSetting};
use numpy::PyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{self, Axis};
use crate::errors::{refused, run};
use crate::mesh::surface;
use crate::recipe::made_by;

/// The names of the roles.
const ROLES: [(&str, BoneRole); 4] = [
    ("automatic", BoneRole::Automatic),
    ("flesh", BoneRole::Flesh),
    ("rigid", BoneRole::Rigid),
    ("free", BoneRole::Free),
];

/// A core of bone for a `Body`: the core follows the rig exactly, the rest is flesh.
///
/// Hands, feet and heads are rigid by default, and so are the `hard_points` of the surface.
///
/// Parameters
/// ----------
/// heads : (b, 3) array
///     Head of each bone at rest, metres.
/// parents : (b,) array of integers
///     Parent of each bone, -1 for none.
/// names : sequence of str, optional
///     Name of each bone, as a hint at the part of the body.
/// roles : sequence of _Role, optional
///     Role of each bone: "automatic", "flesh" (thick flesh around the bone moves), "rigid" (none
///     moves) or "free" (all moves).
/// amount : float, default 0.5
///     Share of the flesh beside rigid parts that follows the bones, from 0, none, to 1, all but
///     the thickest flesh.
/// rigid : (p,) array of bool, optional
///     Points that are hard.
/// still : sequence of bool, optional
///     True for each bone that only its parents move; such tails, ears and the like swing freely.
/// resolution : int, optional
///     Cells along the longest side of the lattice for the search of thin parts and roles, to get
///     the same result for bodies of all resolutions; None is the body's own.
/// anatomy : bool, default True
///     Share of bone by region and direction, as in a living body: hard rib cage, loins and pelvis,
///     soft belly, buttocks and a soft layer on the limbs; ears and tails free. The amount then
///     scales the shares: 0.5 leaves them as they are, 0 is no core, 1 is all. A body without legs,
///     fins and tail keeps the core that it has without anatomy.
/// parts : mapping of str to (float, float), optional
///     (softness, amount) by the name of a part: "belly", "chest", "buttocks", "thighs", "calves",
///     "arms", "neck", "ears", "tail", "fins", "hair", "rest". Softness, > 0, divides the part's
///     stiffness, which is such that at 1 each part has a frequency of its own; amount in [0, 3] is
///     the share of the rig's acceleration that it feels.
///
/// Raises
/// ------
/// ValueError
///     For lengths that do not agree and unknown roles; `Body` raises for a core that does not fit
///     its surface.
///
/// Examples
/// --------
/// >>> heads = [[0, 0.5, 0.5], [2, 0.5, 0.5]]
/// >>> core = jounce.SkeletonCore(heads, [-1, 0], roles=["flesh", "flesh"])
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> weights = np.stack([points[:, 0] < 2, points[:, 0] > 2], axis=1).astype(float)
/// >>> body = jounce.Body(points, triangles, weights, resolution=12, modes=4, clusters=20, core=core)
/// >>> body.roles
/// ['flesh', 'flesh']
#[pyclass(frozen, module = "jounce", name = "SkeletonCore")]
pub struct SkeletonCore(pub skeleton::SkeletonCore);

#[pymethods]
impl SkeletonCore {
    #[new]
    #[pyo3(signature = (heads, parents, *, names=None, roles=None, amount=0.5, rigid=None, still=None,
                        resolution=None, anatomy=true, parts=None))]
    fn new(
        heads: &Bound<'_, PyAny>,
        parents: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        roles: Option<Vec<String>>,
        amount: f64,
        rigid: Option<&Bound<'_, PyAny>>,
        still: Option<Vec<bool>>,
        resolution: Option<usize>,
        anatomy: bool,
        parts: Option<BTreeMap<String, (f64, f64)>>,
    ) -> PyResult<Self> {
        let heads = arrays::points(heads, "heads")?;
        let count = heads.len();
        let parents = bones_above(parents, "parents", count)?;
        let names = of_bones(names, "names", String::new(), count)?;
        let automatic = ROLES[0].0.to_owned();
        let roles = of_bones(roles, "roles", automatic, count)?;
        let roles = roles.iter().map(|name| role(name)).collect::<PyResult<Vec<_>>>()?;
        let still = of_bones(still, "still", false, count)?;
        let bones = heads.into_iter().zip(parents).zip(names.into_iter().zip(roles)).zip(still);
        let bone = |(((head, parent), (name, role)), still)| Bone { head, parent, name, role, still };
        let rigid =
            rigid.map(|rigid| arrays::array::<bool>(rigid, "rigid", &[Axis::Any("p")])).transpose()?;
        let rigid = rigid.map(|rigid| rigid.slice().to_vec());
        let bones = bones.map(bone).collect();
        let parts = parts.into_iter().flatten().map(setting).collect::<PyResult<Vec<_>>>()?;
        Ok(Self(skeleton::SkeletonCore { bones, amount, rigid, resolution, anatomy, parts }))
    }

    /// True if a bone name marks flesh that follows the bone, as for hands, feet and heads.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     Name of a bone.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True for the name of a hard thing.
    ///
    /// Examples
    /// --------
    /// >>> jounce.SkeletonCore.is_hard_name("LeftHand"), jounce.SkeletonCore.is_hard_name("Spine")
    /// (True, False)
    #[staticmethod]
    fn is_hard_name(name: &str) -> bool {
        skeleton::is_hard_name(name)
    }

    /// True if the name of a material marks hard things, such as metal, armour and glass.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     Name of a material.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True for the name of a hard material.
    ///
    /// Examples
    /// --------
    /// >>> jounce.SkeletonCore.is_hard_material("Steel"), jounce.SkeletonCore.is_hard_material("Skin")
    /// (True, False)
    #[staticmethod]
    fn is_hard_material(name: &str) -> bool {
        skeleton::is_hard_material(name)
    }

    /// The hard points of a surface, (p,) bool: those of loose parts that follow their bones as a whole,
    /// for which `Body` looks by itself.
    ///
    /// Parameters
    /// ----------
    /// points : (p, 3) array
    ///     Positions on the surface, metres.
    /// triangles : (q, 3) array of integers
    ///     Indices of the points.
    /// weights : (p, b) array
    ///     Skinning weights, one row a point, each with a sum of 1.
    /// joints : int, default 1
    ///     Number of joints of the skeleton, those without weight included; a surface with equal
    ///     weights everywhere is a hard prop on one of several joints, and flesh on a single one.
    /// hinted : (p,) array of bool, optional
    ///     Points of a hard material, see `is_hard_material`.
    ///
    /// Returns
    /// -------
    /// (p,) array of bool
    ///     True for hard points.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As `Body` does.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> along = points[:, :1] / 4
    /// >>> weights = np.hstack([1 - along, along])
    /// >>> bool(jounce.SkeletonCore.hard_points(points, triangles, weights).any())
    /// False
    #[staticmethod]
    #[pyo3(signature = (points, triangles, weights, *, joints=1, hinted=None))]
    fn hard_points<'py>(
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        triangles: &Bound<'py, PyAny>,
        weights: &Bound<'py, PyAny>,
        joints: usize,
        hinted: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
        let surface = surface(points, triangles)?;
        let count = surface.points().len();
        let weights = arrays::array::<f64>(weights, "weights", &[Axis::Is(count), Axis::Any("b")])?;
        let (bones, weights) = (weights.len(1), weights.slice());
        let hinted =
            hinted.map(|hinted| arrays::array::<bool>(hinted, "hinted", &[Axis::Is(count)])).transpose()?;
        let hinted = hinted.as_ref().map(|hinted| hinted.slice());
        let hard = run(py, || {
            let rig = Rig::new(count, bones, weights)?;
            Ok(skeleton::hard_points(&surface, &rig, joints, hinted))
        })?;
        arrays::owned(py, hard, &[count])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let skeleton::SkeletonCore { bones, amount, rigid, resolution, anatomy, parts } = &self.0;
        let heads = bones.iter().flat_map(|bone| bone.head).collect();
        let heads = arrays::owned(py, heads, &[bones.len(), 3])?;
        let above: Vec<Option<u32>> = bones.iter().map(|bone| bone.parent).collect();
        let settings = PyDict::new(py);
        settings.set_item("names", bones.iter().map(|bone| &bone.name).collect::<Vec<_>>())?;
        settings.set_item("roles", bones.iter().map(|bone| role_name(bone.role)).collect::<Vec<_>>())?;
        settings.set_item("amount", amount)?;
        let rigid =
            rigid.as_ref().map(|rigid| arrays::owned(py, rigid.clone(), &[rigid.len()])).transpose()?;
        settings.set_item("rigid", rigid)?;
        settings.set_item("still", bones.iter().map(|bone| bone.still).collect::<Vec<_>>())?;
        settings.set_item("resolution", resolution)?;
        settings.set_item("anatomy", anatomy)?;
        let named = parts.iter().map(|part| (part.part.name(), (part.softness, part.amount)));
        settings.set_item("parts", named.collect::<BTreeMap<_, _>>())?;
        made_by::<Self>(py, "", (heads, parents(&above)), Some(settings))
    }

    fn __repr__(&self) -> String {
        format!("SkeletonCore({} bones, amount {})", self.0.bones.len(), self.0.amount)
    }
}

/// One value for each of `count` bones; the default for all if none are given.
fn of_bones<T: Clone>(given: Option<Vec<T>>, what: &str, default: T, count: usize) -> PyResult<Vec<T>> {
    match given {
        None => Ok(vec![default; count]),
        Some(values) if values.len() == count => Ok(values),
        Some(values) => {
            let text = format!("{what}: expected shape ({count},), got ({},)", values.len());
            Err(PyValueError::new_err(text))
        }
    }
}

fn role(name: &str) -> PyResult<BoneRole> {
    let found = ROLES.iter().find(|(known, _)| *known == name);
    found.map(|(_, role)| *role).ok_or_else(|| {
        let known: Vec<&str> = ROLES.iter().map(|(known, _)| *known).collect();
        PyValueError::new_err(format!("roles: expected one of {}, got {name:?}", known.join(", ")))
    })
}

/// Setting of a part by its name.
fn setting((name, (softness, amount)): (String, (f64, f64))) -> PyResult<PartSetting> {
    let part = Part::named(&name).ok_or_else(|| {
        let known: Vec<&str> = Part::ALL.iter().map(|part| part.name()).collect();
        PyValueError::new_err(format!("parts: expected one of {}, got {name:?}", known.join(", ")))
    })?;
    Ok(PartSetting { part, softness, amount })
}

/// Name of a role.
pub fn role_name(role: BoneRole) -> &'static str {
    ROLES.iter().find(|(_, known)| *known == role).map_or("", |(name, _)| name)
}

/// Parents as Python has them: -1 for none.
pub fn parents(parents: &[Option<u32>]) -> Vec<i64> {
    parents.iter().map(|parent| parent.map_or(-1, i64::from)).collect()
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
