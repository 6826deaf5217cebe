"""Loose and attached bodies under grabbing, wind and accelerations."""

import bpy
import numpy as np
import pytest
import scenes
from test_attached import FRAMES as HUNG_FRAMES
from test_attached import attach, sheet
from test_collisions import ground
from test_loose import FPS, block, collide

FRAMES = range(1, 25)


@pytest.fixture
def jelly():
    """A loose body, made in one click."""
    obj = block()
    scenes.settle_scene(FRAMES[-1])
    scenes.activate(obj)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    return obj


def hand(module, obj, frame):
    """A hand over a body with a displayed frame of its full cache."""
    bpy.ops.jounce.fill_cache()
    bpy.context.scene.frame_set(frame)
    return module("bridge.preview.pulling").Hand(obj)


def drag(module, obj, own, point, way, steps=60):
    """Takes a vertex and draws it along a way (3,) in metres; returns the shapes shown, (steps, p, 3), in the
    world.
    """
    session = module("bridge.preview.previews").session(obj)
    start = scenes.evaluated(obj)[point]
    hit = module("bridge.preview.picking").Hit(point, start)
    own.take(hit, bpy.context.evaluated_depsgraph_get())
    assert own.holds
    shown = []
    for step in range(steps):
        own.target = start + np.array(way) * min(1.0, step / 20.0)
        own.pull()
        session._due = 0.0
        session.work(bpy.context, 1.0)
        shown.append(scenes.evaluated(obj))
    return np.array(shown)


def test_a_loose_body_is_lifted_by_a_corner_and_falls_when_let_go(jelly, module):
    bpy.context.scene.frame_end = 48
    collide(jelly, ground(0.0))
    own = hand(module, jelly, 40)
    resting = scenes.evaluated(jelly)
    point = int(np.argmax(resting @ [1.0, 1.0, 1.0]))
    shown = drag(module, jelly, own, point, (0.0, 0.0, 1.0), 120)
    assert np.isfinite(shown).all() and shown[-1][:, 2].min() > 0.3
    assert np.linalg.norm(shown[-1][point] - own.target) < 0.02
    assert np.abs(shown[-1] - shown[-2]).max() < 5e-3, "it swings"
    own.let_go()
    session = module("bridge.preview.previews").session(jelly)
    for _ in range(30):
        own.pull()
        session._due = 0.0
        session.work(bpy.context, 1.0)
    assert -0.01 < scenes.evaluated(jelly)[:, 2].min() < 0.05
    own.close()
    assert np.array_equal(scenes.evaluated(jelly), resting)


def test_what_falls_for_ever_is_watched_for_a_while_and_its_frame_is_shown_again(jelly, module):
    own = hand(module, jelly, 5)
    before = scenes.evaluated(jelly)
    drag(module, jelly, own, 0, (0.3, 0.0, 0.0), 20)
    own.let_go()
    session, steps = module("bridge.preview.previews").session(jelly), 0
    while session.interactive is not None and steps < 500:
        session._due, steps = 0.0, steps + 1
        session.work(bpy.context, 1.0)
    own.pull()
    assert own.rests and 100 < steps < 300
    assert np.array_equal(scenes.evaluated(jelly), before)


def test_an_attached_body_follows_the_hand_and_stays_where_it_is_pinned(module):
    obj = sheet()
    attach(obj)
    own = hand(module, obj, 10)
    before = scenes.evaluated(obj)
    point = int(np.argmin(before[:, 2]))
    shown = drag(module, obj, own, point, (0.0, 0.3, 0.1))
    assert np.linalg.norm(shown[-1][point] - own.target) < 0.05
    pinned = np.argsort(before[:, 2])[-8:]
    assert np.abs(shown[-1] - before)[pinned].max() < 0.02
    own.close()
    assert np.array_equal(scenes.evaluated(obj), before)


def test_what_is_not_simulated_yet_says_so_when_it_is_grabbed(jelly, module):
    own = hand(module, jelly, 5)
    jelly.location.x += 1.0
    bpy.context.view_layer.update()
    hit = module("bridge.preview.picking").Hit(0, np.zeros(3))
    error = module("core.common.user_error").UserError
    with pytest.raises(error, match="Jelly is not simulated up to frame 5 yet"):
        own.take(hit, bpy.context.evaluated_depsgraph_get())
    assert own.rests


@pytest.mark.parametrize("how", ["off", "deleted", "undone"])
def test_a_hand_lets_go_of_a_body_that_is_gone(jelly, module, how):
    previews = module("bridge.preview.previews")
    bpy.ops.ed.undo_push(message="Before")
    own = hand(module, jelly, 5)
    drag(module, jelly, own, 0, (0.3, 0.0, 0.0), 10)
    assert own.is_there
    if how == "off":
        previews.switch_off(jelly)
    elif how == "deleted":
        bpy.data.objects.remove(jelly)
    else:
        bpy.ops.ed.undo_push(message="After")
        bpy.ops.ed.undo()
    assert not own.is_there
    own.pull()
    assert not own.holds and own.rests and own.string() is None
    own.close()


def wind(strength, flow=0.0, **settings):
    """Wind along x."""
    bpy.ops.object.effector_add(type="WIND", rotation=(0.0, np.pi / 2.0, 0.0))
    obj = bpy.context.object
    obj.field.strength, obj.field.flow = strength, flow
    for name, value in settings.items():
        setattr(obj.field, name, value)
    return obj


def test_wind_and_pushes_take_a_loose_body_along(jelly):
    bpy.context.scene.use_gravity = False
    wind(3.0)
    jelly.jounce.push = (0.0, 2.0, 0.0)
    scenes.activate(jelly)
    shown = scenes.evaluated_frames(jelly, FRAMES)
    steps = jelly.jounce.substeps * np.arange(len(FRAMES))
    h = 1.0 / (FPS * jelly.jounce.substeps)
    gone = h * h * steps * (steps + 1) / 2.0
    middles = shown.mean(axis=1) - shown[0].mean(axis=0)
    assert np.allclose(middles, gone[:, None] * [3.0, 2.0, 0.0], atol=1e-4)
    bpy.ops.jounce.clear_cache()
    assert np.array_equal(scenes.evaluated_frames(jelly, range(20, 21))[0], shown[19])
    assert bpy.ops.jounce.bake(target="FRAME_KEYS") == {"FINISHED"}
    assert np.abs(scenes.evaluated_frames(jelly, FRAMES) - shown).max() < 1e-5


def test_wind_that_flows_takes_a_loose_body_no_faster_than_it_is(jelly):
    bpy.context.scene.use_gravity = False
    bpy.context.scene.frame_end = 120
    wind(2.0, flow=4.0)
    scenes.activate(jelly)
    shown = scenes.evaluated_frames(jelly, range(1, 121)).mean(axis=1)
    speed = (shown[-1] - shown[-2]) * FPS
    assert np.allclose(speed, [2.0 / 4.0, 0.0, 0.0], atol=1e-3)


def test_a_cape_is_blown_aside(module):
    obj = sheet()
    attach(obj)
    still = scenes.evaluated_frames(obj, HUNG_FRAMES)
    blower = wind(15.0)
    blower.rotation_euler = (-np.pi / 2.0, 0.0, 0.0)
    scenes.activate(obj)
    blown = scenes.evaluated_frames(obj, HUNG_FRAMES)
    assert (blown - still)[-1][:, 1].max() > 0.05
    bpy.ops.jounce.diagnose()
    assert not any("force field" in found.sentence for found in obj.jounce.findings)
    bpy.ops.jounce.clear_cache()
    assert np.array_equal(scenes.evaluated_frames(obj, range(15, 16))[0], blown[14])


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("FORCE", {}),
        ("WIND", {"falloff_power": 1.0}),
        ("WIND", {"use_max_distance": True}),
        ("WIND", {"z_direction": "POSITIVE"}),
        ("TURBULENCE", {}),
    ],
)
def test_fields_that_depend_on_the_place_are_left_out_of_what_goes_anywhere_and_that_is_said(
    jelly, kind, settings
):
    before = scenes.evaluated_frames(jelly, FRAMES)
    bpy.ops.object.effector_add(type=kind)
    for name, value in settings.items():
        setattr(bpy.context.object.field, name, value)
    scenes.activate(jelly)
    bpy.ops.jounce.diagnose()
    assert any("goes anywhere" in found.sentence for found in jelly.jounce.findings)
    assert np.array_equal(scenes.evaluated_frames(jelly, FRAMES), before)
