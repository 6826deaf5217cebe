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
    # Pushed for an instant, it swings alone.
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


def test_what_cannot_be_is_refused(mesh, material, held):
    with pytest.raises(ValueError, match="at least one mode"):
        jounce.linear_modes(mesh, material, 0)
    with pytest.raises(ValueError, match="pinned"):
        jounce.linear_modes(mesh, material, 3, pinned=held[:-1])
    with pytest.raises(ValueError, match="modes"):
        jounce.linear_modes(mesh, material, 3 * len(mesh.vertices) + 1)
    with pytest.raises(ValueError, match="pin a part"):
        jounce.linear_modes(mesh, material, 6).bent_basis(2)
