"""The bake for game engines: a copy of the character with bones alone, the rig's own and helper bones.

The copy is an armature at the world's origin with the meshes below, in a separate collection that is excluded
from renders. The artist's meshes and armatures stay unchanged.
"""

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from functools import partial

import bpy
import numpy as np
from mathutils import Matrix

from ...core.bake.helper_bones import Channels, HelperBones, Skeleton, Wanted, fitted
from ...core.bake.prepared import Preparation, Prepared
from ...core.common.task import Step, scaled
from ...core.flesh.settings import BakeSettings
from ...core.stepping.motion import Motion
from ..body import bodies
from ..body.bodies import BodyScene
from ..common import compat, frames, marks, registry, units
from ..keys import animation, key_removal
from ..rig import meshes, rig_stack
from ..rig.skeletons import skeleton
from . import sampled_meshes

# Record of the copy on a mesh; on the armature, a custom property for all copies made with this armature.
RECORDED = ("bake_copy", "bake_rig", "bake_collection")
COPIES = "jounce_copies"

CHANNELS = (("location", "locations"), ("rotation_quaternion", "rotations"), ("scale", "scales"))


def prepare(
    scene: BodyScene, body: object, motion: Motion, settings: BakeSettings, context: bpy.types.Context
) -> Preparation:
    """Reads the shapes and fits the bones; nothing changes before the writing."""
    state = scene.host.jounce
    rig = skeleton(scene.reader, context.evaluated_depsgraph_get(), scene.surface.diagonal)
    wanted = yield from scaled(read(scene, body, motion, settings, context), 0.0, 0.5)
    fit = yield from scaled(
        fitted(wanted, rig, motion.poses, state.helper_count, state.helper_influences), 0.5, 1.0
    )
    count = len(fit.skeleton.names) - len(rig.names)
    parts = f"{count} helper bones, {fit.rms / scene.surface.diagonal:.3%} off on average"
    return Prepared(fit.error, parts, partial(write, scene, fit, settings.frames, context))


def read(
    scene: BodyScene, body: object, motion: Motion, settings: BakeSettings, context: bpy.types.Context
) -> Generator[Step, None, Wanted]:
    """Vertex positions at rest and in each frame."""
    surface, over = scene.surface, settings.frames
    places = np.empty((len(over), len(surface.points), 3), np.float32)
    shapes = sampled_meshes.shapes(scene, body, motion, over, context)
    with closing(shapes):
        for index, frame in enumerate(shapes):
            for part, (shape, to_metres) in zip(surface.parts, frame, strict=True):
                places[index, part.points] = shape @ to_metres[:, :3].T + to_metres[:, 3]
            yield Step(index / len(over), "Reading the shapes")
    # Until the first valid frame, the whole copy holds the shape of this frame.
    followed = next(index for index in range(len(over)) if index not in motion.held)
    for index in range(len(over)):
        followed = followed if index in motion.held else index
        places[index] = places[followed]
    # The points of the surface stand for others where vertices are hidden or follow another mesh.
    rest = [bodies.rest_places(obj, context.scene) for obj in scene.objects]
    return Wanted(np.concatenate(rest), places, surface.weights)


def write(scene: BodyScene, fit: HelperBones, over: range, context: bpy.types.Context) -> None:
    """Makes the copy."""
    collection = bpy.data.collections.new(f"{rig_stack.NAME} Export {scene.host.name}")
    collection.hide_render = True
    context.scene.collection.children.link(collection)
    scale = units.metres_per_unit(context.scene)
    armature = bpy.data.objects.new(f"{scene.host.name} Rig", bpy.data.armatures.new(rig_stack.NAME))
    collection.objects.link(armature)
    for block in (collection, armature, armature.data):
        marks.put(block, marks.BAKE)
    # From here on the meshes lead to everything that must be freed.
    for obj in scene.objects:
        obj.jounce.bake_rig, obj.jounce.bake_collection = armature, collection
    copies = [copy(obj, armature) for obj in scene.objects]
    armature[COPIES] = {str(number): made for number, made in enumerate(copies)}
    with edited(armature, context):
        names = add_bones(armature.data, fit.skeleton, scale)
    animate(armature, names, fit.channels, frames.times(over, context.scene), scale)
    bones = {bone.name for rig in scene.reader.armatures for bone in rig.data.bones} | set(names)
    for made, obj, part in zip(copies, scene.objects, scene.surface.parts, strict=True):
        collection.objects.link(made)
        made.select_set(False)
        take_rig_off(made, obj, bones)
        skin(made, armature, names, fit.weights[part.points])


def copy(obj: bpy.types.Object, armature: bpy.types.Object) -> bpy.types.Object:
    """A copy of an object and its mesh at rest, below an armature, without other influences."""
    made = obj.copy()
    if made.override_library is not None:
        made.make_local(clear_liboverride=True)
    obj.jounce.bake_copy = made
    made.property_unset("jounce")
    made.data = obj.data.copy()
    for block in (made, made.data):
        marks.put(block, marks.BAKE)
    made.parent, made.parent_type = armature, "OBJECT"
    for block in (made, made.data):
        block.animation_data_clear()
    made.constraints.clear()
    made.matrix_parent_inverse = Matrix(bodies.bind_matrix(obj))
    made.delta_location, made.delta_scale = (0.0,) * 3, (1.0,) * 3
    made.delta_rotation_euler, made.delta_rotation_quaternion = (0.0,) * 3, (1.0, 0.0, 0.0, 0.0)
    # Blender sets the matrix beside the deltas.
    made.matrix_basis = Matrix()
    points = meshes.rest_points(obj)
    with key_removal.leaving_no_block(made):
        made.shape_key_clear()
    made.data.attributes["position"].data.foreach_set("vector", points.astype(np.float32).ravel())
    return made


@contextmanager
def edited(armature: bpy.types.Object, context: bpy.types.Context) -> Iterator[None]:
    """An armature in Edit Mode, which bones require; restores mode and selection."""
    layer = context.view_layer
    active, selected = layer.objects.active, context.selected_objects
    mode = "OBJECT" if active is None else active.mode
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for obj in selected:
        obj.select_set(False)
    layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        yield
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
        armature.select_set(False)
        for obj in selected:
            obj.select_set(True)
        layer.objects.active = active
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode)


def add_bones(data: bpy.types.Armature, skeleton: Skeleton, scale: float) -> list[str]:
    """Adds the bones to an armature in Edit Mode; returns the names given by Blender."""
    made = []
    for name, rest, length in zip(skeleton.names, skeleton.rests, skeleton.lengths, strict=True):
        bone = data.edit_bones.new(name)
        bone.tail = (0.0, length / scale, 0.0)
        matrix = Matrix(rest)
        matrix.translation /= scale
        bone.matrix = matrix
        made.append(bone)
    for bone, parent in zip(made, skeleton.parents, strict=True):
        bone.parent = None if parent < 0 else made[parent]
    return [bone.name for bone in made]


def animate(
    armature: bpy.types.Object, names: list[str], channels: Channels, times: np.ndarray, scale: float
) -> None:
    """Keys all bones at all times, with linear interpolation."""
    action = bpy.data.actions.new(armature.name)
    marks.put(action, marks.BAKE)
    curves = compat.new_fcurves(action, armature)
    for index, name in enumerate(names):
        bone = armature.pose.bones[name]
        bone.rotation_mode = "QUATERNION"
        for channel, field in CHANNELS:
            values = getattr(channels, field)[:, index] / (scale if channel == "location" else 1.0)
            for component, column in enumerate(values.T):
                curve = curves.new(bone.path_from_id(channel), index=component)
                animation.write_fcurve(curve, times, column)
    data = armature.animation_data_create()
    data.action = action
    compat.use_slot(data, action)


def take_rig_off(made: bpy.types.Object, obj: bpy.types.Object, bones: set[str]) -> None:
    """Removes poses, Jounce data and the bones' vertex groups from an object's copy."""
    ours = [modifier.name for modifier in obj.modifiers if rig_stack.is_ours(modifier)]
    for name in {modifier.name for modifier in list(obj.modifiers)[: rig_stack.end(obj)]}.union(ours):
        made.modifiers.remove(made.modifiers[name])
    for group in [group for group in made.vertex_groups if group.name in bones]:
        made.vertex_groups.remove(group)


def skin(made: bpy.types.Object, armature: bpy.types.Object, names: list[str], weights: np.ndarray) -> None:
    """Gives a copy the weights (p, b) of an armature, and an armature modifier at the top."""
    for name, column in zip(names, weights.T, strict=True):
        rows = np.flatnonzero(column)
        group = made.vertex_groups.new(name=name) if len(rows) else None
        for row in rows.tolist():
            group.add([row], float(column[row]), "REPLACE")
    made.modifiers.new("Armature", "ARMATURE").object = armature
    made.modifiers.move(len(made.modifiers) - 1, 0)


def free(obj: bpy.types.Object) -> None:
    """Deletes the copy of a mesh unless another mesh needs the copy, and with the last copy everything made.

    Copies or their original meshes may have been deleted by hand.
    """
    made, armature, collections = obj.jounce.bake_copy, obj.jounce.bake_rig, collections_of(obj)
    for name in RECORDED:
        obj.jounce.property_unset(name)
    others = registry.meshes()
    is_last = armature is not None and not any(other.jounce.bake_rig == armature for other in others)
    copies = [made, *(armature.get(COPIES, {}).values() if is_last else ())]
    needed = [None, *(other.jounce.bake_copy for other in others)]
    for block in dict.fromkeys(block for block in copies if block not in needed):
        bpy.data.objects.remove(block)
    if is_last and not armature.children:
        bpy.data.objects.remove(armature)
    for collection in collections:
        if not collection.all_objects and not collection.children:
            bpy.data.collections.remove(collection)
    for kind in (bpy.data.meshes, bpy.data.armatures, bpy.data.actions):
        for block in [block for block in kind if block.users == 0 and marks.has(block, marks.BAKE)]:
            kind.remove(block)


def collections_of(obj: bpy.types.Object) -> set[bpy.types.Collection]:
    """The collections made for the copy of a mesh."""
    parts = filter(None, (obj.jounce.bake_copy, obj.jounce.bake_rig))
    found = {collection for part in parts for collection in part.users_collection}
    return {c for c in (*found, obj.jounce.bake_collection) if c is not None and marks.has(c, marks.BAKE)}
