"""Drawn laws: monotone, smooth curves, and flesh with the same stress."""

import numpy as np
import pytest
from jounce_core.common.user_error import UserError
from jounce_core.flesh import drawn_law, stress_picture
from jounce_core.flesh.drawn_law import LINE, REST, STEP, STRETCHES
from jounce_core.flesh.laws import curves, pulled
from jounce_core.flesh.settings import Flesh, Law
from test_hardening import YOUNG, cubes, made_of
from test_hardening import pulled as simulated

DENSE = np.linspace(-0.5, 2.5, 6001)


def drawn(shape):
    """A curve by its values at the sampled stretches."""
    return tuple(float(value) for value in shape(STRETCHES))


HARDER = drawn(lambda x: x - 1.0 + 20.0 * (x - 1.0) ** 3)
SOFTER = drawn(lambda x: np.tanh(2.0 * (x - 1.0)))
KINKED = drawn(lambda x: np.maximum(np.minimum(3.0 * (x - 1.0), 0.6), -1.0))
CURVES = (LINE, HARDER, SOFTER, KINKED)


@pytest.mark.parametrize("curve", CURVES)
def test_stress_is_none_at_rest_where_its_slope_is_one(curve):
    low, rest, high = drawn_law.stress(curve, np.array([1.0 - 1e-6, 1.0, 1.0 + 1e-6]))
    assert rest == 0.0 and (high - low) / 2e-6 == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("curve", CURVES)
def test_height_and_place_of_what_is_drawn_do_not_count(curve):
    other = tuple(3.0 * value + 0.7 for value in curve)
    assert np.allclose(drawn_law.stress(other, DENSE), drawn_law.stress(curve, DENSE), atol=1e-12)


@pytest.mark.parametrize(("side", "strains"), [("COMPRESSION", (-1.0, 0.0)), ("TENSION", (0.0, 1.0))])
def test_splines_follow_their_formula(side, strains):
    curve = drawn(lambda x: drawn_law.stiffened(side, x))
    inside = (DENSE >= 0.0) & (DENSE <= 2.0)
    strain = DENSE[inside] - 1.0
    formula = strain + np.clip(strain, *strains) ** 3
    assert np.abs(drawn_law.stress(curve, DENSE[inside]) - formula).max() < 4e-3


def test_a_straight_line_stays_one_beyond_its_ends():
    assert np.abs(drawn_law.stress(LINE, DENSE) - (DENSE - 1.0)).max() < 1e-12


@pytest.mark.parametrize("curve", CURVES)
def test_it_rises_with_what_is_drawn_and_stays_near(curve):
    """Between neighbouring samples, to turn no plateau into a fall."""
    values = drawn_law.spline(curve, DENSE)
    assert np.diff(values).min() > -1e-12
    samples = np.interp(DENSE, STRETCHES, curve)
    inside = (DENSE >= 0.0) & (DENSE <= 2.0)
    assert np.abs(values - samples)[inside].max() <= np.abs(np.diff(curve)).max()


@pytest.mark.parametrize("curve", CURVES)
def test_it_is_twice_continuously_differentiable(curve):
    """Third derivatives are finite at every knot, including the ends: second differences hardly jump."""
    step = 1e-4
    knots = STRETCHES[:, None] + step * np.arange(-2, 3)
    values = drawn_law.spline(curve, knots.ravel()).reshape(knots.shape)
    bends = (values[:, :-2] - 2.0 * values[:, 1:-1] + values[:, 2:]) / step**2
    steepest = np.abs(np.diff(np.diff(curve), prepend=0.0, append=0.0)).max() / STEP**2
    # The third derivative is at most four times the largest second one per step.
    assert np.abs(np.diff(bends)).max() <= 8.0 * max(steepest, 1.0) / STEP * step


def stretched(mesh, flesh, stress, shown):
    """Length of a bar with a pulled end relative to rest, measured in this share of the bar next to
    the end.
    """
    along = np.asarray(mesh.vertices)[:, 0]
    end, start = along == along.max(), along == along.max() * (1.0 - shown)
    places = simulated(mesh, made_of(flesh), stress)[:, 0]
    return (places[end].mean() - places[start].mean()) / (shown * along.max())


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("hardening", [0.0, 2.0])
@pytest.mark.parametrize("stretch", [0.712, 0.96, 1.013, 1.21, 1.987])
def test_flesh_is_as_long_as_is_told_where_it_is_pulled(curve, hardening, stretch):
    """Also between the knots given to the native module: display and simulation agree."""
    flesh = Flesh(Law.CURVE, 0.0, hardening, curve)
    (stress,) = pulled(flesh, np.array([stretch]))
    reached = stretched(cubes(1), flesh, stress * YOUNG, 1.0)
    assert pulled(flesh, np.array([reached])) == pytest.approx(stress, rel=1e-5)


@pytest.mark.parametrize("law", Law)
@pytest.mark.parametrize("stretch", [1.02, 1.1, 1.3])
def test_flesh_that_keeps_its_volume_is_as_long_as_is_told(law, stretch):
    """Far from the held end, in the part with free sides."""
    flesh = Flesh(law, 0.4, 0.0, KINKED)
    (stress,) = pulled(flesh, np.array([stretch]))
    reached = stretched(cubes(8), flesh, stress * YOUNG, 0.25)
    assert reached - 1.0 == pytest.approx(stretch - 1.0, rel=1e-2)


@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.45])
def test_small_strains_have_youngs_modulus(poisson):
    for law in Law:
        low, high = pulled(Flesh(law, poisson), np.array([0.999, 1.001]))
        assert (high - low) / 2e-3 == pytest.approx(1.0, rel=1e-3)


REFUSED = {
    "falls from stretch 1.50 to 2.00": drawn(lambda x: np.minimum(x - 1.0, 2.0 - x)),
    "falls from stretch 0.00 to 0.50": drawn(lambda x: np.maximum(x - 1.0, -x)),
    "falls from stretch 0.00": drawn(lambda x: 1.0 - x),
    "is flat at stretch 1": drawn(lambda x: np.sign(x - 1.0) * np.maximum(np.abs(x - 1.0) - 0.1, 0.0)),
    "flat at stretch 1,": drawn(lambda x: 0.0 * x),
    "has points that are no numbers": drawn(lambda x: np.where(x < 1.9, x - 1.0, np.nan)),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_no_stress_of_flesh_is_refused_in_one_sentence(words):
    with pytest.raises(UserError, match=words) as caught:
        curves(Flesh(Law.CURVE, 0.3, 0.0, REFUSED[words]))
    sentence = str(caught.value)
    assert sentence.endswith("press Straighten.") and sentence.count(". ") == 0


def test_rounding_is_no_fall():
    flat = np.array(drawn(lambda x: np.minimum(x - 1.0, 0.3)), np.float32)
    flat[-3:] -= np.float32(1e-7)
    drawn_law.refuse(tuple(map(float, flat)))


def test_a_body_is_known_by_what_is_drawn():
    keys = {Flesh(Law.CURVE, 0.3, hardening, curve).key for curve in CURVES for hardening in (0.0, 2.0)}
    assert len(keys) == 8
    assert Flesh(Law.COROTATED, 0.3, 0.0, HARDER).key == "corotated"


def test_what_is_no_number_is_known_again():
    """Otherwise a preview would restart forever, since no NaN equals itself."""
    first, again = (Flesh(Law.CURVE, 0.3, 0.0, drawn(lambda x: np.nan * x)) for _ in range(2))
    assert first != again and first.key == again.key


def test_the_picture_has_the_stress_where_it_is():
    stretches = np.linspace(0.0, 2.0, stress_picture.SIZE)
    stress = drawn_law.stress(SOFTER, stretches)
    pixels = stress_picture.picture(stress, stretches - 1.0)
    assert pixels.shape == (stress_picture.SIZE, stress_picture.SIZE, 4) and np.isfinite(pixels).all()
    assert pixels.min() >= 0.0 and pixels.max() <= 1.0
    heights = (0.5 - stress_picture.MARGIN) * stress / np.abs(stress).max() + 0.5
    rows = np.clip((heights * stress_picture.SIZE).astype(int), 0, stress_picture.SIZE - 1)
    on = pixels[rows, np.arange(stress_picture.SIZE)]
    off = pixels[(rows + 40) % stress_picture.SIZE, np.arange(stress_picture.SIZE)]
    assert (on[:, 3] > 0.9).all() and np.allclose(on[:, :3], stress_picture.STRESS_COLOUR[:3], atol=0.1)
    assert np.median(off[:, 3]) < 0.5


def test_samples_are_where_they_are_said_to_be():
    assert STRETCHES[REST] == 1.0 and np.allclose(np.diff(STRETCHES), STEP)
