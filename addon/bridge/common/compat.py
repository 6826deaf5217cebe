"""Where Blender 4.2 to 5.2 differ.

Actions have layers and slots from 4.4 on, and no F-curves in 5.0, where bones are selected in their pose.
The sequencer has strips from 4.4 on, sequences before. From 4.5 on the exporter of USD numbers objects whose
names become one, and keeps digits that a name begins with.
"""

import bpy

HAS_SLOTS = bpy.app.version >= (4, 4, 0)
USD_NUMBERS_OBJECTS = USD_KEEPS_FIRST_DIGITS = bpy.app.version >= (4, 5, 0)

Owner = bpy.types.AnimData | bpy.types.NlaStrip


def new_fcurves(action: bpy.types.Action, owner: bpy.types.ID) -> "bpy.types.bpy_prop_collection":
    """The F-curves of a new, empty action, for a data-block.

    Its slot and its layer have the names that Blender would give them: a data-block remembers the name of its
    slot for whatever action it gets next.
    """
    if not HAS_SLOTS:
        action.id_root = owner.id_type
        return action.fcurves
    slot = action.slots.new(id_type=owner.id_type, name=owner.name)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True).fcurves


def fcurves(data: Owner) -> list[bpy.types.FCurve]:
    """The F-curves by which the action of animation data, or of a strip, moves their owner."""
    return [curve for curves in fcurve_lists(data) for curve in curves]


def fcurve_lists(data: Owner) -> "list[bpy.types.bpy_prop_collection]":
    """The lists of these F-curves, from which they may be removed."""
    if not HAS_SLOTS:
        return [data.action.fcurves]
    if data.action_slot is None:
        return []
    strips = [strip for layer in data.action.layers for strip in layer.strips]
    bags = [strip.channelbag(data.action_slot) for strip in strips]
    return [bag.fcurves for bag in bags if bag is not None]


def every_fcurve(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """The F-curves of an action, whatever they move."""
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
    """Has animation data or a strip play a copy of its action instead, with the slot that it uses."""
    used = owner.action_slot.identifier if HAS_SLOTS and owner.action_slot is not None else None
    owner.action = action
    if used is not None:
        owner.action_slot = action.slots[used]


def use_slot(owner: Owner, action: bpy.types.Action) -> None:
    """Points animation data or an NLA strip at the only slot of an action."""
    if HAS_SLOTS:
        owner.action_slot = action.slots[0]


def slot(data: Owner) -> "bpy.types.ActionSlot | None":
    """The slot that animation data or a strip uses of its action, None where actions have none."""
    return data.action_slot if HAS_SLOTS else None


def put_slot(data: bpy.types.AnimData, used: "bpy.types.ActionSlot | None") -> None:
    """Gives back a slot that `slot` returned."""
    if HAS_SLOTS:
        data.action_slot = used


def selected_bones(armature: bpy.types.Object) -> set[str]:
    """Names of the selected bones of an armature."""
    selects_pose = "select" in bpy.types.PoseBone.bl_rna.properties
    bones = armature.pose.bones if selects_pose else armature.data.bones
    return {bone.name for bone in bones if bone.select}


def strips(holder: "bpy.types.SequenceEditor | bpy.types.MetaStrip") -> "bpy.types.bpy_prop_collection":
    """The strips of a sequencer or of a meta strip, to which more may be added."""
    return holder.strips if HAS_SLOTS else holder.sequences
