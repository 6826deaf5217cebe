"""Imports a character: reads the file, finds its body, and chooses an action worth showing."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import bpy
import numpy as np

DEFAULT_FRAMES = 60
SHORTEST_ACTION = 12
# Largest distance of a bone's end from its first place, as a share of the rest size, in an action's last pose
# that is also its first one.
RETURNED = 0.01


class Unreadable(Exception):
    """The file cannot be used; the message is a sentence for the owner."""


@dataclass
class Character:
    """Objects of a character: `meshes` are the body, skinned ones first, the host being the first of them."""

    name: str
    armature: bpy.types.Object
    meshes: list[bpy.types.Object]
    rigid: list[bpy.types.Object] = field(default_factory=list)

    @property
    def body(self) -> list[bpy.types.Object]:
        """All meshes of the simulated volume."""
        return self.meshes + self.rigid


@dataclass
class Shot:
    """A range of whole frames of an action; a longer range holds the last pose."""

    action: bpy.types.Action
    first: int
    last: int

    @property
    def frames(self) -> range:
        """All frames of the shot."""
        return range(self.first, self.last + 1)


def load(path: Path) -> Character:
    """Read an .fbx, .glb, .gltf or .blend file into an empty scene and find the character in it.

    Raises Unreadable if the file is missing, of another kind, rejected by Blender, or without a skinned mesh.
    """
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    read(path)
    return find(path.stem)


def read(path: Path) -> None:
    """Read a file into the open scene; a .blend replaces it. Raises Unreadable as `load` does."""
    readers = {".fbx": _read_fbx, ".glb": _read_gltf, ".gltf": _read_gltf, ".blend": _read_blend}
    if not path.is_file():
        raise Unreadable(f"{path} does not exist.")
    if path.suffix.lower() not in readers:
        raise Unreadable(f"{path.name} is not one of {', '.join(readers)}.")
    try:
        readers[path.suffix.lower()](path)
    except RuntimeError as error:
        raise Unreadable(f"Blender cannot read {path.name}: {str(error).strip().splitlines()[-1]}") from error


def find(name: str) -> Character:
    """The armature with the most skinned vertices in the scene, its meshes, and its rigid pieces."""
    skinned: dict[bpy.types.Object, list[bpy.types.Object]] = {}
    for mesh in _visible_meshes():
        if armature := _armature_of(mesh):
            skinned.setdefault(armature, []).append(mesh)
    if not skinned:
        raise Unreadable(f"{name} holds no mesh that an armature moves.")
    armature = max(skinned, key=lambda a: sum(len(mesh.data.vertices) for mesh in skinned[a]))
    meshes = sorted(skinned[armature], key=lambda mesh: (-len(mesh.data.vertices), mesh.name))
    rigid = [m for m in _visible_meshes() if _armature_of(m) is None and _hangs_on(m, armature)]
    return Character(name, armature, meshes, sorted(rigid, key=lambda mesh: mesh.name))


def choose_played(character: Character, length: int = DEFAULT_FRAMES) -> Shot:
    """As `choose_shot`, with actions that end in their first pose repeated, as a game plays them."""
    for action in actions_of(character.armature):
        assign(character.armature, action)
        if _returns(character.armature, action):
            repeat(action)
    return choose_shot(character, length)


def choose_shot(character: Character, length: int = DEFAULT_FRAMES) -> Shot:
    """The `length` frames with the strongest accelerations in any action of the armature.

    Accelerations are second differences of the bones' heads, relative to the rest size, summed over the
    range: starts and stops count, steady motion and stillness do not. A shorter action is followed by its
    held last pose, or by itself if it repeats. A character without a moving action gets one that hops and
    turns the whole armature object. The chosen action is assigned.
    """
    armature = character.armature
    best: tuple[float, Shot] | None = None
    for action in actions_of(armature):
        assign(armature, action)
        first, last = int(np.ceil(action.frame_range[0])), int(np.floor(action.frame_range[1]))
        if last - first + 1 < SHORTEST_ACTION:
            continue
        if repeats(action):
            last = max(last, first + length - 1)
        score, start = _strongest_window(armature, first, last, length)
        shot = Shot(action, start, start + length - 1)
        if best is None or score > best[0]:
            best = score, shot
    shot = best[1] if best and best[0] > 1e-4 else Shot(_shake(character, length), 1, length)
    assign(armature, shot.action)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = shot.first, shot.last
    scene.frame_set(shot.first)
    return shot


def actions_of(armature: bpy.types.Object) -> list[bpy.types.Action]:
    """Actions that name at least one bone of the armature, in the file's order, without their copies."""
    bones = {bone.name for bone in armature.pose.bones}
    return [action for action in bpy.data.actions if bones & _animated_bones(action)]


def repeat(action: bpy.types.Action) -> None:
    """Lets an action go on before and after its keys, again and again."""
    for curve in _curves(action):
        curve.modifiers.new("CYCLES")
    action.update_tag()


def repeats(action: bpy.types.Action) -> bool:
    """True if an action goes on after its keys."""
    return any(modifier.type == "CYCLES" for curve in _curves(action) for modifier in curve.modifiers)


def _returns(armature: bpy.types.Object, action: bpy.types.Action) -> bool:
    """True if the assigned action of an armature ends in its first pose, with all moving curves."""
    first, last = action.frame_range
    ranges = {tuple(curve.range()) for curve in _curves(action) if len(curve.keyframe_points) > 1}
    if len(ranges) != 1 or last - first + 1 < SHORTEST_ACTION:
        return False
    poses = []
    for frame in (first, last):
        bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
        poses.append(np.array([(bone.head, bone.tail) for bone in armature.pose.bones]))
    size = float(np.linalg.norm(np.ptp(poses[0].reshape(-1, 3), axis=0)))
    apart = np.linalg.norm(poses[1] - poses[0], axis=2)
    return float(apart.max()) <= RETURNED * size


def assign(armature: bpy.types.Object, action: bpy.types.Action) -> None:
    """Assign one action alone to the armature."""
    data = armature.animation_data or armature.animation_data_create()
    data.use_nla = False
    data.action = action
    if hasattr(data, "action_slot") and data.action_slot is None and len(data.action_suitable_slots):
        data.action_slot = data.action_suitable_slots[0]


def _read_fbx(path: Path) -> None:
    bpy.ops.import_scene.fbx(filepath=str(path))


def _read_gltf(path: Path) -> None:
    bpy.ops.import_scene.gltf(filepath=str(path))


def _read_blend(path: Path) -> None:
    open_copy(path)


def open_copy(path: Path) -> None:
    """Opens a copy of a .blend: a final motion is kept beside the file."""
    copied = shutil.copy(path, tempfile.mkdtemp(dir=bpy.app.tempdir))
    bpy.ops.wm.open_mainfile(filepath=copied, load_ui=False)


def _visible_meshes() -> list[bpy.types.Object]:
    shown_as_bones = {
        bone.custom_shape
        for rig in bpy.context.scene.objects
        if rig.type == "ARMATURE"
        for bone in rig.pose.bones
    }
    return [
        candidate
        for candidate in bpy.context.scene.objects
        if candidate.type == "MESH"
        and candidate not in shown_as_bones
        and candidate.visible_get()
        and len(candidate.data.vertices)
    ]


def _armature_of(mesh: bpy.types.Object) -> bpy.types.Object | None:
    return next((m.object for m in mesh.modifiers if m.type == "ARMATURE" and m.object is not None), None)


def _hangs_on(child: bpy.types.Object, armature: bpy.types.Object) -> bool:
    parent = child.parent
    while parent is not None and parent != armature:
        parent = parent.parent
    return parent == armature


def _animated_bones(action: bpy.types.Action) -> set[str]:
    paths = (curve.data_path for curve in _curves(action))
    return {path.split('"')[1] for path in paths if path.startswith('pose.bones["')}


def _curves(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """All curves of an action; Blender 5 has them in layers alone."""
    if hasattr(action, "fcurves"):
        return list(action.fcurves)
    bags = (bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags)
    return [curve for bag in bags for curve in bag.fcurves]


def _strongest_window(armature: bpy.types.Object, first: int, last: int, length: int) -> tuple[float, int]:
    """Score and first frame of the best range inside an action."""
    scene, heads = bpy.context.scene, []
    for frame in range(first, last + 1):
        scene.frame_set(frame)
        bones = np.array([bone.head for bone in armature.pose.bones])
        heads.append(bones @ np.array(armature.matrix_world.to_3x3()).T + armature.matrix_world.translation)
    size = max(float(np.linalg.norm(np.ptp(heads[0], axis=0))), 1e-12)
    acceleration = np.linalg.norm(np.diff(heads, n=2, axis=0), axis=2).mean(axis=1) / size
    scores = np.convolve(acceleration, np.ones(min(length, len(acceleration))), mode="valid")
    return float(scores.max()), first + int(np.argmax(scores))


def _shake(character: Character, length: int) -> bpy.types.Action:
    """Hop and turn the armature object, which moves characters without an action."""
    armature = character.armature
    size = max(mesh.dimensions.length for mesh in character.meshes)
    data = armature.animation_data or armature.animation_data_create()
    data.use_nla, data.action = False, bpy.data.actions.new("HopAndTurn")
    rest, turn = armature.location.copy(), armature.rotation_euler.copy()
    armature.rotation_mode = "XYZ"
    steps = {
        0.0: (0, 0),
        0.12: (-0.02, 0),
        0.25: (0.2, 0),
        0.4: (0, 0),
        0.55: (0, -0.3),
        0.7: (0, 0.6),
        0.85: (0, 0),
    }
    for share, (height, angle) in (steps | {1.0: (0.0, 0.0)}).items():
        armature.location.z = rest.z + height * size
        armature.rotation_euler.z = turn.z + angle
        for channel in ("location", "rotation_euler"):
            armature.keyframe_insert(channel, frame=1 + round(share * (length - 1)))
    return data.action
