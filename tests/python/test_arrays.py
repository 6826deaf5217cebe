"""Arrays of any precision, order, byte order and alignment stand for the same numbers."""

import jounce
import numpy as np
import pytest

POSE = np.array([[[1.0, 0.0, 0.0, 0.25], [0.0, 1.0, 0.0, 0.5], [0.0, 0.0, 1.0, -2.0]]] * 3)


def transposed(array):
    return array.T.copy().T


def strided(array):
    return np.repeat(array, 2, axis=-1)[..., ::2]


def unaligned(array):
    raw = np.zeros(array.nbytes + 1, np.uint8)
    view = raw[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


FORMS = {
    "float16": lambda it: it.astype(np.float16),
    "float32": lambda it: it.astype(np.float32),
    "longdouble": lambda it: it.astype(np.longdouble),
    "big endian": lambda it: it.astype(">f8"),
    "transposed": transposed,
    "strided": strided,
    "unaligned": unaligned,
    "float32 in Fortran order": lambda it: np.asfortranarray(it.astype(np.float32)),
    "list": lambda it: it.tolist(),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_pose_of_any_form_is_the_same_pose(model, form):
    wanted, given = jounce.Simulation(model), jounce.Simulation(model)
    for simulation, pose in ((wanted, POSE), (given, FORMS[form](POSE))):
        simulation.reset(np.tile(np.eye(3, 4), (3, 1, 1)))
        simulation.step(pose)
    assert np.abs(wanted.coefficients).max() > 0
    assert np.array_equal(wanted.coefficients, given.coefficients)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_whole_numbers_of_any_size_are_points_and_indices(box, dtype):
    points, triangles, _ = box
    mesh = jounce.SurfaceMesh(points.astype(dtype), triangles.astype(dtype))
    assert np.array_equal(mesh.points, points)
    assert np.array_equal(mesh.triangles, triangles)


def test_its_own_displacements_are_accepted(mesh, material):
    model = jounce.Model.full_space(mesh, material)
    shapes = jounce.Basis(model.displacement(np.ones((len(mesh.vertices), 3)))[None]).shapes
    assert np.array_equal(shapes, np.ones((1, len(mesh.vertices), 3)))


def test_frames_may_be_exact():
    frames = np.random.default_rng(0).standard_normal((6, 5, 3))
    single = jounce.modal_keys(frames.astype(np.float32), 1e-3)
    for got, wanted in zip(jounce.modal_keys(frames, 1e-3), single, strict=True):
        assert np.array_equal(got, wanted)


def test_arrays_that_fit_are_taken_without_a_copy(model):
    force = np.zeros(model.coefficient_shape)
    simulation = jounce.Simulation(model)
    simulation.reset(POSE)
    simulation.step(POSE, force=force)
    assert not force.any()


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        (np.zeros((4, 3), complex), "vertices: expected dtype float64, got dtype complex128"),
        (np.zeros((4, 3), bool), "vertices: expected dtype float64, got dtype bool"),
        (np.zeros((4, 3), "U1"), "vertices: expected dtype float64, got dtype <U1"),
        (np.zeros((4, 3), object), "vertices: expected dtype float64, got dtype object"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(numbers, sentence):
    with pytest.raises(TypeError, match=sentence):
        jounce.TetMesh(numbers, [[0, 1, 2, 3]])


def test_indices_are_whole_numbers(box):
    with pytest.raises(TypeError, match="triangles: expected integers, got dtype float64"):
        jounce.SurfaceMesh(box[0], box[1].astype(float))
    with pytest.raises(ValueError, match="triangles: expected an index below 2\\^63"):
        jounce.SurfaceMesh(box[0], np.full((1, 3), 2**64 - 1, np.uint64))


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert jounce.__version__ == version("jounce")
