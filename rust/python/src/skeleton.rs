//! `SkeletonCore`: which part of a body follows its bones.

use jounce::skeleton::{self, Bone, BoneRole};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{self, Axis};
use crate::body_input::bones_above;

/// The names of the roles.
const ROLES: [(&str, BoneRole); 4] = [
    ("automatic", BoneRole::Automatic),
    ("flesh", BoneRole::Flesh),
    ("rigid", BoneRole::Rigid),
    ("free", BoneRole::Free),
];

/// Asks a `Body` for a core of bone, which follows the rig exactly; everything else is flesh.
///
/// heads: (b, 3) float64, metres, where the bones of the rig begin at rest. parents: (b,) int32 or int64, the bone above
/// each, -1 for none. names: b of them, hints at parts of the body. roles: for each bone "automatic", "flesh" (thick
/// flesh around it moves), "rigid" (none moves) or "free" (all moves). amount: how much follows the bones beside rigid
/// parts, from 0, nothing, to 1, all but the thickest flesh. rigid: (p,) bool, the points that are hard. still: b bools,
/// whether nothing moves a bone but what it hangs on; tails, ears and the like of which that is true swing freely.
/// Hands, feet and heads are rigid by themselves, and so are loose parts of the surface that one bone holds whole.
/// resolution: cells along the longest side of the lattice in which thin parts and roles are found, so that bodies of all
/// resolutions have the same; None is that of the body.
/// Raises ValueError for lengths that do not agree and unknown roles; `Body` for what does not fit its surface.
#[pyclass(frozen, module = "jounce", name = "SkeletonCore")]
pub struct SkeletonCore(pub skeleton::SkeletonCore);

#[pymethods]
impl SkeletonCore {
    #[new]
    #[pyo3(signature = (heads, parents, *, names=None, roles=None, amount=0.5, rigid=None, still=None,
                        resolution=None))]
    fn new(
        heads: &Bound<'_, PyAny>,
        parents: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        roles: Option<Vec<String>>,
        amount: f64,
        rigid: Option<&Bound<'_, PyAny>>,
        still: Option<Vec<bool>>,
        resolution: Option<usize>,
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
        Ok(Self(skeleton::SkeletonCore { bones: bones.map(bone).collect(), amount, rigid, resolution }))
    }

    /// Whether the name of a bone says that its flesh follows it, as that of hands, feet and heads does.
    #[staticmethod]
    fn is_hard_name(name: &str) -> bool {
        skeleton::is_hard_name(name)
    }

    fn __repr__(&self) -> String {
        format!("SkeletonCore({} bones, amount {})", self.0.bones.len(), self.0.amount)
    }
}

/// One value for each of `count` bones, the same for all where none are given.
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

/// The name of a role.
pub fn role_name(role: BoneRole) -> &'static str {
    ROLES.iter().find(|(_, known)| *known == role).map_or("", |(name, _)| name)
}
