"""A fit in words, and the report of its parts."""

import jounce
import numpy as np
import pytest
from jounce_core.common.task import at_once
from jounce_core.rig.part_settings import MOTION
from jounce_core.shot import fit_report, fitting, part_fitting
from jounce_core.shot.fitting import Bounds, Fitted, Reason, Tuning
from jounce_core.shot.motion_extent import Extent

BOUNDS = Bounds(0.035, 0.36)


def fit(parts, eases=(), ease=0.0, reason=Reason.STRETCH):
    """A fitted body with these extents and eases of its parts."""
    whole = Extent(max(part.size for part in parts), max(part.strain for part in parts), parts=tuple(parts))
    return Fitted(ease, whole, reason, eases=tuple(eases))


def test_a_fit_is_told_in_words_of_animators():
    def told(frequency, amount, reason=Reason.STRETCH, **parts):
        return fit_report.sentence("Fox", Tuning(frequency, amount), reason, 0.0197, parts)

    assert told(1.35, 1.26, chest=0.07, thighs=1.5, arms=1.3, belly=1.1) == (
        "Fox: very soft and lively flesh. It moves by up to 2.0% of its size; softer, it would stretch too "
        "far. Softer than the body: Thighs, Arms. Firmer: Chest"
    )
    assert told(2.6, 1.0).startswith("Fox: soft flesh. It moves")
    assert "firm and calm flesh" in told(8.0, 0.35) and "very firm flesh" in told(80.0, 1.0)
    assert told(5.0, 1.0, Reason.STILL) == "Fox: nothing moves it in these frames, so it stays firm"


def test_the_motion_of_a_body_is_that_of_its_liveliest_part():
    told = {
        name: fit_report.PartReport(2.0, size, Reason.STRETCH)
        for name, size in (("belly", 0.01), ("fins", 0.07))
    }
    assert fit_report.motion(Extent(0.004), told) == 0.07 and fit_report.motion(Extent(0.004), {}) == 0.004


def test_each_part_has_the_reason_at_which_it_ended():
    parts = [
        Extent(0.01, 0.36),
        Extent(0.035, 0.1),
        Extent(0.01, 0.1),
        Extent(0.01, 0.1),
        Extent(0.01, 0.1, thin=True),
        Extent(0.01, 0.1),
        Extent(0.07, 0.1),
        Extent(0.0, 0.0),
    ]
    eases = 0.0, 0.5, part_fitting.EASIER, fitting.EASIEST, -0.2, 0.3, part_fitting.HARDER, 0.0
    assert part_fitting.reasons(fit(parts, eases), BOUNDS) == (
        Reason.STRETCH,
        Reason.AMPLITUDE,
        Reason.SOFTEST,
        Reason.SOFTEST,
        Reason.THIN,
        Reason.BODY,
        Reason.FIRMEST,
        Reason.STILL,
    )
    # All parts alike: as the body, or as near to their bounds.
    assert part_fitting.reasons(fit(parts[:3]), BOUNDS) == (Reason.STRETCH, Reason.AMPLITUDE, Reason.BODY)
    assert part_fitting.reasons(fit(parts[:2], reason=Reason.RIG), BOUNDS) == (Reason.RIG,) * 2
    assert part_fitting.reasons(Fitted(None, fit(parts[:1]).extent, Reason.STILL), BOUNDS) == (Reason.STILL,)


def test_what_stretches_too_far_only_together_is_near_its_bound():
    parts = [Extent(0.01, 0.2), Extent(0.01, 0.1)]
    whole = Extent(0.01, 0.36, parts=tuple(parts))
    found = part_fitting.reasons(Fitted(0.0, whole, Reason.STRETCH), BOUNDS)
    assert found == (Reason.STRETCH, Reason.BODY)


class TwoBeams:
    """A bar of two parts, held in its middle; the second is four times as stiff."""

    def __init__(self):
        points, triangles = jounce.shapes.box((4.0, 0.5, 0.5))
        self.mesh = jounce.TetMesh.lattice(points, triangles, resolution=16)
        x = self.mesh.vertices[:, 0] - self.mesh.vertices[:, 0].mean()
        self.pinned = np.abs(x) < 0.3
        self.parts = ["belly", "tail"]
        self.part_weights = np.stack([x < 0.0, x >= 0.0]).astype(float)
        stiff = x[self.mesh.tets].mean(axis=1) > 0.0
        self.material = jounce.Material(young=np.where(stiff, 4e4, 1e4))


def test_a_part_has_the_frequency_at_which_it_swings_alone():
    body = TwoBeams()
    soft, stiff = (fit_report.swing(body, part, 1.0) for part in body.parts)
    assert stiff == pytest.approx(2.0 * soft, rel=1e-3) and soft > 0.0
    assert fit_report.swing(body, "belly", 4.0) == pytest.approx(2.0 * soft, rel=1e-6)
    assert fit_report.swing(body, "ears", 1.0) == 0.0
    body.pinned = np.ones_like(body.pinned)
    assert fit_report.swing(body, "belly", 1.0) == 0.0


def test_a_report_names_frequency_and_motion_of_each_measured_part():
    body = TwoBeams()
    fitted = fit([Extent(0.02, 0.36), Extent(0.035, 0.1)])
    found = at_once(fit_report.reports(fitted, ("belly", "tail"), BOUNDS, body, 1.0))
    belly, tail = found["belly"], found["tail"]
    assert (belly.reason, tail.reason) == (Reason.STRETCH, Reason.AMPLITUDE)
    assert tail.size == pytest.approx(0.035 * MOTION["tail"]) and tail.hertz > belly.hertz > 0.0
