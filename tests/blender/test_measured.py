"""The error of a bake is measured on Blender's meshes; a bake that does not show its flesh is taken back."""

from contextlib import contextmanager

import bpy
import numpy as np
import posed
import pytest
import scenes
import snapshot
import test_bake
from matrices import crossed

FRAMES, simulated = test_bake.FRAMES, test_bake.simulated
TARGETS = (*test_bake.TARGETS, "HELPER_BONES", "OWN_BONES")


def keys_of(obj):
    """The shape keys of bakes."""
    keys = obj.data.shape_keys
    return [] if keys is None else [key for key in keys.key_blocks if key.name.startswith("jounce")]


def players(obj):
    """Modifiers that play bakes of a mesh."""
    own = [modifier for modifier in obj.modifiers if modifier.name.startswith("Jounce")]
    made = obj.jounce.bake_copy
    return own if made is None else [*own, *list(made.modifiers)[:1]]


@contextmanager
def hidden_by_a_handler(obj, since=6):
    """Context with a script of the artist's that hides the bake's modifier or keys in the later frames."""

    def hide(scene, *_):
        for key in keys_of(obj):
            key.mute = scene.frame_current >= since
        for modifier in players(obj):
            modifier.show_viewport = scene.frame_current < since

    bpy.app.handlers.frame_change_pre.append(hide)
    try:
        yield
    finally:
        bpy.app.handlers.frame_change_pre.remove(hide)


@pytest.mark.parametrize(("target", "earlier"), crossed(TARGETS, ["", "FRAME_KEYS", "MESH_CACHE"]))
def test_a_bake_that_does_not_show_its_flesh_is_taken_back(target, earlier, tmp_path):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.cache_folder = str(tmp_path)
    if earlier:
        bpy.ops.jounce.bake(target=earlier)
    before, files = state(obj), sorted(tmp_path.iterdir())
    advice = "a Mesh Cache" if target != "MESH_CACHE" else "Skinning Nodes"
    with hidden_by_a_handler(obj), pytest.raises(RuntimeError, match=f"With the bake Column.*{advice}"):
        bpy.ops.jounce.bake(target=target)
    assert state(obj) == before
    assert sorted(tmp_path.iterdir()) == files


def state(obj):
    """All data that a bake may change."""
    blocks = [sorted(kind.keys()) for kind in (bpy.data.objects, bpy.data.actions, bpy.data.node_groups)]
    return snapshot.snapshot(obj), snapshot.properties(obj.jounce), blocks


def test_all_bodies_are_taken_back_with_the_one_that_is_not_shown():
    bodies = []
    for place in range(2):
        obj, rig = scenes.character()
        rig.location.x = 3.0 * place
        scenes.add_and_build(obj)
        bodies.append(obj)
    scenes.activate(*bodies)
    with hidden_by_a_handler(bodies[1]), pytest.raises(RuntimeError, match="With the bake Column.001"):
        bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert [obj.data.shape_keys for obj in bodies] == [None, None]


def test_the_stated_error_is_what_is_seen(simulated):
    """The smallest of the keys is muted, which the computed error does not include."""
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.tolerance = 0.02
    expected, amplitude, size = simulated(obj)
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    computed = obj.jounce.bake_error
    bpy.ops.jounce.free_bake()

    def mute(*_):
        modes = [key for key in keys_of(obj) if "mode" in key.name]
        for key in modes[-1:]:
            key.mute = True

    bpy.app.handlers.frame_change_pre.append(mute)
    try:
        bpy.ops.jounce.bake(target="MODAL_KEYS")
        seen = scenes.evaluated_frames(obj, FRAMES)
    finally:
        bpy.app.handlers.frame_change_pre.remove(mute)
    errors = np.linalg.norm(seen - expected[obj.name], axis=2).max(axis=1) / size
    assert errors.max() < 0.1 * amplitude + computed
    # The change is in some of the compared frames.
    assert obj.jounce.bake_error > 2.0 * computed
    assert np.abs(errors / obj.jounce.bake_error - 1.0).min() < 1e-3
    assert (errors <= 1.001 * obj.jounce.bake_error).sum() >= 7


@pytest.mark.parametrize("target", test_bake.TARGETS)
@pytest.mark.parametrize("keyed", [False, True])
def test_remapped_time(simulated, target, keyed):
    obj, _ = scenes.character()
    if keyed:
        posed.key_mute(obj)
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, 60
    scenes.settle_scene()
    scenes.add_and_build(obj)
    test_bake.assert_baked(obj, simulated, target)


def test_the_copy_of_a_mesh_with_deltas_stands_where_the_mesh_does(simulated):
    obj, rig = scenes.character()
    for thing in (obj, rig):
        thing.delta_location, thing.delta_scale = (0.3, 0.1, 0.0), (1.1, 0.9, 1.0)
        thing.delta_rotation_euler = (0.1, 0.2, 0.3)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    expected, amplitude, size = simulated(obj)
    bpy.ops.jounce.bake(target="HELPER_BONES")
    seen = scenes.evaluated_frames(obj.jounce.bake_copy, FRAMES)
    assert np.abs(seen - expected[obj.name]).max() < 0.3 * amplitude * size
