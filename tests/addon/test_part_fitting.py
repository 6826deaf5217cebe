"""The fit of the parts of a body to a shot."""

import numpy as np
import pytest
from jounce_core.common.task import Step
from jounce_core.rig.part_settings import MOST_AMOUNT
from jounce_core.shot import fitting, part_fitting
from jounce_core.shot.fitting import Bounds, tuning
from jounce_core.shot.motion_extent import Extent

BOUNDS = Bounds(0.035, 0.36)


def run(search):
    """The result of a search."""
    while True:
        try:
            next(search)
        except StopIteration as stop:
            return stop.value


def body(sizes, strains, power=0.6):
    """The extent of uncoupled parts with these sizes and strains at eases of 0, and all tried eases."""
    tried = []

    def extent_of(eases):
        shares = np.exp(power * np.array(eases))
        parts = [Extent(*each) for each in zip(sizes * shares, strains * shares, strict=True)]
        whole = Extent(max(part.size for part in parts), max(part.strain for part in parts))
        return Extent(whole.size, whole.strain, parts=tuple(parts))

    def extent_at(eases):
        tried.append(eases)
        yield Step(0.5, "")
        return extent_of(eases)

    return extent_of((0.0,) * len(sizes)), extent_at, tried


@pytest.mark.parametrize("power", [0.35, 0.4, 0.6])
def test_one_wild_part_stiffens_no_other(power):
    whole, extent_at, tried = body(np.array([0.02, 0.015, 0.01]), np.array([0.36, 0.2, 0.25]), power)
    eases, extent = run(part_fitting.fitted(-1.0, whole, extent_at, BOUNDS))
    assert eases[0] == pytest.approx(0.0, abs=0.01) and min(eases[1:]) > 0.4
    shares = [max(part.size / 0.035, part.strain / 0.36) for part in extent.parts]
    assert min(shares) > 0.85 and max(shares) < fitting.NEAR and len(tried) <= 2


def test_a_part_that_is_too_wild_gets_firmer_alone():
    whole, extent_at, _ = body(np.array([0.02, 0.01]), np.array([0.6, 0.36]))
    eases, extent = run(part_fitting.fitted(0.0, whole, extent_at, BOUNDS))
    assert eases[0] < -0.5 and abs(eases[1]) < 0.01
    assert extent.strain == pytest.approx(0.36, rel=0.02)


def test_parts_that_hold_one_another_back_stay_as_they_were():
    whole = Extent(0.02, 0.36, parts=(Extent(0.02, 0.36), Extent(0.01, 0.1)))

    def extent_at(_eases):
        yield Step(0.5, "")
        return Extent(0.03, 0.5, parts=(Extent(0.03, 0.5), Extent(0.03, 0.3)))

    assert run(part_fitting.fitted(0.0, whole, extent_at, BOUNDS)) == ((0.0, 0.0), whole)


def test_parts_that_tear_only_together_take_no_motion_from_the_one_that_moved():
    _, extent_alone, tried = body(np.array([0.02, 0.02]), np.array([0.34, 0.17]), 0.4)

    def extent_at(eases):
        found = yield from extent_alone(eases)
        belly, thighs = (part.strain for part in found.parts)
        together = (belly**4 + thighs**4) ** 0.25
        return Extent(found.size, together, parts=found.parts)

    whole = run(extent_at((0.0, 0.0)))
    eases, extent = run(part_fitting.fitted(0.0, whole, extent_at, BOUNDS))
    assert len(tried) > 2 and eases[0] >= 0.0 and eases[1] > 0.3
    assert extent.strain < fitting.NEAR * BOUNDS.strain and extent.parts[0].strain >= 0.34


def test_a_part_in_a_thin_layer_is_calmed_but_never_woken():
    calm, wild = Extent(0.001, 0.01, thin=True), Extent(0.07, 0.01, thin=True)
    for thin, is_calmed in ((calm, False), (wild, True)):
        whole = Extent(0.035, 0.36, parts=(Extent(0.035, 0.36), thin))
        _, eases = part_fitting.following(0.0, (0.0, 0.0), whole, BOUNDS)
        assert (eases < -0.5) if is_calmed else (eases == 0.0)
    woken = Extent(0.035, 0.36, parts=(Extent(0.035, 0.36), Extent(0.001, 0.01)))
    assert part_fitting.following(0.0, (0.0, 0.0), woken, BOUNDS)[1] > 0.5


def test_a_wild_part_is_calmed_though_the_flesh_around_it_moves_less():
    belly, chest = Extent(0.035, 0.35), Extent(0.055, 0.2)
    whole = Extent(0.035, 0.35, parts=(belly, chest))

    def extent_at(eases):
        yield Step(0.5, "")
        share = float(np.exp(0.2 * eases[1]))
        parts = Extent(0.035 * share**1.4, 0.35 * share), Extent(0.055 * share, 0.2)
        return Extent(0.035 * share, 0.35 * share, parts=parts)

    eases, extent = run(part_fitting.fitted(0.0, whole, extent_at, BOUNDS))
    assert eases[1] < -0.5 and extent.parts[1].size < 0.05


def test_nothing_is_tried_where_nothing_is_to_gain():
    whole, extent_at, tried = body(np.array([0.02, 0.02]), np.array([0.35, 0.36]))
    assert run(part_fitting.fitted(0.0, whole, extent_at, BOUNDS)) == ((0.0, 0.0), whole)
    easiest = fitting.EASIEST
    whole, extent_at, tried = body(np.array([0.01, 0.01]), np.array([0.1, 0.1]))
    run(part_fitting.fitted(easiest, whole, extent_at, BOUNDS))
    assert tried == []


@pytest.mark.parametrize("ease", [fitting.HARDEST, -3.0, 0.0, 1.5, fitting.EASIEST])
@pytest.mark.parametrize("own", [-30.0, -1.0, 0.0, 1.0, 30.0])
def test_a_part_has_the_tuning_of_its_ease(ease, own):
    softness, amount = part_fitting.setting(ease, own)
    of_body, of_part = tuning(ease), tuning(fitting.limited(ease + own))
    free = amount * of_body.amount * softness / of_body.frequency**2
    assert free == pytest.approx(of_part.amount / of_part.frequency**2)
    assert 0.0 < amount <= MOST_AMOUNT
    if amount < MOST_AMOUNT:
        assert amount * of_body.amount == pytest.approx(of_part.amount)


@pytest.mark.parametrize("ease", [fitting.HARDEST, 0.0])
def test_what_hangs_is_calmed_beyond_the_calmest_flesh(ease):
    part = Extent(0.5, 0.1, hangs=True)
    [own] = part_fitting.following(ease, (-6.0,), Extent(0.1, 0.1, parts=(part,)), BOUNDS)
    softness, amount = part_fitting.setting(ease, own, part.hangs)
    assert own == part_fitting.CALMEST and softness * amount == pytest.approx(np.exp(own))
    assert amount * tuning(ease).amount < fitting.CALMED


def test_a_wild_tail_is_calmed_alone_though_the_body_is_calm_enough():
    def extent_at(eases):
        yield Step(0.5, "")
        belly, chest, tail = np.exp(0.5 * np.array(eases))
        parts = (
            Extent(0.02 * belly, 0.36 * belly),
            Extent(0.06 * chest, 0.1),
            Extent(0.09 * tail, 0.1, hangs=True),
        )
        return Extent(max(0.02 * belly, 0.03 * tail), 0.36 * belly, parts=parts)

    known = (0.0, -1.0, -0.5), run(extent_at((0.0, -1.0, -0.5)))
    assert BOUNDS.used(known[1])[0] < fitting.NEAR < part_fitting.used(known[1], BOUNDS)
    eases, extent = run(part_fitting.calmed(0.0, known, extent_at, BOUNDS))
    share = extent.parts[2].size / BOUNDS.size
    assert eases[:2] == (0.0, -1.0) and share < fitting.NEAR * part_fitting.LOOSE
    # It still swings as far as it may.
    assert share > 0.7


def test_a_part_that_stretches_is_calmed_by_small_steps():
    def extent_at(eases):
        yield Step(0.5, "")
        # Skin that turns over all at once.
        strain = 0.1 if eases[0] < -0.4 else 0.8
        return Extent(0.02, strain, parts=(Extent(0.02, strain), Extent(0.02, 0.1)))

    known = (1.5, 0.0), run(extent_at((1.5, 0.0)))
    eases, extent = run(part_fitting.calmed(0.0, known, extent_at, BOUNDS))
    assert extent.strain == 0.1 and -1.0 < eases[0] < -0.4 and eases[1] == 0.0
