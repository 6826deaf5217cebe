"""Bodies that are deleted, unlinked, hidden, edited, copied, joined, or several at once."""

import bpy
import scenes

from .hand import TARGETS, Hand, choosing
from .row import refuses, works


def pair() -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """A column, a coat around it, and the armature of both."""
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0)
    scenes.settle_scene()
    return obj, coat, rig


def three() -> list[bpy.types.Object]:
    """Three characters on armatures of their own; the second preserves volume."""
    made = []
    for index in range(3):
        obj, rig = scenes.character()
        rig.location.x = index
        made.append(obj)
    made[1].modifiers["Armature"].use_deform_preserve_volume = True
    scenes.settle_scene()
    return made


def previewed(jounce: Hand, *hosts: bpy.types.Object) -> None:
    """Builds bodies and shows their motion."""
    for host in hosts:
        jounce.add(host)
        jounce.build(host)
    jounce.preview(*hosts)
    jounce.scrub(*hosts)


@works
def two_meshes(jounce: Hand) -> None:
    """A body of two meshes."""
    obj, coat, _ = pair()
    jounce.live(obj, coat)


@works
def a_coat_that_follows_the_body(jounce: Hand) -> None:
    """A coat bound to the body's surface, after the armature of both: flesh moves it once."""
    obj, coat, _ = pair()
    coat.modifiers.new("Follow", "SURFACE_DEFORM").target = obj
    with choosing(coat):
        bpy.ops.object.surfacedeform_bind(modifier="Follow")
    jounce.live(obj, coat)
    if jounce.is_there:
        assert coat.jounce.left_out and not obj.jounce.left_out


@works
def two_bodies_on_one_armature(jounce: Hand) -> None:
    """Two bodies on one armature, baked at once."""
    obj, coat, _ = pair()
    previewed(jounce, obj, coat)
    for target in TARGETS:
        jounce.bake(target, obj, coat)


@works
def three_previews(jounce: Hand) -> None:
    """Three previewed bodies, one with Preserve Volume, filled, undone, saved and opened again."""
    names = [obj.name for obj in three()]
    previewed(jounce, *(bpy.data.objects[name] for name in names))
    bpy.ops.ed.undo_push(message="previewed")
    bpy.data.objects[names[0]]["mood"] = "calm"
    bpy.ops.ed.undo_push(message="mood")
    bpy.ops.ed.undo()
    jounce.fill(*(bpy.data.objects[name] for name in names))
    path = str(jounce.folder / "three.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    jounce.scrub(*(bpy.data.objects[name] for name in names))


@works
def one_of_three_is_deleted(jounce: Hand) -> None:
    """Three previewed bodies; the second is deleted with its armature."""
    first, second, third = three()
    previewed(jounce, first, second, third)
    for thing in (second.parent, second):
        bpy.data.objects.remove(thing)
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    jounce.scrub(first, third)
    jounce.fill(first, third)
    jounce.bake("MODAL_KEYS", first, third)


@works
def one_of_three_is_removed(jounce: Hand) -> None:
    """Three previewed bodies; Jounce is removed from one of them."""
    first, second, third = three()
    previewed(jounce, first, second, third)
    jounce.remove(second)
    jounce.scrub(first, second, third)
    jounce.fill(first, third)


@works
def host_deleted_while_previewed(jounce: Hand) -> None:
    """A previewed body after the deletion of its host; the other mesh is left."""
    obj, coat, _ = pair()
    jounce.add(obj, coat)
    jounce.build(obj)
    jounce.preview(obj)
    jounce.scrub(obj, coat)
    bpy.data.objects.remove(obj)
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    jounce.scrub(coat)
    jounce.attempt("remove", coat)


@works
def host_deleted_after_the_bake(jounce: Hand) -> None:
    """A body baked to shape keys, after the deletion of its host; the other mesh is left."""
    obj, coat, _ = pair()
    jounce.add(obj, coat)
    jounce.build(obj)
    jounce.bake("MODAL_KEYS", obj)
    bpy.data.objects.remove(obj)
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    jounce.scrub(coat)
    jounce.attempt("remove", coat)


@works
def member_deleted_while_previewed(jounce: Hand) -> None:
    """A previewed body with one of its meshes deleted."""
    obj, coat, _ = pair()
    jounce.add(obj, coat)
    jounce.build(obj)
    jounce.preview(obj)
    jounce.scrub(obj, coat)
    bpy.data.objects.remove(coat)
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    jounce.scrub(obj)
    jounce.fill(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def deleted_and_purged(jounce: Hand) -> None:
    """A previewed body, deleted together with all unused data."""
    obj, coat, _ = pair()
    jounce.add(obj, coat)
    jounce.build(obj)
    jounce.preview(obj)
    scenes.activate(obj, coat)
    bpy.ops.object.delete()
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    bpy.context.scene.frame_set(4)


@works
def host_unlinked_while_previewed(jounce: Hand) -> None:
    """A previewed body with its host removed from the scene and put back."""
    obj, coat, _ = pair()
    jounce.add(obj, coat)
    jounce.build(obj)
    jounce.preview(obj)
    collection = bpy.context.scene.collection
    collection.objects.unlink(obj)
    bpy.context.scene.frame_set(4)
    jounce.scrub(coat)
    collection.objects.link(obj)
    obj.select_set(False)
    bpy.context.view_layer.update()
    jounce.scrub(obj, coat)


@refuses
def host_unlinked(jounce: Hand) -> None:
    """Building a body with its host in no scene."""
    obj, coat, _ = pair()
    jounce.add(obj, coat)
    bpy.context.scene.collection.objects.unlink(obj)
    jounce.refused("build", "Column", coat)
    bpy.context.scene.collection.objects.link(obj)
    obj.select_set(False)


@works
def hidden(jounce: Hand) -> None:
    """A hidden body, excluded from selection and renders."""
    obj, _ = scenes.character()
    scenes.activate(obj.parent)
    obj.hide_set(True)
    obj.hide_render = True
    jounce.live(obj)


@works
def hidden_while_previewed(jounce: Hand) -> None:
    """A previewed body, hidden, disabled and shown again."""
    obj, _ = scenes.character()
    previewed(jounce, obj)
    for off in (True, False):
        obj.hide_set(off)
        obj.hide_viewport = off
        for frame in (3, 5, 1):
            bpy.context.scene.frame_set(frame)
    jounce.scrub(obj)
    jounce.fill(obj)
    scenes.activate(obj)


@refuses
def in_edit_mode(jounce: Hand) -> None:
    """A mesh in Edit Mode."""
    obj, _ = scenes.character()
    scenes.activate(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    jounce.refused("add", "Edit Mode", obj)
    bpy.ops.object.mode_set(mode="OBJECT")


@works
def edited_while_previewed(jounce: Hand) -> None:
    """A previewed mesh in Edit Mode during frame changes."""
    obj, _ = scenes.character()
    scenes.activate(obj)
    previewed(jounce, obj)
    bpy.ops.object.mode_set(mode="EDIT")
    for frame in (4, 9, 1):
        bpy.context.scene.frame_set(frame)
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0.0, 0.0, 0.1))
    bpy.ops.object.mode_set(mode="OBJECT")
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)


def in_mode(jounce: Hand, mode: str) -> None:
    """A whole life in a mode of the mesh."""
    obj, _ = scenes.character()
    scenes.activate(obj)
    bpy.ops.object.mode_set(mode=mode)
    jounce.live(obj)
    assert obj.mode == mode
    bpy.ops.object.mode_set(mode="OBJECT")


@works
def in_sculpt_mode(jounce: Hand) -> None:
    """A mesh in Sculpt Mode."""
    in_mode(jounce, "SCULPT")


@works
def in_weight_paint_mode(jounce: Hand) -> None:
    """A mesh in Weight Paint Mode."""
    in_mode(jounce, "WEIGHT_PAINT")


@works
def in_vertex_paint_mode(jounce: Hand) -> None:
    """A mesh in Vertex Paint Mode."""
    in_mode(jounce, "VERTEX_PAINT")


@refuses
def added_twice_to_two_bodies(jounce: Hand) -> None:
    """A mesh of one body is added to another."""
    obj, coat, _ = pair()
    other = scenes.column("Other")
    jounce.add(obj, coat)
    jounce.refused("add", "belongs to the body of Column", other, coat)


@works
def added_twice(jounce: Hand) -> None:
    """A body added again, with a further mesh."""
    obj, coat, _ = pair()
    jounce.add(obj)
    jounce.build(obj)
    jounce.add(obj, coat)
    jounce.build(obj)
    jounce.bake("MODAL_KEYS", obj)


@refuses
def removed_twice(jounce: Hand) -> None:
    """Jounce removed from a body without it."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.remove(obj)
    jounce.refused("remove", "Add Jounce", obj)
    jounce.refused("free_bake", "Add Jounce", obj)


@refuses
def previewed_while_baked(jounce: Hand) -> None:
    """A preview of a body with a visible bake."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.bake("MODAL_KEYS", obj)
    jounce.refused("preview", "free the bake", obj)


@refuses
def filled_without_a_preview(jounce: Hand) -> None:
    """Filling the cache of a body without a preview."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.refused("fill_cache", "preview", obj)


@refuses
def baked_before_it_is_built(jounce: Hand) -> None:
    """Baking a body without a build."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.refused("bake", "Build", obj, target="MODAL_KEYS")


@works
def moved_to_another_collection(jounce: Hand) -> None:
    """A previewed body moved to another collection."""
    obj, _ = scenes.character()
    previewed(jounce, obj)
    other = bpy.data.collections.new("Other")
    bpy.context.scene.collection.children.link(other)
    other.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    bpy.context.view_layer.update()
    jounce.scrub(obj)
    jounce.fill(obj)


@refuses
def set_up_beside_a_body(jounce: Hand) -> None:
    """One click on a mesh with a mesh of another, baked body selected, which keeps all its data."""
    obj, coat, _ = pair()
    jounce.add(coat)
    jounce.build(coat)
    jounce.bake("SKINNING_NODES", coat)
    jounce.refused("setup", "belongs to the body of Coat", obj, coat)
