"""Bad input to simulations, bodies and baking: each time a sentence with the name of the argument."""

import jounce
import numpy as np
import pytest
from refusals import NOT_FINITE, mistyped, poisoned, refused


class TestSimulation:
    @pytest.mark.parametrize(
        "settings",
        [
            {"dt": 0.0},
            {"dt": np.nan},
            {"substeps": 0},
            {"substeps": -1},
            {"substeps": 2**40},
            {"max_iterations": 0},
            {"tolerance": -1.0},
            {"damping": -0.1},
            {"damping": np.inf},
            {"gravity": (0.0, 0.0, np.nan)},
            {"pose_rest": 1.5},
            {"stiffness": -1.0},
            {"strength": -1.0},
            {"integrator": "euler"},
        ],
    )
    def test_settings(self, model, settings):
        (name,) = settings
        refused(ValueError, f"{name}: ", jounce.Simulation, model, **settings)

    def test_types(self, model):
        mistyped("gravity", jounce.Simulation, model, gravity=9.81)
        mistyped("model", jounce.Simulation, None)
        mistyped("dt", jounce.Simulation, model, dt="fast")
        refused(
            TypeError, "dampening is no setting; the settings are dt, ", jounce.Simulation, model, dampening=1
        )
        for target in (jounce.Simulation(model), jounce.MotionJob(jounce.Simulation(model))):
            refused(TypeError, "dampening is no setting", target.vary, dampening=1.0)
            mistyped("damping", target.vary, damping="high")

    def test_poses(self, simulation, bar):
        pose = bar.poses[5]
        before = simulation.coefficients
        for act in (simulation.step, simulation.reset):
            refused(ValueError, "pose: expected shape (3, 3, 4), got (2, 3, 4)", act, pose[:2])
            refused(TypeError, "pose: expected dtype float64", act, pose.astype(complex))
            refused(ValueError, NOT_FINITE, act, poisoned(pose))
            refused(ValueError, "pose: bone 1 has the number NaN; ", act, poisoned(pose))
            refused(ValueError, "pose: bone 1 has the number -2e12; ", act, poisoned(pose, -2e12))
            refused(ValueError, "pose: ", act, None)
        assert np.array_equal(simulation.coefficients, before)

    def test_forces(self, simulation, bar):
        pose = bar.poses[5]
        for act in (simulation.step, simulation.settle):
            refused(ValueError, "force: expected shape (6, 3, 4)", act, pose, np.zeros((5, 3, 4)))
            refused(ValueError, NOT_FINITE, act, pose, poisoned(np.zeros((6, 3, 4))))
        refused(ValueError, "max_iterations: ", simulation.settle, pose, None, -1)
        with pytest.raises(ValueError, match="strength: expected"):
            simulation.strength = -1.0

    def test_pose_without_rig(self, mesh, material, labels):
        modes = jounce.skinning_modes(mesh, material, 3)
        simulation = jounce.Simulation(jounce.Model.skinning(mesh, material, modes, labels))
        simulation.step()
        pose = np.zeros((1, 3, 4))
        refused(ValueError, "pose: expected shape none, as the model has no rig", simulation.step, pose)

    def test_numbers_that_overflow(self, simulation, bar):
        refused(ValueError, "pose: bone 0 has the number 1e300", simulation.step, 1e300 * bar.poses[5])

    def test_states(self, simulation, mesh, material, modes, labels):
        other = jounce.Simulation(jounce.Model.skinning(mesh, material, modes, labels))
        refused(ValueError, "state: ", simulation.restore_state, other.save_state())
        mistyped("state", simulation.restore_state, None)
        refused(ValueError, "this is not a Jounce state", jounce.State.from_bytes, b"")
        damaged = simulation.save_state().to_bytes()[:-1]
        refused(ValueError, "the state is incomplete", jounce.State.from_bytes, damaged)

    def test_out(self, simulation):
        refused(
            ValueError, "out: expected shape (735, 3)", simulation.displacement, np.zeros((1, 3), np.float32)
        )


@pytest.mark.parametrize(
    "make", [jounce.Body, lambda *a, **k: jounce.BodyJob(*a, **k).result()], ids=["Body", "BodyJob"]
)
class TestBody:
    def test_surface(self, make, box):
        points, triangles, weights = box
        refused(ValueError, "points: is empty", make, points[:0], triangles[:0], weights[:0])
        refused(ValueError, "triangles: is empty", make, points, triangles[:0], weights)
        refused(ValueError, NOT_FINITE, make, poisoned(points), triangles, weights)
        refused(ValueError, "triangles: element 0 refers to index", make, points, triangles + 100, weights)
        refused(ValueError, "expected", make, points[:1], triangles[:1] * 0, weights[:1])

    def test_maps(self, make, box):
        refused(ValueError, "young: expected shape (8,), got (7,)", make, *box, young=np.ones(7))
        refused(ValueError, "young: expected a positive number of Pa", make, *box, young=np.zeros(8))
        refused(ValueError, NOT_FINITE, make, *box, young=np.full(8, np.nan))
        refused(ValueError, "strength: expected shape (8,), got (7,)", make, *box, strength=np.ones(7))
        refused(ValueError, "strength: expected numbers >= 0", make, *box, strength=np.full(8, -0.1))
        refused(ValueError, "law: expected", make, *box, law="silly")
        refused(ValueError, "pinned: expected shape (8,), got (7,)", make, *box, pinned=np.zeros(7, bool))
        refused(TypeError, "pinned: expected dtype bool", make, *box, pinned=np.zeros(8))

    def test_bones_that_count(self, make, box):
        refused(ValueError, "merge_into: expected shape (2,)", make, *box, merge_into=np.zeros(3, int))
        refused(
            ValueError, "merge_into: element 1 refers to index 2", make, *box, merge_into=np.array([0, 2])
        )
        refused(ValueError, "merge_into: expected chains of bones that end", make, *box, merge_into=[1, 0])
        refused(ValueError, "bone_parents: element 0 refers to index 2", make, *box, bone_parents=[2, -1])
        refused(ValueError, "bone_parents: element 0 refers to index -2", make, *box, bone_parents=[-2, -1])
        refused(ValueError, "got both", make, *box, bone_parents=[-1, 0], merge_into=[0, 0])

    def test_weights(self, make, box):
        points, triangles, weights = box
        refused(
            ValueError, "weights: expected shape (8, b), got (7, 2)", make, points, triangles, weights[:7]
        )
        refused(ValueError, "weights of vertex 0 sum to 0", make, points, triangles, 0 * weights)
        refused(ValueError, "weights: is empty", make, points, triangles, weights[:, :0].copy())
        refused(ValueError, NOT_FINITE, make, points, triangles, poisoned(weights))

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("resolution", 0),
            ("resolution", -1),
            ("modes", 0),
            ("modes", -1),
            ("clusters", 0),
            ("cubature", -1),
            ("seed", -1),
            ("young", -1.0),
            ("poisson", 0.5),
            ("density", np.nan),
            ("leak", np.full(8, 2.0)),
            ("leak", np.full(8, np.nan)),
            ("leak", np.ones(7)),
        ],
    )
    def test_settings(self, make, box, name, value):
        names = {"modes": "(modes|count): ", "clusters": "(clusters|count): "}
        with pytest.raises(ValueError, match=f"^{names.get(name, name + ': ')}"):
            make(*box, **{"resolution": 8, "modes": 4, name: value})

    def test_too_many_modes(self, make, box):
        refused(ValueError, "modes asked for", make, *box, resolution=4, modes=5000)


class TestBaking:
    def test_modal_keys(self):
        frames = np.ones((4, 5, 3), np.float32)
        keys = jounce.modal_keys
        refused(TypeError, "frames: expected dtype float32", keys, frames.astype(complex), 0.1)
        refused(ValueError, "frames: expected shape (f, p, 3), got (4, 15)", keys, frames.reshape(4, 15), 0.1)
        refused(ValueError, NOT_FINITE, keys, poisoned(frames), 0.1)
        refused(ValueError, "tolerance: ", keys, frames, -0.1)
        refused(ValueError, "tolerance: ", keys, frames, np.nan)
        refused(ValueError, "max_keys: expected", keys, frames, 0.1, -1)
        refused(ValueError, "frames: is empty", keys, frames[:0], 0.1)

    def test_pull_back(self):
        moved, matrices = np.ones((2, 3), np.float32), np.tile(np.eye(3), (2, 1, 1))
        back = jounce.pull_back
        refused(TypeError, "displacement: expected dtype float32", back, moved.astype(complex), matrices)
        refused(ValueError, "matrices: expected shape (2, 3, 3), got (1, 3, 3)", back, moved, matrices[:1])
        refused(ValueError, NOT_FINITE, back, poisoned(moved), matrices)
        refused(ValueError, NOT_FINITE, back, moved, poisoned(matrices))


class TestReadMesh:
    def test_files(self, tmp_path):
        refused(ValueError, "cannot be read as a mesh", jounce.read_mesh, tmp_path / "absent.msh")
        (tmp_path / "noise.msh").write_bytes(b"\x00\xffnoise")
        refused(ValueError, "cannot be read as a mesh", jounce.read_mesh, tmp_path / "noise.msh")
        (tmp_path / "mesh.unknown").write_text("x")
        refused(ValueError, "cannot be read as a mesh", jounce.read_mesh, tmp_path / "mesh.unknown")

    def test_surface_only(self, tmp_path):
        meshio = pytest.importorskip("meshio")
        path = tmp_path / "surface.vtk"
        meshio.write(path, meshio.Mesh(np.eye(3), [("triangle", np.array([[0, 1, 2]]))]))
        refused(ValueError, "has no tetrahedra", jounce.read_mesh, path)
