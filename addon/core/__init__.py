"""What Jounce does between reading a scene and writing to it. Nothing here knows Blender."""
