"""Every function answers bad input with a sentence and the name of the argument."""

import jounce
import numpy as np
import pytest
from refusals import NOT_FINITE, mistyped, poisoned, refused

TET = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
CORNERS = np.array([[0, 1, 2, 3]])


class Exploding:
    def __array__(self, *_args, **_settings):
        raise KeyError("boom")


class TestArrays:
    """Kinds of numbers and shapes; all functions share these checks."""

    @pytest.mark.parametrize(
        ("vertices", "kind", "sentence"),
        [
            (TET.astype(complex), TypeError, "vertices: expected dtype float64, got dtype complex128"),
            (TET.astype(str), TypeError, "vertices: expected dtype float64, got dtype <U"),
            (TET[0], ValueError, "vertices: expected shape (n, 3), got (3,)"),
            (TET[None], ValueError, "vertices: expected shape (n, 3), got (1, 4, 3)"),
            (np.float64(1.0), ValueError, "vertices: expected shape (n, 3), got ()"),
            ("points", TypeError, "vertices: expected a numpy array of float64, got str"),
            (object(), TypeError, "vertices: expected a numpy array of float64, got object"),
            ([[0.0, 1.0], [2.0]], TypeError, "vertices: expected a numpy array of float64, got list"),
            (Exploding(), TypeError, "vertices: expected a numpy array of float64, got Exploding"),
        ],
    )
    def test_vertices(self, vertices, kind, sentence):
        refused(kind, sentence, jounce.TetMesh, vertices, CORNERS)

    @pytest.mark.parametrize("dtype", [np.float64, bool, object])
    def test_tets(self, dtype):
        sentence = f"tets: expected integers, got dtype {np.dtype(dtype)}"
        refused(TypeError, sentence, jounce.TetMesh, TET, CORNERS.astype(dtype))

    @pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32])
    def test_accepted_tets(self, dtype):
        assert len(jounce.TetMesh(TET, CORNERS.astype(dtype)).tets) == 1

    def test_lists_are_accepted(self):
        assert jounce.TetMesh(TET.tolist(), CORNERS.tolist()).volumes == pytest.approx(1 / 6)


class TestTetMesh:
    def test_indices(self):
        refused(ValueError, "tets: element 0 refers to index -1", jounce.TetMesh, TET, CORNERS - 1)
        refused(
            ValueError,
            "tets: element 1 refers to index 9",
            jounce.TetMesh,
            TET,
            np.array([[0, 1, 2, 3], [0, 1, 2, 9]]),
        )
        huge = CORNERS * 2**40
        refused(ValueError, "tets: element 0 refers to index 1099511627776", jounce.TetMesh, TET, huge)

    def test_numbers(self):
        for value in (np.nan, np.inf, -np.inf):
            refused(ValueError, NOT_FINITE, jounce.TetMesh, poisoned(TET, value), CORNERS)

    def test_degenerate(self):
        flat, inverted = "tet 0 is flat", "tet 0 is inverted"
        refused(ValueError, flat, jounce.TetMesh, TET * [1, 1, 0], CORNERS)
        refused(ValueError, flat, jounce.TetMesh, TET[[0, 1, 1, 3]].copy(), CORNERS)
        refused(ValueError, flat, jounce.TetMesh, TET, CORNERS * 0)
        refused(ValueError, inverted, jounce.TetMesh, TET, CORNERS[:, [1, 0, 2, 3]].copy())

    def test_empty(self):
        refused(ValueError, "vertices: is empty", jounce.TetMesh, np.zeros((0, 3)), np.zeros((0, 4), int))
        refused(ValueError, "tets: is empty", jounce.TetMesh, TET, np.zeros((0, 4), int))
        refused(ValueError, "tets: is empty", jounce.TetMesh, TET[:1].copy(), np.zeros((0, 4), int))

    def test_loose_and_doubled_vertices(self):
        doubled = np.vstack([TET, TET[3:]])
        refused(ValueError, "vertex 4 belongs to no tet", jounce.TetMesh, doubled, CORNERS)


class TestLattice:
    def test_surface(self, box):
        points, triangles, _ = box
        lattice = jounce.TetMesh.lattice
        refused(ValueError, "points: is empty", lattice, np.zeros((0, 3)), np.zeros((0, 3), int))
        refused(ValueError, "triangles: is empty", lattice, points, triangles[:0])
        refused(ValueError, "triangles: element 0 refers to index 20", lattice, points, triangles + 20)
        refused(
            ValueError,
            "triangles: expected shape (q, 3), got (12, 2)",
            lattice,
            points,
            triangles[:, :2].copy(),
        )
        refused(ValueError, NOT_FINITE, lattice, poisoned(points), triangles)

    def test_one_point(self):
        refused(ValueError, "expected", jounce.TetMesh.lattice, np.zeros((1, 3)), np.zeros((1, 3), int))

    def test_duplicate_points_are_fine(self, box):
        points, triangles, _ = box
        doubled = jounce.TetMesh.lattice(points[triangles.ravel()], np.arange(36).reshape(12, 3), 8)
        assert len(doubled.tets) == len(jounce.TetMesh.lattice(points, triangles, 8).tets)

    @pytest.mark.parametrize("resolution", [-1, 0, 10**6, 2**62])
    def test_resolution(self, box, resolution):
        refused(ValueError, "resolution: expected", jounce.TetMesh.lattice, *box[:2], resolution)

    def test_counts(self, box):
        refused(
            ValueError, "tet_count: expected a whole number", jounce.TetMesh.lattice, *box[:2], tet_count=-5
        )
        refused(
            ValueError,
            "tet_count: expected no more than 20 million, as many as a lattice can have, got 1e12",
            jounce.TetMesh.lattice,
            *box[:2],
            tet_count=10**12,
        )
        mistyped("resolution", jounce.TetMesh.lattice, *box[:2], 3.5)


class TestEmbedding:
    def test_points(self, mesh):
        refused(ValueError, "points: is empty", jounce.Embedding, mesh, np.zeros((0, 3)))
        refused(ValueError, NOT_FINITE, jounce.Embedding, mesh, poisoned(TET))
        mistyped("mesh", jounce.Embedding, None, TET)

    def test_values(self, mesh):
        embedding = jounce.Embedding(mesh, TET)
        refused(
            ValueError, "values: expected shape (735, k), got (4, 2)", embedding.interpolate, np.ones((4, 2))
        )


class TestRig:
    def test_weights(self, mesh, bar):
        refused(ValueError, "weights: expected shape (735, b), got (4, 2)", jounce.Rig, mesh, np.ones((4, 2)))
        refused(ValueError, "weights: is empty", jounce.Rig, mesh, np.ones((735, 0)))
        refused(ValueError, NOT_FINITE, jounce.Rig, mesh, poisoned(bar.weights))
        refused(
            ValueError, "weights of vertex 0 sum to 0; normalise them to 1", jounce.Rig, mesh, 0 * bar.weights
        )
        refused(ValueError, "weights of vertex 0 sum to 2", jounce.Rig, mesh, 2 * bar.weights)

    def test_spreading(self, mesh):
        spread, ids, values = jounce.spread_to_interior, np.array([0, 5]), np.ones((2, 1))
        refused(
            ValueError, "vertex_ids: element 1 refers to index 735", spread, mesh, np.array([0, 735]), values
        )
        refused(ValueError, "values: expected shape (2, k), got (3, 1)", spread, mesh, ids, np.ones((3, 1)))
        refused(ValueError, "values: is empty", spread, mesh, ids[:0], values[:0])
        refused(ValueError, NOT_FINITE, spread, mesh, ids, poisoned(values))


class TestMaterial:
    @pytest.mark.parametrize(
        ("settings", "kind", "sentence"),
        [
            ({"young": 0.0}, ValueError, "young: expected a positive number of Pa, got 0"),
            ({"young": np.nan}, ValueError, NOT_FINITE),
            ({"young": np.array([1.0, -1.0])}, ValueError, "young: expected a positive number of Pa, got -1"),
            ({"young": np.zeros(0)}, ValueError, "young: is empty"),
            ({"young": np.ones((2, 2))}, ValueError, "young: expected shape (t,), got (2, 2)"),
            ({"young": "stiff"}, TypeError, "young: expected a numpy array of float64, got str"),
            ({"poisson": 0.5}, ValueError, "poisson: expected a ratio in [0, 0.5), got 0.5"),
            ({"poisson": -0.1}, ValueError, "poisson: expected a ratio in [0, 0.5), got -0.1"),
            ({"density": -1.0}, ValueError, "density: expected a positive number of kg/m^3, got -1"),
            ({"law": "jelly"}, ValueError, '"mooney_rivlin", "polynomial" or "spline", got "jelly"'),
        ],
    )
    def test_parameters(self, settings, kind, sentence):
        refused(kind, sentence, jounce.Material, **settings)

    def test_of_another_mesh(self, mesh):
        material = jounce.Material(young=np.ones(3))
        sentence = "young: expected shape (2880,), got (3,)"
        refused(ValueError, sentence, jounce.skinning_modes, mesh, material)


class TestModes:
    def test_arguments(self, mesh, material, bar):
        modes = jounce.skinning_modes
        refused(ValueError, "count: expected", modes, mesh, material, -1)
        refused(ValueError, "count: expected", modes, mesh, material, 0)
        refused(ValueError, "736 modes asked for", modes, mesh, material, 736)
        refused(
            ValueError, "leak: expected shape (735,), got (3,)", modes, mesh, material, 4, None, np.ones(3)
        )
        leak = np.ones(735)
        rig = jounce.Rig(mesh, bar.weights)
        refused(
            ValueError,
            "leak: expected numbers in [0, 1], got NaN",
            modes,
            mesh,
            material,
            4,
            rig,
            poisoned(leak),
        )
        refused(ValueError, "leak: expected", modes, mesh, material, 4, rig, 2 * leak)

    def test_rig_of_another_mesh(self, mesh, material):
        other = jounce.TetMesh(TET, CORNERS)
        rig = jounce.Rig(other, np.ones((4, 1)))
        refused(ValueError, "rig: expected shape", jounce.skinning_modes, mesh, material, 4, rig)

    def test_given_modes(self):
        modes = jounce.SkinningModes
        refused(ValueError, "eigenvalues: expected shape (2,), got (3,)", modes, np.ones((4, 2)), np.ones(3))
        refused(ValueError, "weights: is empty", modes, np.ones((4, 0)), np.ones(0))
        refused(ValueError, "weights: is empty", modes, np.ones((0, 2)), np.ones(2))
        refused(ValueError, "weights: element 2 is NaN", modes, poisoned(np.ones((4, 2))), np.ones(2))
        refused(ValueError, "eigenvalues: element 1 is NaN", modes, np.ones((4, 2)), poisoned(np.ones(2)))

    def test_cubature(self, mesh, modes):
        train, material = jounce.Cubature.train, jounce.Material()
        refused(ValueError, "cubature: expected at least one tet, got 0", train, mesh, material, modes, 0)
        refused(ValueError, "count: expected", train, mesh, material, modes, -3)
        refused(ValueError, "modes: expected", train, jounce.TetMesh(TET, CORNERS), material, modes, 3)

    def test_clusters(self, mesh, modes):
        clusters = jounce.cluster_tets
        refused(ValueError, "count: expected at least one cluster, got 0", clusters, mesh, modes, 0)
        refused(ValueError, "count: expected", clusters, mesh, modes, -3)
        refused(ValueError, "seed: expected", clusters, mesh, modes, 3, -3)
        refused(ValueError, "modes: expected shape", clusters, jounce.TetMesh(TET, CORNERS), modes)


class TestModel:
    def test_arguments(self, mesh, material, modes, labels):
        model = jounce.Model.skinning
        other = jounce.TetMesh(TET, CORNERS)
        refused(
            ValueError, "labels: expected shape (2880,), got (3,)", model, mesh, material, modes, labels[:3]
        )
        refused(ValueError, "labels: ", model, mesh, material, modes, labels - 1)
        refused(
            ValueError, "labels: element 0", model, mesh, material, modes, labels.astype(np.int64) + 2**40
        )
        refused(TypeError, "labels: expected integers", model, mesh, material, modes, labels.astype(float))
        refused(ValueError, "expected shape", model, other, material, modes, np.zeros(1, np.int32))
        rig = jounce.Rig(other, np.ones((4, 1)))
        refused(ValueError, "rig: expected shape", model, mesh, material, modes, labels, rig)
        one_tet = jounce.Material(young=np.ones(1))
        refused(ValueError, "young: expected shape", model, mesh, one_tet, modes, labels)

    def test_strength(self, mesh, material, modes, labels, rig):
        def build(strength):
            return jounce.Model.skinning(mesh, material, modes, labels, rig, strength)

        refused(ValueError, "strength: expected shape (735,), got (3,)", build, np.ones(3))
        refused(ValueError, "strength: expected numbers >= 0, got -1", build, -np.ones(735))
        refused(ValueError, NOT_FINITE, build, poisoned(np.ones(735)))

    def test_forces(self, model):
        refused(ValueError, "forces: expected shape (735, 3)", model.reduce_forces, np.zeros((3, 3)))
        refused(ValueError, NOT_FINITE, model.reduce_forces, poisoned(np.zeros((735, 3))))
        refused(ValueError, "count: expected at least one sample", model.force_samples, 0)
        refused(ValueError, "count: expected", model.force_samples, -1)
        samples = model.force_samples(4)
        refused(ValueError, "forces: expected shape (4, 3)", samples.reduce, np.zeros((5, 3)))
        refused(ValueError, NOT_FINITE, samples.reduce, poisoned(np.zeros((4, 3))))

    def test_displacement(self, model, mesh):
        zeros = np.zeros((6, 3, 4))
        move = model.displacement
        refused(ValueError, "coefficients: expected shape (6, 3, 4), got (5, 3, 4)", move, zeros[:5])
        refused(TypeError, "coefficients: expected dtype float64", move, zeros.astype(complex))
        refused(TypeError, "out: expected dtype float32, got float64", move, zeros, out=np.zeros((735, 3)))
        refused(
            ValueError,
            "out: expected shape (735, 3), got (4, 3)",
            move,
            zeros,
            out=np.zeros((4, 3), np.float32),
        )
        refused(TypeError, "out: expected a numpy array of float32, got list", move, zeros, out=[])
        locked = np.zeros((735, 3), np.float32)
        locked.flags.writeable = False
        refused(TypeError, "out: cannot be written to", move, zeros, out=locked)
        strided = np.zeros((735, 6), np.float32)[:, ::2]
        refused(TypeError, "out: expected C order", move, zeros, out=strided)
        elsewhere = jounce.Embedding(jounce.TetMesh(TET, CORNERS), TET)
        refused(ValueError, "mesh: expected", move, zeros, elsewhere)

    def test_files(self, model, tmp_path):
        refused(ValueError, "file: ", jounce.Model.load, tmp_path / "absent")
        refused(ValueError, "file: ", jounce.Model.load, tmp_path)
        refused(ValueError, "file: ", model.save, tmp_path / "no" / "such" / "folder")
        path = tmp_path / "model"
        model.save(path)
        whole = path.read_bytes()
        for damaged in (
            b"",
            b"hello",
            whole[:-1],
            whole + b"x",
            poisoned(np.frombuffer(whole, np.uint8), 0x5A).tobytes(),
        ):
            path.write_bytes(damaged)
            refused(ValueError, "file: ", jounce.Model.load, path)
