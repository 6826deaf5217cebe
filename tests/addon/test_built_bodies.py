"""Building bodies, the cache of built ones, and the inputs of a model."""

import re
from dataclasses import replace
from types import SimpleNamespace

import jounce
import numpy as np
import pytest
from jounce_core.body import built_bodies
from jounce_core.common.task import Runner
from jounce_core.common.user_error import UserError
from jounce_core.flesh.settings import BuildSettings, FrequencyOf, MotionSettings, Physical
from jounce_core.mesh import surface as surfaces
from jounce_core.mesh.maps import Maps
from jounce_core.mesh.stitches import Stitches
from jounce_core.mesh.surface import Part, Surface
from jounce_core.rig.bone_core import BoneCore, Role
from jounce_core.stepping.motion import (
    built_frequency,
    load_scale,
    physical_frequency,
    settling_seconds,
    stiffness,
    stiffness_of,
)

SETTINGS = BuildSettings(resolution=6, modes=3, clusters=3, poisson=0.0)
MOTION = MotionSettings(5.0, 0.1, 1.0, 4, 1.0, "bdf2")


def tetrahedron():
    """The smallest surface with a volume, on one bone."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    return Surface(points, triangles, np.ones((4, 1)), (Part("Tet", slice(0, 4), np.eye(3)),))


def bar(length):
    """Points and triangles of a closed bar along x with sides of one metre."""
    points = np.array([(x, y, z) for x in (0.0, length) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return points, np.array([corners for a, b, c, d in quads for corners in ((a, b, c), (a, c, d))])


def cored_bar():
    """A bar on two bones with a core."""
    points, triangles = bar(4.0)
    weights = np.stack([points[:, 0] < 2.0, points[:, 0] > 2.0], axis=1).astype(float)
    heads = np.array([[1.0, 0.5, 0.1], [3.0, 0.5, 0.1]])
    core = BoneCore(heads, np.array([-1, 0]), ("Near", "Far"), (Role.FLESH, Role.FLESH), 0.3)
    return Surface(points, triangles, weights, (Part("Bar", slice(0, 8), np.eye(3)),), core=core)


def sewn(stiffness):
    """A single stitch."""
    one = (np.array([stiffness]), np.array([1.0]), np.array([0]), np.array([0.0]), np.array([False]))
    return Stitches(np.array([[1, 2]]), *one)


def built(surface, settings=SETTINGS):
    """The body of a surface, and the report about it."""
    runner = Runner(built_bodies.build(surface, settings))
    assert runner.run(float("inf"))
    return built_bodies.CACHE.get(surface.digest(settings)), runner.message


def test_refusals_name_the_settings_of_the_panels():
    lone = tetrahedron()
    core = BoneCore(np.zeros((1, 3)), np.array([-1]), ("Bone",), (Role.RIGID,), 0.5)
    with pytest.raises(UserError) as refusal:
        built(replace(lone, core=core))
    assert str(refusal.value) == (
        "Nothing of Tet is left as flesh, as all of it is hard, thin or close to its bones; lower Bone Core "
        "in the panel Bones, where 0 is none, or give its bones the Role Flesh or Free."
    )
    with pytest.raises(UserError) as refusal:
        built(lone, replace(SETTINGS, resolution=2, modes=60))
    assert re.fullmatch(
        r"Tet has room for \d+ of its 60 Modes; lower Modes or raise Resolution in the panel Body.",
        str(refusal.value),
    )


def test_stitches_of_a_body_in_memory_are_changed_without_building_it_anew():
    built_bodies.CACHE.clear()
    first, message = built(replace(tetrahedron(), stitches=sewn(1e-3)))
    assert "1 stitches, in" in message
    body, message = built(replace(tetrahedron(), stitches=sewn(2e-3)))
    assert "1 stitches, modes within about" in message
    assert 0.0 < body.residual <= 0.01
    assert np.array_equal(body.labels, first.labels)
    assert body.modes.eigenvalues[-1] > first.modes.eigenvalues[-1]


def test_a_map_of_stiffness_is_changed_without_building_anew():
    built_bodies.CACHE.clear()
    settings = replace(SETTINGS, resolution=10, modes=4)
    painted = [1.0, 1.0, 1.0, 1.0]
    first, message = built(replace(tetrahedron(), maps=Maps(stiffness=np.array(painted))), settings)
    assert "within" not in message
    painted[1] = 2.0
    changed = replace(tetrahedron(), maps=Maps(stiffness=np.array(painted)))
    body, message = built(changed, settings)
    assert "modes within about" in message and 0.0 < body.residual <= 0.01
    assert np.array_equal(body.labels, first.labels)
    built_bodies.CACHE.clear()
    exact, _ = built(changed, settings)
    assert np.allclose(body.modes.eigenvalues, exact.modes.eigenvalues, rtol=0.03)


def test_a_body_on_a_core_has_modes_that_its_bones_drive():
    built_bodies.CACHE.clear()
    body, _ = built(cored_bar(), replace(SETTINGS, resolution=16, modes=9))
    assert body.pinned.any() and not body.pinned.all()
    lowest = jounce.skinning_modes(body.mesh, body.material, 9, pinned=body.pinned)
    assert np.allclose(body.modes.eigenvalues[:3], lowest.eigenvalues[:3])
    assert body.modes.eigenvalues[-1] > 1.01 * lowest.eigenvalues[-1]
    driven = jounce.driven_modes(body.mesh, body.material, body.rig, 9, pinned=body.pinned)
    assert np.array_equal(body.modes.weights, driven.weights)


def test_a_sketch_moves_in_the_full_space_as_the_whole_body_does():
    built_bodies.CACHE.clear()
    surface, settings = cored_bar(), replace(SETTINGS, resolution=16, modes=9, cubature=20)
    runner = Runner(built_bodies.sketch(surface, settings))
    assert runner.run(float("inf"))
    sketch = runner.message
    assert sketch.model.mode_count == 1 and surface.digest(settings) not in built_bodies.CACHE
    body, _ = built(surface, settings)
    assert body.model.mode_count == 9
    places = []
    for each in (sketch, body):
        simulation = jounce.Simulation(each.full_space(), dt=1 / 24, substeps=2)
        poses = np.tile(np.eye(3, 4), (12, 2, 1, 1))
        poses[:, 1, 2, 3] = 0.1 * np.sin(np.arange(12))
        simulation.reset(poses[0])
        for pose in poses[1:]:
            simulation.step(pose)
        places.append(simulation.coefficients.copy())
    assert np.abs(places[0]).max() > 0.01 and np.array_equal(*places)


def test_a_map_of_strength_changes_the_model_alone():
    built_bodies.CACHE.clear()
    first, _ = built(tetrahedron())
    changed = replace(tetrahedron(), maps=Maps(strength=np.array([1.0, 0.5, 0.5, 0.0])))
    body, _ = built(changed)
    assert np.array_equal(body.modes.weights, first.modes.weights) and body.residual == 0.0
    built_bodies.CACHE.clear()
    exact, _ = built(changed)
    assert np.array_equal(body.modes.weights, exact.modes.weights)
    assert np.array_equal(body.labels, exact.labels)


def test_a_map_of_leak_or_pins_changes_the_modes():
    for maps in (
        Maps(leak=np.array([1.0, 0.2, 0.9, 0.0])),
        Maps(pinned=np.array([True, False, False, False])),
    ):
        built_bodies.CACHE.clear()
        first, _ = built(tetrahedron())
        body, _ = built(replace(tetrahedron(), maps=maps))
        assert not np.array_equal(body.modes.weights, first.modes.weights)
        built_bodies.CACHE.clear()
        exact, _ = built(replace(tetrahedron(), maps=maps))
        assert np.array_equal(body.modes.weights, exact.modes.weights)


def test_a_built_body_is_kept_by_what_it_was_built_from():
    surface = tetrahedron()
    runner = Runner(built_bodies.build(surface, SETTINGS))
    assert runner.run(float("inf"))
    assert "3 modes, 1 of 1 bones count" in runner.message
    assert built_bodies.CACHE.get(surface.digest(SETTINGS)) is not None
    assert built_bodies.CACHE.get(surface.digest(replace(SETTINGS, modes=4))) is None


def test_a_stopped_build_keeps_nothing():
    built_bodies.CACHE.clear()
    surface = tetrahedron()
    runner = Runner(built_bodies.build(surface, replace(SETTINGS, resolution=40)))
    runner.run(0.0)
    runner.cancel()
    assert built_bodies.CACHE.get(surface.digest(replace(SETTINGS, resolution=40))) is None


def test_motion_of_bodies_that_were_built_in_another_way_is_known_to_be_stale(monkeypatch):
    before = tetrahedron().digest(SETTINGS)
    monkeypatch.setattr(surfaces, "BUILDING", surfaces.BUILDING - 1)
    assert tetrahedron().digest(SETTINGS) != before


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
    stitched = replace(surface, stitches=sewn(1.0))
    assert stitched.ground_digest(SETTINGS) == surface.ground_digest(replace(SETTINGS, modes=5))


def test_the_cache_forgets_what_was_not_asked_for():
    cache = built_bodies.BodyCache(capacity=2)
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
    with pytest.raises(UserError, match=word):
        Runner(built_bodies.build(surface, SETTINGS)).run(float("inf"))


def test_what_the_native_module_refuses_is_passed_on():
    surface = replace(tetrahedron(), weights=np.full((4, 1), 0.5))
    with pytest.raises(UserError, match=r"^The body cannot be built: .*weights.*\.$"):
        Runner(built_bodies.build(surface, SETTINGS)).run(float("inf"))


def test_frequencies_grow_with_the_root_of_the_stiffness():
    assert stiffness(built=5.0, wanted=10.0) == 4.0
    with pytest.raises(UserError):
        stiffness(built=0.0, wanted=2.0)


def far_motion(pinned, young, frequency_of):
    """Motion of the right end of a bar with a core in its middle, with the longer end held or painted."""
    points, triangles = bar(6.0)
    inside = jounce.TetMesh.lattice(points, triangles, 24, solid=True)
    x = inside.vertices[:, 0]
    core = (x > 2.9) & (x < 4.1)
    left = inside.vertices[inside.tets][..., 0].mean(1) < 2.9
    material = jounce.Material(young=np.where(left, young, 1e4))
    modes = jounce.skinning_modes(inside, material, 40, pinned=core | (pinned & (x < 2.9)))
    rig = jounce.Rig(inside, np.ones((len(x), 1)))
    labels = np.arange(len(inside.tets), dtype=np.int32)
    model = jounce.Model.skinning(inside, material, modes, labels, rig=rig)
    built = built_frequency(SimpleNamespace(mesh=inside, model=model), frequency_of)
    factor = stiffness_of(built, replace(MOTION, frequency=6.0))
    drive = {"max_iterations": 300, "tolerance": 1e-8, "damping": 0.12}
    simulation = jounce.Simulation(model, dt=1 / 24, substeps=2, stiffness=factor, **drive)
    pose = np.eye(3, 4)[np.newaxis].copy()
    simulation.reset(pose)
    moved = []
    for frame in range(24):
        pose[0, 1, 3] = 0.3 * np.sin(0.5 * frame)
        simulation.step(pose)
        moved.append(simulation.displacement()[x > 4.1].astype(float))
    return np.array(moved)


def test_what_is_pinned_or_painted_changes_nothing_elsewhere():
    free = far_motion(False, 1e4, FrequencyOf.SIZE)
    for pinned, young in [(True, 1e4), (False, 1e5)]:
        changed = far_motion(pinned, young, FrequencyOf.SIZE)
        assert np.linalg.norm(changed - free) < 0.05 * np.linalg.norm(free)
    old = [far_motion(pinned, 1e4, FrequencyOf.LOWEST_MODE) for pinned in (False, True)]
    assert np.linalg.norm(old[1] - old[0]) > 0.3 * np.linalg.norm(old[0])


def test_the_frequency_of_a_size_is_free_of_the_resolution():
    points, triangles = bar(6.0)
    coarse, fine = (
        SimpleNamespace(mesh=jounce.TetMesh.lattice(points, triangles, resolution, solid=True))
        for resolution in (20, 50)
    )
    frequencies = [built_frequency(body, FrequencyOf.SIZE) for body in (coarse, fine)]
    assert frequencies[0] == pytest.approx(frequencies[1], rel=0.01)
    assert frequencies[1] == pytest.approx(10.0**0.5 / 6.0 ** (1.0 / 3.0), rel=0.01)


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.9, 1.0, 3.0])
def test_a_swing_settles_in_the_time_of_its_frequency_and_damping(ratio):
    body = SimpleNamespace(mesh=None, model=SimpleNamespace(frequency=2.0))
    settings = replace(MOTION, damping=ratio, frequency_of=FrequencyOf.LOWEST_MODE)
    seconds = settling_seconds(body, settings)
    if ratio == 0.0:
        assert seconds == float("inf")
        return
    # The slowest solution of y'' + 2 ratio omega y' + omega^2 y = 0.
    omega = 2.0 * np.pi * MOTION.frequency
    slowest = max(np.roots([1.0, 2.0 * ratio * omega, omega**2]).real)
    assert np.exp(slowest * seconds) == pytest.approx(0.1, rel=1e-4)


def test_gravity_bends_all_sizes_alike():
    assert load_scale(MOTION, 1.8) == 1.0
    assert load_scale(MOTION, 180.0) == pytest.approx(100.0)
    assert load_scale(replace(MOTION, material=Physical(1e4, 1000.0)), 180.0) == 1.0


def test_physical_values_stand_for_themselves():
    assert stiffness_of(3.0, replace(MOTION, material=Physical(1e4, 1000.0))) == 1.0
    assert stiffness_of(3.0, replace(MOTION, material=Physical(4e4, 500.0))) == 8.0
    assert physical_frequency(3.0, Physical(4e4, 1000.0)) == 6.0
