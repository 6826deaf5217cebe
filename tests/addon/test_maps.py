"""Painted maps and counted bones in the native module's form."""

from dataclasses import replace

import numpy as np
import pytest
from jounce_core.body import built_bodies
from jounce_core.common.task import Runner
from jounce_core.flesh.settings import BuildSettings
from jounce_core.mesh.maps import Kind, Maps, StiffnessScale, maps, neutral
from jounce_core.mesh.surface import Part, Surface
from jounce_core.rig.bones import merged_into_picked

STRAIGHT = StiffnessScale(1.0, 30.0, False)


def test_equal_steps_of_stiffness_are_equal_factors():
    straight = StiffnessScale(0.01, 100.0, False)
    assert np.allclose(straight.factors(np.array([0.0, 0.5, 1.0])), [0.01, 1.0, 100.0])
    centred = StiffnessScale(0.01, 16.0, True)
    assert np.allclose(centred.factors(np.array([0.0, 0.25, 0.75, 1.0])), [0.01, 0.1, 4.0, 16.0])


@pytest.mark.parametrize(("soft", "stiff"), [(1.0 / 30.0, 30.0), (0.1, 7.0), (0.3, 0.6), (2.0, 5.0)])
def test_each_map_has_a_weight_that_says_nothing(soft, stiff):
    scale = StiffnessScale(soft, stiff, True)
    assert maps({kind: np.full(3, neutral(kind, scale)) for kind in Kind}, scale) == Maps()


def test_only_what_is_painted_is_a_map():
    weights = np.array([0.2, 0.5, 0.8])
    assert maps({}, STRAIGHT) == Maps()
    painted = maps({Kind.PIN: weights, Kind.LEAK: weights}, STRAIGHT)
    assert painted.pinned.tolist() == [False, False, True]
    assert painted.leak is weights
    assert painted.stiffness is None and painted.strength is None


def test_a_map_that_says_nothing_is_none():
    ones, zeros = np.ones(3), np.zeros(3)
    blank = {Kind.STIFFNESS: zeros, Kind.LEAK: ones, Kind.PIN: zeros, Kind.STRENGTH: ones}
    assert maps(blank, STRAIGHT) == Maps()
    assert maps(blank, StiffnessScale(0.5, 30.0, False)).stiffness.tolist() == [0.5, 0.5, 0.5]


def test_bones_that_are_not_picked_count_as_the_nearest_picked_one_above():
    parents = np.array([-1, 0, 1, 2, 1])
    picked = np.array([False, True, False, True, False])
    assert merged_into_picked(parents, picked).tolist() == [0, 1, 1, 3, 1]
    assert merged_into_picked(parents, np.zeros(5, bool)).tolist() == [0, 0, 0, 0, 0]


def tetrahedron(**changes):
    """The smallest surface with a volume, on two bones."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    weights = np.array([[1.0, 0], [0, 1], [1, 0], [1, 0]])
    surface = Surface(points, triangles, weights, (Part("Tet", slice(0, 4), np.eye(3)),))
    return replace(surface, **changes)


def test_a_build_sees_maps_and_bones_and_so_does_the_digest():
    settings = BuildSettings(resolution=6, modes=3, clusters=3, poisson=0.0)
    ones = np.ones(4)
    surfaces = [
        tetrahedron(),
        tetrahedron(merge_into=np.array([0, 0])),
        tetrahedron(bone_parents=np.array([-1, 0])),
        tetrahedron(maps=Maps(stiffness=np.array([1.0, 1.0, 1.0, 30.0]))),
        tetrahedron(maps=Maps(leak=ones)),
        tetrahedron(maps=Maps(strength=ones)),
        tetrahedron(maps=Maps(pinned=ones > 2)),
    ]
    built = []
    for surface in surfaces:
        Runner(built_bodies.build(surface, settings)).run(float("inf"))
        built.append(built_bodies.CACHE.get(surface.digest(settings)))
    assert len({surface.digest(settings) for surface in surfaces}) == len(surfaces)
    assert built[0].merged.tolist() == [0, 1] and built[1].merged.tolist() == [0, 0]
    assert built[3].material.young.max() > 1.5 * built_bodies.YOUNG
    assert built_bodies.describe(built[1], 0).count("1 of 2 bones count") == 1
