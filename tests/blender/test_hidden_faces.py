"""Hidden faces, such as those of helper cages, are no flesh and do not drag on any."""

import bmesh
import bpy
import layouts
import numpy as np
import pytest
import scenes

FRAMES = range(1, 13)
CAGE = 0.5


def caged(cage=True):
    """A character with a cage around itself in its mesh; its own vertices come first, as the group Body."""
    obj, rig = scenes.character()
    own = len(obj.data.vertices)
    if cage:
        other = scenes.column("Cage", radius=CAGE)
        edited = bmesh.new()
        edited.from_mesh(obj.data)
        edited.from_mesh(other.data)
        edited.to_mesh(obj.data)
        edited.free()
        bpy.data.objects.remove(other)
        obj.vertex_groups.clear()
        obj.modifiers.clear()
        scenes.skin(obj, rig, 2.0)
    obj.vertex_groups.new(name="Body").add(list(range(own)), 1.0, "REPLACE")
    return obj, own


def mask(obj):
    obj.modifiers.new("Hide", "MASK").vertex_group = "Body"


def inverted_mask(obj):
    group = obj.vertex_groups.new(name="Helpers")
    helpers = [v.index for v in obj.data.vertices if np.hypot(v.co.x, v.co.y) > 0.4]
    group.add(helpers, 1.0, "REPLACE")
    modifier = obj.modifiers.new("Hide", "MASK")
    modifier.vertex_group, modifier.invert_vertex_group = "Helpers", True


def mask_and_subdivision(obj):
    mask(obj)
    obj.modifiers.new("Fine", "SUBSURF").levels = 1


def mask_after_subdivision(obj):
    obj.modifiers.new("Fine", "SUBSURF").levels = 1
    mask(obj)


def nodes(obj, also=None):
    """A node group that deletes everything outside of the group Body."""
    tree = bpy.data.node_groups.new("Hide", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    first, last = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    named, delete = (
        tree.nodes.new("GeometryNodeInputNamedAttribute"),
        tree.nodes.new("GeometryNodeDeleteGeometry"),
    )
    below = tree.nodes.new("FunctionNodeCompare")
    named.inputs["Name"].default_value = "Body"
    below.operation = "LESS_THAN"
    below.inputs[1].default_value = 0.5
    tree.links.new(next(s for s in named.outputs if s.enabled), below.inputs[0])
    tree.links.new(below.outputs[0], delete.inputs["Selection"])
    tree.links.new(first.outputs[0], delete.inputs["Geometry"])
    tree.links.new(delete.outputs[0], last.inputs[0])
    obj.modifiers.new("Hide", "NODES").node_group = tree


def mask_and_decimate(obj):
    mask(obj)
    obj.modifiers.new("Coarse", "DECIMATE").ratio = 0.5


HIDES = [mask, inverted_mask, mask_and_subdivision, mask_after_subdivision, nodes, mask_and_decimate]


def baked(obj, own):
    """Displacement of the body's own vertices by the flesh, (f, p, 3), in a bake."""
    stack = [(m, m.show_viewport) for m in obj.modifiers if m.type != "ARMATURE"]
    for modifier, _ in stack:
        modifier.show_viewport = False
    posed = scenes.evaluated_frames(obj, FRAMES)[:, :own]
    for modifier, shown in stack:
        modifier.show_viewport = shown
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    for modifier, _ in stack:
        modifier.show_viewport = False
    return scenes.evaluated_frames(obj, FRAMES)[:, :own] - posed


@pytest.mark.parametrize("hide", HIDES)
def test_the_flesh_moves_as_if_what_is_hidden_was_not_there(hide):
    alone = baked(*caged(cage=False))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    obj, own = caged()
    hide(obj)
    moved = baked(obj, own)
    size = np.abs(alone).max()
    assert size > 0.01 and np.abs(moved - alone).max() < 0.02 * size
    scenes.activate(obj)
    count = len(obj.data.polygons)
    said = f"{count // 2} of {count} faces of Column are never shown, so they are no flesh."
    assert " ".join(layouts.drawn(bpy.types.JOUNCE_PT_inside).texts()).endswith(said)
    bpy.ops.jounce.diagnose()
    assert len(obj.jounce.findings) == 0


def hidden_in(obj):
    scenes.add_and_build(obj)
    return obj.jounce.hidden_faces


def mirrored(obj):
    obj.modifiers.new("Other", "MIRROR")


def decimated(obj):
    obj.modifiers.new("Coarse", "DECIMATE").ratio = 0.1


def dissolved(obj):
    modifier = obj.modifiers.new("Coarse", "DECIMATE")
    modifier.decimate_type, modifier.angle_limit = "DISSOLVE", 0.5


def welded(obj):
    obj.modifiers.new("Weld", "WELD").merge_threshold = 0.15


def remeshed(obj):
    obj.modifiers.new("New", "REMESH").mode = "VOXEL"


def instanced(obj):
    """Nodes that show the mesh as an instance of itself."""
    tree = bpy.data.node_groups.new("Instance", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    first, last = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    node = tree.nodes.new("GeometryNodeGeometryToInstance")
    tree.links.new(first.outputs[0], node.inputs[0])
    tree.links.new(node.outputs[0], last.inputs[0])
    obj.modifiers.new("Instance", "NODES").node_group = tree


def masked_for_a_while(obj):
    mask(obj)
    modifier = obj.modifiers["Hide"]
    for frame, shown in ((1, True), (7, False), (10, True)):
        modifier.show_viewport = shown
        modifier.keyframe_insert("show_viewport", frame=frame)
    bpy.context.scene.frame_set(1)


def switched_off(obj):
    mask(obj)
    obj.modifiers["Hide"].show_viewport = False


@pytest.mark.parametrize(
    "change", [mirrored, decimated, dissolved, welded, remeshed, instanced, masked_for_a_while, switched_off]
)
def test_what_is_shown_somewhere_or_merged_is_flesh(change):
    obj, _ = caged()
    change(obj)
    assert hidden_in(obj) == ""


def test_the_file_holds_no_trace_of_looking():
    obj, _ = caged()
    nodes(obj)
    before = [len(kind) for kind in (bpy.data.objects, bpy.data.meshes, bpy.data.scenes)]
    attributes = list(obj.data.attributes.keys())
    assert hidden_in(obj) != ""
    assert [len(kind) for kind in (bpy.data.objects, bpy.data.meshes, bpy.data.scenes)] == before
    assert list(obj.data.attributes.keys()) == attributes


def test_a_mesh_that_is_hidden_as_a_whole_is_left_out():
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.6)
    scenes.skin(coat, rig, 2.0)
    coat.vertex_groups.new(name="Body")
    mask(coat)
    scenes.add_and_build(obj, coat)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert obj.jounce.bake_keys > 0 and coat.data.shape_keys is None
    bpy.ops.jounce.diagnose()
    said = [found.sentence for found in obj.jounce.findings]
    assert "Coat is never shown, so it gets no flesh of its own." in said
