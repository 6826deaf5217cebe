"""A first look at the current frame after a change, long before the cache has reached it."""

import time

import bpy
import numpy as np
import pytest
import scenes

LAST, LATE = 120, 60
# Time of a slice; each reads a frame at least.
SLICE = 1e-4


@pytest.fixture(autouse=True)
def no_waiting(module, monkeypatch):
    """Changes are checked without waiting for another change."""
    monkeypatch.setattr(module("bridge.preview.session"), "QUIET_SECONDS", 0.0)


def swinging(change=lambda _obj: None):
    """A previewed character that swings all the time, at a late frame, with a full cache."""
    obj, rig = scenes.character()
    bone = rig.pose.bones["Upper"]
    for frame in range(1, LAST + 1, 6):
        bone.rotation_euler = (0.5 * np.sin(0.35 * frame), 0.1, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene(end=LAST)
    change(obj)
    scenes.add_and_build(obj)
    # Flesh at its limits hardly changes with its frequency.
    obj.jounce.stretch = 60.0
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    bpy.context.scene.frame_set(LATE)
    return obj


def frames_until_news(known):
    """Works until the meshes show something new; the number of frames filled until then."""
    known.work(bpy.context, 0.0)
    while known.filling.checked < LATE:
        if known.work(bpy.context, SLICE):
            bpy.context.view_layer.update()
            break
        # As long as a character's frame takes; meanwhile the thread of the look may work.
        time.sleep(0.005)
    return known.filling.checked


def soften(obj):
    obj.jounce.frequency *= 0.8
    bpy.context.view_layer.update()


def filled(known):
    while known.busy:
        known.work(bpy.context, 0.05)
    bpy.context.view_layer.update()


def bent(obj):
    """Extends the rig beyond linear skinning."""
    obj.modifiers["Armature"].use_deform_preserve_volume = True


@pytest.mark.parametrize("change", [lambda _obj: None, bent])
def test_a_changed_setting_is_seen_long_before_the_fill_is_there(preview, change):
    obj = swinging(change)
    known, old = preview.session(obj), scenes.evaluated(obj)
    soften(obj)
    early = frames_until_news(known)
    assert early < LATE // 3
    look = scenes.evaluated(obj)
    assert known.status().endswith(f"changed. Frame {LATE} is a first look")
    assert known.cached[0] == range(1, 1 + early)
    filled(known)
    final = scenes.evaluated(obj)
    moved, off = (np.abs(final - other).max() for other in (old, look))
    assert moved > 0.02 and off < 0.1 * moved
    assert known.status() == "Draft"
    coefficients = np.array(known.cache.coefficients)
    preview.forget(obj)
    bpy.context.scene.frame_set(1)
    bpy.ops.jounce.fill_cache()
    bpy.context.scene.frame_set(LATE)
    assert preview.session(obj).first_look is None
    assert np.array_equal(np.array(preview.session(obj).cache.coefficients), coefficients)
    assert np.array_equal(scenes.evaluated(obj), final)


def test_another_change_begins_it_again_and_another_frame_ends_it(preview):
    obj = swinging()
    known = preview.session(obj)
    soften(obj)
    frames_until_news(known)
    first, look = scenes.evaluated(obj), known.first_look
    soften(obj)
    assert frames_until_news(known) < LATE // 3
    assert known.first_look is not look
    assert np.abs(scenes.evaluated(obj) - first).max() > 0.02
    known.scene.frame_set(LATE + 10)
    known.work(bpy.context, 0.0)
    assert known.first_look is None
    assert "first look" not in known.status()


def loop(obj):
    """Ends in the first pose."""
    bpy.context.scene.frame_set(1)
    obj.parent.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=LAST)
    obj.jounce.loop = True


def drive_gravity(obj):
    """Makes the motion depend on the scene, so no frame is read ahead."""
    obj.jounce.use_gravity = True
    bpy.context.scene.driver_add("gravity", 2).driver.expression = "-0.1 * frame"


@pytest.mark.parametrize(("change", "frame"), [(loop, LATE), (drive_gravity, LATE), (lambda _obj: None, 15)])
def test_there_is_none_where_it_is_no_quicker_or_the_frames_before_count(preview, change, frame):
    obj = swinging(change)
    bpy.context.scene.frame_set(frame)
    known = preview.session(obj)
    soften(obj)
    while known.busy:
        known.work(bpy.context, SLICE)
        assert "first look" not in known.status()
    assert known.first_look is None
