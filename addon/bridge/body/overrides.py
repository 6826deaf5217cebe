"""Linked characters: their flesh stands still until they become library overrides."""

import bpy
from mathutils import Matrix

from ...core.common.user_error import UserError
from ..common import registry

Linked = bpy.types.Collection | bpy.types.Object


def linked_of(obj: bpy.types.Object, scene: bpy.types.Scene) -> Linked | None:
    """The outermost linked collection of an object's instance or hierarchy, or the linked object itself."""
    if obj.library is None:
        # The empty of an override still names the instanced collection.
        shown = obj.instance_collection if obj.instance_type == "COLLECTION" else None
        return shown if shown is not None and shown.library is not None else None
    holding = (c for c in scene.collection.children_recursive if c.library is not None)
    return next((c for c in holding if c.all_objects.get(obj.name) == obj), obj)


def stands_still(linked: Linked) -> bool:
    """True if linked data shows a single preview frame from its own file."""
    objects = [linked] if isinstance(linked, bpy.types.Object) else linked.all_objects
    return any(obj.jounce.preview for obj in objects if registry.is_host(obj))


def make(obj: bpy.types.Object, context: bpy.types.Context) -> list[bpy.types.Object]:
    """Replaces linked data by editable overrides; a former instancing empty carries them."""
    scene, linked = context.scene, linked_of(obj, context.scene)
    if linked is None:
        raise UserError(f"{obj.name} is not linked from another file.")
    if isinstance(linked, bpy.types.Collection) and not linked.all_objects:
        raise UserError(f"{linked.name} holds no object that could be overridden.")
    before = set(bpy.data.objects)
    if linked.override_hierarchy_create(scene, context.view_layer, do_fully_editable=True) is None:
        raise UserError(f"Blender cannot make a library override of {linked.name}.")
    made = [o for o in bpy.data.objects if o not in before and o.override_library is not None]
    if obj.library is None:
        obj.instance_type = "NONE"
        for root in (o for o in made if o.parent is None):
            root.parent, root.matrix_parent_inverse = obj, Matrix.Translation(-linked.instance_offset)
        return made
    kind = "objects" if linked == obj else "children"
    for collection in (scene.collection, *scene.collection.children_recursive):
        shown = getattr(collection, kind)
        if collection.library is None and linked in shown.values():
            shown.unlink(linked)
    return made


def make_editable(obj: bpy.types.Object) -> None:
    """Makes an override and its parents editable by hand, unlike Blender's own operator."""
    while obj is not None and obj.library is None:
        if obj.override_library is not None:
            obj.override_library.is_system_override = False
        obj = obj.parent


def is_locked(obj: bpy.types.Object) -> bool:
    """True if Blender locks the settings of an override."""
    return obj.override_library is not None and obj.override_library.is_system_override
