"""Handlers of other add-ons at every frame, posing the rig."""

import bpy
import numpy as np
import pytest
import scenes
from previews import FRAMES

KINDS = ("frame_change_pre", "frame_change_post")


class Spring:
    """Rotates a bone by the rig's speed, like add-ons for springy bones."""

    def __init__(self, rig):
        self._rig, self._frame = rig, None
        self.seen = set()

    def __call__(self, scene, _depsgraph=None):
        self.seen.add(scene.name)
        place, frame = self._rig.location.x, scene.frame_current
        if frame <= scene.frame_start or self._frame != frame - 1:
            self._speed, self._angle, self._place = 0.0, 0.0, place
        self._speed += -0.4 * self._angle - 0.2 * self._speed + 0.5 * (place - self._place)
        self._angle, self._place, self._frame = self._angle + self._speed, place, frame
        self._rig.pose.bones["Upper"].rotation_euler = (0.0, self._angle, 0.0)


class Bystander:
    """Does nothing at any frame."""

    def __init__(self):
        self.seen = set()

    def __call__(self, scene, _depsgraph=None):
        self.seen.add(scene.name)


def pushed(rig):
    """Moves the armature to one side and back instead of rotating a bone."""
    rig.animation_data_clear()
    rig.pose.bones["Upper"].rotation_mode = "XYZ"
    for frame, place in ((1, 0.0), (5, 1.5), (8, 0.4)):
        rig.location.x = place
        rig.keyframe_insert("location", index=0, frame=frame)
    scenes.settle_scene(FRAMES[-1])


@pytest.fixture
def listen():
    """Adds functions to Blender's lists, and removes them at the end."""
    added = []

    def listen(kind, function, first=False):
        handlers = getattr(bpy.app.handlers, kind)
        handlers.insert(0 if first else len(handlers), function)
        added.append((handlers, function))
        return function

    yield listen
    for handlers, function in added:
        if function in handlers:
            handlers.remove(function)


def flesh(obj):
    """Displacement from the pose, frame by frame, played in order."""
    moved = scenes.evaluated_frames(obj, FRAMES)
    shown = [modifier for modifier in obj.modifiers if modifier.type == "NODES"]
    for modifier in shown:
        modifier.show_viewport = False
    posed = scenes.evaluated_frames(obj, FRAMES)
    for modifier in shown:
        modifier.show_viewport = True
    return moved - posed


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [True, False])
def test_a_preview_is_as_the_bake_where_others_pose_the_rig(listen, session, kind, first):
    obj, rig = scenes.character()
    pushed(rig)
    scenes.add_and_build(obj)
    bpy.ops.jounce.preview()
    spring = listen(kind, Spring(rig), first)
    played = flesh(obj)
    bpy.ops.jounce.fill_cache()
    filled = flesh(obj)
    assert session(obj).complete
    assert "test_other_handlers" in session(obj).waits
    bpy.ops.jounce.bake(target="SKINNING_NODES", frame_start=FRAMES[0], frame_end=FRAMES[-1])
    baked = flesh(obj)
    assert np.linalg.norm(baked) > 0.01
    assert np.linalg.norm(filled - baked) < 0.05 * np.linalg.norm(baked)
    assert np.linalg.norm(played - baked) < 0.05 * np.linalg.norm(baked)
    assert spring.seen == {bpy.context.scene.name}


def test_who_does_nothing_to_the_rig_is_not_blamed_and_is_called_for_no_hidden_scene(listen, session):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    lists = ("frame_change_pre", "frame_change_post", "depsgraph_update_pre", "depsgraph_update_post")
    seen = [listen(kind, Bystander()) for kind in lists]
    bpy.ops.jounce.preview()
    # Far ahead: frames between are read beside the scene.
    bpy.context.scene.frame_set(9)
    bpy.ops.jounce.fill_cache()
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    bpy.ops.jounce.free_bake()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert not session(obj).waits
    assert set().union(*(each.seen for each in seen)) == {bpy.context.scene.name}


def test_what_was_silenced_is_back_in_order_whatever_happens(listen, module):
    handlers, kind = module("bridge.common.handlers"), "frame_change_post"
    first, second, third = (listen(kind, Bystander()) for _ in range(3))
    called = getattr(bpy.app.handlers, kind)
    before = list(called)
    other = bpy.data.scenes.new("Hidden")
    with pytest.raises(ZeroDivisionError), handlers.silenced():
        other.frame_set(3)
        raise ZeroDivisionError
    assert called == before and not first.seen
    late = Bystander()
    with handlers.silenced(), handlers.silenced():
        other.frame_set(4)
        listen(kind, late)
    assert called == [*before, late]
    called.remove(second)
    with handlers.silenced():
        other.frame_set(5)
    assert called == [each for each in [*before, late] if each is not second]
    bpy.context.scene.frame_set(2)
    assert first.seen == third.seen == late.seen == {bpy.context.scene.name} and not second.seen


def test_a_handler_that_takes_itself_away_while_we_look_ahead_is_gone(listen):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.preview()
    called = bpy.app.handlers.frame_change_post

    def once(_scene, _depsgraph=None):
        called.remove(once)

    last = Bystander()
    listen("frame_change_post", once, first=True)
    listen("frame_change_post", last)
    bpy.context.scene.frame_set(8)
    assert once not in called and last.seen
