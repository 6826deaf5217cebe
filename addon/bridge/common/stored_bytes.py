"""Bytes as custom properties of a data-block or of a property group."""

import bpy


def put(owner: "bpy.types.ID | bpy.types.PropertyGroup", key: str, data: bytes) -> None:
    """Stores bytes under a name. Blender cuts bytes over earlier ones off at their first zero."""
    if key in owner:
        del owner[key]
    owner[key] = data
