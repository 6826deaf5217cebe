"""Capsules of bones: their fit, the limbs with capsules, and the spared flesh."""

import numpy as np
import pytest
from jounce_core.rig.bone_capsules import Capsule, entered, fitted, limbs, mesh, spared


def rod(start, end, radius, count=400):
    """Points all over the side of a rod."""
    draw = np.random.default_rng(5)
    axis = (end - start) / np.linalg.norm(end - start)
    across = np.linalg.svd(axis[None])[2][1:]
    turns = draw.uniform(0.0, 2.0 * np.pi, count)
    ring = radius * (np.cos(turns)[:, None] * across[0] + np.sin(turns)[:, None] * across[1])
    return start + draw.uniform(size=(count, 1)) * (end - start) + ring


def test_a_capsule_lies_in_the_middle_of_its_flesh_and_is_as_thick():
    start, end = np.array([0.2, 0.1, 1.0]), np.array([0.9, 0.3, 1.4])
    points = rod(start, end, 0.12)
    # The bone runs along the flesh, a little beside its middle.
    aside = np.array([[0.03, 0.0, -0.03]])
    weights = np.ones((len(points), 1))
    (found,) = fitted(points, start + aside, (end + aside)[None], weights)
    assert found.radius == pytest.approx(0.12, rel=0.1)
    axis = (end - start) / np.linalg.norm(end - start)
    for place in (found.start, found.end):
        assert np.linalg.norm(np.cross(place - start, axis)) < 0.02
    length = np.linalg.norm(found.end - found.start) + 2.0 * found.radius
    assert length == pytest.approx(np.linalg.norm(end - start), rel=0.06)


def test_a_bone_ends_where_its_flesh_does():
    start, end, elsewhere = np.array([0.0, 0.1, 1.0]), np.array([0.0, 0.1, 1.8]), np.array([0.3, 0.1, 1.0])
    points, weights = rod(start, end, 0.1), np.ones((400, 1))
    (true,) = fitted(points, start[None], end[None, None], weights)
    for order in ((end, elsewhere), (elsewhere, end), (end, start)):
        (found,) = fitted(points, start[None], np.array(order)[:, None], weights)
        assert np.array_equal(found.start, true.start) and np.array_equal(found.end, true.end)
    (lying,) = fitted(points, start[None], elsewhere[None, None], weights)
    assert lying.miss(points) > 5.0 * true.miss(points)


def test_bones_with_little_or_tiny_flesh_have_none():
    points = np.concatenate(
        [rod(np.zeros(3), np.array([1.0, 0, 0]), 0.1), rod(np.zeros(3), np.array([0, 1.0, 0]), 1e-3, 50)]
    )
    weights = np.zeros((len(points), 3))
    weights[:400, 0], weights[400:, 1] = 1.0, 1.0
    found = fitted(points, np.zeros((3, 3)), np.eye(3)[None], weights)
    assert found[0] is not None and found[1] is None and found[2] is None


def test_limbs_are_chains_beside_the_trunk():
    names = [
        "hips",
        "thigh L",
        "shin L",
        "thigh R",
        "shin R",
        "spine",
        "belly",
        "arm",
        "hand",
        "finger 1",
        "finger 2",
    ]
    parents = np.array([-1, 0, 1, 0, 3, 0, 5, 5, 7, 8, 8])

    def sized(name):
        radius = {"hips": 0.2, "spine": 0.2, "belly": 0.15, "finger 1": 0.01, "finger 2": 0.01}.get(
            name, 0.06
        )
        return Capsule(np.zeros(3), np.array([0.0, 0.0, 0.3 if radius > 0.01 else 0.02]), radius)

    found = limbs([sized(name) for name in names], parents)
    assert [names[bone] for bone in found] == [
        "thigh L", "shin L", "thigh R", "shin R", "arm", "hand", "finger 1", "finger 2"
    ]  # fmt: skip


def test_flesh_of_a_bone_and_of_those_next_to_it_passes_and_what_is_close():
    parents = np.array([-1, 0, 1, 0])
    weights = np.array(
        [(0, 1, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (0, 0, 0, 1), (0, 0.2, 0, 0.8)]
    )
    away = np.array([-0.1, 0.5, 0.5, 0.02, 0.2, 0.2])
    assert spared(weights.astype(float), parents, 1, away).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("half", "radius"), [(0.5, 0.2), (0.0, 0.3)])
def test_its_mesh_is_closed_and_as_large(half, radius):
    points, faces = mesh(half, radius)
    half = max(half, 1e-3 * radius)
    assert np.allclose(points.max(axis=0), (radius, half + radius, radius))
    assert np.allclose(points.min(axis=0), (-radius, -half - radius, -radius))
    away = np.linalg.norm(points - np.clip(points, (0, -half, 0), (0, half, 0)), axis=1)
    assert np.allclose(away, radius)
    sides = {(a, b) for face in faces for a, b in zip(face, face[1:] + face[:1], strict=True)}
    assert all((b, a) in sides for a, b in sides)
    # Faces look outwards.
    for face in faces:
        a, b, c = points[list(face[:3])]
        assert np.cross(b - a, c - a) @ (a - np.clip(a, (0, -half, 0), (0, half, 0))) > 0.0


def test_faces_entered_between_their_points_are_found():
    points = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 0.0)])
    triangles = np.array([(0, 1, 2), (1, 3, 2)])

    def ball(center, radius=0.1):
        def distances(places):
            return np.linalg.norm(places - center, axis=1) - radius

        return entered(points, triangles, distances(points), distances).tolist()

    assert ball((0.3, 0.3, 0.05)) == [0, 1, 2]
    assert ball((0.7, 0.7, 0.0)) == [1, 2, 3]
    assert ball((0.5, 0.5, 0.0)) == [0, 1, 2, 3]
    assert ball((0.3, 0.3, 0.2)) == ball((9.0, 9.0, 9.0)) == []
