"""Linear modes and modal derivatives from Python, against numpy and a motion in them."""

import jounce
import numpy as np
import pytest


@pytest.fixture(scope="module")
def held(mesh):
    """The vertices at the lower end of the mesh's longest side."""
    axis = np.ptp(mesh.vertices, axis=0).argmax()
    along = mesh.vertices[:, axis]
    return along < along.min() + 0.15 * np.ptp(along)


def test_modes_are_orthonormal_in_the_mass_and_still_where_pinned(mesh, held):
    modes = jounce.linear_modes(mesh, jounce.Material(density=700.0), 8, pinned=held)
    share = np.repeat(0.25 * 700.0 * mesh.volumes, 4)
    mass = np.bincount(mesh.tets.ravel(), share, minlength=len(mesh.vertices))
    gram = np.einsum("n,inc,jnc->ij", mass, modes.shapes, modes.shapes)
    np.testing.assert_allclose(gram, np.eye(8), atol=1e-9)
    assert not modes.shapes[:, held].any()
    assert np.all(np.diff(modes.eigenvalues) >= 0.0)
    np.testing.assert_allclose(modes.frequencies, np.sqrt(modes.eigenvalues) / (2.0 * np.pi))
    assert repr(modes) == f"LinearModes({len(mesh.vertices)} vertices, 8 modes)"


def test_a_body_that_nothing_holds_moves_as_a_whole_first(mesh, material):
    modes = jounce.linear_modes(mesh, material, 7)
    assert np.all(np.abs(modes.eigenvalues[:6]) < 1e-6 * modes.eigenvalues[6])


def test_a_body_swings_in_a_mode_at_its_frequency(mesh, material, held):
    modes = jounce.linear_modes(mesh, material, 3, pinned=held)
    model = jounce.Model.reduced(mesh, material, modes.basis)
    frequency = float(modes.frequencies[0])
    h = 1.0 / (200.0 * frequency)
    simulation = jounce.Simulation(model, dt=h, damping=0.0, gravity=(0.0, 0.0, 0.0), integrator="bdf2")
    amplitude = 1e-4 * np.ptp(mesh.vertices) / np.abs(modes.shapes[0]).max()
    # After an impulse the mode swings alone.
    force = np.zeros(3)
    force[0] = amplitude * modes.eigenvalues[0]
    swing = []
    for step in range(500):
        simulation.step(force=force if step < 20 else None)
        swing.append(simulation.coefficients[0])
    swing = np.array(swing[20:])
    rising = np.flatnonzero((swing[:-1] < 0.0) & (swing[1:] >= 0.0))
    assert len(rising) == 2 or len(rising) == 3
    assert np.diff(rising) * h * frequency == pytest.approx(1.0, rel=0.02)


def test_derivatives_make_a_basis_that_bends(mesh, material, held):
    modes = jounce.linear_modes(mesh, material, 4, pinned=held)
    derivatives = modes.derivatives()
    assert derivatives.shape == (10, len(mesh.vertices), 3)
    assert not derivatives[:, held].any()
    basis = modes.bent_basis(6)
    assert basis.shapes.shape == (6, len(mesh.vertices), 3)
    assert len(basis.singular_values) == 14
    assert not basis.shapes[:, held].any()


@pytest.fixture(scope="module")
def sewn(mesh, held):
    """A mesh and its mirror image at its far end, the first held: (both, held, stitches at the contact)."""
    axis, n = np.ptp(mesh.vertices, axis=0).argmax(), len(mesh.vertices)
    far = mesh.vertices[:, axis].max()
    image = mesh.vertices.copy()
    image[:, axis] = 2.0 * far - image[:, axis]
    tets = np.concatenate([mesh.tets, mesh.tets[:, [0, 1, 3, 2]] + n])
    both = jounce.TetMesh(np.concatenate([mesh.vertices, image]), tets)
    here = np.flatnonzero(mesh.vertices[:, axis] > far - 1e-9)
    assert len(here) > 3
    pairs = np.stack([here, n + here], axis=1)
    return both, np.concatenate([held, np.zeros(n, bool)]), jounce.Stitches(both, pairs, 1e3)


def test_stitches_change_modes_without_another_factor(sewn, material):
    both, held, stitches = sewn
    modes = jounce.linear_modes(both, material, 24, pinned=held)
    assert modes.residuals is None
    assert np.sum(modes.eigenvalues < 1e-6 * modes.eigenvalues[-1]) == 6
    found = modes.stitched(stitches, 10)
    exact = jounce.linear_modes(both, material, 10, pinned=held, stitches=stitches)
    np.testing.assert_allclose(found.eigenvalues, exact.eigenvalues, rtol=1e-2)
    assert found.residuals.shape == (10,)
    assert found.residuals.max() < 0.01
    assert not found.shapes[:, held].any()
    # Back to the initial state, after any changes in between.
    back = found.stitched(jounce.Stitches(both, np.zeros((0, 2), int)), 12)
    np.testing.assert_array_equal(back.shapes, modes.shapes[:12])


def test_derivatives_are_carried_over_to_a_stitched_body(sewn, material):
    both, held, stitches = sewn
    modes = jounce.linear_modes(both, material, 14, pinned=held)
    before = modes.derivatives()
    found = modes.stitched(stitches, 8)
    carried = found.carried_derivatives(before)
    assert carried.shape == before.shape
    assert np.isfinite(carried).all()
    basis = found.bent_basis(12, carried=before)
    assert basis.shapes.shape == (12, len(both.vertices), 3)


def test_a_stitched_body_hangs_as_its_modes_say(sewn):
    """`q_k = psi_k . M g / l_k` for a small weight: the springs are in the eigenvalues and in the model."""
    both, held, stitches = sewn
    material = jounce.Material(density=700.0)
    modes = jounce.linear_modes(both, material, 14, pinned=held).stitched(stitches, 8)
    model = jounce.Model.reduced(both, material, modes.basis, stitches=stitches)
    weight = (1e-4, 0.0, -1e-4)
    share = np.repeat(0.25 * 700.0 * both.volumes, 4)
    mass = np.bincount(both.tets.ravel(), share, minlength=len(both.vertices))
    simulation = jounce.Simulation(model, dt=1e-2, gravity=weight, tolerance=1e-12)
    simulation.settle(max_iterations=5000)
    expected = np.einsum("n,knc,c->k", mass, modes.shapes, weight) / modes.eigenvalues
    np.testing.assert_allclose(simulation.coefficients, expected, atol=1e-3 * np.abs(expected).max())


def test_stitches_that_do_not_fit_are_refused(sewn, mesh, material, held):
    both, _, stitches = sewn
    modes = jounce.linear_modes(mesh, material, 8, pinned=held)
    with pytest.raises(ValueError, match="stitches"):
        modes.stitched(stitches, 4)
    with pytest.raises(ValueError, match="not stitched"):
        modes.carried_derivatives(modes.derivatives())
    basis = jounce.linear_modes(both, material, 8).basis
    gap = jounce.Stitches(both, [[0, 1]], gap=1.0)
    with pytest.raises(ValueError, match="gap"):
        jounce.Model.reduced(both, material, basis, stitches=gap)


def test_what_cannot_be_is_refused(mesh, material, held):
    with pytest.raises(ValueError, match="at least one mode"):
        jounce.linear_modes(mesh, material, 0)
    with pytest.raises(ValueError, match="pinned"):
        jounce.linear_modes(mesh, material, 3, pinned=held[:-1])
    with pytest.raises(ValueError, match="modes"):
        jounce.linear_modes(mesh, material, 3 * len(mesh.vertices) + 1)
    with pytest.raises(ValueError, match="pin a part"):
        jounce.linear_modes(mesh, material, 6).bent_basis(2)


def test_a_blow_is_heard_as_the_formula_says(mesh, held):
    modes = jounce.linear_modes(mesh, jounce.Material(young=2e8, poisson=0.3, density=700.0), 6, pinned=held)
    ratio, rate, vertex = 3e-3, 48000.0, int(np.abs(modes.shapes[0]).sum(1).argmax())
    blows = {"times": [0.01, 0.1], "vertices": [vertex, 0], "impulses": [[0.0, 0.0, 2.0], [1.0, 0.0, 0.0]]}
    damping = ((100.0, ratio), (10000.0, ratio))
    samples = modes.sound(0.3, **blows, damping=damping)
    assert samples.dtype == np.float32
    assert samples.shape == (14400,)
    # alpha and beta from equal ratios at 100 Hz and 10 kHz.
    low, high = 2.0 * np.pi * 100.0, 2.0 * np.pi * 10000.0
    alpha, beta = 2.0 * ratio * low * high / (low + high), 2.0 * ratio / (low + high)
    expected = np.zeros(14400)
    assert np.all((modes.frequencies > 20.0) & (modes.frequencies < 20000.0))
    for shape, value in zip(modes.shapes, modes.eigenvalues, strict=True):
        decay = 0.5 * (alpha + beta * value)
        turning = np.sqrt(value - decay**2)
        for time, at, impulse in zip(*blows.values(), strict=True):
            since = np.maximum(np.arange(14400) / rate - round(time * rate) / rate, 0.0)
            expected += shape[at] @ impulse * np.exp(-decay * since) * np.sin(turning * since) / turning
    np.testing.assert_allclose(samples, expected, atol=1e-6 * np.abs(expected).max())
    assert np.array_equal(samples, modes.sound(0.3, **blows, damping=damping))
    doubled = modes.sound(0.3, **blows, damping=damping, weights=np.full(6, 2.0))
    np.testing.assert_allclose(doubled, 2.0 * samples, atol=1e-6 * np.abs(doubled).max())


def test_what_a_mode_moves_of_the_air_is_its_integral_over_the_surface(mesh, held):
    modes = jounce.linear_modes(mesh, jounce.Material(density=700.0), 4, pinned=held)
    corners = mesh.vertices[mesh.boundary]
    areas = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    volumes = np.einsum("tc,ktc->k", areas, modes.shapes[:, mesh.boundary].mean(2))
    np.testing.assert_allclose(modes.radiation, modes.eigenvalues * np.abs(volumes), rtol=1e-9)


def test_forces_of_frames_are_heard(mesh, held):
    modes = jounce.linear_modes(mesh, jounce.Material(young=2e8, poisson=0.3, density=700.0), 3, pinned=held)
    forces = np.zeros((5, 3))
    forces[1:3, 0] = 1.0
    samples = modes.sound(0.2, forces=forces, fps=48.0, damping=((100.0, 0.0), (5000.0, 0.0)))
    omega = np.sqrt(modes.eigenvalues[0])
    expected = np.zeros(9600)
    # The load's slope changes at four frames, a thousand samples apart.
    for frame, slope in enumerate((48.0, -48.0, -48.0, 48.0)):
        since = np.maximum(np.arange(9600) - 1000 * frame, 0) / 48000.0
        expected += slope * (since - np.sin(omega * since) / omega) / omega**2
    np.testing.assert_allclose(samples, expected, atol=1e-6 * np.abs(expected).max())


def test_what_cannot_be_heard_is_refused(mesh, held):
    modes = jounce.linear_modes(mesh, jounce.Material(young=2e8, poisson=0.3, density=700.0), 3, pinned=held)
    with pytest.raises(ValueError, match="vertices"):
        modes.sound(1.0, [0.0], None, [[1.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="impulses"):
        modes.sound(1.0, [0.0], [0])
    with pytest.raises(ValueError, match="vertices"):
        modes.sound(1.0, [0.0], [-1], [[1.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="impulses"):
        modes.sound(1.0, [0.0], [0], [[1.0, 0.0]])
    with pytest.raises(ValueError, match="times"):
        modes.sound(1.0, [2.0], [0], [[1.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="two different frequencies"):
        modes.sound(1.0, damping=((100.0, 0.01), (100.0, 0.02)))
    with pytest.raises(ValueError, match="forces"):
        modes.sound(1.0, forces=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="20 Hz"):
        modes.sound(1.0, rate=30.0)


@pytest.fixture(scope="module")
def blade():
    """A bar of 1 m along x, and the vertices of its left end."""
    corners = np.array([[x, y, z] for z in (0.0, 0.075) for y in (0.0, 0.1) for x in (0.0, 1.0)])
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    triangles = np.array([corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))])
    mesh = jounce.TetMesh.lattice(corners, triangles, 40)
    return mesh, mesh.vertices[:, 0] < mesh.vertices[:, 0].min() + 0.03


def volumes(mesh, places):
    """Volumes of all tets, negative for inverted ones."""
    edges = places[mesh.tets[:, 1:]] - places[mesh.tets[:, :1]]
    return np.linalg.det(edges) / 6.0


def test_warped_modes_bend_without_growing(blade):
    mesh, held = blade
    modes = jounce.linear_modes(mesh, jounce.Material(1e5, 0.3, 1000.0), 3, pinned=held)
    tip = mesh.vertices[:, 0] > mesh.vertices[:, 0].max() - 0.03
    rest = mesh.vertices

    def length(places):
        slices = [places[np.abs(rest[:, 0] - x) < 1e-6].mean(axis=0) for x in np.unique(rest[:, 0].round(9))]
        return np.linalg.norm(np.diff(slices, axis=0), axis=1).sum()

    far = 1.3 / np.abs(modes.shapes[0, tip]).max()
    z = np.array([far, 0.0, 0.0])
    warped, linear = rest + modes.warped(z), rest + far * modes.shapes[0]
    assert length(warped) == pytest.approx(length(rest), rel=0.01)
    assert length(linear) > 1.3 * length(rest)
    assert volumes(mesh, warped).min() > 0.0
    assert volumes(mesh, warped).sum() == pytest.approx(volumes(mesh, rest).sum(), rel=0.02)
    assert not modes.warped(z)[held].any()
    small = 1e-6 * z
    np.testing.assert_allclose(modes.warped(small), 1e-6 * far * modes.shapes[0], atol=1e-9)


def test_modal_warping_turns_each_vertex_by_the_mean_of_its_rotations(blade):
    mesh, held = blade
    modes = jounce.linear_modes(mesh, jounce.Material(1e5, 0.3, 1000.0), 3, pinned=held)
    gradients = np.linalg.inv(mesh.vertices[mesh.tets[:, 1:]] - mesh.vertices[mesh.tets[:, :1]])
    moved = modes.shapes[:, mesh.tets[:, 1:]] - modes.shapes[:, mesh.tets[:, :1]]
    curls = np.cross(gradients.transpose(0, 2, 1), moved).sum(axis=2)
    sums, weights = np.zeros_like(modes.shapes), np.zeros(len(mesh.vertices))
    for corner in mesh.tets.T:
        np.add.at(weights, corner, mesh.volumes)
        for total, curl in zip(sums, curls, strict=True):
            np.add.at(total, corner, 0.5 * mesh.volumes[:, np.newaxis] * curl)
    rotations = sums / weights[:, np.newaxis]
    np.testing.assert_allclose(modes.rotations, rotations, atol=1e-9 * np.abs(rotations).max())
    z = np.array([1.5, -0.4, 0.2]) / np.abs(rotations).max(axis=(1, 2))
    w, u = np.tensordot(z, rotations, 1), np.tensordot(z, modes.shapes, 1)
    # Gauss's rule for the mean over the way from no rotation to w.
    nodes, shares = np.polynomial.legendre.leggauss(20)
    mean = np.zeros_like(u)
    for node, share in zip(0.5 + 0.5 * nodes, 0.5 * shares, strict=True):
        angle = node * np.linalg.norm(w, axis=1, keepdims=True)
        axis = w / np.maximum(np.linalg.norm(w, axis=1, keepdims=True), 1e-300)
        along = axis * (axis * u).sum(axis=1, keepdims=True)
        mean += share * (along + np.cos(angle) * (u - along) + np.sin(angle) * np.cross(axis, u))
    np.testing.assert_allclose(modes.warped(z, "modal"), mean, atol=1e-12)
    assert not modes.warped(z, "modal")[held].any()
    assert np.abs(modes.warped(z) - mean).max() > 1e-4
    with pytest.raises(ValueError, match=r'method: expected "rotation_strain" or "modal", got "linear"'):
        modes.warped(z, "linear")


def test_modes_swing_under_forces_as_the_formula_says(mesh, held):
    modes = jounce.linear_modes(mesh, jounce.Material(young=1e4, poisson=0.3, density=700.0), 3, pinned=held)
    first, fps = float(modes.frequencies[0]), float(7.0 * modes.frequencies[0])
    damping = ((first, 0.05), (4.0 * first, 0.1))
    low, high = 2.0 * np.pi * first, 8.0 * np.pi * first
    beta = 2.0 * (0.1 * high - 0.05 * low) / (high**2 - low**2)
    alpha = 2.0 * 0.05 * low - beta * low**2
    forces = np.random.default_rng(3).normal(size=(15, 3))
    found = modes.swing(forces, damping, fps)
    # Many small steps of the midpoint rule between frames.
    steps = 4000
    z, v, h = np.zeros(3), np.zeros(3), 1.0 / (fps * steps)
    rate, stiff = alpha + beta * modes.eigenvalues, modes.eigenvalues
    expected = [z]
    for before, after in zip(forces[:-1], forces[1:], strict=True):
        for step in range(steps):
            load = before + (after - before) * (step + 0.5) / steps
            change = h * (load - rate * v - stiff * (z + 0.5 * h * v))
            change /= 1.0 + 0.5 * h * rate + 0.25 * h * h * stiff
            z, v = z + h * (v + 0.5 * change), v + change
        expected.append(z)
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(modes.swing(2.0 * forces, damping, fps), 2.0 * found)
    still = np.tile(modes.eigenvalues, (3000, 1))
    np.testing.assert_allclose(modes.swing(still, damping, fps)[-1], 1.0)
    for wrong in (forces[:, :2], np.zeros((0, 3)), np.full((2, 3), np.nan)):
        with pytest.raises(ValueError, match="forces"):
            modes.swing(wrong, damping)
    with pytest.raises(ValueError, match="fps"):
        modes.swing(forces, damping, 0.0)


def test_amplitudes_of_other_modes_are_refused(blade):
    mesh, held = blade
    modes = jounce.linear_modes(mesh, jounce.Material(), 3, pinned=held)
    with pytest.raises(ValueError, match="amplitudes"):
        modes.warped([1.0, 2.0])
    with pytest.raises(ValueError, match="amplitudes"):
        modes.warped([1.0, np.nan, 0.0])


@pytest.fixture(scope="module")
def leaf():
    """A strip of 1 m by 0.2 m, and the two columns of vertices at its stalk."""
    x, y = np.meshgrid(np.linspace(0.0, 1.0, 33), np.linspace(-0.1, 0.1, 7))
    points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    corner = np.arange(32)[None, :] + 33 * np.arange(6)[:, None]
    a, b, c, d = (part.ravel() for part in (corner, corner + 1, corner + 33, corner + 34))
    triangles = np.concatenate([np.stack([a, b, d], 1), np.stack([a, d, c], 1)])
    return jounce.SurfaceMesh(points, triangles.astype(np.int32)), points[:, 0] < 0.05


def test_a_surface_swings_as_a_beam_and_is_warped(leaf):
    surface, held = leaf
    material = jounce.Material(young=1e7, density=700.0)
    modes = jounce.linear_modes(surface, material, 4, pinned=held, thickness=2e-3)
    free = 1.0 - 0.5 / 32
    beam = 1.8751**2 / free**2 * np.sqrt(1e7 * 2e-3**2 / (12.0 * 700.0)) / (2.0 * np.pi)
    assert modes.frequencies[0] == pytest.approx(beam, rel=0.01)
    stiffer = jounce.linear_modes(surface, material, 1, pinned=held, thickness=2e-3, bending=4.0)
    assert stiffer.frequencies[0] == pytest.approx(2.0 * modes.frequencies[0], rel=1e-3)
    assert not modes.shapes[:, held].any()
    far = 0.9 / np.abs(modes.shapes[0]).max()
    moved = modes.warped(np.array([far, 0.0, 0.0, 0.0]), "modal")
    line = np.arange(33) + 33 * 3

    def length(places):
        return np.linalg.norm(np.diff(places[line], axis=0), axis=1).sum()

    rest = np.asarray(surface.points)
    assert length(rest + moved) < 1.02
    assert length(rest + far * modes.shapes[0]) > 1.2
    assert modes.rotations.shape == (4, len(rest), 3)
    assert modes.swing(np.zeros((5, 4)), ((1.0, 0.01), (10.0, 0.01))).shape == (5, 4)


def test_what_a_surface_has_not_is_refused(leaf, mesh, material, rig):
    surface, held = leaf
    modes = jounce.linear_modes(surface, material, 2, pinned=held, thickness=1e-3)
    for refused in (modes.derivatives, lambda: modes.bent_basis(2), lambda: modes.radiation):
        with pytest.raises(ValueError, match="without volume"):
            refused()
    with pytest.raises(ValueError, match="modal"):
        modes.warped(np.zeros(2))
    for given, settings, sentence in [
        (surface, {}, "thickness"),
        (mesh, {"thickness": 1e-3}, "thickness"),
        (surface, {"thickness": -1.0}, "thickness"),
        (surface, {"thickness": 1e-3, "bending": 0.0}, "bending"),
        (surface, {"thickness": 1e-3, "rig": rig}, "rig"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            jounce.linear_modes(given, material, 2, **settings)


def test_stiffness_and_cuts_that_do_not_fit_are_refused(sewn, mesh, material, held):
    both, _, _ = sewn
    modes = jounce.linear_modes(mesh, material, 8, pinned=held)
    for wrong, sentence in (
        (0.0, "factor: expected a positive number"),
        (-1.0, "factor: expected a positive number"),
        (np.nan, "factor"),
        (np.ones(3), "factor"),
    ):
        with pytest.raises(ValueError, match=sentence):
            modes.stiffened(wrong, 4)
    with pytest.raises(ValueError, match="count"):
        modes.stiffened(2.0, 9)
    with pytest.raises(ValueError, match="no cut of the body's mesh"):
        modes.cut(both, 4)
    tets = len(mesh.tets)
    for sides, sentence in (
        (np.ones(tets, int), "no vertex comes apart"),
        (np.full(tets, 3), "-1 or 1 beside the cut"),
        (np.zeros(3, int), "sides"),
    ):
        with pytest.raises(ValueError, match=sentence):
            mesh.cut(sides)
    surface = jounce.SurfaceMesh(*jounce.shapes.box((2.0, 1.0, 0.01)))
    sheet = jounce.linear_modes(surface, jounce.Material(1e5), 4, thickness=0.01)
    with pytest.raises(ValueError, match="without volume"):
        sheet.stiffened(2.0, 2)
    with pytest.raises(ValueError, match="without volume"):
        sheet.cut(mesh, 2)
