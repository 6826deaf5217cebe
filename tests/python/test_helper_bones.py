"""Helper bones from Python: shapes in and out; the core's tests cover the quality of the fit."""

import jounce
import numpy as np
import pytest


def motion():
    """Points on one resting bone, with a swaying upper half."""
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 3))
    frames = np.repeat(points[None], 5, axis=0)
    frames[:, points[:, 2] > 0.0, 0] += np.linspace(0.0, 0.4, 5)[:, None]
    bones = np.tile(np.eye(3, 4), (5, 1, 1, 1))
    return points, frames.astype(np.float32), bones, np.ones((60, 1))


def test_one_more_bone_carries_what_sways():
    weights, transforms, rms, error = jounce.helper_bones(*motion(), count=1)
    assert weights.shape == (60, 2) and transforms.shape == (5, 1, 3, 4)
    assert np.allclose(weights.sum(axis=1), 1.0)
    assert rms <= error < 1e-5


def test_a_job_makes_the_same():
    made = jounce.HelperBonesJob(*motion(), count=2).result()
    expected = jounce.helper_bones(*motion(), count=2)
    assert all(np.array_equal(one, other) for one, other in zip(made, expected, strict=True))


def test_wrong_shapes_are_refused():
    points, frames, bones, weights = motion()
    with pytest.raises(ValueError, match="frames"):
        jounce.helper_bones(points, frames[:, :-1].copy(), bones, weights, count=1)
    with pytest.raises(ValueError, match="count"):
        jounce.helper_bones(points, frames, bones, weights, count=0)
    with pytest.raises(ValueError, match="transforms"):
        jounce.HelperBonesJob(points, frames, bones[:3], weights, count=1)
