"""Pinned props: one click finds the root of grass, ropes, lamps and plants, and they sway from there."""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from previews import assert_shown_as_baked
from test_refusals import assert_refused
from test_touched import drag, hand

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import prop_shapes

FRAMES = range(1, 25)


def ground():
    """A ground at the height 0."""
    return scenes.mesh_object("Ground", [(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [(0, 1, 2, 3)])


def rod(name="Antenna", place=(0.0, 0.0, 0.0)):
    """An upright rod of a metre with its origin at its foot."""
    obj = scenes.column(name, height=1.0, radius=0.02, rings=20, sides=8)
    obj.location = place
    scenes.settle_scene(FRAMES[-1])
    return obj


def click(obj, *others):
    scenes.activate(obj, *others)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    return obj


def pinned_points(obj):
    """The vertices in the map Pin."""
    group = obj.vertex_groups[obj.jounce.pin_group].index
    return [v.index for v in obj.data.vertices if any(g.group == group and g.weight > 0.5 for g in v.groups)]


def push(obj, start=1, stop=5, by=0.4):
    """Keys a push of an object along x."""
    for frame, x in ((start, 0.0), (stop, by)):
        obj.location.x = x
        obj.keyframe_insert("location", frame=frame)


@pytest.fixture
def antenna(tmp_path):
    """A pinned antenna on the ground, pushed aside by keys, in a saved file."""
    ground()
    obj = rod()
    push(obj)
    scenes.settle_scene(FRAMES[-1])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return click(obj)


def test_one_click_pins_what_stands_and_shows_it(antenna):
    state = antenna.jounce
    assert state.is_pinned and state.preview and "domains" in state.built_summary
    heights = [antenna.data.vertices[index].co.z for index in pinned_points(antenna)]
    assert len(heights) == 8 and max(heights) == 0.0


def test_its_root_follows_the_object_and_its_tip_lags_and_swings(antenna):
    shown = scenes.evaluated_frames(antenna, FRAMES)
    foot, tip = shown[:, :8, 0].mean(axis=1), shown[:, -8:, 0].mean(axis=1)
    places = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        places.append(antenna.matrix_world.translation.x)
    assert np.allclose(foot, places, atol=1e-6)
    assert tip[3] < foot[3] - 0.05
    assert tip.max() > foot[-1] + 0.1
    lengths = np.linalg.norm(shown[:, -8:].mean(axis=1) - shown[:, :8].mean(axis=1), axis=1)
    assert np.abs(lengths - 1.0).max() < 0.06


def test_any_order_of_frames_shows_the_same_bits_and_a_bake_the_same_shapes(antenna):
    in_turn = scenes.evaluated_frames(antenna, FRAMES)
    bpy.ops.jounce.clear_cache()
    order = [17, 3, 24, 1, 9, 2, 23]
    jumped = [scenes.evaluated_frames(antenna, range(frame, frame + 1))[0] for frame in order]
    assert np.array_equal(np.array(jumped), in_turn[np.array(order) - 1])
    assert_shown_as_baked(antenna, size=1.0)


@pytest.mark.parametrize("target", ["MODAL_KEYS", "FRAME_KEYS", "MESH_CACHE"])
def test_it_is_baked_to_what_needs_no_rig(antenna, target):
    shown = scenes.evaluated_frames(antenna, FRAMES)
    assert bpy.ops.jounce.bake(target=target) == {"FINISHED"}
    baked = scenes.evaluated_frames(antenna, FRAMES)
    assert np.abs(shown - baked).max() < (2e-3 if target == "MODAL_KEYS" else 1e-5)


@pytest.mark.parametrize("target", ["SKINNING_NODES", "HELPER_BONES", "OWN_BONES"])
def test_what_needs_bones_or_modes_is_refused(antenna, target):
    assert_refused(bpy.ops.jounce.bake, "Antenna", "pinned", "mesh cache", target=target)


def test_a_loop_is_refused(antenna):
    antenna.jounce.loop = True
    assert_refused(bpy.ops.jounce.bake, "Antenna", "pinned", "turn Loop off")


@pytest.mark.parametrize("amount", [0.0, 1.0])
def test_the_amount_scales_what_the_object_does_to_it(antenna, amount):
    antenna.jounce.strength = amount
    shown = scenes.evaluated_frames(antenna, FRAMES)
    lag = np.abs(shown[:, -8:, 0].mean(axis=1) - shown[:, :8, 0].mean(axis=1)).max()
    assert lag < 0.02 if amount == 0.0 else lag > 0.1


@pytest.mark.parametrize("baked", [False, True])
def test_remove_leaves_nothing_of_it(baked):
    ground()
    obj = rod()
    before = snapshot.snapshot(obj), snapshot.file_state()
    click(obj)
    if baked:
        bpy.ops.jounce.bake()
    assert snapshot.differences(before[0], snapshot.snapshot(obj))
    bpy.ops.jounce.remove()
    assert snapshot.differences(before, (snapshot.snapshot(obj), snapshot.file_state())) == []


def test_a_map_that_was_painted_stays_with_the_artist():
    ground()
    obj = click(rod())
    name = obj.jounce.pin_group
    obj.vertex_groups[name].add([100], 1.0, "REPLACE")
    bpy.ops.jounce.remove()
    assert name in obj.vertex_groups


def test_a_map_of_the_artist_is_taken_as_it_is():
    ground()
    obj = rod()
    obj.vertex_groups.new(name="Pin").add(range(8), 1.0, "REPLACE")
    click(obj)
    assert obj.jounce.pin_group != "Pin"
    bpy.ops.jounce.remove()
    assert [group.name for group in obj.vertex_groups] == ["Pin"]


def test_a_painted_root_moves_the_hold(antenna):
    group = antenna.vertex_groups[antenna.jounce.pin_group]
    group.remove(range(len(antenna.data.vertices)))
    group.add(range(len(antenna.data.vertices) - 8, len(antenna.data.vertices)), 1.0, "REPLACE")
    bpy.ops.jounce.build()
    assert bpy.ops.jounce.bake() == {"FINISHED"}
    shown = scenes.evaluated_frames(antenna, FRAMES)
    tip, foot = shown[:, -8:, 0].mean(axis=1), shown[:, :8, 0].mean(axis=1)
    assert foot.max() > tip[-1] + 0.1


def shape_of(name):
    """A prop of the examples in its place, with the objects that it touches."""
    if name == "Lamp":
        return prop_shapes.added(name, prop_shapes.lamp(), prop_shapes.BRASS, (0.0, 0.0, 2.0))
    ground()
    if name == "Grass":
        return prop_shapes.added(name, prop_shapes.grass(), prop_shapes.GREEN, (0.0, 0.0, 0.0))
    if name == "Plant":
        return prop_shapes.added(name, prop_shapes.potted_plant(), prop_shapes.LEAF, (0.0, 0.0, 0.0))
    for at in (-1.02, 1.02):
        prop_shapes.added("Post", prop_shapes.post(at), prop_shapes.BROWN, (0.0, 0.0, 0.0))
    return prop_shapes.added(name, prop_shapes.rope(), prop_shapes.HEMP, (0.0, 0.0, 0.0))


def wind(strength=8.0):
    """A wind along y."""
    bpy.ops.object.effector_add(type="WIND", rotation=(-0.5 * np.pi, 0.0, 0.0))
    bpy.context.object.field.strength = strength


# Share of the vertices that is pinned at most, and height of the lowest and highest pinned one.
PROPS = [
    ("Grass", 0.15, (0.0, 0.02)),
    ("Plant", 0.05, (0.0, 0.01)),
    ("Rope", 0.15, (0.8, 0.93)),
    ("Lamp", 0.1, (1.96, 2.01)),
]


@pytest.mark.parametrize(("name", "most", "heights"), PROPS)
def test_props_are_pinned_where_they_are_fixed_and_bend_in_the_wind(name, most, heights):
    obj = shape_of(name)
    scenes.settle_scene(FRAMES[-1])
    wind()
    click(obj)
    assert obj.jounce.is_pinned and obj.jounce.pieces == (12 if name == "Rope" else 6)
    rest = np.array([obj.matrix_world @ vertex.co for vertex in obj.data.vertices])
    held = pinned_points(obj)
    assert 0 < len(held) < most * len(rest)
    assert heights[0] <= rest[held, 2].min() and rest[held, 2].max() <= heights[1]
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    shown = scenes.evaluated_frames(obj, FRAMES)
    moved = shown - rest
    assert np.abs(moved[:, held]).max() < 1e-5
    size = np.linalg.norm(np.ptp(rest, axis=0))
    # The wind blows from the first frame on: the prop begins in balance.
    assert 0.005 * size < moved[..., 1].max() < 0.4 * size
    edges = np.array([edge.vertices[:] for edge in obj.data.edges])
    before = np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1)
    lengths = np.linalg.norm(shown[:, edges[:, 0]] - shown[:, edges[:, 1]], axis=2)
    assert np.quantile(lengths / before, 0.99) < 1.1


def test_a_stout_thing_stays_loose_and_says_so_no_more():
    ground()
    box = click(scenes.column("Box", height=0.4, radius=0.2))
    assert box.jounce.is_loose and not box.vertex_groups


def test_a_rod_that_lies_on_the_ground_is_loose():
    ground()
    obj = scenes.column("Stick", height=1.0, radius=0.02, rings=20)
    obj.rotation_euler.y, obj.location = 0.5 * np.pi, (0.0, 0.0, 0.02)
    scenes.settle_scene()
    assert click(obj).jounce.is_loose


def test_on_a_bone_it_is_pinned_at_the_bone():
    rig = scenes.armature([("Lower", 0.0, 1.0), ("Upper", 1.0, 2.0)])
    obj = scenes.column("Feather", height=1.0, radius=0.02, rings=20)
    scenes.hang(obj, rig, "Upper")
    obj.matrix_world.translation = (0.0, 0.0, 1.0)
    scenes.settle_scene()
    click(obj)
    assert obj.jounce.is_pinned
    assert {round(obj.data.vertices[index].co.z, 3) for index in pinned_points(obj)} == {0.0}


@pytest.mark.usefixtures("coarse_setup")
def test_with_an_armature_of_its_own_nothing_changes():
    obj, _ = scenes.character()
    assert click(obj).jounce.is_flesh


@pytest.mark.usefixtures("coarse_setup")
def test_cancelled_or_refused_it_leaves_no_map():
    ground()
    obj = rod()
    obj.modifiers.new("Wave", "WAVE")
    before = snapshot.snapshot(obj)
    scenes.activate(obj)
    try:
        bpy.ops.jounce.setup()
    except RuntimeError:
        assert snapshot.differences(before, snapshot.snapshot(obj)) == []
    else:
        assert obj.jounce.is_host


def test_wind_is_added_once_and_moves_it(antenna):
    antenna.animation_data_clear()
    antenna.location = (0.0, 0.0, 0.0)
    assert bpy.ops.jounce.wind() == {"FINISHED"}
    assert_refused(bpy.ops.jounce.wind, "Antenna", "Wind", "Strength")
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    tip = scenes.evaluated_frames(antenna, FRAMES)[:, -8:].mean(axis=1)
    assert tip[:, 0].mean() > 0.01 and np.ptp(tip[:, 0]) > 0.01 and np.ptp(tip[:, 1]) > 1e-3
    bpy.ops.jounce.remove()
    assert {"Wind", "Gusts"} <= set(bpy.data.objects.keys())


def test_instances_by_nodes_sway_with_it(antenna):
    bpy.ops.jounce.bake()
    carrier = scenes.mesh_object("Field", [(0, 3, 0), (1, 3, 0)], [])
    tree = bpy.data.node_groups.new("Scatter", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    nodes = {
        kind: tree.nodes.new(kind)
        for kind in (
            "NodeGroupInput",
            "NodeGroupOutput",
            "GeometryNodeObjectInfo",
            "GeometryNodeInstanceOnPoints",
            "GeometryNodeRealizeInstances",
        )
    }
    nodes["GeometryNodeObjectInfo"].inputs["Object"].default_value = antenna
    link = tree.links.new
    link(nodes["NodeGroupInput"].outputs[0], nodes["GeometryNodeInstanceOnPoints"].inputs["Points"])
    link(
        nodes["GeometryNodeObjectInfo"].outputs["Geometry"],
        nodes["GeometryNodeInstanceOnPoints"].inputs["Instance"],
    )
    link(nodes["GeometryNodeInstanceOnPoints"].outputs[0], nodes["GeometryNodeRealizeInstances"].inputs[0])
    link(nodes["GeometryNodeRealizeInstances"].outputs[0], nodes["NodeGroupOutput"].inputs[0])
    carrier.modifiers.new("Scatter", "NODES").node_group = tree
    own = scenes.evaluated_frames(antenna, FRAMES)
    own = own - own[:, :1]
    copies = scenes.evaluated_frames(carrier, FRAMES).reshape(len(FRAMES), 2, -1, 3)
    for copy in range(2):
        assert np.allclose(copies[:, copy] - copies[:, copy, :1], own, atol=1e-5)


def test_it_collides_with_what_it_is_told_to(antenna):
    wall = scenes.mesh_object(
        "Wall", [(0.45, -1, -1), (0.45, 1, -1), (0.45, 1, 2), (0.45, -1, 2)], [(3, 2, 1, 0)]
    )
    antenna.jounce.integrator = "backward_euler"
    free = scenes.evaluated_frames(antenna, FRAMES)
    scenes.activate(antenna, wall)
    bpy.ops.jounce.collider_add()
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    stopped = scenes.evaluated_frames(antenna, FRAMES)
    assert free[..., 0].max() > 0.55
    assert stopped[..., 0].max() < 0.48


def test_selected_props_that_are_apart_are_bodies_of_their_own_and_parts_that_touch_are_one():
    ground()
    first, second = rod("First"), rod("Second", (1.0, 0.0, 0.0))
    leaf = scenes.column("Leaf", height=0.3, radius=0.01, rings=8)
    leaf.rotation_euler.y, leaf.location = 0.5 * np.pi, (1.02, 0.0, 0.8)
    scenes.settle_scene(FRAMES[-1])
    click(first, second, leaf)
    assert first.jounce.is_host and second.jounce.is_host
    assert leaf.jounce.host == second and not leaf.jounce.is_host
    assert first.jounce.is_pinned and second.jounce.is_pinned
    assert pinned_points(second) and not any(vertex.groups for vertex in leaf.data.vertices)
    wind()
    for obj in (first, second):
        scenes.activate(obj)
        bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert scenes.evaluated_frames(leaf, FRAMES)[..., 1].max() > 0.01
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.jounce.remove()
    assert not any(obj.vertex_groups for obj in (first, second, leaf))


@pytest.mark.parametrize("kind", ["SUBSURF", "SOLIDIFY", "ARRAY"])
def test_modifiers_of_a_prop_act_on_what_sways(kind):
    ground()
    obj = rod()
    push(obj)
    modifier = obj.modifiers.new("Own", kind)
    scenes.settle_scene(FRAMES[-1])
    plain = len(obj.data.vertices)
    assert click(obj).jounce.is_pinned
    previewed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    shown = scenes.evaluated_frames(obj, FRAMES)
    assert shown.shape[1] > plain and np.allclose(shown, previewed, atol=1e-5)
    heights = shown[0, :, 2]
    lag = shown[3, heights > 0.9, 0].mean() - shown[3, heights < 0.1, 0].mean()
    assert lag < shown[0, heights > 0.9, 0].mean() - shown[0, heights < 0.1, 0].mean() - 0.05
    assert modifier.name in obj.modifiers


def test_shape_keys_that_move_it_are_said_and_it_is_flesh():
    ground()
    obj = rod()
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Wide")
    for point in key.data:
        point.co *= 1.2
    key.value = 0.5
    scenes.settle_scene(FRAMES[-1])
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    assert obj.jounce.is_flesh and not obj.vertex_groups


def test_moved_by_hand_it_swings_in_real_time_and_settles(module):
    ground()
    obj = click(rod())
    bpy.ops.jounce.fill_cache()
    bpy.context.scene.frame_set(12)
    known = module("bridge.preview.previews").session(obj)
    still = scenes.evaluated(obj)
    obj.location.x = 0.3
    bpy.context.view_layer.update()
    assert known.interactive is not None
    lag = []
    for _ in range(600):
        known._due = 0.0
        known.work(bpy.context, 0.0)
        bpy.context.view_layer.update()
        lag.append((scenes.evaluated(obj) - still)[-8:, 0].mean() - 0.3)
        if known.interactive is None:
            break
    assert min(lag) < -0.1 and max(lag) > 0.05
    assert known.interactive is None


def test_grabbed_it_comes_along_and_its_frame_is_shown_again(module):
    ground()
    obj = click(rod())
    own = hand(module, obj, 12)
    before = scenes.evaluated(obj)
    tip = len(before) - 1
    shown = drag(module, obj, own, tip, (0.2, 0.1, 0.0), 120)
    # It resists with its own stiffness, and comes most of the way.
    assert np.linalg.norm((shown[-1] - before)[tip, :2] - [0.2, 0.1]) < 0.09
    assert np.abs(shown[-1] - shown[-2]).max() < 1e-3, "it swings"
    assert np.abs((shown[-1] - before)[:8]).max() < 1e-5
    own.close()
    assert np.array_equal(scenes.evaluated(obj), before)


def test_a_curve_is_to_be_converted():
    curve = bpy.data.objects.new("Rope", bpy.data.curves.new("Rope", "CURVE"))
    bpy.context.scene.collection.objects.link(curve)
    scenes.activate(curve)
    assert_refused(bpy.ops.jounce.setup, "Rope is a curve", "convert it to a mesh")


def test_a_linked_mesh_keeps_no_map_and_falls_instead(tmp_path):
    rod("Source")
    path = tmp_path / "library.blend"
    bpy.data.libraries.write(str(path), {bpy.data.objects["Source"].data})
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(path), link=True) as (there, here):
        here.meshes = there.meshes
    obj = bpy.data.objects.new("Antenna", here.meshes[0])
    bpy.context.scene.collection.objects.link(obj)
    ground()
    scenes.settle_scene(FRAMES[-1])
    click(obj)
    assert obj.jounce.is_loose and not obj.vertex_groups


def test_saved_and_opened_it_shows_the_same(antenna, tmp_path):
    shown = scenes.evaluated_frames(antenna, FRAMES)
    path = str(tmp_path / "again.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    again = bpy.data.objects["Antenna"]
    scenes.activate(again)
    bpy.ops.jounce.fill_cache()
    assert np.array_equal(scenes.evaluated_frames(again, FRAMES), shown)


def test_undo_takes_the_click_back():
    ground()
    obj = rod()
    bpy.ops.ed.undo_push(message="Before")
    click(obj)
    bpy.ops.ed.undo_push(message="Add Jounce")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Antenna"]
    assert not obj.jounce.is_host and not obj.vertex_groups and not obj.modifiers


def test_a_reset_begins_anew_without_a_jolt(antenna):
    antenna.animation_data_clear()
    for frame, x in ((1, 0.0), (11, 0.0), (12, 5.0)):
        antenna.location.x = x
        antenna.keyframe_insert("location", frame=frame)
    bpy.ops.jounce.clear_cache()
    shown = scenes.evaluated_frames(antenna, FRAMES)
    assert np.abs(shown[11:, -8:, 0] - shown[11:, :8, 0]).max() < 1e-4
