"""[MOR] and [IDSR] against an independent program: own elements, SciPy's solvers."""

import independent
import jounce
import numpy as np
import pytest

YOUNG, POISSON, DENSITY = 2e4, 0.3, 900.0
MATERIAL = jounce.Material(YOUNG, POISSON, DENSITY, law="stvk")
COUNT = 6


@pytest.fixture(scope="module")
def bar():
    """A bar without symmetry, held at one end: flesh of either program, and the held vertices."""
    vertices, tets = independent.grid((6, 2, 2), (1.0, 0.3, 0.2), seed=5)
    held = vertices[:, 0] < 0.08
    assert 5 < held.sum() < 12
    flesh = independent.Flesh(vertices, tets, YOUNG, POISSON, DENSITY, held)
    return flesh, jounce.TetMesh(vertices, tets), held


@pytest.fixture(scope="module")
def fingers():
    """Two bars side by side, each held at one end, with springs between their other ends."""
    first, tets = independent.grid((5, 2, 2), (1.0, 0.3, 0.2), seed=7)
    second, _ = independent.grid((5, 2, 2), (0.9, 0.2, 0.2), seed=8)
    vertices = np.concatenate([first, second + [0.0, 0.5, 0.05]])
    tets = np.concatenate([tets, tets + len(first)])
    held = vertices[:, 0] < 0.08
    ends = np.argsort(-first[:, 0])[:4]
    pairs = np.stack([ends, ends + len(first)], axis=1)
    flesh = independent.Flesh(vertices, tets, YOUNG, POISSON, DENSITY, held)
    return flesh, jounce.TetMesh(vertices, tets), held, pairs


def apart(found, expected):
    """Largest difference over the largest value."""
    return np.abs(found - expected).max() / np.abs(expected).max()


def signed(modes, other):
    """Modes with the signs of other modes; both (k, 3n)."""
    return modes * np.sign((modes * other).sum(axis=1))[:, None]


def modes_of(bar):
    """Modes of both programs: ours, and the other's with our signs."""
    flesh, mesh, held = bar
    ours = jounce.linear_modes(mesh, MATERIAL, COUNT, pinned=held)
    values, theirs = flesh.modes(COUNT)
    return ours, values, signed(theirs, ours.shapes.reshape(COUNT, -1))


def test_linear_modes(bar):
    ours, values, theirs = modes_of(bar)
    assert np.diff(values).min() / values[0] > 1e-2
    assert np.abs(ours.eigenvalues / values - 1.0).max() < 1e-9
    assert apart(ours.shapes.reshape(COUNT, -1), theirs) < 1e-8


def test_modal_derivatives(bar):
    ours, _, _ = modes_of(bar)
    expected = bar[0].derivatives(ours.shapes.reshape(COUNT, -1))
    found = ours.derivatives().reshape(len(expected), -1)
    assert len(found) == COUNT * (COUNT + 1) // 2
    for one, other in zip(found, expected, strict=True):
        assert apart(one, other) < 1e-9


def test_static_response_of_second_order(bar):
    """A small force moves the body by modes and derivatives, up to third order."""
    flesh, _, _ = bar
    ours, values, _ = modes_of(bar)
    shapes, derivatives = ours.shapes.reshape(COUNT, -1), ours.derivatives().reshape(-1, flesh.mass.size)
    left = []
    for size in (2e-3, 1e-3):
        p = size * np.array([1.0, -0.6, 0.3, 0.2, -0.1, 0.1])
        force = flesh.mass * (values * p @ shapes)
        pairs = np.outer(p, p)[np.triu_indices(COUNT)] * np.where(
            np.eye(COUNT)[np.triu_indices(COUNT)], 0.5, 1.0
        )
        rest = (flesh.forces(p @ shapes + pairs @ derivatives) - force)[flesh.free]
        left.append(np.abs(rest).max())
    assert 7.5 < left[0] / left[1] < 8.5


def test_cubic_forces_in_a_step(bar):
    """A step of the cubic model solves the other program's equation of implicit Euler."""
    flesh, mesh, _ = bar
    ours, _, _ = modes_of(bar)
    basis = ours.bent_basis(8)
    model = jounce.Model.reduced(mesh, MATERIAL, basis, cubic=True)
    h, columns = 0.05, basis.shapes.reshape(8, -1)
    simulation = jounce.Simulation(model, dt=h, damping=0.0, tolerance=1e-13, max_iterations=500)
    q, push = [np.zeros(8), np.zeros(8)], np.array([3.0, -2.0, 1.0, 0.0, 0.5, 0.0, 0.0, 0.2])
    push *= 0.15 / (np.abs(columns).max() * h * h * 10.0)
    for step in range(20):
        force = push if step < 10 else np.zeros(8)
        simulation.step(force=force)
        q.append(simulation.coefficients.copy())
        u = q[-1] @ columns
        inertia = columns @ (flesh.mass * ((q[-1] - 2.0 * q[-2] + q[-3]) @ columns)) / h**2
        elastic = columns @ flesh.forces(u)
        scale = np.abs(elastic).max() + np.abs(inertia).max()
        assert np.abs(inertia + elastic - force).max() < 1e-11 * scale, step
    # Far from small: the cubic part of the forces counts.
    linear = columns @ (flesh.stiffness @ u)
    assert np.abs(elastic - linear).max() > 0.02 * np.abs(linear).max()


def test_modal_warping(bar):
    flesh, _, _ = bar
    ours, _, _ = modes_of(bar)
    z = bent(ours)
    u = z @ ours.shapes.reshape(COUNT, -1)
    assert np.abs(flesh.curls(u)).max() > 0.7
    assert apart(ours.warped(z, "modal"), flesh.modally_warped(u)) < 1e-12


def test_rotation_strain_warping(bar):
    flesh, _, held = bar
    ours, _, _ = modes_of(bar)
    z = bent(ours)
    u = z @ ours.shapes.reshape(COUNT, -1)
    assert np.linalg.eigvalsh(0.5 * (flesh.gradients(u) + flesh.gradients(u).transpose(0, 2, 1))).min() > -0.9
    assert apart(ours.warped(z), flesh.strain_warped(u, held)) < 1e-11


def test_swings_under_forces(bar):
    ours, values, _ = modes_of(bar)
    forces = np.random.default_rng(4).normal(size=(60, COUNT))
    (low, first), (high, second) = (2.0, 0.03), (20.0, 0.08)
    found = ours.swing(forces, ((low, first), (high, second)), fps=24.0)
    turns = 2.0 * np.pi * np.array([low, high])
    alpha, beta = np.linalg.solve(np.stack([np.ones(2), turns**2], 1), 2.0 * turns * [first, second])
    expected = independent.swing(values, forces, alpha + beta * values, 1.0 / 24.0)
    assert apart(found, expected) < 1e-11


def bent(modes):
    """Amplitudes that turn the far end by about a radian."""
    z = np.array([1.0, 0.4, 0.0, 0.1, 0.0, 0.05])
    return z * 0.5 / np.abs(np.tensordot(z, modes.shapes, 1)).max()


def test_modes_of_a_stitched_body(fingers):
    """A whole eigensolution with springs, and the update without another factor."""
    flesh, mesh, held, pairs = fingers
    for stiffness in (1e2, 1e5):
        springs = flesh.springs(pairs, stiffness)
        values, theirs = flesh.modes(COUNT, springs)
        stitches = jounce.Stitches(mesh, pairs, stiffness)
        whole = jounce.linear_modes(mesh, MATERIAL, COUNT, pinned=held, stitches=stitches)
        assert np.abs(whole.eigenvalues / values - 1.0).max() < 1e-9
        shapes = whole.shapes.reshape(COUNT, -1)
        assert apart(shapes, signed(theirs, shapes)) < 1e-8
        updated = jounce.linear_modes(mesh, MATERIAL, 20, pinned=held).stitched(stitches, COUNT)
        errors = updated.eigenvalues / values - 1.0
        # Rayleigh-Ritz values are above the exact ones, and within their bounds.
        assert errors.min() > -1e-9
        assert (errors <= updated.residuals + 1e-9).all() and errors.max() < 5e-3
        # The unstitched modes are far from it.
        assert np.abs(flesh.modes(COUNT)[0] / values - 1.0).max() > 0.1


@pytest.mark.parametrize("share", [0.04, 0.5])
@pytest.mark.parametrize("factor", [0.01, 0.1, 0.7, 1.0, 2.0, 10.0, 100.0])
def test_modes_of_a_body_with_a_region_of_another_stiffness(bar, share, factor):
    """A whole eigensolution of the changed body, and the edit of the one before."""
    flesh, mesh, held = bar
    centres = mesh.vertices[mesh.tets].mean(axis=1)
    far = np.linalg.norm(centres - centres[centres[:, 0].argmax()], axis=1)
    factors = np.where(far <= np.quantile(far, share), factor, 1.0)
    values, theirs = flesh.modes(COUNT, flesh.added(factors))
    found = jounce.linear_modes(mesh, MATERIAL, 20, pinned=held).stiffened(factors, COUNT)
    errors = found.eigenvalues / values - 1.0
    assert errors.min() > -1e-9
    assert (errors <= found.residuals + 1e-9).all() and errors.max() < 5e-3
    # The span of the modes, by the largest angle in the mass metric, but for the last and its neighbour.
    along = (found.shapes.reshape(COUNT, -1) * flesh.mass) @ theirs.T
    cosine = np.linalg.svd(along[: COUNT - 1])[1].min()
    assert cosine > 1.0 - 5e-3
    # Displacement under a force, by modes of either program.
    force = np.where(np.arange(flesh.mass.size) % 3 == 2, -9.81 * flesh.mass, 0.0)
    shapes = found.shapes.reshape(COUNT, -1)
    hangs, should = (shapes @ force / found.eigenvalues) @ shapes, (theirs @ force / values) @ theirs
    assert apart(hangs, should) < 5e-3
    # The whole body scaled keeps its shapes, and its frequencies change by the root.
    scaled = jounce.linear_modes(mesh, MATERIAL, 8, pinned=held).stiffened(factor, COUNT)
    assert np.abs(scaled.eigenvalues / (factor * flesh.modes(COUNT)[0]) - 1.0).max() < 1e-9
    assert not scaled.refactored


@pytest.mark.parametrize("height", [0.12, 1.0])
def test_modes_of_a_cut_body(bar, height):
    """The cut mesh as a body of its own, and the border of the factor of the uncut one."""
    _, mesh, held = bar
    centres = mesh.vertices[mesh.tets].mean(axis=1)
    cut = mesh.cut(np.where(centres[:, 2] > height, 0, np.where(centres[:, 0] < 0.5, -1, 1)))
    copies, first = np.unique(cut.tets, return_index=True)
    origin = mesh.tets.ravel()[first]
    assert np.array_equal(copies, np.arange(len(cut.vertices)))
    assert np.array_equal(cut.vertices, mesh.vertices[origin])
    flesh = independent.Flesh(cut.vertices, cut.tets, YOUNG, POISSON, DENSITY, held[origin])
    modes = jounce.linear_modes(mesh, MATERIAL, 24, pinned=held)
    found = modes.cut(cut, COUNT)
    if height == 1.0:
        # The part that comes off has six rigid motions.
        assert COUNT == 6 and np.abs(found.eigenvalues).max() < 1e-6 * modes.eigenvalues[0]
    else:
        values = flesh.modes(COUNT)[0]
        assert values[0] < 0.9 * modes.eigenvalues[0]
        errors = found.eigenvalues / values - 1.0
        assert errors.min() > -1e-9
        assert (errors <= found.residuals + 1e-9).all() and errors.max() < 5e-3
    assert np.array_equal(found.cut(mesh, 10).shapes, modes.shapes[:10])
    # Sewn firmly, the cut body is the whole one.
    pairs = np.stack([origin[len(mesh.vertices) :], copies[len(mesh.vertices) :]], axis=1)
    sewn = found.stitched(jounce.Stitches(cut, pairs, 1e8), COUNT)
    assert np.abs(sewn.eigenvalues / modes.eigenvalues[:COUNT] - 1.0).max() < 5e-3


def test_derivatives_carried_to_a_stitched_body(fingers):
    flesh, mesh, held, pairs = fingers
    stiffness = 3e3
    modes = jounce.linear_modes(mesh, MATERIAL, 4, pinned=held)
    carried = modes.stitched(jounce.Stitches(mesh, pairs, stiffness), 3).carried_derivatives(
        modes.derivatives()
    )
    expected = flesh.derivatives(modes.shapes.reshape(4, -1), flesh.springs(pairs, stiffness))
    # Derivatives along modes of different bars are nothing but rounding.
    assert apart(carried.reshape(len(expected), -1), expected) < 1e-9
    before = flesh.derivatives(modes.shapes.reshape(4, -1))
    assert apart(before, expected) > 0.1
