"""Copies and pickles of linear modes, of trees of domains and of reports."""

import copy
import pickle

import jounce
import numpy as np
import pytest

WIND = [0.3, 2.0, 0.0]


def again(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.fixture(scope="module")
def mesh():
    return jounce.TetMesh.lattice(*jounce.shapes.box((4.0, 1.0, 1.0)), resolution=8)


@pytest.fixture(scope="module")
def held(mesh):
    return mesh.vertices[:, 0] < 0.1


@pytest.fixture(scope="module")
def modes(mesh, held):
    return jounce.linear_modes(mesh, jounce.Material(2e4, 0.3), 6, pinned=held)


def stitches(mesh):
    return jounce.Stitches(mesh, [(0, len(mesh.vertices) - 1)], stiffness=50.0)


def halves(mesh):
    """Sides of a cut across the middle, through the lower half."""
    x, _, z = mesh.vertices[mesh.tets].mean(axis=1).T
    return np.where(z > 0.5, 0, np.where(x < 2.0, -1, 1))


def sheet():
    points, triangles = jounce.shapes.box((2.0, 1.0, 0.01))
    return jounce.linear_modes(
        jounce.SurfaceMesh(points, triangles),
        jounce.Material(1e5),
        4,
        pinned=points[:, 0] < 0.1,
        thickness=0.01,
        bending=2.0,
    )


@pytest.mark.parametrize(
    "kind", ["found", "leaking", "stitched", "restitched", "stiffened", "cut", "attached", "sheet"]
)
def test_modes_come_back_to_the_bit(mesh, held, modes, kind):
    """Modes keep the factor for their derivatives too."""
    made = {
        "found": lambda: modes,
        "leaking": lambda: jounce.linear_modes(
            mesh,
            jounce.Material(),
            5,
            rig=jounce.Rig(mesh, np.ones((len(mesh.vertices), 1))),
            leak=np.linspace(0.1, 1.0, len(mesh.vertices)),
            stitches=stitches(mesh),
        ),
        "stitched": lambda: modes.stitched(stitches(mesh), 4),
        "restitched": lambda: modes.stitched(stitches(mesh), 5).stitched(stitches(mesh), 3),
        "stiffened": lambda: modes.stiffened(np.linspace(0.5, 1.0, len(mesh.tets)), 4),
        "cut": lambda: modes.cut(mesh.cut(halves(mesh)), 3),
        "attached": lambda: modes.attached([np.flatnonzero(~held)[:12]]),
        "sheet": sheet,
    }[kind]()
    other = again(made)
    assert np.array_equal(other.shapes, made.shapes)
    assert np.array_equal(other.eigenvalues, made.eigenvalues)
    assert (other.residuals is None) == (made.residuals is None)
    if kind in ("found", "stitched"):
        assert np.array_equal(other.derivatives(), made.derivatives())
    assert copy.copy(made) is made and copy.deepcopy([made])[0] is made


def test_the_arrays_of_a_pickle_are_those_of_its_making(mesh):
    pinned = mesh.vertices[:, 0] < 0.1
    made = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=pinned)
    pinned[:] = False
    assert np.array_equal(again(made).eigenvalues, made.eigenvalues)


def tree_of(mesh, held, modes, **settings):
    """A bar with a bar at its end, moved up to it."""
    end = np.flatnonzero(mesh.vertices[:, 0] > mesh.vertices[:, 0].max() - 1e-6)
    domain = jounce.Domain(modes)
    placements = np.tile(np.eye(3, 4), (2, 1, 1))
    placements[1, 0, 3] = np.ptp(mesh.vertices[:, 0])
    return jounce.DomainTree([domain, domain], [-1, 0], [[], end], placements, **settings)


SETTINGS = {"dt": 0.02, "substeps": 2, "damping": 0.05, "gravity": (0.0, 0.0, -3.0), "stiffness": 1.5}
GROUND = jounce.Collider.plane((0.0, 0.0, -0.2), friction=0.4)
TREES = {
    "held": SETTINGS | {"integrator": "bdf2"},
    "free": SETTINGS | {"free": True, "gravity": (0.0, 0.0, 0.0)},
    "touching": SETTINGS | {"colliders": [GROUND], "gravity": (0.0, 0.0, -9.0)},
}


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("made", [again, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_a_tree_goes_on_with_the_same_bits(mesh, held, modes, kind, made):
    def positions(tree, steps):
        found = []
        for _ in range(steps):
            tree.step(wind=WIND, drag=2.0)
            found.append([tree.positions(0), tree.positions(1)])
        return np.array(found)

    tree = tree_of(mesh, held, modes, **TREES[kind])
    tree.vary(damping=0.1)
    before = positions(tree, 8)
    other = made(tree)
    assert other is not tree
    expected = positions(tree, 8)
    assert np.abs(expected[-1] - before[0]).max() > 1e-3
    assert np.array_equal(positions(other, 8), expected)


def test_a_state_of_a_tree_is_kept_as_bytes(mesh, held, modes):
    tree = tree_of(mesh, held, modes, **SETTINGS)
    tree.step(wind=WIND)
    data = tree.save_state().to_bytes()
    tree.step(wind=WIND)
    expected = tree.positions(1)
    tree.restore_state(jounce.State.from_bytes(data))
    tree.step(wind=WIND)
    assert np.array_equal(tree.positions(1), expected)
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 1
    for wrong in (bytes(damaged), data[:-9], b""):
        with pytest.raises(ValueError):
            jounce.State.from_bytes(wrong)
    alone = jounce.DomainTree([jounce.Domain(modes)], [-1], [[]])
    with pytest.raises(ValueError, match="state: expected .* rows"):
        alone.restore_state(jounce.State.from_bytes(data))


def test_reports_come_back(mesh, held, modes):
    report = tree_of(mesh, held, modes, **SETTINGS).step(wind=WIND)
    assert report.iterations > 0
    assert repr(again(report)) == repr(report) == repr(copy.deepcopy(report))
    body = jounce.Body(
        *jounce.shapes.box((4.0, 1.0, 1.0)), np.ones((8, 1)), resolution=8, modes=4, clusters=20
    )
    simulation = jounce.Simulation(body.model, damping=0.1)
    cycle = np.tile(np.eye(3, 4), (12, 1, 1, 1))
    cycle[:, 0, 2, 3] = 0.1 * np.sin(np.arange(12) * 2 * np.pi / 12)
    simulation.reset(cycle[0])
    closed = simulation.settle_cycle(cycle)
    assert repr(again(closed)) == repr(closed)


@pytest.mark.parametrize("made", [again, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_operators_come_back(mesh, made):
    """Arrays stay read only, and energies have the same bits."""
    laplacian = jounce.operators.laplacian(mesh)
    other = made(laplacian)
    assert repr(other) == repr(laplacian) and other.shape == laplacian.shape
    for name in ("indptr", "indices", "data"):
        array = getattr(other, name)
        assert np.array_equal(array, getattr(laplacian, name)) and not array.flags.writeable
    energy = jounce.operators.ElasticEnergy(mesh, jounce.Material(law="neo_hookean", poisson=0.4))
    stretched = mesh.vertices * [1.1, 1.0, 1.0]
    assert repr(made(energy)) == repr(energy)
    assert made(energy).value(stretched) == energy.value(stretched)
    assert np.array_equal(made(energy).gradient(stretched), energy.gradient(stretched))
