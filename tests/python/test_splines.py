"""The two splines of [QN]: their curves and energies, and refusals."""

import jounce
import numpy as np
import pytest

YOUNG, POISSON = 1e4, 0.3
MU = 0.5 / (1.0 + POISSON)
LAME = POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON))
SPLINES = {
    "A": (jounce.splines.resisting_compression, np.minimum),
    "B": (jounce.splines.resisting_tension, np.maximum),
}


@pytest.fixture(params=SPLINES)
def spline(request):
    return SPLINES[request.param]


def energy(mesh, stretches, curves=None):
    """Energy density of a mesh stretched along its axes, J/m^3."""
    named = {"law": "spline", "curves": curves} if curves else {"law": "neo_hookean", "poisson": POISSON}
    elastic = jounce.operators.ElasticEnergy(mesh, jounce.Material(young=YOUNG, **named))
    return elastic.value(mesh.vertices * stretches) / mesh.volumes.sum()


def test_energies_are_those_of_the_formula(mesh, spline):
    """Neo-Hookean flesh, and `mu / 2 (x - 1)^4` of each length on one side of rest."""
    make, side = spline
    curves = make(POISSON)
    for stretches in ((1.0, 1.0, 1.0), (0.8, 1.1, 0.95), (1.7, 0.75, 1.0), (0.6, 1.3, 1.4)):
        cubed = 0.5 * YOUNG * MU * (side(np.array(stretches) - 1.0, 0.0) ** 4).sum()
        expected = energy(mesh, stretches) + cubed
        assert energy(mesh, stretches, curves) == pytest.approx(expected, rel=2e-3, abs=1e-6 * YOUNG)


def test_curves_are_the_stresses_at_the_knots(spline):
    make, side = spline
    length, area, volume = make(POISSON)
    x = length[:, 0]
    assert area is None and np.array_equal(x, volume[:, 0])
    assert np.allclose(length[:, 1], MU * x + 2.0 * MU * side(x - 1.0, 0.0) ** 3, atol=1e-14)
    far = x >= 0.5
    assert np.allclose(volume[far, 1], (LAME * np.log(x[far]) - MU) / x[far], atol=1e-14)
    assert np.allclose(np.diff(volume[~far, 1], 2), 0.0, atol=1e-13)


@pytest.mark.parametrize("poisson", [-0.1, 0.5, float("nan")])
def test_another_ratio_is_refused(spline, poisson):
    with pytest.raises(ValueError, match=r"poisson: expected a number in \[0, 0.5\)"):
        spline[0](poisson)
