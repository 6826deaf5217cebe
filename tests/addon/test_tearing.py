"""Tears of flesh, by parts and frames."""

import jounce
import numpy as np
import pytest
from jounce_core.mesh.surface import Part, Surface
from jounce_core.shot import tearing


@pytest.fixture(scope="module")
def bar():
    """A bar on two bones with a shared middle: surface and body."""
    rings = np.linspace(0.0, 4.0, 17)
    corners = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
    points = np.array([(x, y, z) for x in rings for y, z in corners])
    quads = [
        (4 * r + k, 4 * r + (k + 1) % 4, 4 * r + 4 + (k + 1) % 4, 4 * r + 4 + k)
        for r in range(16)
        for k in range(4)
    ]
    quads += [(3, 2, 1, 0), (64, 65, 66, 67)]
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    upper = np.clip(points[:, 0] - 1.5, 0.0, 1.0)
    weights = np.column_stack((1.0 - upper, upper))
    surface = Surface(points, triangles, weights, (Part("Bar", slice(0, len(points)), np.eye(3)),))
    return surface, jounce.Body(points, triangles, weights, resolution=12, modes=6, clusters=20)


def motion(body, size):
    """Poses at rest, and coefficients that pull one mode far in frame 3 alone."""
    poses = [np.tile(np.eye(3, 4), (2, 1, 1)) for _ in range(6)]
    coefficients = [np.zeros((6, 3, 4)) for _ in poses]
    coefficients[3][:, 0, 0] = size / np.abs(body.modes.weights).max()
    return poses, coefficients


def test_what_moves_little_does_not_tear(bar):
    surface, body = bar
    assert list(tearing.tears(surface, body, *motion(body, 0.01))) == []


def test_frame_part_and_stretch_are_told(bar):
    surface, body = bar
    found = list(tearing.tears(surface, body, *motion(body, 3.0)))
    assert found and {tear.frame for tear in found} == {3}
    poses, coefficients = motion(body, 3.0)
    moved = surface.points + body.model.displacement(coefficients[3], body.embedding)
    edges = np.sort(surface.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    length = [np.linalg.norm(p[edges[:, 0]] - p[edges[:, 1]], axis=1) for p in (surface.points, moved)]
    stretch = np.abs(length[1] / length[0] - 1.0)
    for tear in found:
        mine = stretch[surface.weights.argmax(axis=1)[edges[:, 0]] == tear.bone]
        assert tearing.TORN < tear.stretch <= mine.max()


def test_a_triangle_turns_from_none_over_upright_to_inside_out():
    posed = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    triangles = np.array([[0, 1, 2]])

    def turn(angle):
        tip = np.array([0.0, np.cos(angle), np.sin(angle)])
        return tearing.turns(posed, np.array([np.zeros(3), np.zeros(3), tip - posed[2]]), triangles, 1.0)[0]

    turned = [turn(angle) for angle in (0.0, 0.5 * np.pi, np.pi)]
    assert turned == pytest.approx([0.0, 1.0, 2.0])


def test_a_low_triangle_does_not_count_as_turned():
    posed = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0008, 0.0]])
    moved = np.array([np.zeros(3), np.zeros(3), [0.0, -0.0016, 0.0]])
    assert tearing.turns(posed, moved, np.array([[0, 1, 2]]), 1.0)[0] == 0.0
    assert tearing.turns(posed, moved, np.array([[0, 1, 2]]), 0.5)[0] == pytest.approx(2.0)
