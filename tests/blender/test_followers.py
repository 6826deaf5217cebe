"""Meshes of a body that follow the flesh of another one on their own get no flesh."""

import bpy
import numpy as np
import pytest
import scenes
from matrices import crossed

FRAMES = range(1, 13)


def bound_to_the_surface(coat, body, _rig):
    modifier = coat.modifiers.new("Follow", "SURFACE_DEFORM")
    modifier.target = body
    scenes.activate(coat)
    bpy.ops.object.surfacedeform_bind(modifier="Follow")
    assert modifier.is_bound


def bound_behind_an_armature(coat, body, rig):
    scenes.skin(coat, rig, 2.0)
    bound_to_the_surface(coat, body, rig)


def in_a_cage(coat, body, _rig):
    for vertex in coat.data.vertices:
        vertex.co.xy *= 0.5
        vertex.co.z = 0.05 + 0.95 * vertex.co.z
    modifier = coat.modifiers.new("Follow", "MESH_DEFORM")
    modifier.object = body
    scenes.activate(coat)
    bpy.ops.object.meshdeform_bind(modifier="Follow")
    assert modifier.is_bound


def wrapped(coat, body, rig):
    scenes.skin(coat, rig, 2.0)
    modifier = coat.modifiers.new("Follow", "SHRINKWRAP")
    modifier.target, modifier.wrap_mode, modifier.offset = body, "OUTSIDE_SURFACE", 0.05


def by_nodes(coat, body, _rig):
    """Every point is at the body's point of the same index, slightly outside."""
    tree = bpy.data.node_groups.new("Follow", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    first, last = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    info, place = tree.nodes.new("GeometryNodeObjectInfo"), tree.nodes.new("GeometryNodeInputPosition")
    sample, moved = tree.nodes.new("GeometryNodeSampleIndex"), tree.nodes.new("GeometryNodeSetPosition")
    info.inputs["Object"].default_value = body
    sample.data_type = "FLOAT_VECTOR"
    tree.links.new(info.outputs["Geometry"], sample.inputs["Geometry"])
    tree.links.new(place.outputs[0], next(s for s in sample.inputs if s.name == "Value" and s.enabled))
    tree.links.new(tree.nodes.new("GeometryNodeInputIndex").outputs[0], sample.inputs["Index"])
    tree.links.new(first.outputs[0], moved.inputs["Geometry"])
    tree.links.new(next(s for s in sample.outputs if s.enabled), moved.inputs["Position"])
    tree.links.new(moved.outputs[0], last.inputs[0])
    coat.modifiers.new("Follow", "NODES").node_group = tree


def on_three_vertices(coat, body, _rig):
    coat.parent, coat.parent_type = body, "VERTEX_3"
    last = len(body.data.vertices) - 1
    # Far apart, so that their rounding turns the coat little.
    coat.parent_vertices = (last, last - 6, last - 40)


WAYS = [bound_to_the_surface, bound_behind_an_armature, in_a_cage, wrapped, by_nodes, on_three_vertices]


def dressed(follow):
    """A character with a coat that follows its body: body, coat."""
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = rig
    follow(coat, obj, rig)
    scenes.settle_scene()
    return obj, coat


def shown(meshes):
    return [scenes.evaluated_frames(obj, FRAMES) for obj in meshes]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        # In a fold the nearest point may be on either side, decided by rounding.
        apart = (np.abs(one - other) > 1e-5).any(axis=2)
        assert apart.mean() < 2e-3 and apart.sum(axis=1).max() <= 2


@pytest.mark.parametrize(("follow", "target"), crossed(WAYS, ["FRAME_KEYS", "SKINNING_NODES", "MESH_CACHE"]))
def test_a_follower_shows_the_flesh_once(follow, target, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    pair = obj, coat = dressed(follow)
    posed = shown(pair)
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target=target)
    expected = shown(pair)
    assert np.abs(expected[1] - posed[1]).max() > 5e-3
    bpy.ops.jounce.remove()
    scenes.add_and_build(obj, coat)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert_same(shown(pair), expected)
    bpy.ops.jounce.bake(target=target)
    assert_same(shown(pair), expected)
    assert not coat.jounce.bake_target


@pytest.mark.parametrize("follow", [bound_to_the_surface, by_nodes])
def test_a_follower_that_is_the_main_mesh_is_told_too(follow):
    obj, coat = dressed(follow)
    scenes.add_and_build(coat, obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert obj.jounce.bake_keys > 0 and coat.jounce.bake_keys == 0
    bpy.ops.jounce.diagnose()
    said = [found.sentence for found in coat.jounce.findings]
    assert "Coat follows Column by itself, so it gets no flesh of its own." in said


@pytest.mark.parametrize("target", ["HELPER_BONES", "FRAME_KEYS"])
def test_a_copy_without_its_clothes_is_told_of(target, module, monkeypatch):
    obj, coat = dressed(bound_to_the_surface)
    scenes.add_and_build(obj, coat)
    heard = []
    monkeypatch.setattr(module("ops.operator").JounceOperator, "warn", lambda _self, said: heard.append(said))
    bpy.ops.jounce.bake(target=target)
    told = ["Coat has no flesh of its own, so the copy of Column comes without it."]
    assert heard == (told if target == "HELPER_BONES" else [])


def weights_of_the_body(coat, body, rig):
    """Live weights, taken from the body's mesh, and no shape."""
    modifier = coat.modifiers.new("Weights", "DATA_TRANSFER")
    modifier.object, modifier.use_vert_data, modifier.data_types_verts = body, True, {"VGROUP_WEIGHTS"}
    for name in ("Lower", "Upper"):
        coat.vertex_groups.new(name=name)
    coat.modifiers.new("Armature", "ARMATURE").object = rig


def skinned_itself(coat, _body, rig):
    scenes.skin(coat, rig, 2.0)


@pytest.mark.parametrize("dress", [weights_of_the_body, skinned_itself])
def test_what_does_not_follow_the_shape_of_another_mesh_has_flesh(dress):
    obj, coat = dressed(dress)
    before = [[m.name for m in mesh.modifiers] for mesh in (obj, coat)]
    scenes.add_and_build(obj, coat)
    assert obj.jounce.left_out == coat.jounce.left_out == ""
    assert [[m.name for m in mesh.modifiers] for mesh in (obj, coat)] == before


@pytest.mark.parametrize("target", ["FRAME_KEYS", "SKINNING_NODES", "MESH_CACHE"])
def test_a_mesh_that_comes_to_follow_gives_up_its_flesh(target, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj, coat = dressed(skinned_itself)
    scenes.add_and_build(obj, coat)
    bpy.ops.jounce.bake(target=target)
    assert coat.jounce.bake_target
    for mesh in (obj, coat):
        for modifier in mesh.modifiers:
            modifier.show_viewport = modifier.name == "Armature"
    bound_to_the_surface(coat, obj, None)
    for mesh in (obj, coat):
        for modifier in mesh.modifiers:
            modifier.show_viewport = True
    scenes.activate(obj)
    bpy.ops.jounce.build()
    assert coat.jounce.left_out and all(m.show_viewport for mesh in (obj, coat) for m in mesh.modifiers)
    bpy.ops.jounce.bake(target=target)
    assert not coat.jounce.bake_target and obj.jounce.bake_target
    assert coat.data.shape_keys is None and [m.name for m in coat.modifiers] == ["Armature", "Follow"]


@pytest.mark.parametrize("kind", ["MULTIRES", "SOFT_BODY"])
def test_a_body_that_can_have_no_preview_is_followed_too(kind):
    obj, coat = dressed(skinned_itself)
    obj.modifiers.new("Fine", kind)
    bound_to_the_surface(coat, obj, None)
    before = [m.name for m in obj.modifiers]
    scenes.add_and_build(obj, coat)
    assert coat.jounce.left_out and [m.name for m in obj.modifiers] == before


def test_a_preview_that_is_on_leaves_a_new_follower():
    obj, coat = dressed(skinned_itself)
    scenes.add_and_build(obj, coat)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    bound_to_the_surface(coat, obj, None)
    scenes.activate(obj)
    bpy.ops.jounce.build()
    bpy.ops.jounce.fill_cache()
    assert [m.name for m in coat.modifiers] == ["Armature", "Follow"]


def upper(coat, share, weight=1.0):
    """A vertex group of the upper share of a coat; its name and vertices (p,) bool."""
    flags = np.array([vertex.co.z for vertex in coat.data.vertices]) > 2.0 * (1.0 - share)
    coat.vertex_groups.new(name="Bound").add(np.flatnonzero(flags).tolist(), weight, "REPLACE")
    return flags


def bind_upper(coat, body, share, weight=1.0):
    flags = upper(coat, share, weight)
    modifier = coat.modifiers.new("Follow", "SURFACE_DEFORM")
    modifier.target, modifier.vertex_group = body, "Bound"
    scenes.activate(coat)
    bpy.ops.object.surfacedeform_bind(modifier="Follow")
    return flags


def half_bound(coat, body, rig):
    scenes.skin(coat, rig, 2.0)
    return bind_upper(coat, body, 0.3)


def mostly_bound(coat, body, rig):
    scenes.skin(coat, rig, 2.0)
    return bind_upper(coat, body, 0.7)


def bound_before_the_armature(coat, body, rig):
    flags = bind_upper(coat, body, 0.3)
    scenes.skin(coat, rig, 2.0)
    return flags


def wrapped_above(coat, body, rig):
    scenes.skin(coat, rig, 2.0)
    flags = upper(coat, 0.3)
    modifier = coat.modifiers.new("Follow", "SHRINKWRAP")
    modifier.target, modifier.vertex_group = body, "Bound"
    modifier.wrap_mode, modifier.offset = "OUTSIDE_SURFACE", 0.05
    return flags


def subdivided(coat, body, rig):
    flags = half_bound(coat, body, rig)
    coat.modifiers.new("Fine", "SUBSURF").levels = 1
    return flags


def partly_dressed(follow):
    """A built body whose coat follows it in part: body, coat, following vertices, and their posed shapes."""
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = rig
    flags = follow(coat, obj, rig)
    scenes.settle_scene()
    posed = shown([obj, coat])
    scenes.add_and_build(obj, coat)
    return obj, coat, flags, posed


@pytest.mark.parametrize("target", ["PREVIEW", "SKINNING_NODES"])
@pytest.mark.parametrize(
    "follow", [half_bound, mostly_bound, bound_before_the_armature, wrapped_above, subdivided]
)
def test_each_vertex_of_a_mesh_that_follows_in_part_gets_flesh_once(follow, target):
    obj, coat, flags, posed = partly_dressed(follow)
    assert not coat.jounce.left_out
    if target == "PREVIEW":
        bpy.ops.jounce.preview()
        bpy.ops.jounce.fill_cache()
    else:
        assert bpy.ops.jounce.bake(target=target) == {"FINISHED"}
    count = len(flags)
    with_own = [shape[:, :count] for shape in shown([obj, coat])]
    moved = [np.linalg.norm(a - b[:, :count], axis=2) for a, b in zip(with_own, posed, strict=True)]
    assert moved[0][:, flags].max() > 0.05 and moved[1][:, flags].max() > 0.05
    assert np.abs(moved[1] - moved[0])[:, ~flags].max() < 0.3 * moved[0].max()
    next(m for m in coat.modifiers if m.name == "Jounce").show_viewport = False
    alone = scenes.evaluated_frames(coat, FRAMES)[:, :count]
    # Subdivision moves vertices towards their neighbours.
    assert np.array_equal(with_own[1][:, flags], alone[:, flags]) or follow is subdivided
    assert np.abs(with_own[1] - alone)[:, ~flags].max() > 0.02


def half_way(coat, body, rig):
    scenes.skin(coat, rig, 2.0)
    return bind_upper(coat, body, 0.3, weight=0.5)


def test_a_vertex_that_follows_by_half_gets_half_of_its_own_flesh():
    obj, coat, flags, posed = partly_dressed(half_way)
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    body, dress = (
        np.linalg.norm(a - b, axis=2)[:, flags] for a, b in zip(shown([obj, coat]), posed, strict=True)
    )
    assert 0.7 < dress.max() / body.max() < 1.3


def test_what_follows_in_part_is_the_same_in_a_bake_as_in_its_preview():
    obj, coat, _, _ = partly_dressed(half_bound)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    seen = shown([obj, coat])
    bpy.ops.jounce.clear_cache()
    bpy.context.scene.frame_set(7)
    bpy.ops.jounce.fill_cache()
    again = shown([obj, coat])
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    for first, second, baked in zip(seen, again, shown([obj, coat]), strict=True):
        assert np.array_equal(first, second)
        assert np.abs(first - baked).max() < 1e-5


def test_a_cache_holds_the_flesh_of_what_follows_in_part(tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj, coat, flags, posed = partly_dressed(half_bound)
    bpy.ops.jounce.bake(target="MESH_CACHE")
    body, dress = (
        np.linalg.norm(a - b, axis=2)[:, flags] for a, b in zip(shown([obj, coat]), posed, strict=True)
    )
    assert 0.7 < dress.max() / body.max() < 1.3


def test_what_follows_in_part_is_told():
    _, coat, flags, _ = partly_dressed(half_bound)
    bpy.ops.jounce.diagnose()
    sentence = f"{flags.sum()} of {len(flags)} vertices of Coat already follow another mesh"
    host = coat.jounce.host
    assert any(found.sentence.startswith(sentence) for found in host.jounce.findings)
