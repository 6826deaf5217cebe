"""Colliders: guessed shapes, and places."""

import numpy as np
import pytest
from jounce_core.body.colliders import Colliders, Kind, Solid, closed, guessed, made, polar
from jounce_core.common.user_error import UserError
from jounce_core.display.collider_lines import lines

CUBE = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
HEIGHTS = (-0.3, -0.1, 0.1, 0.3)
NONE = np.empty((0, 3), np.int64)


def ball(count=200):
    """Points all over a sphere of radius 1."""
    height = 1.0 - 2.0 * (np.arange(count) + 0.5) / count
    angle = np.pi * (1.0 + 5.0**0.5) * np.arange(count)
    across = np.sqrt(1.0 - height**2)
    return np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)


def solid(kind, points, triangles=NONE):
    return Solid("Thing", kind, points, triangles, 64, np.empty(0, np.int64))


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([(c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)])


def placed(linear, *translation):
    return np.concatenate([linear, np.array(translation)[:, None]], axis=1)


@pytest.mark.parametrize(
    ("points", "kind"),
    [
        (CUBE * (3.0, 1.0, 0.2), Kind.BOX),
        (np.delete(CUBE, 0, axis=0), Kind.MESH),
        (CUBE[:, [0, 1, 1]] * (1.0, 1.0, 0.0), Kind.PLANE),
        (ball(), Kind.SPHERE),
        (ball() * (1.0, 1.0, 1.2), Kind.MESH),
        (ball(400)[::2], Kind.SPHERE),
    ],
)
def test_shapes_are_told_by_their_points(points, kind):
    assert guessed(points + (5.0, 0.0, 0.0)) is kind


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_a_matrix_is_a_rotation_and_what_stays_the_same_in_all_frames(mirror):
    size = np.diag([2.0, 0.5, mirror])
    rotations, sizes = polar(np.stack([placed(turn(angle) @ size, 0, 0, 0) for angle in (0.3, 2.0)]))
    assert np.allclose(np.linalg.det(rotations), 1.0)
    assert np.allclose(sizes[0], sizes[1])
    assert np.allclose(rotations[0] @ sizes[0], turn(0.3) @ size)


@pytest.mark.parametrize(
    ("kind", "points", "place", "distance"),
    [
        (Kind.PLANE, CUBE * (1.0, 1.0, 0.0), (9.0, 9.0, 0.5), 0.5),
        (Kind.SPHERE, CUBE, (0.0, 0.0, 3.0), 1.0),
        (Kind.BOX, CUBE, (0.0, 0.0, 3.0), 1.0),
        (Kind.CAPSULE, CUBE * (1.0, 1.0, 3.0), (0.0, 0.0, 7.0), 1.0),
        (Kind.CAPSULE, CUBE * (1.0, 1.0, 3.0), (3.0, 0.0, 2.0), 1.0),
    ],
)
def test_shapes_fit_their_objects_at_the_size_that_they_are_shown(kind, points, place, distance):
    matrix = placed(2.0 * turn(0.7), 4.0, 5.0, 6.0)
    known = made(solid(kind, points), matrix, 0.5)
    assert known.distance(place)[0] == pytest.approx(distance if kind is not Kind.BOX else 1.0)


def test_a_plane_looks_where_its_faces_look_also_mirrored():
    points, faces = CUBE[[0, 4, 6, 2]] * (1.0, 1.0, 0.0), np.array([(0, 1, 2), (0, 2, 3)])
    for mirrored in (1.0, -1.0):
        matrix = placed(np.diag([1.0, 1.0, mirrored]), 0.0, 0.0, 0.0)
        rotation, size = polar(matrix[None])
        known = made(solid(Kind.PLANE, points, faces), matrix, 0.5)
        local = rotation[0].T @ (0.0, 0.0, mirrored)
        assert known.distance(local)[0] == pytest.approx(1.0), mirrored
        assert np.allclose(rotation[0] @ size[0], matrix[:, :3])


def test_places_are_rigid_or_refused():
    all_of_them = Colliders((solid(Kind.BOX, CUBE), solid(Kind.SPHERE, CUBE)), 0.5)
    first = np.stack([placed(turn(0.0) * 2.0, 0, 0, 0), placed(turn(0.0), 1, 0, 0)])
    now = np.stack([placed(turn(1.0) * 2.0, 3, 0, 0), placed(turn(0.5), 1, 2, 0)])
    places = all_of_them.places(first, now, 7)
    assert np.allclose(places[0], placed(turn(1.0), 3, 0, 0)) and np.allclose(places[1], now[1])
    with pytest.raises(UserError, match="Thing has another size in frame 7"):
        all_of_them.places(first, np.stack([now[0] * 1.1, now[1]]), 7)
    now[0, 0, 3] = np.nan
    with pytest.raises(UserError, match="infinite place in frame 8"):
        all_of_them.places(first, now, 8)


def test_what_encloses_nothing_is_refused_by_name():
    with pytest.raises(UserError, match="Thing cannot be collided with as it is; choose another shape: "):
        made(solid(Kind.MESH, ball()[:3]), placed(turn(0.0), 0, 0, 0), 0.5)


def test_a_landscape_is_solid_below_also_mirrored():
    x, y = (axis.ravel() for axis in np.meshgrid(np.linspace(-1.0, 1.0, 21), np.linspace(-1.0, 1.0, 21)))
    points = np.stack([x, y, 0.1 * np.sin(3.0 * x)], axis=1)
    row = (np.arange(20)[:, None] * 21 + np.arange(20)).ravel()
    low, high = np.stack([row, row + 1, row + 22], axis=1), np.stack([row, row + 22, row + 21], axis=1)
    land = solid(Kind.MESH, points, np.concatenate([low, high]))
    places = [(a, b, h + 0.1 * np.sin(3.0 * a)) for a in (-0.8, 0.1) for b in (0.0, 0.5) for h in HEIGHTS]
    for mirror in (1.0, -1.0):
        matrix = placed(np.diag([1.0, mirror, 1.0]), 0.0, 0.0, 0.0)
        rotation, _ = polar(matrix[None])
        distances = made(land, matrix, 0.5).distances(np.array(places) @ rotation[0])
        assert (np.sign(distances) == np.tile(np.sign(HEIGHTS), 4)).all()


def test_closed_surfaces_stay_as_they_are():
    faces = np.array([(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)])
    faces = np.concatenate([faces, [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]])
    assert closed(CUBE, faces)[0] is CUBE
    # A box without one side is no sheet: the native module closes its hole.
    assert closed(CUBE, faces[2:])[0] is CUBE


def test_the_digest_says_what_shapes_are_made_of_and_not_their_names():
    one, same = Colliders((solid(Kind.BOX, CUBE),), 0.5), Colliders((solid(Kind.BOX, CUBE.copy()),), 0.5)
    others = [
        Colliders((solid(Kind.MESH, CUBE),), 0.5),
        Colliders((solid(Kind.BOX, 2.0 * CUBE),), 0.5),
        Colliders((solid(Kind.BOX, CUBE),), 0.6),
        Colliders((), 0.5),
    ]
    assert one.digest() == same.digest()
    assert len({one.digest(), *(other.digest() for other in others)}) == 1 + len(others)


@pytest.mark.parametrize("kind", [Kind.SPHERE, Kind.CAPSULE, Kind.BOX, Kind.PLANE])
def test_colliders_are_drawn_as_they_act(kind):
    points, faces = CUBE * (1.0, 0.5, 3.0), np.array([(0, 1, 3)])
    if kind is Kind.PLANE:
        points, faces = CUBE[[0, 4, 6, 2]] * (1.0, 1.0, 0.0), np.array([(0, 1, 2), (0, 2, 3)])
    thing, matrix = solid(kind, points, faces), placed(turn(0.4) * 2.0, 1.0, 2.0, 3.0)
    drawn = lines(thing, matrix)
    ends = np.ascontiguousarray(drawn[:-1].reshape(-1, 3) if kind is Kind.PLANE else drawn.reshape(-1, 3))
    (away,) = Colliders((thing,), 0.5).distances(matrix[None], matrix[None], ends)
    assert len(ends) >= 16 and np.abs(away).max() < 1e-9
    if kind is Kind.PLANE:
        (ahead,) = Colliders((thing,), 0.5).distances(matrix[None], matrix[None], drawn[-1])
        assert ahead[1] > 0.1


def test_a_mesh_is_drawn_by_its_edges_with_what_closes_it():
    points, faces = CUBE[[0, 4, 6, 2]] * (1.0, 1.0, 0.0), np.array([(0, 1, 2), (0, 2, 3)])
    drawn = lines(solid(Kind.MESH, points, faces), placed(turn(0.0), 0.0, 0.0, 0.0))
    # Both sides of the square with a diagonal each, and four walls with a diagonal each.
    assert len(drawn) == 5 + 5 + 4 + 4
    assert drawn[..., 2].min() == pytest.approx(-0.5) and drawn[..., 2].max() == pytest.approx(0.0)
