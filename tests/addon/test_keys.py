"""Shape keys from motion: exact ones per frame, few within the tolerance, both with the posed error."""

import jounce
import numpy as np
import pytest
from jounce_core.bake.keys import PosedMotion, key_sets, measure
from jounce_core.common.task import Runner
from jounce_core.common.user_error import UserError
from jounce_core.flesh.settings import BakeSettings, Target
from jounce_core.mesh.surface import Part, Surface
from jounce_core.stepping.motion import Motion

FRAMES = 20


def box(corner, size):
    """Points and outward triangles of a box."""
    points = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float) * size + corner
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return points, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], np.int64)


@pytest.fixture(scope="module")
def scene():
    """A body of two boxes on two bones, and a motion of rotating and stretching bones."""
    (low, faces), (high, _) = box((0.0, 0.0, 0.0), (1.0, 1.0, 2.0)), box((0.1, 0.1, 1.5), (0.8, 0.8, 2.0))
    points = np.concatenate((low, high))
    upper = np.clip(points[:, 2] / 3.5, 0.0, 1.0)
    parts = (Part("Low", slice(0, 8), np.eye(3)), Part("High", slice(8, 16), np.diag([2.0, -1.0, 0.01])))
    surface = Surface(
        points, np.concatenate((faces, faces + 8)), np.column_stack((1.0 - upper, upper)), parts
    )
    body = jounce.Body(points, surface.triangles, surface.weights, resolution=8, modes=4, clusters=4)
    random = np.random.default_rng(1)
    shapes = random.standard_normal((3, body.model.mode_count, 3, 4))
    largest = max(np.abs(body.model.displacement(shape, body.embedding)).max() for shape in shapes)
    shapes *= 0.05 * surface.diagonal / largest
    swing = np.array([[np.sin(0.3 * k * f) for k in (1, 2, 3)] for f in range(FRAMES)])
    return body, surface, Motion(poses(FRAMES), np.tensordot(swing, shapes, axes=1))


def poses(count):
    """Two bones: the first rests, the second turns about x and stretches along z."""
    result = np.zeros((count, 2, 3, 4))
    result[:, 0, :, :3] = np.eye(3)
    for frame in range(count):
        angle, stretch = 0.05 * frame, 1.0 + 0.05 * frame
        turn = [[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]]
        result[frame, 1, :, :3] = np.array(turn) @ np.diag([1.0, 1.0, stretch])
    return result


def settings(target, tolerance=0.002, max_keys=100):
    """Settings of a bake of all frames."""
    return BakeSettings(target, 1, FRAMES, 0, tolerance, max_keys)


def finished(task):
    """The result of a task."""
    runner = Runner(task)
    runner.run(float("inf"))
    return runner.message


def posed_error(sets, scene):
    """Largest distance between posed keys, put together from their local offsets, and simulated shape."""
    body, surface, motion = scene
    worst = 0.0
    for frame in range(FRAMES):
        expected = body.model.displacement(motion.coefficients[frame], body.embedding)
        linear = np.einsum("pb,bij->pij", surface.weights, motion.poses[frame, :, :, :3])
        for keys in sets:
            local = np.zeros((8, 3))
            for k in range(len(keys.names)):
                local += keys.values[frame, k] * keys.local_offsets(k)
            offset = local @ keys.part.to_world.T
            moved = np.einsum("pij,pj->pi", linear[keys.part.points], offset)
            worst = max(worst, np.linalg.norm(moved - expected[keys.part.points], axis=1).max())
    return worst


def test_one_key_a_frame_is_exact(scene):
    sets = finished(key_sets(*scene, settings(Target.FRAME_KEYS)))
    assert [keys.part.name for keys in sets] == ["Low", "High"]
    assert sets[0].names == [f"frame {frame}" for frame in range(1, FRAMES + 1)]
    assert posed_error(sets, scene) < 1e-6 * scene[1].diagonal


@pytest.mark.parametrize("tolerance", [0.01, 0.002, 0.0002])
def test_modal_keys_hold_the_tolerance_also_where_bones_stretch(scene, tolerance):
    sets = finished(key_sets(*scene, settings(Target.MODAL_KEYS, tolerance)))
    error = posed_error(sets, scene)
    assert error <= tolerance * scene[1].diagonal
    assert max(keys.error for keys in sets) == pytest.approx(error, rel=1e-3, abs=1e-7)
    # A mesh with less motion than the tolerance has none.
    values = np.concatenate([keys.values.ravel() for keys in sets])
    assert len(values) and values.min() >= 0.0 and values.max() <= 1.0


def test_three_shapes_at_rest_need_three_keys(scene):
    body, surface, motion = scene
    still = Motion(np.repeat(motion.poses[:1], FRAMES, axis=0), motion.coefficients)
    sets = finished(key_sets(body, surface, still, settings(Target.MODAL_KEYS, 1e-6)))
    assert [keys.principal_count for keys in sets] == [3, 3]


def test_the_number_of_keys_is_bounded(scene):
    sets = finished(key_sets(*scene, settings(Target.MODAL_KEYS, 1e-6, max_keys=2)))
    assert all(keys.principal_count <= 2 and len(keys.names) <= 3 for keys in sets)
    assert max(keys.error for keys in sets) > 1e-6 * scene[1].diagonal


def test_a_body_at_rest_bakes_to_no_motion(scene):
    body, surface, motion = scene
    still = Motion(motion.poses, np.zeros_like(motion.coefficients))
    for target in Target:
        sets = finished(key_sets(body, surface, still, settings(target)))
        assert all(keys.error == 0.0 and np.isfinite(keys.values).all() for keys in sets)
        assert all(not keys.offsets.any() for keys in sets)


def test_the_measured_error_is_the_true_one(scene):
    sets = finished(key_sets(*scene, settings(Target.FRAME_KEYS)))
    sets[0].offsets[3, 2, 0] += 0.1
    body, surface, motion = scene
    for _ in measure(sets, PosedMotion(body, surface, motion)):
        pass
    assert sets[0].error == pytest.approx(0.1, rel=1e-3)
    assert sets[1].error < 1e-5


def test_progress_rises_and_names_the_part(scene):
    steps = list(key_sets(*scene, settings(Target.MODAL_KEYS, 0.0002)))
    fractions = [step.fraction for step in steps]
    assert fractions == sorted(fractions)
    assert fractions[0] >= 0.0 and fractions[-1] <= 1.0
    stages = {step.stage.split(":")[0] for step in steps}
    assert {"Pulling back through the armature", "Measuring the shape keys"} <= stages


def test_keys_are_found_by_a_job_that_stops_with_the_task(scene, monkeypatch):
    class Endless:
        """A job without an end."""

        progress, stage, done, cancelled = 0.5, "trying shapes", False, False

        def cancel(self):
            self.cancelled = True

    job = Endless()
    monkeypatch.setattr(jounce, "ModalKeysJob", lambda *_, **__: job)
    task = key_sets(*scene, settings(Target.MODAL_KEYS))
    stage = "Finding the shape keys of Low: trying shapes"
    shown = next(step for step in task if step.stage == stage)
    assert 0.3 < shown.fraction < 1.0
    assert next(task).stage == stage
    assert not job.cancelled
    task.close()
    assert job.cancelled


def test_what_the_module_refuses_is_one_sentence(scene):
    body, surface, motion = scene
    task = key_sets(body, surface, motion, settings(Target.MODAL_KEYS, tolerance=-1.0))
    with pytest.raises(
        UserError, match="Shape keys of Low cannot be found: tolerance: expected a distance >= 0"
    ):
        finished(task)
