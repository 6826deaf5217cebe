"""Differences between Blender 4.2 and 5.2.

Actions have layers and slots since 4.4, and in 5.0 no F-curves of their own; in 5.0 bones are selected in the
pose. The sequencer has strips since 4.4, sequences before. Since 4.5 the USD exporter numbers objects with
equal names, and keeps leading digits.
"""

import bpy

HAS_SLOTS = bpy.app.version >= (4, 4, 0)
USD_NUMBERS_OBJECTS = USD_KEEPS_FIRST_DIGITS = bpy.app.version >= (4, 5, 0)

Owner = bpy.types.AnimData | bpy.types.NlaStrip


def new_fcurves(action: bpy.types.Action, owner: bpy.types.ID) -> "bpy.types.bpy_prop_collection":
    """The F-curves of a new, empty action, for a data-block.

    Slot and layer get Blender's default names: a data-block remembers the name of its slot for the next
    action.
    """
    if not HAS_SLOTS:
        action.id_root = owner.id_type
        return action.fcurves
    slot = action.slots.new(id_type=owner.id_type, name=owner.name)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True).fcurves


def fcurves(data: Owner) -> list[bpy.types.FCurve]:
    """The F-curves of the action on animation data, or of a strip."""
    return [curve for curves in fcurve_lists(data) for curve in curves]


def fcurve_lists(data: Owner) -> "list[bpy.types.bpy_prop_collection]":
    """The collections of these F-curves, for removal."""
    if not HAS_SLOTS:
        return [data.action.fcurves]
    if data.action_slot is None:
        return []
    strips = [strip for layer in data.action.layers for strip in layer.strips]
    bags = [strip.channelbag(data.action_slot) for strip in strips]
    return [bag.fcurves for bag in bags if bag is not None]


def every_fcurve(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """All F-curves of an action."""
    if not HAS_SLOTS:
        return list(action.fcurves)
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return [curve for bag in bags for curve in bag.fcurves]


def remove_fcurves(action: bpy.types.Action, paths: set[str]) -> None:
    """Takes the F-curves of these paths out of an action."""
    if not HAS_SLOTS:
        groups = [action.fcurves]
    else:
        strips = [strip for layer in action.layers for strip in layer.strips]
        groups = [bag.fcurves for strip in strips for bag in strip.channelbags]
    for curves in groups:
        for curve in [curve for curve in curves if curve.data_path in paths]:
            curves.remove(curve)


def exchange(owner: Owner, action: bpy.types.Action) -> None:
    """Replaces the action of animation data or a strip by a copy, with the same slot."""
    used = owner.action_slot.identifier if HAS_SLOTS and owner.action_slot is not None else None
    owner.action = action
    if used is not None:
        owner.action_slot = action.slots[used]


def use_slot(owner: Owner, action: bpy.types.Action) -> None:
    """Points animation data or an NLA strip at the only slot of an action."""
    if HAS_SLOTS:
        owner.action_slot = action.slots[0]


def use_fitting_slot(data: bpy.types.AnimData) -> None:
    """Chooses a slot of a newly assigned action, if Blender found none."""
    if HAS_SLOTS and data.action_slot is None and len(data.action_suitable_slots):
        data.action_slot = data.action_suitable_slots[0]


def slot(data: Owner) -> "bpy.types.ActionSlot | None":
    """The slot of animation data or a strip, None in versions without slots."""
    return data.action_slot if HAS_SLOTS else None


def put_slot(data: bpy.types.AnimData, used: "bpy.types.ActionSlot | None") -> None:
    """Restores a slot returned by `slot`."""
    if HAS_SLOTS:
        data.action_slot = used


def selected_bones(armature: bpy.types.Object) -> set[str]:
    """Names of the selected bones of an armature."""
    selects_pose = "select" in bpy.types.PoseBone.bl_rna.properties
    bones = armature.pose.bones if selects_pose else armature.data.bones
    return {bone.name for bone in bones if bone.select}


def strips(holder: "bpy.types.SequenceEditor | bpy.types.MetaStrip") -> "bpy.types.bpy_prop_collection":
    """The strips of a sequencer or of a meta strip, as a collection for new strips."""
    return holder.strips if HAS_SLOTS else holder.sequences
