"""The same panels in the Physics tab of the Properties editor."""

import bpy

PREFIX = "JOUNCE_PT_"
PLACE = {"bl_space_type": "PROPERTIES", "bl_region_type": "WINDOW", "bl_context": "physics"}


def twin(panel: type[bpy.types.Panel]) -> type[bpy.types.Panel]:
    """A panel's double for the Physics tab: the same bases and methods under another name.

    Not a subclass, as Blender cannot register classes that derive from registered ones.
    """
    own = {name: value for name, value in vars(panel).items() if name not in ("__dict__", "__weakref__")}
    parent = getattr(panel, "bl_parent_id", "")
    if parent:
        own["bl_parent_id"] = twin_name(parent)
    return type(twin_name(panel.__name__), panel.__bases__, own | PLACE)


def twin_name(name: str) -> str:
    """The name of the double of a panel."""
    return name.replace(PREFIX, f"{PREFIX}physics_")
