"""Meshes are exported as displayed, or a sentence names the losses; colliding names and failing exporters."""

import bpy
import exports
import numpy as np
import pytest
import scenes
import snapshot
from test_export_button import READ, shapes
from test_refusals import assert_refused


@pytest.fixture
def half():
    """A built character with its mesh to the side of its origin."""
    obj, rig = scenes.character()
    for vertex in obj.data.vertices:
        vertex.co.x += 0.6
    scenes.settle_scene()
    return obj, rig


def mirror(obj):
    """The other half."""
    return obj.modifiers.new("Other Half", "MIRROR")


def mask(obj):
    """Hides the upper part."""
    group = obj.vertex_groups.new(name="Seen")
    group.add([vertex.index for vertex in obj.data.vertices if vertex.co.z < 1.3], 1.0, "REPLACE")
    made = obj.modifiers.new("Hides Helpers", "MASK")
    made.vertex_group = group.name
    return made


def tube(obj):
    """Nodes with other geometry as their output."""
    tree = bpy.data.node_groups.new("Twice as High", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    nodes = [tree.nodes.new(name) for name in ("NodeGroupInput", "GeometryNodeTransform", "NodeGroupOutput")]
    nodes[1].inputs["Scale"].default_value = (1.0, 1.0, 2.0)
    tree.links.new(nodes[0].outputs[0], nodes[1].inputs["Geometry"])
    tree.links.new(nodes[1].outputs["Geometry"], nodes[2].inputs[0])
    made = obj.modifiers.new("Stretched", "NODES")
    made.node_group = tree
    return made


def baked(obj, target="MODAL_KEYS"):
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target=target)


def planned(module, obj, kind):
    """The export of a body."""
    out = module("bridge.bake.exports")
    return out.planned([obj], out.FORMATS[kind], bpy.context)


@pytest.mark.parametrize("behind", [mirror, mask, tube])
def test_usd_holds_what_is_shown_behind_the_rig(half, module, tmp_path, behind):
    obj, _ = half
    name = behind(obj).name
    baked(obj)
    expected = shapes([obj])
    plan = planned(module, obj, "USD")
    assert [name in sentence and "without bones" in sentence for sentence in plan.sentences] == [True]
    path = tmp_path / "out.usdc"
    assert bpy.ops.jounce.export(file_format="USD", filepath=str(path)) == {"FINISHED"}
    way = exports.Way("MODAL_KEYS", ".usdc", lambda _: None, READ["USD"])
    found = exports.there_and_back(way, str(path), shapes)
    assert found.shape == expected.shape
    assert exports.distance(found, expected) < 5e-6
    assert exports.distance(expected, found) < 5e-6


@pytest.mark.parametrize("target", ["MODAL_KEYS", "HELPER_BONES"])
@pytest.mark.parametrize("behind", [mirror, mask, tube])
def test_gltf_refuses_to_show_another_body(half, tmp_path, behind, target):
    obj, _ = half
    name = behind(obj).name
    baked(obj, target)
    path = str(tmp_path / "out.glb")
    assert_refused(bpy.ops.jounce.export, name, "USD or Alembic", file_format="GLTF", filepath=path)
    assert not list(tmp_path.iterdir())


def test_what_is_switched_off_is_no_loss(half, module):
    obj, _ = half
    mirror(obj).show_viewport = False
    mask(obj).vertex_group = ""
    baked(obj)
    for kind in ("GLTF", "USD"):
        plan = planned(module, obj, kind)
        assert plan.asked.is_rigged and plan.sentences == ()


def test_a_small_loss_is_named_and_goes_out_with_bones(half, module):
    obj, _ = half
    bend = obj.modifiers.new("Relaxed", "SMOOTH")
    bend.factor, bend.iterations = 0.05, 1
    obj.modifiers.new("Idle", "CAST").factor = 0.0
    baked(obj)
    for kind in ("GLTF", "USD"):
        plan = planned(module, obj, kind)
        assert plan.asked.is_rigged
        assert len(plan.sentences) == 1 and "Relaxed" in plan.sentences[0] and "Idle" not in plan.sentences[0]


def test_an_armature_that_preserves_volume_is_named(half, module):
    obj, rig = half
    obj.modifiers[0].use_deform_preserve_volume = True
    rig.animation_data_clear()
    turn = rig.pose.bones["Upper"]
    turn.rotation_mode, turn.rotation_euler = "XYZ", (0.0, 2.0, 0.0)
    scenes.settle_scene()
    baked(obj)
    assert any("Preserve Volume" in sentence for sentence in planned(module, obj, "USD").sentences)


def test_looking_for_losses_leaves_the_scene_as_it_was(half, module):
    obj, _ = half
    mirror(obj)
    baked(obj)
    bpy.context.scene.frame_set(5)
    before = snapshot.file_state()
    planned(module, obj, "USD")
    assert snapshot.file_state() == before
    assert bpy.context.scene.frame_current == 5


def named(names):
    """A character with bones of these names."""
    length = 2.0 / len(names)
    rig = scenes.armature([(name, index * length, (index + 1) * length) for index, name in enumerate(names)])
    obj = scenes.column()
    height = np.array([vertex.co.z for vertex in obj.data.vertices])
    for index, name in enumerate(names):
        group = obj.vertex_groups.new(name=name)
        share = np.clip(1.0 - np.abs(height / length - index - 0.5), 0.0, 1.0)
        if index in (0, len(names) - 1):
            share = np.where((height / length - index - 0.5) * (1 if index else -1) > 0.0, 1.0, share)
        for vertex in np.flatnonzero(share):
            group.add([int(vertex)], float(share[vertex]), "REPLACE")
    obj.parent = rig
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    scenes.swing(rig, names[-1])
    scenes.settle_scene()
    baked(obj)
    return obj


@pytest.mark.parametrize(
    "names", [("左ひざ", "左足首", "髪１"), ("Плечо", "Локоть", "Кисть"), ("a b", "b.c", "1")]
)
def test_names_of_any_script_come_back_from_usd(tmp_path, names):
    obj = named(names)
    expected, path = shapes([obj]), tmp_path / "out.usdc"
    bpy.ops.jounce.export(file_format="USD", filepath=str(path))
    way = exports.Way("MODAL_KEYS", ".usdc", lambda _: None, READ["USD"])
    assert exports.distance(exports.there_and_back(way, str(path), shapes), expected) < 5e-6
    bones = next(armature.bones.keys() for armature in bpy.data.armatures)
    assert [bone for bone in names if bone.isidentifier()] == [bone for bone in bones if bone in names]


@pytest.mark.parametrize("names", [("hair.L", "hair_L"), ("hair-1", "hair 1"), ("髪・左", "髪_左")])
def test_names_that_usd_cannot_tell_apart_are_refused(tmp_path, names):
    named(("Root", *names))
    path = str(tmp_path / "out.usdc")
    assert_refused(bpy.ops.jounce.export, *names, "rename", file_format="USD", filepath=path)
    assert bpy.ops.jounce.export(file_format="GLTF", filepath=str(tmp_path / "out.glb")) == {"FINISHED"}
    assert bpy.ops.jounce.export(file_format="ALEMBIC", filepath=str(tmp_path / "out.abc")) == {"FINISHED"}


def test_shape_keys_that_usd_cannot_tell_apart_are_refused(half, tmp_path):
    obj, _ = half
    for name in ("Basis", "smile.L", "smile_L"):
        obj.shape_key_add(name=name)
    baked(obj)
    path = str(tmp_path / "out.usdc")
    assert_refused(bpy.ops.jounce.export, "smile.L and smile_L", file_format="USD", filepath=path)


def test_objects_that_usd_cannot_tell_apart_are_refused_or_come_back(tmp_path, module):
    obj, rig = scenes.character()
    other = scenes.column("Column.001", radius=0.35)
    obj.name = "Column_001"
    other.parent = rig
    scenes.skin(other, rig, 2.0)
    scenes.settle_scene()
    scenes.add_and_build(obj, other)
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    path = str(tmp_path / "out.usdc")
    if not module("bridge.common.compat").USD_NUMBERS_OBJECTS:
        assert_refused(bpy.ops.jounce.export, "objects", "Column_001", file_format="USD", filepath=path)
        return
    expected = shapes([obj, other])
    bpy.ops.jounce.export(file_format="USD", filepath=path)
    way = exports.Way("MODAL_KEYS", ".usdc", lambda _: None, READ["USD"])
    found = exports.there_and_back(way, path, shapes)
    assert found.shape == expected.shape and exports.distance(found, expected) < 5e-6


class FailingExporter(bpy.types.Operator):
    """Fails on a mesh, like an exporter written in Python."""

    bl_idname = "export_scene.jounce_failing"
    bl_label = "Fail"

    def execute(self, context):
        return {"FINISHED"} if all(obj.type != "MESH" for obj in context.selected_objects) else [][1]


@pytest.fixture
def failing():
    bpy.utils.register_class(FailingExporter)
    yield
    bpy.utils.unregister_class(FailingExporter)


def test_an_exporter_that_fails_is_one_sentence_and_a_report_on_the_console(
    half, failing, tmp_path, module, monkeypatch, capfd
):
    obj, _ = half
    baked(obj)
    formats = module("bridge.bake.exports").FORMATS
    kind = type(formats["GLTF"])(
        "glTF", ".glb", formats["GLTF"].takes, lambda *_: bpy.ops.export_scene.jounce_failing()
    )
    monkeypatch.setitem(formats, "GLTF", kind)
    path = tmp_path / "out.glb"
    path.write_bytes(b"earlier")
    words = ("glTF exporter fails on Column (IndexError: list index out of range)", "console")
    assert_refused(bpy.ops.jounce.export, *words, filepath=str(path))
    assert "Traceback" in capfd.readouterr().err
    assert path.read_bytes() == b"earlier" and list(tmp_path.iterdir()) == [path]
