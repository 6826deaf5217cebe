"""Principal displacements of a shot from Python, against numpy's own decomposition."""

import jounce
import numpy as np
import pytest

GENERATOR = np.random.default_rng(7)


@pytest.fixture(scope="module")
def snapshots(mesh):
    """Thirty frames of four displacements."""
    shapes = GENERATOR.normal(size=(4, len(mesh.vertices), 3)) * [[[1.0]], [[0.3]], [[0.1]], [[0.01]]]
    return np.einsum("fk,kni->fni", GENERATOR.normal(size=(30, 4)), shapes)


def mass_of(mesh, density):
    share = np.repeat(density * np.asarray(mesh.volumes) / 4, 4)
    return np.bincount(np.asarray(mesh.tets).ravel(), share, minlength=len(mesh.vertices))


def test_displacements_and_singular_values_are_those_of_numpy(mesh, snapshots):
    material = jounce.Material(density=700.0)
    mass = mass_of(mesh, 700.0)
    basis = jounce.mass_pca(mesh, material, snapshots, count=3)
    weighted = (np.sqrt(mass)[None, :, None] * snapshots).reshape(len(snapshots), -1)
    _, values, rows = np.linalg.svd(weighted, full_matrices=False)
    np.testing.assert_allclose(basis.singular_values, values, atol=1e-12 * values[0])
    ours = (np.sqrt(mass)[None, :, None] * basis.shapes).reshape(3, -1)
    np.testing.assert_allclose(ours.T @ ours, rows[:3].T @ rows[:3], atol=1e-10)
    np.testing.assert_allclose(ours @ ours.T, np.eye(3), atol=1e-12)


def test_the_less_of_count_and_energy_is_kept(mesh, material, snapshots):
    def kept(**limits):
        return len(jounce.mass_pca(mesh, material, snapshots, **limits).shapes)

    few = kept(energy=0.99)
    assert kept(count=1) == kept(count=1, energy=0.9999) == 1 < few
    assert kept(count=few + 1) == few + 1
    assert kept(count=few + 1, energy=0.99) == few


def test_energy_says_how_many(mesh, material, snapshots):
    values = jounce.mass_pca(mesh, material, snapshots).singular_values
    share = np.cumsum(values**2) / np.sum(values**2)
    for energy in (0.5, 0.9, 0.999, 0.9999):
        basis = jounce.mass_pca(mesh, material, snapshots, energy=energy)
        assert len(basis.shapes) == 1 + np.searchsorted(share, energy)
    default = jounce.mass_pca(mesh, material, snapshots)
    assert len(default.shapes) == 1 + np.searchsorted(share, 0.999)
    assert repr(default) == f"Basis({len(mesh.vertices)} vertices, {len(default.shapes)} displacements)"


def test_a_basis_from_elsewhere_is_what_it_was_given():
    shapes = GENERATOR.normal(size=(2, 5, 3))
    basis = jounce.Basis(shapes)
    np.testing.assert_array_equal(basis.shapes, shapes)
    assert basis.singular_values.shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"count": 0}, "count: expected at least one displacement, got 0"),
        ({"energy": 1.5}, r"energy: expected a share in \(0, 1\], got 1.5"),
    ],
)
def test_bad_settings_are_refused(mesh, material, snapshots, arguments, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        jounce.mass_pca(mesh, material, snapshots, **arguments)


def test_bad_snapshots_are_refused(mesh, material, snapshots):
    still = "^snapshots: nothing moves in them; take frames in which the flesh sways$"
    with pytest.raises(ValueError, match=still):
        jounce.mass_pca(mesh, material, 0 * snapshots)
    with pytest.raises(ValueError, match="^snapshots: "):
        jounce.mass_pca(mesh, material, snapshots[:, 1:].copy())
    with pytest.raises(ValueError, match="^snapshots: is empty; at least one is needed$"):
        jounce.mass_pca(mesh, material, snapshots[:0])
