"""Judges whether an update from Blender may have changed the motion of a body."""

import bpy

from ..body import bodies
from ..body.bodies import BodyScene
from ..common import registry


class Watched:
    """Data-blocks of a body and of its movers. keys: shape keys of the meshes, None for those without."""

    def __init__(self, host: bpy.types.Object, scene: BodyScene | None) -> None:
        """scene: the body as read, None before the first reading."""
        parts = bodies.fleshed(host)
        self.keys = [obj.data.shape_keys for obj in parts]
        together = () if scene is None else scene.together
        others = [obj for each in together[1:] for obj in each.objects if registry.is_there(obj)]
        # Previews of other bodies are no change; their own sessions report changes.
        silent = [obj for obj in others if registry.is_of_body(obj) and not is_previewed(obj)]
        self._own = set(shapes(parts))
        self._others = set(shapes(silent))
        self._armatures = set() if scene is None else set(scene.reader.armatures)
        self._colliders = [each.colliders for each in together]
        fields = (obj for each in together for obj in each.forces.fields)
        touched = (obj for each in self._colliders for obj in each.objects)
        self._placed = {*parts, *others, *fields, *touched}

    def asks_to_read(
        self, update: bpy.types.DepsgraphUpdate, own: bool, depsgraph: bpy.types.Depsgraph
    ) -> bool | None:
        """True if the body must be read again after an update; None if nothing may have changed.

        own: True if the shape of the body's meshes has just been displayed. depsgraph: the evaluated scene.
        """
        block, reshaped = update.id.original, update.is_updated_geometry
        moved = update.is_updated_transform
        if isinstance(block, bpy.types.Armature):
            return True if any(armature.data == block for armature in self._armatures) else None
        if reshaped and any(each.reads_otherwise(block, depsgraph) for each in self._colliders):
            return True
        if reshaped and any(each.deforms(block) for each in self._colliders):
            return False
        if reshaped and ((not own and block in self._own) or block in self._others):
            return True
        if block in self._armatures and (moved or reshaped):
            return False
        # Blender also reports a changed setting of an object or its field as a transform update.
        return False if moved and (block in self._placed or is_field(block)) else None


def shapes(objects: list[bpy.types.Object]) -> list[bpy.types.ID]:
    """Objects, and the data-blocks of their shapes."""
    blocks = (block for obj in objects for block in (obj, obj.data, obj.data.shape_keys))
    return [block for block in blocks if block is not None]


def is_previewed(obj: bpy.types.Object) -> bool:
    """True if the body of a mesh is previewed."""
    host = bodies.host_of(obj)
    return host is not None and host.jounce.preview


def is_field(block: bpy.types.ID) -> bool:
    """True for an object with a force field."""
    return isinstance(block, bpy.types.Object) and block.field is not None and block.field.type != "NONE"
