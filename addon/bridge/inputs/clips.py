"""Reads actions from files and puts them onto an armature as a new action."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion

from ...core.common.user_error import UserError
from ...core.rig import clips
from ...core.rig.clips import BoneClip, Clip
from ..common import compat
from ..keys import animation
from ..rig import armature_modifier
from .file_actions import Values

# Marks actions made here.
MADE = "jounce_clip"

# Channels of a bone that an action moves.
MOVED = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")

IMPORTED = (
    "objects",
    "armatures",
    "meshes",
    "actions",
    "materials",
    "images",
    "cameras",
    "lights",
    "collections",
    "cache_files",
)


def read(path: Path, context: bpy.types.Context) -> Clip:
    """Reads the first animated armature of a file; nothing of the file stays in the scene."""
    with imported(path, context) as objects:
        for obj in objects:
            data = obj.animation_data
            if obj.type == "ARMATURE" and data is not None and data.action is not None:
                return clip_of(obj, path.stem, frames_per_second(context.scene))
    raise UserError(f"{path.name} holds no animated armature.")


def frames_per_second(scene: bpy.types.Scene) -> float:
    """The frame rate of a scene."""
    return scene.render.fps / scene.render.fps_base


def refuse_to_import(context: bpy.types.Context) -> None:
    """Refuses all modes but Object Mode, which importing requires, and a Blender without the importer."""
    if not hasattr(bpy.types, "IMPORT_SCENE_OT_fbx"):
        raise UserError(
            'The add-on "FBX format" is off, so that no action can be read; switch it on in the preferences.'
        )
    if context.mode != "OBJECT":
        raise UserError("Leave the current mode first; actions are read in Object Mode.")


@contextmanager
def imported(path: Path, context: bpy.types.Context) -> Iterator[list[bpy.types.Object]]:
    """The objects of an FBX or Alembic file, deleted afterwards with all other imported data.

    The importer works in the current scene and applies the frame rate of the file; frame rate, selection and
    active object are restored.
    """
    refuse_to_import(context)
    kind = "Alembic" if path.suffix.lower() == ".abc" else "FBX"
    before = {kind: set(getattr(bpy.data, kind)) for kind in IMPORTED}
    render, active, selected = (
        context.scene.render,
        context.view_layer.objects.active,
        context.selected_objects,
    )
    rate = (render.fps, render.fps_base)
    try:
        try:
            if kind == "Alembic":
                bpy.ops.wm.alembic_import(filepath=str(path), set_frame_range=False, as_background_job=False)
            else:
                bpy.ops.import_scene.fbx(filepath=str(path), use_image_search=False)
        except RuntimeError as error:
            raise UserError(f"{path.name} cannot be read as {kind}.") from error
        yield sorted(set(bpy.data.objects) - before["objects"], key=lambda obj: obj.name)
    finally:
        for kind in IMPORTED:
            bpy.data.batch_remove(set(getattr(bpy.data, kind)) - before[kind])
        render.fps, render.fps_base = rate
        context.view_layer.objects.active = active
        for obj in selected:
            obj.select_set(True)


def clip_of(armature: bpy.types.Object, name: str, rate: float) -> Clip:
    """The action of an armature, bone by bone."""
    action = armature.animation_data.action
    curves = {
        (curve.data_path, curve.array_index): curve for curve in compat.fcurves(armature.animation_data)
    }
    world = armature.matrix_world
    moved, parents = {}, {}
    for bone in armature.data.bones:
        parents[bone.name] = None if bone.parent is None else bone.parent.name
        found = bone_clip(armature.pose.bones[bone.name], rest_axes(world, bone), curves, world.median_scale)
        if found is not None:
            moved[bone.name] = found
    start, end = action.frame_range
    return Clip(name, rate, start, end, height(armature), moved, parents)


def bone_clip(
    bone: bpy.types.PoseBone, rest: np.ndarray, curves: dict[tuple[str, int], bpy.types.FCurve], scale: float
) -> BoneClip | None:
    """Motion of one bone in an action; None for no motion."""
    mode = bone.rotation_mode
    turning = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
        mode, "rotation_euler"
    )
    own = {
        (channel, index): curves[path, index]
        for channel, count in ((turning, 3 if turning == "rotation_euler" else 4), ("location", 3))
        for index in range(count)
        if (path := f"{bone.path_from_id()}.{channel}", index) in curves
    }
    if not own:
        return None
    times = np.unique(np.concatenate([key_times(curve) for curve in own.values()]))

    def sampled(channel: str, default: tuple[float, ...]) -> np.ndarray:
        return np.column_stack(
            [
                np.full(len(times), value)
                if (channel, index) not in own
                else [own[channel, index].evaluate(time) for time in times]
                for index, value in enumerate(default)
            ]
        )

    turns = sampled(turning, tuple(getattr(bone, turning)))
    rotations = np.array([as_quaternion(turn, mode) for turn in turns])
    return BoneClip(rest, times, rotations, sampled("location", (0.0, 0.0, 0.0)) * scale)


def key_times(curve: bpy.types.FCurve) -> np.ndarray:
    """The frames (k,) of a curve's keys."""
    points = np.empty(2 * len(curve.keyframe_points))
    curve.keyframe_points.foreach_get("co", points)
    return points[::2]


def as_quaternion(turn: np.ndarray, mode: str) -> Quaternion:
    """A unit quaternion from the values of a bone's rotation channel."""
    if mode == "QUATERNION":
        return Quaternion(turn).normalized()
    if mode == "AXIS_ANGLE":
        return Quaternion(turn[1:], turn[0])
    return Euler(turn, mode).to_quaternion()


def rest_axes(world: Matrix, bone: bpy.types.Bone) -> np.ndarray:
    """The rest matrix (4, 4) of a bone in the world, without scale."""
    location, rotation, _ = (world @ bone.matrix_local).decompose()
    return np.array(Matrix.LocRotScale(location, rotation, None))


def height(armature: bpy.types.Object) -> float:
    """Height of the uppermost joint above the lowest at rest, in world units.

    Only heads of bones count: formats without tails give them no meaning.
    """
    heights = [(armature.matrix_world @ bone.head_local).z for bone in armature.data.bones]
    return max(heights) - min(heights)


def assign(armature: bpy.types.Object, clip: Clip, scene: bpy.types.Scene) -> bpy.types.Action:
    """Puts an action onto an armature as the active action, and sets the scene's range to the action's.

    The action keeps its speed at the scene's frame rate. An active action of the artist's stays in the file;
    actions made here are dropped by the next save like any unused action.
    """
    bones = clips.matching(clip.parents, armature.data.bones.keys())
    clips.refuse_foreign(clip, bones, armature.name)
    speed = frames_per_second(scene) / clip.frames_per_second
    action = bpy.data.actions.new(f"{clip.name} {armature.name}")
    curves = compat.new_fcurves(action, armature)
    for name, source in bones.items():
        if source in clip.bones:
            write_bone(armature, name, clip, source, speed, curves)
    action[MADE] = clip.name
    data = armature.animation_data or armature.animation_data_create()
    if data.action is not None and MADE not in data.action:
        data.action.use_fake_user = True
    data.action = action
    compat.use_slot(data, action)
    scene.frame_start = round(clip.start * speed)
    scene.frame_end = max(scene.frame_start, round(clip.end * speed))
    return action


@contextmanager
def kept_animation(armature: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[None]:
    """Afterwards restores the armature's action, its unkeyed properties, and the scene's range and frame,
    also after an error.
    """
    data = armature.animation_data or armature.animation_data_create()
    action, kept = data.action, data.action is not None and data.action.use_fake_user
    slot = compat.slot(data)
    frames = (scene.frame_start, scene.frame_end, scene.frame_current)
    values = Values(armature, [f"{b.path_from_id()}.{name}" for b in armature.pose.bones for name in MOVED])
    try:
        yield
    finally:
        data.action = action
        if action is not None:
            compat.put_slot(data, slot)
            action.use_fake_user = kept
        values.put_back()
        scene.frame_start, scene.frame_end = frames[:2]
        scene.frame_set(frames[2])


def write_bone(
    armature: bpy.types.Object,
    name: str,
    clip: Clip,
    source: str,
    speed: float,
    curves: "bpy.types.bpy_prop_collection",
) -> None:
    """Writes the curves of one bone: the rotation, and for a root the location.

    Other bones keep their rest location, since the locations in an action are the proportions of its own rig.
    """
    moved, bone = clip.bones[source], armature.pose.bones[name]
    rest = rest_axes(armature.matrix_world, bone.bone)
    times = moved.times * speed
    channel, values = as_channel(clips.rotations(moved, rest), bone.rotation_mode)
    write_channel(curves, bone, channel, times, values)
    if clip.parents[source] is None:
        scale = height(armature) / clip.height / armature.matrix_world.median_scale
        write_channel(curves, bone, "location", times, clips.locations(moved, rest, scale))


def as_channel(rotations: np.ndarray, mode: str) -> tuple[str, np.ndarray]:
    """The channel of a rotation mode, and its values for quaternions (k, 4)."""
    if mode == "QUATERNION":
        return "rotation_quaternion", rotations
    turns = [Quaternion(rotation) for rotation in rotations]
    if mode == "AXIS_ANGLE":
        return "rotation_axis_angle", np.array([(turn.angle, *turn.axis) for turn in turns])
    eulers: list[Euler] = []
    for turn in turns:
        eulers.append(turn.to_euler(mode, eulers[-1]) if eulers else turn.to_euler(mode))
    return "rotation_euler", np.array(eulers)


def write_channel(
    curves: "bpy.types.bpy_prop_collection",
    bone: bpy.types.PoseBone,
    channel: str,
    times: np.ndarray,
    values: np.ndarray,
) -> None:
    """The curves of all components of a channel, in the group of the bone."""
    path = f"{bone.path_from_id()}.{channel}"
    for index, column in enumerate(values.T):
        curve = curves.new(path, index=index)
        animation.write_fcurve(curve, times, column)


def armature_of(objects: tuple[bpy.types.Object, ...]) -> bpy.types.Object:
    """The armature of the first of these meshes with an armature."""
    found = armature_modifier.moving(objects)
    if not found:
        raise UserError(f"{objects[0].name} has no armature that an action could move.")
    return found[0]
