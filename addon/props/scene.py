"""Jounce data of a scene, as `scene.jounce`."""

import bpy
from bpy.props import CollectionProperty, IntProperty, PointerProperty, StringProperty


class JounceClip(bpy.types.PropertyGroup):
    """A file with an action; the item has the file's name."""


class JounceMotion(bpy.types.PropertyGroup):
    """Cached motion of a library override, since the object would not save it."""

    host: PointerProperty(type=bpy.types.Object)


class JounceScene(bpy.types.PropertyGroup):
    """The listed actions, and data that library overrides cannot save themselves."""

    clip_folder: StringProperty(
        name="Actions",
        description="Folder of FBX files with animations for this kind of rig",
        subtype="DIR_PATH",
    )
    clips: CollectionProperty(type=JounceClip)
    clip_index: IntProperty(name="Action", description="The chosen action")
    motions: CollectionProperty(type=JounceMotion)
