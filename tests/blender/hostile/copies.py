"""Bodies that are duplicated, joined and separated."""

import bpy
import scenes

from .bodies import pair, previewed
from .hand import Hand
from .row import works


def duplicate(linked: bool, *objects: bpy.types.Object) -> bpy.types.Object:
    """Duplicates like Shift+D, or Alt+D; the copy of the first is called Twin."""
    scenes.activate(*objects)
    bpy.ops.object.duplicate(linked=linked)
    copy = bpy.context.view_layer.objects.active
    copy.name = "Twin"
    if not linked:
        copy.data.name = "Twin"
    return copy


@works
def copied_while_previewed(jounce: Hand) -> None:
    """A previewed body duplicated with its armature; each copy moves separately."""
    obj, rig = scenes.character()
    previewed(jounce, obj)
    copy = duplicate(False, obj, rig)
    jounce.scrub(obj, copy)
    jounce.fill(copy)
    jounce.remove(obj)
    jounce.scrub(copy)


@works
def copied_alone_while_previewed(jounce: Hand) -> None:
    """A previewed mesh duplicated without its armature."""
    obj, _ = scenes.character()
    previewed(jounce, obj)
    copy = duplicate(False, obj)
    jounce.scrub(obj, copy)
    bpy.data.objects.remove(copy)
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    jounce.scrub(obj)


@works
def instanced_while_previewed(jounce: Hand) -> None:
    """A previewed body with a linked copy, deleted again."""
    obj, _ = scenes.character()
    previewed(jounce, obj)
    copy = duplicate(True, obj)
    bpy.context.scene.frame_set(5)
    bpy.context.scene.frame_set(1)
    bpy.data.objects.remove(copy)
    jounce.scrub(obj)


def copied_after(jounce: Hand, target: str) -> None:
    """A baked body with a duplicate; first the original is freed, then the copy."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.bake(target, obj)
    copy = duplicate(False, obj, rig)
    jounce.scrub(obj, copy)
    jounce.remove(obj)
    jounce.scrub(obj, copy)


@works
def copied_after_keys(jounce: Hand) -> None:
    """A body baked to shape keys, duplicated, saved and opened."""
    copied_after(jounce, "MODAL_KEYS")
    jounce.remove(bpy.data.objects["Twin"])
    # Blender counts a user too many of the copied keys, until the file is opened again.
    path = str(jounce.folder / "copy.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.ops.outliner.orphans_purge(do_recursive=True)


@works
def copied_after_nodes(jounce: Hand) -> None:
    """A body baked to skinning nodes with a duplicate."""
    copied_after(jounce, "SKINNING_NODES")


@works
def copied_after_a_cache(jounce: Hand) -> None:
    """A body baked to a mesh cache with a duplicate."""
    copied_after(jounce, "MESH_CACHE")


@works
def copied_after_helper_bones(jounce: Hand) -> None:
    """A body baked to helper bones with a duplicate."""
    copied_after(jounce, "HELPER_BONES")


@works
def host_copied_without_its_members(jounce: Hand) -> None:
    """A body of two meshes with only its host duplicated."""
    obj, coat, _ = pair()
    jounce.add(obj, coat)
    jounce.build(obj)
    jounce.preview(obj)
    copy = duplicate(False, obj)
    jounce.scrub(obj, coat, copy)


@works
def joined(jounce: Hand) -> None:
    """A previewed mesh joined with another one."""
    obj, coat, _ = pair()
    previewed(jounce, obj)
    scenes.activate(obj, coat)
    bpy.ops.object.join()
    jounce.scrub(obj)
    jounce.fill(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def member_joined_into_its_host(jounce: Hand) -> None:
    """A previewed body with its two meshes joined."""
    obj, coat, _ = pair()
    jounce.add(obj, coat)
    jounce.build(obj)
    jounce.preview(obj)
    scenes.activate(obj, coat)
    bpy.ops.object.join()
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def separated(jounce: Hand) -> None:
    """A previewed mesh separated into two objects."""
    obj, _ = scenes.character()
    previewed(jounce, obj)
    scenes.activate(obj)
    for polygon in obj.data.polygons:
        polygon.select = polygon.index % 2 == 0
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.separate(type="SELECTED")
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.select_set(True)
    jounce.scrub(*(other for other in bpy.data.objects if other.type == "MESH"))
