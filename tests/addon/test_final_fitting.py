"""The fit of a body and its parts to a shot by final motions."""

import pytest
from jounce_core.common.task import Step
from jounce_core.rig.part_settings import EXCESS
from jounce_core.shot import final_fitting, fitting
from jounce_core.shot.fitting import Bounds, Reason
from jounce_core.shot.motion_extent import Extent


def measured(size, strain=0.0, wildest=0, parts=()):
    """An extent found in two steps."""
    yield Step(0.0, "")
    yield Step(0.5, "")
    return Extent(size, strain, wildest, parts)


def run(search):
    """The result of a search, and its steps."""
    steps = []
    while True:
        try:
            steps.append(next(search))
        except StopIteration as stop:
            return stop.value, steps


def power_law(power, strain=0.0, wildest=0):
    """Extents in proportion to a power of the free motion: a size of 0.08 and a strain at an ease of 0."""

    def extent_at(tuning):
        share = free_motion(tuning) ** power
        return measured(0.08 * share, strain * share, wildest)

    return extent_at


def free_motion(tuning):
    """Motion without limits, relative to natural flesh."""
    return tuning.amount * (fitting.NATURAL / tuning.frequency) ** 2


class TwoParts:
    """A body of a belly and a tail that stretches less, except in frame 50."""

    BOUNDS = Bounds(1.0, 0.4)
    FREE = Extent(0.08, 0.6, 20, (Extent(0.08, 0.6), Extent(0.08, 0.3)))

    def __init__(self, at_50):
        self.at_50, self.frames, self.seen = at_50, 0, []

    def extent_over(self, own, parts):
        """Counts the frames that are simulated."""

        def extent_at(tuning):
            self.frames += own.stop - own.start
            self.seen.append(own)
            belly, tail = (free_motion(tuning) * s * a for s, a in parts or [(1.0, 1.0)] * 2)
            wild = self.at_50 if own.start <= 50 < own.stop else 1.0
            strains = 0.45 * belly**0.4, 0.25 * wild * tail**0.4
            both = tuple(Extent(0.08, strain) for strain in strains)
            return measured(0.08, max(strains), 50 if wild > 1.0 else 20, both)

        return extent_at

    def fitted(self):
        """The fit, and the strains of belly and tail."""
        search = final_fitting.finally_fitted(self.FREE, self.extent_over, self.BOUNDS, 60)
        found, steps = run(search)
        fractions = [step.fraction for step in steps]
        assert fractions == sorted(fractions) and fractions[0] >= 0.0 and fractions[-1] < 1.0
        return found, [part.strain for part in found.extent.parts]


def test_all_frames_are_simulated_once_though_parts_are_fitted_too():
    body = TwoParts(1.0)
    found, strains = body.fitted()
    assert strains == pytest.approx([0.4, 0.4], rel=0.12) and found.parts[1][0] > 1.5 * found.parts[0][0]
    assert [own for own in body.seen if own != slice(4, 25)] == [slice(0, 60)]
    assert body.seen[-1] == slice(0, 60) and body.frames <= 60 + 5 * 21


def test_a_wilder_moment_of_a_part_calms_that_part_alone():
    (calm, _), (found, strains) = TwoParts(1.0).fitted(), TwoParts(2.0).fitted()
    assert found.ease == calm.ease and found.parts[0] == pytest.approx(calm.parts[0])
    assert found.parts[1][0] < 0.7 * calm.parts[1][0]
    assert strains == pytest.approx([0.4, 0.4], rel=0.12) and found.extent.strain < 0.42


def test_a_tail_that_swings_takes_no_motion_from_the_belly():
    bounds = Bounds(0.035, 0.4)

    def fitted(wild):
        def over(_own, parts):
            def extent_at(tuning):
                belly, tail = (free_motion(tuning) * s * a for s, a in parts or [(1.0, 1.0)] * 2)
                both = Extent(0.03 * belly**0.5, 0.4 * belly**0.4), Extent(wild * tail**0.7, 0.1, hangs=True)
                # The motion of a tail counts by what it can be calmed from.
                return measured(max(both[0].size, both[1].size / EXCESS), both[0].strain, 0, both)

            return extent_at

        found, _ = run(final_fitting.finally_fitted(Extent(0.03, 0.4, 20, (Extent(),) * 2), over, bounds, 60))
        return found

    calm, wild = fitted(0.035), fitted(0.1)
    assert wild.ease == calm.ease and wild.eases[0] == calm.eases[0]
    assert wild.extent.parts[0] == calm.extent.parts[0]
    assert wild.eases[1] < -1.0 and wild.extent.parts[1].size == pytest.approx(0.035, rel=0.15)


@pytest.mark.parametrize("folded", [0.5, 0.8])
def test_skin_that_folds_in_another_frame_calms_its_part_and_not_the_body(folded):
    bounds = Bounds(0.035, 0.4)

    def over(own, parts):
        def extent_at(tuning):
            belly, tail = (free_motion(tuning) * s * a for s, a in parts or [(1.0, 1.0)] * 2)
            # The motion ends the search; in frame 50 alone skin of the belly turns over, unless it is firm.
            strain = folded if own.start <= 50 < own.stop and belly > 0.6 else 0.1
            both = Extent(0.035 * belly**0.5, strain), Extent(0.03 * tail**0.7, 0.1, hangs=True)
            return measured(both[0].size, strain, 50 if strain > 0.1 else 20, both)

        return extent_at

    found, _ = run(final_fitting.finally_fitted(Extent(0.035, 0.1, 20, (Extent(),) * 2), over, bounds, 60))
    assert found.ease == pytest.approx(0.0, abs=0.05)
    assert found.extent.parts[0].strain == 0.1 and found.eases[0] < -0.5 < found.eases[1]


@pytest.mark.parametrize("held", [0.05, 0.2])
def test_fins_that_the_body_swings_calm_the_body(held):
    bounds = Bounds(0.035, 0.4)

    def over(own, parts):
        def extent_at(tuning):
            trunk, (_, amount) = free_motion(tuning), (parts or [(1.0, 1.0)] * 2)[1]
            # Thin fins turn over however little they feel of the rig themselves, while the trunk shakes them.
            size = 0.1 * min(1.0, trunk / held) ** 0.5 + 0.1 * amount * tuning.amount
            fins = Extent(size, 0.8 if size > 0.04 else 0.1, hangs=True)
            body = Extent(0.03 * trunk**0.5, 0.3 * trunk**0.4)
            return measured(max(body.size, fins.size / EXCESS), body.strain, 20, (body, fins))

        return extent_at

    found, _ = run(final_fitting.finally_fitted(Extent(0.06, 0.4, 20, (Extent(),) * 2), over, bounds, 60))
    fins = found.extent.parts[1]
    assert fins.strain < 0.4 and 0.5 * bounds.size < fins.size < 1.3 * bounds.size
    assert found.tuning.frequency > fitting.NATURAL and found.eases[1] < -1.0


def test_what_all_frames_show_too_wild_again_is_calmed_again():
    seen = []

    def over(own, _parts):
        seen.append(own)
        # Frame 90 is the wildest, which is seen once frame 50 is calmed.
        strain = 0.6 if own.start <= 90 < own.stop else 0.45
        return power_law(0.5, strain, wildest=90 if seen.count(slice(0, 120)) > 1 else 50)

    found, _ = run(final_fitting.finally_fitted(Extent(0.08, 0.3, 20), over, Bounds(1.0, 0.4), 120))
    assert seen[1:] == [slice(0, 120), slice(34, 55), slice(0, 120), slice(74, 95), slice(0, 120)]
    assert found.extent.strain == pytest.approx(0.4, rel=fitting.NEAR - 1.0)


@pytest.mark.parametrize("further", [0.6, 1.0, 1.4, 4.0])
@pytest.mark.parametrize("frames", [12, 60])
def test_a_final_motion_is_fitted_from_its_free_draft(further, frames):
    bounds, final = Bounds(1.0, 0.4), power_law(0.5, 0.3 * further)
    found, _ = run(final_fitting.finally_fitted(Extent(0.08, 0.6), lambda *_: final, bounds, frames))
    there, _ = run(final(found.tuning))
    assert there == found.extent and there.strain == pytest.approx(0.4, rel=fitting.NEAR - 1.0)
    assert found.reason is Reason.STRETCH


def test_a_final_motion_is_as_large_as_wanted_over_all_frames():
    tried = []

    def over(own, _parts):
        law = power_law(1.0, 0.1) if own == slice(0, 60) else power_law(1.2, 0.1)

        def extent_at(tuning):
            tried.append((own, tuning))
            return law(tuning)

        return extent_at

    found, _ = run(final_fitting.finally_fitted(Extent(0.08, 0.1), over, Bounds(0.03, 0.4), 60))
    assert found.reason is Reason.AMPLITUDE and len(set(map(str, tried))) == len(tried)
    assert found.extent.size == pytest.approx(0.03, rel=fitting.NEAR - 1.0)


def test_a_wilder_moment_of_the_final_motion_counts_too():
    bounds, seen = Bounds(1.0, 0.4), []

    def over(own, _parts):
        seen.append(own)
        # Twice as far in frame 50, which drafts do not show.
        return power_law(0.5, 0.6 if own.start <= 50 < own.stop else 0.3, wildest=50)

    found, _ = run(final_fitting.finally_fitted(Extent(0.08, 0.3), over, bounds, 60))
    assert seen == [slice(0, 5), slice(0, 60), slice(34, 55), slice(0, 60)]
    assert found.extent.strain == pytest.approx(0.4, rel=fitting.NEAR - 1.0)
    assert found.reason is Reason.STRETCH


def test_the_frames_around_the_wildest_are_tried():
    assert final_fitting.around(30, 60) == slice(14, 35) and final_fitting.around(2, 60) == slice(0, 7)
    assert final_fitting.around(3, 24) == slice(0, 24)
    assert final_fitting.around(59, 60) == slice(43, 60)
