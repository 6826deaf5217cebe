//! `Player`: real-time flesh, as in engines and browsers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use jounce::rig::Rig;
use jounce::{Error, model};
use jounce_player::{Obstacle, Setting, Skin};
use numpy::PyArrayDyn;
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{self, Axis};
use crate::contact::Collider;
use crate::errors::{locked, refused, run};
use crate::model::Model;

/// Plays the flesh of one character in real time, as engines and browsers do: poses in, displacements of
/// points out.
///
/// A step moves the modes of a body by `substeps` implicit steps of at most 1/96 s, eight a frame, as
/// `Simulation` does. The displacement of a point at rest X is `u = sum_k W_k Z_k [X; 1]`. The first pose
/// is a start in equilibrium, and the rig counts as having moved there as it moves on.
///
/// Parameters
/// ----------
/// model : Model, bytes or path
///     Model of skinning modes, the bytes of its file, or the file.
/// points : (p, 3) array, optional
///     Vertices of the character at rest, metres; None for the vertices of the tet mesh.
/// settings : float
///     Keyword arguments, as in `set`.
///
/// Raises
/// ------
/// ValueError
///     For a damaged file, a model of another method, or an invalid setting.
/// OSError
///     For a file that cannot be read.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
/// >>> player = jounce.Player(body.model, points, damping=0.05)
/// >>> pose = np.eye(3, 4)[None].copy()
/// >>> for frame in range(10):
/// ...     pose[0, 2, 3] = 0.1 * np.sin(frame)
/// ...     player.step(pose, 1 / 60)
/// >>> moved = player.displacements()
/// >>> moved.shape, moved.dtype, bool(np.abs(moved).max() > 0.001)
/// ((8, 3), dtype('float32'), True)
#[pyclass(frozen, module = "jounce", name = "Player")]
pub struct Player(Mutex<jounce_player::Player>);

#[pymethods]
impl Player {
    #[new]
    #[pyo3(signature = (model, points=None, **settings))]
    fn new(
        py: Python<'_>,
        model: &Bound<'_, PyAny>,
        points: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let inner = if let Ok(bytes) = model.cast::<PyBytes>() {
            let bytes = bytes.as_bytes();
            run(py, || jounce_player::Player::load(bytes))?
        } else if let Ok(model) = model.cast::<Model>() {
            let model::Model::Skinning(model) = &model.get().inner else {
                let why = "only models of skinning modes are played; make one with Body or Model.skinning";
                return Err(refused(Error::Unsupported { what: "model", why }));
            };
            run(py, || jounce_player::Player::new(Arc::clone(model)))?
        } else {
            let path: PathBuf = model.extract().map_err(|_| {
                PyTypeError::new_err("model: expected a Model, the bytes of its file, or a path")
            })?;
            let bytes = std::fs::read(&path)
                .map_err(|error| PyOSError::new_err(format!("{}: {error}", path.display())))?;
            run(py, || jounce_player::Player::load(&bytes))?
        };
        let player = Self(Mutex::new(inner));
        points.map_or(Ok(()), |points| player.attach(py, points))?;
        player.set(settings)?;
        Ok(player)
    }

    /// Chooses the points with displacements.
    ///
    /// A point outside of the body moves with the nearest of the body. A grabbed point is let go, and contact
    /// ends.
    ///
    /// Parameters
    /// ----------
    /// points : (p, 3) array
    ///     Points at rest, in the space of the bind pose, metres.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For no points, or one that is not finite.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> player = jounce.Player(body.model)
    /// >>> player.attach(points[:4])
    /// >>> player.displacements().shape
    /// (4, 3)
    fn attach(&self, py: Python<'_>, points: &Bound<'_, PyAny>) -> PyResult<()> {
        let points = arrays::points(points, "points")?;
        let player = &mut *self.lock()?;
        run(py, || player.attach(points))
    }

    /// Keeps the points out of colliders, in place of any before. The motion goes on.
    ///
    /// Contact is with at most 256 of the points, evenly spread, and with the triangles between them. A skin
    /// of triangles is dented too, as by `Dents`. Points that start deeper inside than a twentieth of the
    /// body stay. A largest displacement (`limit`) wins over contact, but not over dents.
    ///
    /// Parameters
    /// ----------
    /// colliders : sequence of Collider
    ///     Colliders; an empty sequence ends contact.
    /// weights : (p, b) array, optional
    ///     Skinning weights of the points; None for a body without bones.
    /// triangles : (q, 3) array, optional
    ///     Triangles between the points; None for contact of the points alone, without dents, which misses
    ///     small colliders.
    /// bones : sequence of int, optional
    ///     Bone of each collider, or -1. A collider on a bone is given where it is at rest, moves with the
    ///     bone, keeps its size, and spares the bone's own points; others stand in the world. None for no
    ///     bones.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For weights of other points or bones, or an unknown bone or point; nothing changes then.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> weights = np.ones((8, 1))
    /// >>> body = jounce.Body(points, triangles, weights, resolution=8, modes=4, clusters=20)
    /// >>> player = jounce.Player(body.model, points)
    /// >>> player.collide([jounce.Collider.plane((0, 0, -0.1), (0, 0, 1))], weights, triangles)
    /// >>> pose, lowest = np.eye(3, 4)[None].copy(), 1.0
    /// >>> for frame in range(60):
    /// ...     pose[0, 2, 3] = -0.3 * np.sin(frame / 10)
    /// ...     player.step(pose, 1 / 60)
    /// ...     lowest = min(lowest, (points + pose[0, :, 3] + player.displacements())[:, 2].min())
    /// >>> bool(-0.11 < lowest < 0.0)
    /// True
    #[pyo3(signature = (colliders, weights=None, triangles=None, bones=None))]
    fn collide(
        &self,
        py: Python<'_>,
        colliders: Vec<Bound<'_, Collider>>,
        weights: Option<&Bound<'_, PyAny>>,
        triangles: Option<&Bound<'_, PyAny>>,
        bones: Option<Vec<i64>>,
    ) -> PyResult<()> {
        let player = &mut *self.lock()?;
        let bones = bones.unwrap_or_else(|| vec![-1; colliders.len()]);
        if bones.len() != colliders.len() {
            let [expected, got] = [colliders.len(), bones.len()].map(|count| format!("({count},)"));
            return Err(refused(Error::Shape { what: "bones", expected, got }));
        }
        let obstacle = |(collider, bone): (&Bound<'_, Collider>, &i64)| Obstacle {
            collider: collider.get().inner.clone(),
            bone: usize::try_from(*bone).ok(),
        };
        let obstacles: Vec<Obstacle> = colliders.iter().zip(&bones).map(obstacle).collect();
        let count = player.points();
        let rig = weights.map(|weights| {
            let weights = arrays::array::<f64>(weights, "weights", &[Axis::Is(count), Axis::Any("b")])?;
            Rig::new(count, weights.len(1), weights.slice()).map_err(refused)
        });
        let axes = [Axis::Any("q"), Axis::Is(3)];
        let triangles = triangles.map(|given| arrays::indices::<3>(given, "triangles", &axes, count));
        let skin = Skin { rig: rig.transpose()?, triangles: triangles.transpose()?.unwrap_or_default() };
        run(py, || player.collide(&obstacles, &skin))
    }

    /// Moves a collider of the world to a place in the next step.
    ///
    /// Parameters
    /// ----------
    /// collider : int
    ///     Index in `collide`.
    /// transform : (3, 4) array
    ///     Rotation and translation from where the collider was given, metres.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For an unknown collider, one on a bone, or a transform that is not rigid.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> player = jounce.Player(body.model, points)
    /// >>> player.collide([jounce.Collider.sphere(0.5, (2, 0.5, -1))], np.ones((8, 1)), triangles)
    /// >>> lift = np.eye(3, 4)
    /// >>> for frame in range(30):
    /// ...     lift[2, 3] = 0.02 * frame
    /// ...     player.move_collider(0, lift)
    /// ...     player.step(np.eye(3, 4)[None], 1 / 60)
    /// >>> bool(np.abs(player.displacements()).max() > 0.001)
    /// True
    fn move_collider(&self, collider: i64, transform: &Bound<'_, PyAny>) -> PyResult<()> {
        let transform = arrays::array::<f64>(transform, "transform", &[Axis::Is(3), Axis::Is(4)])?;
        let rows = transform.slice().as_chunks::<4>().0.as_chunks::<3>().0;
        self.lock()?.move_collider(arrays::count(collider, "collider")?, &rows[0]).map_err(refused)
    }

    /// Changes settings from the next step on.
    ///
    /// Parameters
    /// ----------
    /// settings : float
    ///     Keyword arguments. `amount` (1): factor on the motion that the flesh feels, 0 none. `stiffness`
    ///     (1): factor on the model's, > 0. `damping` (0.12): ratio of every mode. `stretch` (0.4): largest
    ///     change of a length, as a share, 0 for no limit. `limit` (0.25): largest displacement, as a share
    ///     of the diagonal, 0 for no limit. `gravity_x`, `gravity_y`, `gravity_z` (0): m/s^2. `modes` (all):
    ///     level of detail, the finest with at most this number, 0 for none. `sleep` (1): 1 to stop while
    ///     nothing moves. `pose_rest` (1): elastic rest shape, 0 bind, 1 pose. `substep` (1/96): longest
    ///     substep, seconds.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a value out of range; the settings before it are changed.
    /// TypeError
    ///     For an unknown setting.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> player = jounce.Player(body.model, points)
    /// >>> player.set(damping=0.3, gravity_z=-9.81)
    #[pyo3(signature = (**settings))]
    fn set(&self, settings: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let player = &mut *self.lock()?;
        for (name, value) in settings.into_iter().flatten() {
            let name: String = name.extract()?;
            let known = Setting::ALL.iter().find(|(known, _)| *known == name);
            let (_, setting) = known.ok_or_else(|| {
                let names = Setting::ALL.map(|(name, _)| name).join(", ");
                PyTypeError::new_err(format!("{name}: no setting of a player; these are {names}"))
            })?;
            player.set(*setting, value.extract()?).map_err(refused)?;
        }
        Ok(())
    }

    /// Advances to a pose in any time. More than a quarter of a second counts as a teleport.
    ///
    /// Parameters
    /// ----------
    /// pose : (b, 3, 4) array
    ///     Transform of each bone, rest to posed, metres, in world space; (0, 3, 4) without a rig.
    /// seconds : float
    ///     Time since the last step, >= 0.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a pose of a wrong shape or without a volume, and for negative seconds; the motion is then
    ///     unchanged.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> swung = []
    /// >>> for rate in (30, 60):
    /// ...     player, pose = jounce.Player(body.model, points), np.eye(3, 4)[None].copy()
    /// ...     for frame in range(rate + 1):
    /// ...         pose[0, 2, 3] = 0.2 * np.sin(2 * np.pi * frame / rate)
    /// ...         player.step(pose, 1 / rate)
    /// ...     swung.append(player.displacements())
    /// >>> bool(np.abs(swung[0]).max() > 0.1), bool(np.allclose(*swung, atol=0.02))
    /// (True, True)
    fn step(&self, py: Python<'_>, pose: &Bound<'_, PyAny>, seconds: f64) -> PyResult<()> {
        let player = &mut *self.lock()?;
        let pose = arrays::pose(pose, player.bones())?;
        let pose = pose.slice().as_chunks::<4>().0.as_chunks::<3>().0;
        run(py, || player.step(pose, seconds))
    }

    /// Puts the body into a pose without a kick, after a cut or a leap. The displacement stays, and swings
    /// back.
    ///
    /// Parameters
    /// ----------
    /// pose : (b, 3, 4) array
    ///     Pose as in `step`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As in `step`.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> player = jounce.Player(body.model, points)
    /// >>> pose = np.eye(3, 4)[None].copy()
    /// >>> player.step(pose, 1 / 60)
    /// >>> pose[0, 0, 3] = 40.0
    /// >>> player.teleport(pose)
    /// >>> bool(np.abs(player.displacements()).max() < 1e-3)
    /// True
    fn teleport(&self, py: Python<'_>, pose: &Bound<'_, PyAny>) -> PyResult<()> {
        let player = &mut *self.lock()?;
        let pose = arrays::pose(pose, player.bones())?;
        let pose = pose.slice().as_chunks::<4>().0.as_chunks::<3>().0;
        run(py, || player.teleport(pose))
    }

    /// Displacements of the points from where the bones put them, world space, metres.
    ///
    /// Parameters
    /// ----------
    /// out : array, optional
    ///     Array (p, 3) of float32 to write into; None makes a new one.
    ///
    /// Returns
    /// -------
    /// (p, 3) array
    ///     Displacements, metres; `out` itself if it is given.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> player = jounce.Player(body.model, points, gravity_z=-9.81)
    /// >>> buffer = np.empty((8, 3), dtype=np.float32)
    /// >>> for frame in range(10):
    /// ...     player.step(np.eye(3, 4)[None], 1 / 60)
    /// ...     shown = points + player.displacements(out=buffer)
    /// >>> bool(shown[:, 2].min() < -0.1)
    /// True
    #[pyo3(signature = (out=None))]
    fn displacements<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let player = &mut *self.lock()?;
        arrays::filled(py, out, [player.points(), 3], |u| run(py, || player.displace(u)))
    }

    /// Pulls a point towards a displacement from its rigged place, until `release`.
    ///
    /// The spring is implicit in time, six times as stiff as the body there, and never kicks.
    ///
    /// Parameters
    /// ----------
    /// point : int
    ///     Index of a point.
    /// displacement : (3,) array
    ///     Displacement of the point from its pose, metres, in world space.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For an unknown point, or a displacement that is not finite.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> player = jounce.Player(body.model, points)
    /// >>> player.grab(7, (0.0, 0.0, 0.3))
    /// >>> for _ in range(60):
    /// ...     player.step(np.eye(3, 4)[None], 1 / 60)
    /// >>> bool(player.displacements()[7, 2] > 0.1)
    /// True
    /// >>> player.release()
    fn grab(&self, point: i64, displacement: &Bound<'_, PyAny>) -> PyResult<()> {
        let wanted = arrays::array::<f64>(displacement, "displacement", &[Axis::Is(3)])?;
        let (player, wanted) = (&mut *self.lock()?, wanted.slice());
        player.grab(arrays::count(point, "point")?, [wanted[0], wanted[1], wanted[2]]).map_err(refused)
    }

    /// Lets a grabbed point go.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> player, heights = jounce.Player(body.model, points, damping=0.3), []
    /// >>> player.grab(7, (0.0, 0.0, 0.3))
    /// >>> for frame in range(180):
    /// ...     if frame == 60:
    /// ...         player.release()
    /// ...     player.step(np.eye(3, 4)[None], 1 / 60)
    /// ...     heights.append(player.displacements()[7, 2])
    /// >>> bool(heights[59] > 0.1), bool(abs(heights[-1]) < 0.01)
    /// (True, True)
    fn release(&self) -> PyResult<()> {
        self.lock()?.release();
        Ok(())
    }

    /// Weights of the modes at the points, (p, m) float64, for a vertex shader.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let player = self.lock()?;
        arrays::owned(py, player.weights().to_vec(), &[player.points(), player.modes()])
    }

    /// Transforms Z of the modes after the last step, (m, 3, 4) float64.
    #[getter]
    fn transforms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let player = self.lock()?;
        arrays::owned(py, player.transforms().to_vec(), &[player.modes(), 3, 4])
    }

    /// True while nothing moves; a step costs nothing then.
    #[getter]
    fn is_asleep(&self) -> PyResult<bool> {
        Ok(self.lock()?.is_asleep())
    }

    /// Number of bones of a pose.
    #[getter]
    fn bone_count(&self) -> PyResult<usize> {
        Ok(self.lock()?.bones())
    }

    /// Number of modes of the model.
    #[getter]
    fn mode_count(&self) -> PyResult<usize> {
        Ok(self.lock()?.modes())
    }

    fn __repr__(&self) -> PyResult<String> {
        let player = self.lock()?;
        let (points, modes, bones) = (player.points(), player.modes(), player.bones());
        Ok(format!("Player({points} points, {modes} modes, {bones} bones)"))
    }
}

impl Player {
    fn lock(&self) -> PyResult<MutexGuard<'_, jounce_player::Player>> {
        let used =
            "player: another thread is using it; wait for that, or give each thread a Player of its own";
        locked(&self.0, used)
    }
}
