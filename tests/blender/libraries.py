"""Characters in a separate file, and their links."""

import bpy
import scenes


def make_library(path, finish=lambda *_objects: None):
    """A file with a column and its coat on two still bones; finish: further changes."""
    obj, rig = scenes.character()
    rig.animation_data_clear()
    rig.pose.bones["Upper"].rotation_euler = (0.0, 0.0, 0.0)
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0)
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    for part in (obj, rig, coat):
        collection.objects.link(part)
        bpy.context.scene.collection.objects.unlink(part)
    scenes.settle_scene()
    finish(obj, rig, coat)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def build(obj, _rig, coat):
    scenes.add_and_build(obj, coat)


def build_and_preview(obj, rig, coat):
    build(obj, rig, coat)
    scenes.swing(rig)
    bpy.ops.jounce.preview()
    bpy.context.scene.frame_set(6)
    bpy.ops.jounce.fill_cache()


def override(path):
    """Links the character once more and overrides its objects: column, rig, coat."""
    before = set(bpy.data.objects)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.collections = ["Character"]
    (linked,), scene = wanted.collections, bpy.context.scene
    # Blender 5.3 overrides only data in the scene.
    scene.collection.children.link(linked)
    linked.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    scene.collection.children.unlink(linked)
    made = [obj for obj in bpy.data.objects if obj not in before and obj.library is None]
    return [next(obj for obj in made if obj.name.startswith(name)) for name in ("Column", "Rig", "Coat")]


def link(path, instance):
    """Links the character as Blender's own menu does."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    folder = f"{path}/Collection/"
    bpy.ops.wm.link(directory=folder, filename="Character", instance_collections=instance)
    scenes.settle_scene()
    return next(obj for obj in bpy.context.scene.objects if instance or obj.name == "Column")
