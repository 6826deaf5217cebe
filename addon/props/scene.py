"""What Jounce keeps on a scene, as `scene.jounce`."""

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty


class JounceClip(bpy.types.PropertyGroup):
    """A file with an animation clip; its name is the file's."""


class JounceScene(bpy.types.PropertyGroup):
    """The clips to choose from."""

    clip_folder: StringProperty(
        name="Clips",
        description="Folder of FBX files with animations for this kind of rig",
        subtype="DIR_PATH",
    )
    clips: CollectionProperty(type=JounceClip)
    clip_index: IntProperty(name="Clip", description="The chosen clip")
