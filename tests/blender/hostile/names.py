"""Data of the artist's with Jounce's names, and unusual names."""

import bpy
import numpy as np
import scenes

from .hand import Hand
from .row import works

AWKWARD = (
    "a/b",
    "..",
    "//",
    'say "hi"',
    "it's",
    "50% off",
    "Ünï—çødé 🎈",
    "a\nb",
    "[0]",
    "{x}",
    "x" * 63,
    " ",
    "#$&*?",
)


def named_like_scratch(kind: str) -> tuple[bpy.types.Object, ...]:
    """A character, and an object and a mesh of the artist's with a former name of Jounce's scratch data."""
    obj, _ = scenes.character()
    prop = scenes.column(f"{kind} of the theatre", radius=0.1, rings=2, sides=4)
    bpy.data.objects.new(kind, None).use_fake_user = True
    return obj, prop


def whole_job_with_undo(jounce: Hand, obj: bpy.types.Object) -> None:
    """Previews through undo, save and reopen, which search for scratch data."""
    name = obj.name
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    jounce.scrub(obj)
    bpy.ops.ed.undo_push(message="previewed")
    bpy.data.objects[name]["mood"] = "calm"
    bpy.ops.ed.undo_push(message="mood")
    bpy.ops.ed.undo()
    path = str(jounce.folder / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    jounce.scrub(bpy.data.objects[name])


@works
def an_object_called_stage(jounce: Hand) -> None:
    """Objects and a mesh of the artist's called "Jounce Stage"."""
    whole_job_with_undo(jounce, named_like_scratch("Jounce Stage")[0])


@works
def an_object_called_double(jounce: Hand) -> None:
    """Objects and a mesh of the artist's called "Jounce Double"."""
    whole_job_with_undo(jounce, named_like_scratch("Jounce Double")[0])


@works
def a_scene_called_stage(jounce: Hand) -> None:
    """The artist's own, active scene is called "Jounce Stage"."""
    bpy.context.scene.name = "Jounce Stage"
    whole_job_with_undo(jounce, scenes.character()[0])


@works
def an_armature_called_jounce(jounce: Hand) -> None:
    """Armature, action, collection and material of the artist's have names of ours."""
    obj, rig = scenes.character()
    rig.name = rig.data.name = "Jounce"
    rig.animation_data.action.name = f"Jounce {obj.name}"
    collection = bpy.data.collections.new(f"Jounce Export {obj.name}")
    bpy.context.scene.collection.children.link(collection)
    obj.data.materials.append(bpy.data.materials.new("Jounce"))
    jounce.live(obj)


@works
def a_key_called_ours(jounce: Hand) -> None:
    """A shape key of the artist's called "jounce: mode 1"."""
    obj, _ = scenes.character()
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="jounce: mode 1").points[3].co.x += 0.1
    jounce.live(obj)


@works
def a_track_called_ours(jounce: Hand) -> None:
    """An NLA track of the artist's called "Jounce", with a strip of the same name."""
    obj, _ = scenes.character()
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Smile").keyframe_insert("value", frame=1)
    data = obj.data.shape_keys.animation_data
    action, data.action = data.action, None
    action.name = f"Jounce {obj.name}"
    track = data.nla_tracks.new()
    track.name = "Jounce"
    track.strips.new("Jounce", 1, action)
    jounce.live(obj)


@works
def a_modifier_called_ours(jounce: Hand) -> None:
    """Modifiers of the artist's called "Jounce" and "Jounce Preview"."""
    obj, _ = scenes.character()
    obj.modifiers.new("Jounce", "SUBSURF").levels = 1
    obj.modifiers.new("Jounce Preview", "SMOOTH")
    jounce.live(obj)


@works
def a_cache_called_ours(jounce: Hand) -> None:
    """A mesh cache modifier of the artist's called "Jounce", with its own file."""
    obj, _ = scenes.character()
    path = jounce.folder / "Jounce theirs.pc2"
    shape = np.array([vertex.co for vertex in obj.data.vertices], "<f4")
    header = b"POINTCACHE2\0" + np.array([1, len(shape)], "<i4").tobytes()
    path.write_bytes(
        header + np.array([1, 1], "<f4").tobytes() + np.array([1], "<i4").tobytes() + shape.tobytes()
    )
    modifier = obj.modifiers.new("Jounce", "MESH_CACHE")
    modifier.cache_format, modifier.filepath, modifier.deform_mode = "PC2", str(path), "INTEGRATE"
    modifier.show_viewport = False
    jounce.live(obj)


@works
def a_node_group_called_ours(jounce: Hand) -> None:
    """A node group of the artist's called "Jounce Preview", in a modifier of the mesh."""
    obj, _ = scenes.character()
    tree = bpy.data.node_groups.new("Jounce Preview", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    ends = (tree.nodes.new("NodeGroupInput").outputs[0], tree.nodes.new("NodeGroupOutput").inputs[0])
    tree.links.new(*ends)
    obj.modifiers.new("Theirs", "NODES").node_group = tree
    jounce.live(obj)


@works
def an_attribute_called_ours(jounce: Hand) -> None:
    """Attributes of the artist's called "jounce" and "jounce: mode 1"."""
    obj, _ = scenes.character()
    for name in ("jounce", "jounce: mode 1"):
        obj.data.attributes.new(name, "FLOAT", "POINT")
        obj.data.attributes[name].data[4].value = 0.5
    jounce.live(obj)


@works
def a_property_called_ours(jounce: Hand) -> None:
    """Custom properties of an empty called "jounce: host" and "Jounce"."""
    obj, _ = scenes.character()
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    empty["Jounce"], empty["jounce: host"] = 1.0, "Column"
    jounce.live(obj)


@works
def groups_called_as_maps(jounce: Hand) -> None:
    """Vertex groups of the artist's with the names of maps and another meaning."""
    obj, _ = scenes.character()
    for name in ("Pin", "Stiffness", "Strength", "Muscle", "Momentum Leak", "Leak", "Jounce Pin"):
        obj.vertex_groups.new(name=name).add(range(40), 0.3, "REPLACE")
    jounce.live(obj)


@works
def a_bone_called_stiffness(jounce: Hand) -> None:
    """A bone called "Stiffness", whose group is no map."""
    obj, rig = scenes.character()
    rig.data.bones["Upper"].name = "Stiffness"
    jounce.live(obj)


@works
def awkward_objects(jounce: Hand) -> None:
    """An object with slashes, quotes, percents and other scripts in its name."""
    obj, rig = scenes.character()
    for name in AWKWARD:
        obj.name = rig.name = name
        jounce.live(obj, targets=("MESH_CACHE",))


@works
def awkward_bones(jounce: Hand) -> None:
    """Bones and vertex groups with quotes and brackets in their names."""
    obj, rig = scenes.character()
    rig.data.bones["Upper"].name = 'Up"per]["x'
    rig.data.bones["Lower"].name = "mixamorig7:Lower\\"
    jounce.live(obj)


@works
def awkward_keys(jounce: Hand) -> None:
    """Shape keys with quotes and backslashes in their names, animated."""
    obj, _ = scenes.character()
    obj.shape_key_add(name="Basis")
    for name in ('Sm"ile', "Fr\\own", "jounce", "]"):
        obj.shape_key_add(name=name).keyframe_insert("value", frame=1)
    jounce.live(obj)


@works
def awkward_seams(jounce: Hand) -> None:
    """Two meshes with names that differ in case only."""
    obj, rig = scenes.character()
    coat = scenes.column("COLUMN", radius=0.35)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0)
    scenes.settle_scene()
    jounce.live(obj, coat)


@works
def renamed_while_previewed(jounce: Hand) -> None:
    """A previewed body with new names for object, mesh and armature."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    obj.name, obj.data.name, rig.name, rig.data.name = "Belly", "Skin", "Bones", "Skeleton"
    jounce.scrub(obj)
    jounce.bake("MESH_CACHE", obj)


@works
def renamed_after_the_bake(jounce: Hand) -> None:
    """A baked body with new names for object, mesh, modifier and keys."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.bake("MODAL_KEYS", obj)
    obj.name, obj.data.name = "Belly", "Skin"
    if jounce.is_there:
        for number, block in enumerate(obj.data.shape_keys.key_blocks):
            block.name = f"Shape {number}"
    jounce.scrub(obj)
    jounce.bake("MESH_CACHE", obj)
    if jounce.is_there:
        obj.modifiers["Jounce"].name = "Cache"
    obj.name = "Chest"


@works
def names_taken_over(jounce: Hand) -> None:
    """A previewed body whose name is given to another object."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    obj.name = "Before"
    scenes.column("Column", radius=0.1)
    jounce.scrub(obj)
    jounce.fill(obj)
