"""Trees of domains from Python: a bar in two parts hangs like the whole bar, and misfits are refused."""

import jounce
import numpy as np
import pytest
from refusals import mistyped, poisoned, refused

HALF, WIDE = 0.5, 0.1
STILL = np.eye(3, 4)


def box(cells):
    """A bar with this number of cells along x, one across, half a metre long at eight cells."""
    step = HALF / 8
    grid = [(i * step, j * WIDE, k * WIDE) for k in (0, 1) for j in (0, 1) for i in range(cells + 1)]

    def index(i, j, k):
        return i + (cells + 1) * (j + 2 * k)

    tets = []
    for i in range(cells):
        corner = [index(i + (bit & 1), bit >> 1 & 1, bit >> 2) for bit in range(8)]
        for a, b in ((1, 3), (3, 2), (2, 6), (6, 4), (4, 5), (5, 1)):
            tets.append((corner[0], corner[a], corner[b], corner[7]))
    return jounce.TetMesh(np.array(grid), np.array(tets))


@pytest.fixture(scope="module")
def half():
    return box(8)


@pytest.fixture(scope="module")
def stuff():
    return jounce.Material(young=3e5, poisson=0.0, density=1000.0)


@pytest.fixture(scope="module")
def end(half):
    return np.flatnonzero(half.vertices[:, 0] > HALF - 1e-9)


@pytest.fixture(scope="module")
def held(half):
    return half.vertices[:, 0] < 1e-9


@pytest.fixture(scope="module")
def swings(half, stuff, held):
    return jounce.linear_modes(half, stuff, 4, pinned=held)


@pytest.fixture(scope="module")
def domain(swings, end):
    return jounce.Domain(swings.attached([end]))


def arguments(domain, end):
    placements = np.stack([STILL, STILL])
    placements[1, 0, 3] = HALF
    return [domain, domain], [-1, 0], [[], end], placements


@pytest.fixture
def tree(domain, end):
    return jounce.DomainTree(*arguments(domain, end), gravity=(0.0, 0.0, -1e-2), damping=0.3)


def test_a_bar_in_two_hangs_as_the_bar_in_one(domain, end, half, stuff):
    settings = {"gravity": (0.0, 0.0, -1e-2), "dt": 1e4, "tolerance": 1e-10}
    tree = jounce.DomainTree(*arguments(domain, end), **settings)
    whole = box(16)
    pinned = whole.vertices[:, 0] < 1e-9
    basis = jounce.linear_modes(whole, stuff, 40, pinned=pinned).basis
    one = jounce.Simulation(jounce.Model.reduced(whole, stuff, basis), **settings, max_iterations=500)
    for _ in range(4):
        tree.step()
        one.step()
    tip = one.displacement()[np.flatnonzero(whole.vertices[:, 0] > 2 * HALF - 1e-9)].mean(axis=0)
    there = tree.positions(1)[end].mean(axis=0) - half.vertices[end].mean(axis=0) - [HALF, 0.0, 0.0]
    assert tip[2] < -1e-4
    assert there[2] == pytest.approx(tip[2], rel=0.02)


def test_frames_and_coordinates_say_where_vertices_are(tree, swings, end, half):
    for _ in range(6):
        report = tree.step(wind=(0.0, 2.0, 0.5), drag=2.0)
    assert report.iterations > 0 and report.energy > 0.0
    assert tree.frames.shape == (2, 3, 4)
    shapes = swings.attached([end]).shapes
    for number in range(2):
        moved = half.vertices + np.tensordot(tree.coordinates(number), shapes, 1)
        frame = tree.frames[number]
        expected = moved @ frame[:, :3].T + frame[:, 3]
        np.testing.assert_allclose(tree.positions(number), expected, atol=1e-12)
    assert np.abs(tree.coordinates(1)).max() > 1e-3
    assert tree.coordinate_count == 2 * len(shapes)
    assert repr(tree) == f"DomainTree(2 domains, {2 * len(shapes)} coordinates)"


def test_flesh_bends_in_its_own_displacements(swings, half, stuff, held, end):
    basis = jounce.Basis(np.concatenate([swings.bent_basis(8).shapes, swings.attached([end]).shapes[4:]]))
    flesh = jounce.Domain(jounce.Model.reduced(half, stuff, basis))
    assert set(flesh.held) == set(np.flatnonzero(held))
    tree = jounce.DomainTree(*arguments(flesh, end), gravity=(0.0, 0.0, -9.8), damping=0.3)
    for _ in range(30):
        tree.step()
    assert tree.positions(1)[end, 2].mean() < -0.2
    ends = tree.positions(0)[end].mean(axis=0) - tree.positions(1)[held].mean(axis=0)
    assert np.linalg.norm(ends) < 2e-3 * HALF


def test_the_root_is_driven_and_a_free_one_flies(tree, domain, end, half, stuff):
    moved = STILL.copy()
    moved[:, 3] = (1.0, 2.0, 3.0)
    tree.step(root=moved)
    np.testing.assert_allclose(tree.frames[0], moved, atol=1e-12)
    loose = jounce.Domain(jounce.linear_modes(half, stuff, 10))
    assert loose.coordinate_count == 4 and loose.held.shape == (0,)
    pieces = arguments(domain, end)
    pieces[0][0] = loose
    free = jounce.DomainTree(*pieces, free=True, gravity=(0.0, 0.0, -10.0), dt=0.1)
    for _ in range(10):
        free.step()
    # Backward Euler falls by g h^2 n (n + 1) / 2.
    assert free.frames[0, 2, 3] == pytest.approx(-5.5, rel=1e-6)
    refused(ValueError, "root: nothing holds this tree", free.step, root=moved)


def test_colliders_are_touched_and_move(half, stuff, domain, end):
    loose = jounce.Domain(jounce.linear_modes(half, stuff, 12))
    ground = jounce.Collider.plane((0.0, 0.0, -0.05), friction=0.5)
    settings = {"gravity": (0.0, 0.0, -9.8), "damping": 0.1, "colliders": [ground]}
    fallen = jounce.DomainTree([loose], [-1], [[]], free=True, **settings)
    for _ in range(100):
        fallen.step()
    lowest = -0.05 - fallen.positions(0)[:, 2].min()
    assert 0.0 < lowest < 1e-3 * HALF
    carried = STILL[None].copy()
    for _ in range(40):
        carried[0, :, 3] += (0.002, 0.0, 0.001)
        fallen.step(colliders=carried)
    middle = fallen.positions(0).mean(axis=0)
    assert middle[0] == pytest.approx(HALF / 2 + 0.08, abs=0.02)
    assert middle[2] == pytest.approx(-0.05 + WIDE / 2 + 0.04, abs=0.01)
    # A hanging body lies on the ground too, and no lower.
    hanging = jounce.DomainTree(*arguments(domain, end), **settings)
    for _ in range(100):
        hanging.step()
    deepest = [-0.05 - hanging.positions(number)[:, 2].min() for number in (0, 1)]
    assert 0.0 < deepest[1] < 1e-3 * HALF
    assert deepest[0] < 1e-3 * HALF


def test_what_does_not_go_with_colliders_is_refused(domain, end, tree):
    ground = jounce.Collider.plane()
    pieces = arguments(domain, end)
    sentence = "integrator: among colliders only backward Euler"
    refused(ValueError, sentence, jounce.DomainTree, *pieces, integrator="bdf2", colliders=[ground])
    sentence = "colliders: points that pass through one"
    refused(ValueError, sentence, jounce.DomainTree, *pieces, colliders=[ground.sparing([0])])
    mistyped("colliders", jounce.DomainTree, *pieces, colliders=[1])
    refused(ValueError, "colliders: expected shape (0, 3, 4)", tree.step, colliders=np.zeros((1, 3, 4)))
    among = jounce.DomainTree(*pieces, colliders=[ground])
    before = among.positions(1)
    refused(ValueError, "colliders: expected a rotation", among.step, colliders=2.0 * STILL[None])
    refused(ValueError, "every number must be finite", among.step, colliders=poisoned(STILL[None]))
    np.testing.assert_array_equal(among.positions(1), before)
    refused(ValueError, "state: expected shape", among.restore_state, tree.save_state())


def test_attached_shapes_are_no_modes_that_bend(swings, end):
    few = swings.attached([end])
    refused(ValueError, "join such shapes to the basis", few.bent_basis, 8)


def test_states_replay_and_settings_change(tree):
    tree.step()
    state = tree.save_state()
    one = [tree.step() and tree.positions(1) for _ in range(3)]
    tree.restore_state(state)
    for positions in one:
        tree.step()
        np.testing.assert_array_equal(tree.positions(1), positions)
    tree.vary(gravity=(0.0, 0.0, 0.0), stiffness=2.0, damping=1.0)
    for _ in range(200):
        tree.step()
    assert np.abs(tree.coordinates(1)).max() < 1e-6
    with pytest.raises(TypeError, match="^strength is no setting; the settings are dt, "):
        tree.vary(strength=0.5)
    tree.restore_state(state)
    tree.reset()
    assert not tree.coordinates(0).any()


def test_a_root_that_jumps_or_sets_off_does_not_kick(tree):
    moved = STILL.copy()
    tree.step(STILL)
    before = tree.coordinates(1)
    moved[0, 3] = 30.0
    tree.cut(moved)
    tree.step(moved)
    assert np.abs(tree.coordinates(1) - before).max() < 1e-3
    assert tree.frames[0, 0, 3] == pytest.approx(30.0)
    tree.vary(gravity=(0.0, 0.0, 0.0))
    tree.reset()
    tree.step(STILL)
    moved[0, 3] = 0.1
    tree.coast(moved)
    for step in (1, 2, 3):
        moved[0, 3] = 0.1 * step
        tree.step(moved)
    assert np.abs(tree.coordinates(1)).max() < 1e-6
    refused(ValueError, "root: expected shape (3, 4)", tree.cut, np.eye(4))
    refused(ValueError, "root: expected a rotation", tree.coast, 2.0 * STILL)


def test_what_is_no_domain_is_refused(half, stuff, held, rig, mesh, material, model):
    mistyped("body", jounce.Domain, half)
    refused(ValueError, "body: only linear modes and models of Model.reduced", jounce.Domain, model)
    basis = jounce.linear_modes(mesh, material, 3).basis
    posed = jounce.Model.reduced(mesh, material, basis, rig=rig)
    refused(ValueError, "rig: a domain hangs on its parent", jounce.Domain, posed)
    free = jounce.Model.reduced(half, stuff, jounce.linear_modes(half, stuff, 8).basis)
    refused(ValueError, "basis: together they move the body as a whole", jounce.Domain, free)


def test_what_is_no_tree_is_refused(domain, end):
    domains, parents, interfaces, places = arguments(domain, end)
    make = jounce.DomainTree
    refused(ValueError, "domains: is empty", make, [], np.empty(0, int), [])
    refused(ValueError, "parents: expected shape (2,), got (1,)", make, domains, [-1], interfaces, places)
    sentence = "domain 1: its parent is not among the domains before it"
    refused(ValueError, sentence, make, domains, [-1, 1], interfaces, places)
    refused(ValueError, "interfaces: expected one for each of 2", make, domains, parents, [[]], places)
    sentence = "domain 1: its interface is three vertices or more"
    refused(ValueError, sentence, make, domains, parents, [[], end[:2]], places)
    refused(ValueError, "domain 1: it is held elsewhere", make, domains, parents, interfaces)
    refused(ValueError, "interfaces: expected a whole number", make, domains, parents, [[], -end], places)
    refused(ValueError, "interface: element 0 refers to", make, domains, parents, [[], end + 900], places)
    refused(ValueError, "every number must be finite", make, domains, parents, interfaces, poisoned(places))
    refused(ValueError, "placements: expected a rotation", make, domains, parents, interfaces, 2.0 * places)
    refused(ValueError, "damping: expected", make, domains, parents, interfaces, places, damping=-1.0)
    sentence = "integrator: expected"
    refused(ValueError, sentence, make, domains, parents, interfaces, places, integrator="euler")
    mistyped("domains", make, [1, 2], parents, interfaces, places)


def test_what_cannot_be_stepped_is_refused_and_changes_nothing(tree):
    tree.step()
    before = tree.positions(1)
    refused(ValueError, "root: expected shape (3, 4)", tree.step, np.eye(4))
    refused(ValueError, "root: expected a rotation", tree.step, 2.0 * STILL)
    refused(ValueError, "wind: expected shape (2, 3)", tree.step, wind=np.zeros((3, 3)))
    refused(ValueError, "wind: element 0 is NaN", tree.step, wind=(np.nan, 0.0, 0.0))
    refused(ValueError, "drag: expected rates >= 0", tree.step, wind=(1.0, 0.0, 0.0), drag=-1.0)
    refused(ValueError, "drag: expected shape (2,)", tree.step, wind=(1.0, 0.0, 0.0), drag=np.ones(3))
    refused(ValueError, "domain: element 0 refers to index 2", tree.positions, 2)
    refused(ValueError, "stiffness: expected a positive number", tree.vary, stiffness=0.0)
    np.testing.assert_array_equal(tree.positions(1), before)


def test_what_is_attached_is_refused_where_it_does_not_fit(swings, end):
    refused(ValueError, "interfaces: is empty", swings.attached, [[]])
    refused(ValueError, "interfaces: element 1 refers to index 900", swings.attached, [[0, 900]])
    grown = swings.attached([end])
    assert len(grown.eigenvalues) == 10
    np.testing.assert_array_equal(grown.shapes[:4], swings.shapes)
