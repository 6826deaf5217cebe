"""Tells what an update of Blender's may have changed for the motion of a body."""

import bpy

from ..body import bodies
from ..body.bodies import BodyScene
from ..common import registry


class Watched:
    """What a body is made of, and what moves it. keys: shape keys of its meshes, or None of those without."""

    def __init__(self, host: bpy.types.Object, scene: BodyScene | None) -> None:
        """scene: as the body was read, None where it was not yet."""
        parts = bodies.fleshed(host)
        self.keys = [obj.data.shape_keys for obj in parts]
        together = () if scene is None else scene.together
        others = [obj for each in together[1:] for obj in each.objects if registry.is_there(obj)]
        # What a preview shows of others is no change; their own sessions tell of any.
        silent = [obj for obj in others if registry.is_of_body(obj) and not is_previewed(obj)]
        self._own = set(shapes(parts))
        self._others = set(shapes(silent))
        self._placed = {*parts, *others}
        self._armatures = set() if scene is None else set(scene.reader.armatures)
        self._touched = {obj for each in together for obj in each.colliders.objects}

    def asks_to_read(self, update: bpy.types.DepsgraphUpdate, own: bool) -> bool | None:
        """Whether the body is to be read again after an update; None where nothing may have changed.

        own: whether the shape of the body's meshes has just been shown.
        """
        block, reshaped = update.id.original, update.is_updated_geometry
        moved = update.is_updated_transform
        if isinstance(block, bpy.types.Armature):
            return any(armature.data == block for armature in self._armatures)
        if moved and block in self._placed:
            # Moved is also what Blender calls an object one of whose settings was changed.
            return False
        if block in self._armatures and (moved or reshaped):
            return False
        if block in self._touched:
            return reshaped
        if reshaped and ((not own and block in self._own) or block in self._others):
            return True
        is_field = isinstance(block, bpy.types.Object) and block.field is not None
        return False if is_field and block.field.type != "NONE" else None


def shapes(objects: list[bpy.types.Object]) -> list[bpy.types.ID]:
    """Objects, and what says what shape they have."""
    blocks = (block for obj in objects for block in (obj, obj.data, obj.data.shape_keys))
    return [block for block in blocks if block is not None]


def is_previewed(obj: bpy.types.Object) -> bool:
    """Whether the body of a mesh is previewed."""
    host = bodies.host_of(obj)
    return host is not None and host.jounce.preview
