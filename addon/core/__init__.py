"""The work of Jounce between reading a scene and writing to it. Nothing here knows Blender."""
