"""Building bodies, the cache of built ones, and what a model depends on."""

from dataclasses import replace

import numpy as np
import pytest
from jounce_core import bodies
from jounce_core.motion import load_scale, physical_frequency, stiffness, stiffness_of
from jounce_core.refusal import Refusal
from jounce_core.settings import BuildSettings, MotionSettings, Physical
from jounce_core.stitches import Stitches
from jounce_core.surface import Part, Surface
from jounce_core.task import Runner

SETTINGS = BuildSettings(resolution=6, modes=3, clusters=3, poisson=0.0)
MOTION = MotionSettings(5.0, 0.1, 1.0, 4, 1.0, "bdf2")


def tetrahedron():
    """The smallest surface with a volume, on one bone."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    return Surface(points, triangles, np.ones((4, 1)), (Part("Tet", slice(0, 4), np.eye(3)),))


def sewn(stiffness):
    """One stitch."""
    return Stitches(np.array([[1, 2]]), np.array([stiffness]), np.array([1.0]))


def test_stitches_of_a_body_in_memory_are_changed_without_building_it_anew():
    bodies.CACHE.clear()
    surface = tetrahedron()
    Runner(bodies.build(surface, SETTINGS)).run(float("inf"))
    plain = bodies.CACHE.get(surface.digest(SETTINGS))
    stitched = replace(surface, stitches=sewn(1e-3))
    runner = Runner(bodies.build(stitched, SETTINGS))
    runner.run(float("inf"))
    body = bodies.CACHE.get(stitched.digest(SETTINGS))
    assert "1 stitches, modes within about" in runner.message
    assert 0.0 < body.residual <= bodies.WORST_RESIDUAL
    assert np.array_equal(body.labels, plain.labels)
    assert body.modes.eigenvalues[-1] > plain.modes.eigenvalues[-1]


def test_a_built_body_is_kept_by_what_it_was_built_from():
    surface = tetrahedron()
    runner = Runner(bodies.build(surface, SETTINGS))
    assert runner.run(float("inf"))
    assert "3 modes, 1 of 1 bones count" in runner.message
    assert bodies.CACHE.get(surface.digest(SETTINGS)) is not None
    assert bodies.CACHE.get(surface.digest(replace(SETTINGS, modes=4))) is None


def test_a_stopped_build_keeps_nothing():
    bodies.CACHE.clear()
    surface = tetrahedron()
    runner = Runner(bodies.build(surface, replace(SETTINGS, resolution=40)))
    runner.run(0.0)
    runner.cancel()
    assert bodies.CACHE.get(surface.digest(replace(SETTINGS, resolution=40))) is None


def test_the_digest_sees_every_input():
    surface = tetrahedron()
    digests = {
        surface.digest(SETTINGS),
        replace(surface, points=surface.points + 1e-12).digest(SETTINGS),
        replace(surface, triangles=surface.triangles[::-1]).digest(SETTINGS),
        replace(surface, weights=np.full((4, 2), 0.5)).digest(SETTINGS),
        surface.digest(replace(SETTINGS, clusters=4)),
        replace(surface, stitches=sewn(1.0)).digest(SETTINGS),
        replace(surface, stitches=sewn(2.0)).digest(SETTINGS),
    }
    assert len(digests) == 7
    assert replace(surface, stitches=sewn(1.0)).base_digest(SETTINGS) == surface.base_digest(SETTINGS)


def test_the_cache_forgets_what_was_not_asked_for():
    cache = bodies.BodyCache(capacity=2)
    for name in ("a", "b"):
        cache.put(name, name)
    cache.get("a")
    cache.put("c", "c")
    assert [cache.get(name) for name in ("a", "b", "c")] == ["a", None, "c"]


@pytest.mark.parametrize(
    ("points", "triangles", "word"),
    [
        (np.zeros((1, 3)), np.zeros((0, 3), np.int64), "Tet has no faces"),
        (np.zeros((3, 3)), np.array([[0, 1, 2]]), "one place"),
    ],
)
def test_what_has_no_volume_is_refused(points, triangles, word):
    surface = Surface(points, triangles, np.ones((len(points), 1)), tetrahedron().parts)
    with pytest.raises(Refusal, match=word):
        Runner(bodies.build(surface, SETTINGS)).run(float("inf"))


def test_what_the_native_module_refuses_is_passed_on():
    surface = replace(tetrahedron(), weights=np.full((4, 1), 0.5))
    with pytest.raises(Refusal, match=r"^The body cannot be built: .*weights.*\.$"):
        Runner(bodies.build(surface, SETTINGS)).run(float("inf"))


def test_frequencies_grow_with_the_root_of_the_stiffness():
    assert stiffness(built=5.0, wanted=10.0) == 4.0
    with pytest.raises(Refusal):
        stiffness(built=0.0, wanted=2.0)


def test_gravity_bends_all_sizes_alike():
    assert load_scale(MOTION, 1.8) == 1.0
    assert load_scale(MOTION, 180.0) == pytest.approx(100.0)
    assert load_scale(replace(MOTION, material=Physical(1e4, 1000.0)), 180.0) == 1.0


def test_physical_values_stand_for_themselves():
    assert stiffness_of(3.0, replace(MOTION, material=Physical(1e4, 1000.0))) == 1.0
    assert stiffness_of(3.0, replace(MOTION, material=Physical(4e4, 500.0))) == 8.0
    assert physical_frequency(3.0, Physical(4e4, 1000.0)) == 6.0
