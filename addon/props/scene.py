"""What Jounce keeps on a scene, as `scene.jounce`."""

import bpy
from bpy.props import CollectionProperty, IntProperty, PointerProperty, StringProperty


class JounceClip(bpy.types.PropertyGroup):
    """A file with an action; its name is the file's."""


class JounceMotion(bpy.types.PropertyGroup):
    """Where the cached motion of a library override is kept, which its own object would not keep."""

    host: PointerProperty(type=bpy.types.Object)


class JounceScene(bpy.types.PropertyGroup):
    """The actions to choose from, and what library overrides cannot keep themselves."""

    clip_folder: StringProperty(
        name="Actions",
        description="Folder of FBX files with animations for this kind of rig",
        subtype="DIR_PATH",
    )
    clips: CollectionProperty(type=JounceClip)
    clip_index: IntProperty(name="Action", description="The chosen action")
    motions: CollectionProperty(type=JounceMotion)
