"""Linked, overridden or appended characters, and missing libraries."""

from pathlib import Path

import bpy
import libraries
import scenes

from .hand import Hand
from .row import refuses, works


def library(jounce: Hand, finish: object = lambda *_: None) -> Path:
    """A file with a character, closed again."""
    return libraries.make_library(jounce.folder / "library.blend", finish)


def overridden(jounce: Hand) -> bpy.types.Object:
    """The host of a linked character with library overrides as objects; its meshes stay linked."""
    path = library(jounce)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    column, rig, _ = libraries.override(path)
    scenes.swing(rig)
    scenes.settle_scene()
    return column


def local(name: str) -> bpy.types.Object:
    """The local object of a name."""
    return bpy.data.objects[name, None]


def first_is_active(obj: bpy.types.Object) -> None:
    """Blender activates modifiers added by an override at each loading of the library."""
    obj.modifiers.active = obj.modifiers[0]


@refuses
def a_linked_object(jounce: Hand) -> None:
    """A linked object."""
    obj = libraries.link(library(jounce), instance=False)
    jounce.refused("add", "library override", obj)


@refuses
def a_linked_object_set_up(jounce: Hand) -> None:
    """One click on a linked object."""
    obj = libraries.link(library(jounce), instance=False)
    jounce.refused("setup", "library override", obj)


@refuses
def an_instance_of_a_collection(jounce: Hand) -> None:
    """An empty that instances a linked collection."""
    obj = libraries.link(library(jounce), instance=True)
    jounce.refused("add", "not a mesh", obj)


@works
def an_override(jounce: Hand) -> None:
    """A library override with a linked mesh."""
    jounce.live(overridden(jounce), targets=("SKINNING_NODES", "MESH_CACHE"))


@refuses
def keys_on_an_override(jounce: Hand) -> None:
    """Shape keys are asked for on a linked mesh."""
    obj = overridden(jounce)
    jounce.add(obj)
    jounce.build(obj)
    jounce.refused("bake", "linked from another file", obj, target="MODAL_KEYS")


@refuses
def maps_on_an_override(jounce: Hand) -> None:
    """A map is asked for on a linked mesh."""
    obj = overridden(jounce)
    jounce.add(obj)
    jounce.refused("map_add", "linked from another file", obj, kind="STIFFNESS")


@works
def an_override_with_a_local_mesh(jounce: Hand) -> None:
    """A library override with a mesh made local."""
    obj = overridden(jounce)
    obj.data = obj.data.copy()
    jounce.live(obj)


@works
def an_override_saved_and_opened(jounce: Hand) -> None:
    """A previewed library override, saved and opened again."""
    obj = overridden(jounce)
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    jounce.fill(obj)
    path = str(jounce.folder / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    jounce.scrub(local("Column"))
    jounce.remove(local("Column"))
    first_is_active(local("Column"))


@works
def a_linked_armature(jounce: Hand) -> None:
    """A local mesh on a linked armature."""
    libraries.link(library(jounce, lambda _obj, rig, _coat: scenes.swing(rig)), instance=False)
    obj = scenes.column("Local")
    scenes.skin(obj, bpy.data.objects["Rig"], 2.0)
    scenes.settle_scene()
    jounce.live(obj)


@works
def a_linked_action(jounce: Hand) -> None:
    """An armature with an action from another file."""
    scenes.character()
    path = jounce.folder / "actions.blend"
    bpy.data.libraries.write(str(path), {bpy.data.actions[0]}, fake_user=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    obj, rig = scenes.character()
    rig.animation_data_clear()
    with bpy.data.libraries.load(str(path), link=True) as (found, chosen):
        chosen.actions = found.actions
    data = rig.animation_data_create()
    data.action = chosen.actions[0]
    if hasattr(data, "action_suitable_slots") and data.action_suitable_slots:
        data.action_slot = data.action_suitable_slots[0]
    scenes.settle_scene()
    jounce.live(obj)


@works
def a_linked_material(jounce: Hand) -> None:
    """A mesh with a material and a texture of another file."""
    path = jounce.folder / "materials.blend"
    bpy.data.libraries.write(str(path), {bpy.data.materials.new("Skin")}, fake_user=True)
    with bpy.data.libraries.load(str(path), link=True) as (found, chosen):
        chosen.materials = found.materials
    obj, _ = scenes.character()
    obj.data.materials.append(chosen.materials[0])
    jounce.live(obj)


@works
def a_library_that_is_gone(jounce: Hand) -> None:
    """A body beside a linked character with its file deleted."""
    path = library(jounce)
    libraries.link(path, instance=False)
    scenes.character()
    shot = str(jounce.folder / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    path.unlink()
    bpy.ops.wm.open_mainfile(filepath=shot)
    jounce.live(next(obj for obj in bpy.data.objects if obj.type == "MESH" and obj.library is None))


@works
def an_override_of_a_library_that_is_gone(jounce: Hand) -> None:
    """A previewed library override with its file deleted, opened again."""
    obj = overridden(jounce)
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    shot = str(jounce.folder / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    (jounce.folder / "library.blend").unlink()
    bpy.ops.wm.open_mainfile(filepath=shot)
    bpy.context.scene.frame_set(5)


@works
def a_library_reloaded(jounce: Hand) -> None:
    """A previewed library override with its file reloaded."""
    obj = overridden(jounce)
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    obj.data.library.reload()
    bpy.context.view_layer.update()
    jounce.scrub(local("Column"))
    jounce.remove(local("Column"))
    first_is_active(local("Column"))


@works
def appended(jounce: Hand) -> None:
    """A character appended from a file with its preview on."""
    finish = libraries.build_and_preview if jounce.is_there else lambda _obj, rig, _coat: scenes.swing(rig)
    path = library(jounce, finish)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    folder = f"{path}/Collection/"
    bpy.ops.wm.append(directory=folder, filename="Character", instance_collections=False)
    scenes.settle_scene()
    obj = bpy.data.objects["Column"]
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)
    scenes.activate(obj)


@works
def a_linked_body_beside_a_body(jounce: Hand) -> None:
    """A local body beside a linked body; the linked one stays unchanged."""
    libraries.link(library(jounce), instance=False)
    obj, _ = scenes.character()
    jounce.live(obj)


@works
def made_local(jounce: Hand) -> None:
    """A previewed library override, made local completely."""
    obj = overridden(jounce)
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    scenes.activate(obj)
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.make_local(type="ALL")
    jounce.scrub(bpy.data.objects["Column", None])
    jounce.remove(bpy.data.objects["Column", None])
    # To override an object, Blender itself reads all properties, which creates empty settings.
    for obj in bpy.data.objects:
        obj.property_unset("jounce")
