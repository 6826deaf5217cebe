"""Distance of a draft from the final motion, for bodies that follow a rig and for loose ones."""

import jounce
import numpy as np
import pytest
from jounce_core.body import full_space, loose
from jounce_core.flesh.settings import LooseSettings
from jounce_core.mesh.surface import Surface
from test_sensible import apart, box, finished_body

TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def ended(job):
    """The result of a job."""
    return finished_body(job)


@pytest.fixture(scope="module")
def jelly():
    """A loose body, its final form, and random shapes of it as coefficients of both."""
    surface: Surface = box((0.4, 0.4, 1.2))
    body = ended(loose.made(surface, LooseSettings(8, 12, 60)))
    model = jounce.Model.full_space(body.mesh, loose.flesh())
    fine = full_space.FineBody(model, body.embedding)
    random = np.random.default_rng(3)
    drafts = [0.05 * random.normal(size=body.model.coefficient_shape) for _ in range(3)]
    finals = [0.02 * random.normal(size=model.coefficient_shape) for _ in range(3)]
    return body, fine, drafts, finals


def placed(body, coefficients, place):
    """Coefficients of handles after a rigid motion of the whole body in front of them, (3, 4)."""
    away = place - np.eye(3, 4)
    return place[:, :3] @ coefficients + of_handles(away, np.asarray(body.model.handle_centers))


def of_handles(away, centers):
    """Coefficients of a displacement `A X + b`, (3, 4)."""
    linear, shifts = away[:, :3], centers @ away[:, :3].T + away[:, 3]
    return np.concatenate([np.tile(linear, (len(centers), 1, 1)), shifts[:, :, None]], axis=2)


def test_shapes_of_loose_bodies_are_compared_wherever_they_are(jelly):
    body, fine, drafts, finals = jelly
    rest = [np.eye(3, 4)[None]] * len(drafts)
    found = ended(full_space.compared(drafts, body, finals, fine, rest))
    points = np.asarray(body.embedding.points)
    shapes = [points + body.model.displacement(each, body.embedding) for each in drafts]
    right = [points + fine.model.displacement(each, fine.embedding) for each in finals]
    missed = np.hypot.reduce([apart(shape, other) for shape, other in zip(right, shapes, strict=True)])
    changed = np.hypot.reduce([apart(shape, points) for shape in right])
    assert found.share == pytest.approx(missed / changed, rel=1e-4)
    assert np.sqrt((found.apart**2).sum() * len(drafts)) == pytest.approx(missed, rel=1e-4)
    # A draft that has rolled and flown elsewhere has the same shapes.
    place = np.column_stack([TURN, (3.0, -1.0, 2.0)])
    elsewhere = [placed(body, each, place) for each in drafts]
    assert ended(full_space.compared(elsewhere, body, finals, fine, rest)).share == pytest.approx(
        found.share, rel=1e-4
    )


def test_the_place_of_the_object_has_no_part_in_it(jelly):
    body, fine, drafts, finals = jelly
    rest = [np.eye(3, 4)[None]] * len(drafts)
    found = ended(full_space.compared(drafts, body, finals, fine, rest))
    pose = np.column_stack([TURN, (0.5, 0.0, -2.0)])[None]
    away = pose[0] - np.eye(3, 4)
    centers, vertices = np.asarray(body.model.handle_centers), np.asarray(body.mesh.vertices)
    moved_drafts = [each - of_handles(away, centers) for each in drafts]
    moved_finals = [each - (vertices @ away[:, :3].T + away[:, 3]) for each in finals]
    again = ended(full_space.compared(moved_drafts, body, moved_finals, fine, [pose] * len(drafts)))
    assert again.share == pytest.approx(found.share, rel=1e-4)
