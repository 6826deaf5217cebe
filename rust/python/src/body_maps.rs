//! Other models of a `Body`, and maps between its surface and its mesh.

use jounce::model::reduced::Bounds;
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::arrays::{self, Axis};
use crate::basis::Basis;
use crate::body::Body;
use crate::cubature::Cubature;
use crate::errors::run;
use crate::fibres::Fibres;
use crate::job::made;
use crate::learning::Learning;
use crate::limit_samples::LimitSamples;
use crate::material::Material;
use crate::model::Model;
use crate::simulation::Simulation;

#[pymethods]
impl Body {
    /// Full-space model of the same body: mesh, rig, pins, strength and stitches. The reference for the
    /// reduced model.
    ///
    /// As `Model.full_space`.
    ///
    /// Parameters
    /// ----------
    /// material : Material, optional
    ///     Material of any law; None is the body's own.
    /// fibres : Fibres, optional
    ///     Fibres in the tets of the mesh.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> body.full_space().coefficient_shape == (len(body.mesh.vertices), 3)
    /// True
    #[pyo3(signature = (material=None, fibres=None))]
    fn full_space(
        &self,
        py: Python<'_>,
        material: Option<&Material>,
        fibres: Option<&Fibres>,
    ) -> PyResult<Model> {
        let (body, material) = (self.inner.clone(), material.map(|material| material.0.clone()));
        let fibres = fibres.map(|fibres| fibres.0.clone());
        let known = material.as_ref().unwrap_or(&body.material).clone();
        let full =
            made(py, move |progress| body.full_space(material.as_deref(), fibres.as_deref(), progress))?;
        Ok(Model::wrap((*full).clone(), Some(known)))
    }

    /// Reduced model of the same body, learnt from a full-space shot: mass-PCA and a cubature.
    ///
    /// Parameters
    /// ----------
    /// snapshots : (f, n, 3) array
    ///     Displacements of the tet vertices in each frame, metres.
    /// poses : (f, b, 3, 4) array
    ///     Pose of each of these frames.
    /// count : int, default 64
    ///     Largest size of the basis. It ends earlier once it has all but 1e-5 of the shot's energy,
    ///     because the rest is below the tolerance of the full space.
    /// tets : int, optional
    ///     Largest size of the cubature; None is three times count.
    /// material : Material, optional
    ///     The material of the full space, of any law; None is the body's own.
    /// frequency : float, optional
    ///     Reference frequency of limits, usually the full space's; None is the lowest learnt
    ///     frequency.
    /// limit : float, optional
    ///     Displacement limit of the shot's simulation; None for none. With a limit, the model gets limit
    ///     samples, up to `tets`, as in `LimitSamples.of_shot`.
    /// stretch : float, optional
    ///     Stretch limit of the shot's simulation, likewise; None for none.
    /// seed : int, default 0
    ///     Seed of the random draws; the same seed gives the same result.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> poses = np.tile(np.eye(3, 4), (12, 1, 1, 1))
    /// >>> poses[:, 0, 2, 3] = 0.2 * np.sin(np.arange(12))
    /// >>> shot = jounce.Simulation(body.full_space())
    /// >>> shot.reset(poses[0])
    /// >>> frames = []
    /// >>> for pose in poses:
    /// ...     report = shot.step(pose)
    /// ...     frames.append(shot.displacement())
    /// >>> learnt = body.learn(frames, poses, count=4)
    /// >>> learnt.coefficient_shape
    /// (4,)
    #[pyo3(signature = (snapshots, poses, count=64, tets=None, material=None, frequency=None, limit=None,
                        stretch=None, seed=0))]
    fn learn(
        slf: &Bound<'_, Self>,
        snapshots: &Bound<'_, PyAny>,
        poses: &Bound<'_, PyAny>,
        count: i64,
        tets: Option<i64>,
        material: Option<&Material>,
        frequency: Option<f64>,
        limit: Option<f64>,
        stretch: Option<f64>,
        seed: i64,
    ) -> PyResult<Model> {
        let (body, counts) = (slf.get().inner.clone(), (count, tets, seed));
        let learning =
            Learning::new(body, [snapshots, poses], counts, material, frequency, Bounds { limit, stretch })?;
        let model = made(slf.py(), move |progress| learning.run(progress))?;
        Self::reduced_model(slf, &model, material.map(|material| &material.0))
    }

    /// Reduced model of the same body in a given basis, such as a stored learnt basis, with the body's
    /// mesh, rig and strength.
    ///
    /// As `Model.reduced` and `Model.limited`.
    ///
    /// Parameters
    /// ----------
    /// basis : Basis
    ///     Basis of a model made by `learn`, or rebuilt from stored arrays.
    /// cubature : Cubature, optional
    ///     Cubature of the same model; None evaluates the forces at all tets.
    /// material : Material, optional
    ///     Material of any law; None is the body's own.
    /// frequency : float, optional
    ///     Reference frequency of limits, Hz, as in `learn`.
    /// limits : LimitSamples, optional
    ///     Samples of the limits; without them the model has no limits.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> poses = np.tile(np.eye(3, 4), (6, 1, 1, 1))
    /// >>> poses[:, 0, 2, 3] = 0.2 * np.sin(np.arange(6))
    /// >>> simulation, shot = jounce.Simulation(body.model), []
    /// >>> for pose in poses:
    /// ...     report = simulation.step(pose)
    /// ...     shot.append(simulation.displacement())
    /// >>> learnt = body.learn(shot, poses, count=4)
    /// >>> basis = jounce.Basis(learnt.basis.shapes)
    /// >>> again = body.reduced(basis, learnt.cubature, frequency=learnt.frequency)
    /// >>> pair = [jounce.Simulation(model) for model in (learnt, again)]
    /// >>> reports = [simulation.step(pose) for simulation in pair for pose in poses]
    /// >>> np.array_equal(pair[0].coefficients, pair[1].coefficients)
    /// True
    #[pyo3(signature = (basis, cubature=None, material=None, frequency=None, limits=None))]
    fn reduced(
        slf: &Bound<'_, Self>,
        basis: &Basis,
        cubature: Option<&Cubature>,
        material: Option<&Material>,
        frequency: Option<f64>,
        limits: Option<&LimitSamples>,
    ) -> PyResult<Model> {
        let (body, basis) = (slf.get().inner.clone(), basis.0.clone());
        let material = material.map(|material| material.0.clone());
        let own = material.clone();
        let cubature = cubature.map(|cubature| cubature.0.clone());
        let limits = limits.map(|limits| limits.0.clone());
        let model = made(slf.py(), move |progress| {
            let samples = (cubature.as_ref(), limits.as_ref());
            body.reduced(own.as_deref(), &basis, samples, frequency, progress)
        })?;
        Self::reduced_model(slf, &model, material.as_ref())
    }

    /// Reduces rig offsets, the difference of a rig from linear skinning at the surface points, for
    /// `Simulation.step`.
    ///
    /// Parameters
    /// ----------
    /// offsets : (p, 3) array
    ///     Posed points minus linear skinning with the weights and the pose, in world space, metres.
    ///
    /// Returns
    /// -------
    /// (k, 3) array
    ///     Offsets for simulations of this body's model. The first call prepares operators of the body and
    ///     takes longer.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a wrong shape and for values that are not finite.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> offsets = np.zeros((8, 3))
    /// >>> offsets[points[:, 0] > 2, 2] = 0.1
    /// >>> reduced = body.reduce_offsets(offsets)
    /// >>> simulation = jounce.Simulation(body.model)
    /// >>> report = simulation.step(np.eye(3, 4)[None], offsets=reduced)
    fn reduce_offsets<'py>(
        &self,
        py: Python<'py>,
        offsets: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let p = self.inner.embedding.points().len();
        let offsets = arrays::array::<f64>(offsets, "offsets", &[Axis::Is(p), Axis::Is(3)])?;
        let offsets = offsets.slice();
        let reduced = run(py, || self.inner.reduce_offsets(offsets))?;
        let k = reduced.len() / 3;
        arrays::owned(py, reduced, &[k, 3])
    }

    /// Carries rig offsets from the surface points to the vertices of the mesh, for a step in the full
    /// space.
    ///
    /// Parameters
    /// ----------
    /// offsets : (p, 3) array
    ///     Offsets of the points, as in `reduce_offsets`.
    ///
    /// Returns
    /// -------
    /// (n, 3) array
    ///     Offsets for simulations of `full_space()`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As `reduce_offsets`.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> body.vertex_offsets(np.full((8, 3), 0.1)).shape == body.mesh.vertices.shape
    /// True
    fn vertex_offsets<'py>(
        &self,
        py: Python<'py>,
        offsets: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let p = self.inner.embedding.points().len();
        let offsets = arrays::array::<f64>(offsets, "offsets", &[Axis::Is(p), Axis::Is(3)])?;
        let offsets = offsets.slice();
        let carried = run(py, || self.inner.vertex_offsets(offsets))?;
        arrays::owned(py, carried, &[self.inner.mesh.vertices().len(), 3])
    }

    /// Spreads values at the surface points to the vertices of the mesh, as for painted maps: the boundary
    /// takes the value at the closest point of the surface, the inside is harmonic.
    ///
    /// Parameters
    /// ----------
    /// values : (p,) array
    ///     Values at the points.
    ///
    /// Returns
    /// -------
    /// (n,) array
    ///     Values at the vertices.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a wrong shape and for values that are not finite.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> softness = body.spread(points[:, 0])
    /// >>> softness.shape == (len(body.mesh.vertices),)
    /// True
    fn spread<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let values =
            arrays::array::<f64>(values, "values", &[Axis::Is(self.inner.embedding.points().len())])?;
        let values = values.slice();
        let carried = run(py, || self.inner.spread(values))?;
        let n = carried.len();
        arrays::owned(py, carried, &[n])
    }

    /// Surface points in a pose, without secondary motion.
    ///
    /// Parameters
    /// ----------
    /// pose : (b, 3, 4) array
    ///     Transform of each bone, rest to posed, in world space.
    ///
    /// Returns
    /// -------
    /// (p, 3) array
    ///     Posed points, metres.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a wrong shape and for a pose that is not finite.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> raised = np.eye(3, 4)[None] + [[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.5]]]
    /// >>> bool(np.allclose(body.posed(raised), points + [0, 0, 0.5]))
    /// True
    fn posed<'py>(&self, py: Python<'py>, pose: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let pose = arrays::pose(pose, self.inner.rig.bone_count())?;
        let pose = arrays::transforms(pose.slice());
        let posed = run(py, || self.inner.posed(pose))?;
        let p = posed.len();
        arrays::owned(py, posed.into_flattened(), &[p, 3])
    }

    /// Surface points as they are shown after the last step: posed, and moved by the flesh.
    ///
    /// Parameters
    /// ----------
    /// simulation : Simulation
    ///     Simulation of a model of this body, reduced or in the full space.
    /// pose : (b, 3, 4) array
    ///     Pose of the last step.
    ///
    /// Returns
    /// -------
    /// (p, 3) array
    ///     Deformed points, metres.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a simulation of another mesh, and as `posed`.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation = jounce.Simulation(body.model)
    /// >>> simulation.reset(np.eye(3, 4)[None])
    /// >>> pose = np.eye(3, 4)[None].copy()
    /// >>> pose[0, 2, 3] = 0.2
    /// >>> report = simulation.step(pose)
    /// >>> moved = body.deformed(simulation, pose) - body.posed(pose)
    /// >>> bool(np.abs(moved).max() > 0.01)
    /// True
    fn deformed<'py>(
        &self,
        py: Python<'py>,
        simulation: &Simulation,
        pose: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let pose = arrays::pose(pose, self.inner.rig.bone_count())?;
        let (model, coefficients) = (simulation.model.get(), simulation.lock()?.coefficients().to_vec());
        let projector = run(py, || model.projector(Some(&self.embedding())))?;
        let pose = arrays::transforms(pose.slice());
        let mut moved = vec![0.0_f32; 3 * projector.point_count()];
        let posed = run(py, || {
            projector.displacement(&coefficients, &mut moved)?;
            let mut posed = self.inner.posed(pose)?;
            let rows = posed.as_flattened_mut().iter_mut().zip(&moved);
            rows.for_each(|(x, u)| *x += f64::from(*u));
            Ok(posed)
        })?;
        let p = posed.len();
        arrays::owned(py, posed.into_flattened(), &[p, 3])
    }
}
