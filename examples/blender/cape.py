"""Attaches a cape to a running character's shoulders, and makes a picture of it.

    python cape.py CHARACTER.fbx --action Run --extension jounce.zip --out cape.webp

Needs bpy and Pillow. The cape is generated behind the shoulders of a biped that faces -y, as an attached
body; it collides with capsules of the character's bones. `--save` keeps the .blend.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import character as characters
import figures
import flesh
import numpy as np
import script
import studio
from mathutils import Vector

FRAMES = range(1, 61)
SHOWN = (1, 12, 24, 36, 48, 60)
LIMIT = 200_000
# Number of points across and down.
ACROSS, DOWN = 33, 41
# Body lengths per second, frames between which the run turns, and the turn's angle.
SPEED, TURNS, TURNED = 1.6, (24, 44), math.radians(100.0)
CLOTH = (0.50, 0.06, 0.08, 1.0)
# Factor on the radii of the fitted capsules for the cape, because half of the skin is outside them.
WIDER = 1.2
# Parts of the body that are wide or never near a cape.
LEFT_OUT = ("head", "hand", "finger", "thumb", "palm", "toe")


@dataclass
class Wearer:
    """Measures of a character for its cape, in world space at rest."""

    character: characters.Character
    chest: str
    neck: Vector
    shoulders: tuple[Vector, Vector]
    points: np.ndarray


def main() -> int:
    """Makes the picture; returns the process's exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--action", default="Run", help="a part of the name of the action that is played")
    parser.add_argument("--extension", type=Path, help="zip of the extension, if it is not installed")
    parser.add_argument("--out", type=Path, default=Path("cape.webp"))
    parser.add_argument("--engine", choices=("WORKBENCH", "CYCLES"), help="what renders")
    parser.add_argument("--save", type=Path, help=".blend file that the scene is kept in")
    options = parser.parse_args()
    try:
        flesh.enable(options.extension)
        character = characters.load(options.file)
    except (flesh.Missing, characters.Unreadable) as problem:
        print(problem, file=sys.stderr)
        return 1
    wearer = measured(character)
    cape = made(wearer)
    play(character, options.action)
    collide(cape, wearer)
    seconds = attach(cape)
    print(f"cape: {len(cape.data.vertices)} vertices, {seconds:.1f} s for {len(FRAMES)} frames", flush=True)
    if options.save is not None:
        bpy.ops.wm.save_as_mainfile(filepath=str(options.save.resolve()))
    engine = options.engine or studio.best_engine()
    figures.save(picture(cape, wearer, engine, options.out.with_suffix(".part.png")), options.out, LIMIT)
    return 0


def measured(character: characters.Character) -> Wearer:
    """Shoulders of a character at rest, found by bone names."""
    armature = character.armature
    armature.data.pose_position = "REST"
    [points] = studio.record(character.meshes, range(1, 2))
    armature.data.pose_position = "POSE"
    bones = armature.data.bones
    neck = next(bone for bone in bones if "neck" in bone.name.lower())
    arms = [bone for bone in bones if bone.name.lower().rstrip(".lr_").endswith(("upperarm", "arm"))]
    place = {bone.name: armature.matrix_world @ bone.head_local for bone in (neck, *arms)}
    pair = sorted(
        (place[bone.name] for bone in arms if "lower" not in bone.name.lower()), key=lambda at: at.x
    )
    return Wearer(character, neck.parent.name, place[neck.name], (pair[0], pair[-1]), np.concatenate(points))


def made(wearer: Wearer, share: float = 0.86) -> bpy.types.Object:
    """A cape behind the shoulders, attached to the chest as a whole, with its collar in a vertex group.

    share: its length, as a share of the way from the neck to the ground.
    """
    left, right = wearer.shoulders
    half, middle = 0.5 * (right - left).length, 0.5 * (left + right)
    own = wearer.points
    torso = own[(np.abs(own[:, 0] - middle.x) < half) & (own[:, 2] > 0.5 * middle.z)]
    torso = torso[torso[:, 2] < middle.z]
    back, top = float(torso[:, 1].max()), wearer.neck.z - 0.1 * half
    length = share * (top - float(own[:, 2].min()))
    u, v = np.meshgrid(np.linspace(-1.0, 1.0, ACROSS), np.linspace(0.0, 1.0, DOWN))
    # The collar lies on the shoulders and behind the neck; below, the cape is behind the back and wider.
    angle = 0.5 * np.pi * u
    fall = np.minimum(1.0, 6.0 * v)
    wide = half * (1.15 + 0.45 * v)
    x = middle.x + wide * np.sin(angle)
    behind = back + half * (0.25 + 0.15 * v)
    y = middle.y + (behind - middle.y) * np.cos(angle) ** (0.5 + 0.5 * (1.0 - v))
    z = top - length * v - 0.30 * half * np.abs(u) ** 1.5 * (1.0 - fall) + 0.12 * half * (1.0 - fall)
    z -= 0.25 * half * fall * (1.0 - v)
    points = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    corners = [row * ACROSS + column for row in range(DOWN - 1) for column in range(ACROSS - 1)]
    faces = [(c, c + 1, c + ACROSS + 1, c + ACROSS) for c in corners]
    mesh = bpy.data.meshes.new("Cape")
    mesh.from_pydata(points.tolist(), [], faces)
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), bool))
    mesh.materials.append(bpy.data.materials.new("Cape"))
    mesh.materials[0].diffuse_color = CLOTH
    cape = bpy.data.objects.new("Cape", mesh)
    bpy.context.scene.collection.objects.link(cape)
    cape.vertex_groups.new(name=wearer.chest).add(range(len(points)), 1.0, "REPLACE")
    cape.vertex_groups.new(name="Pin").add(range(2 * ACROSS), 1.0, "REPLACE")
    armature = wearer.character.armature
    cape.modifiers.new("Armature", "ARMATURE").object = armature
    cape.parent, cape.matrix_parent_inverse = armature, armature.matrix_world.inverted()
    return cape


def play(character: characters.Character, name: str) -> None:
    """Plays an action repeatedly while the character runs along a bend."""
    armature, scene = character.armature, bpy.context.scene
    action = next(action for action in bpy.data.actions if action.name.endswith(name))
    characters.assign(armature, action)
    data = armature.animation_data
    track = data.nla_tracks.new()
    first, last = action.frame_range
    strip = track.strips.new(action.name, int(first), action)
    strip.frame_end = first + (last - first) * math.ceil(len(FRAMES) / (last - first) + 1.0)
    strip.repeat = math.ceil(len(FRAMES) / (last - first) + 1.0)
    data.action, data.use_nla = None, True
    runner = bpy.data.objects.new("Runner", None)
    scene.collection.objects.link(runner)
    armature.parent = runner
    scene.frame_start, scene.frame_end = FRAMES.start, FRAMES.stop - 1
    size = max(mesh.dimensions.z for mesh in character.meshes)
    place, step = Vector(), SPEED * size * scene.render.fps_base / scene.render.fps
    for frame in FRAMES:
        share = min(1.0, max(0.0, (frame - TURNS[0]) / (TURNS[1] - TURNS[0])))
        angle = TURNED * share * share * (3.0 - 2.0 * share)
        runner.location, runner.rotation_euler.z = place, angle
        runner.keyframe_insert("location", frame=frame)
        runner.keyframe_insert("rotation_euler", frame=frame)
        place = place + step * Vector((math.sin(angle), -math.cos(angle), 0.0))
    scene.frame_set(FRAMES.start)


def collide(cape: bpy.types.Object, wearer: Wearer, wider: float = WIDER) -> None:
    """Adds capsules of its bones to the character, and makes the cape collide with them.

    wider: factor on their radii.
    """
    armature = wearer.character.armature
    body = wearer.character.meshes[0]
    flesh.select([body])
    bpy.ops.jounce.setup()
    body.jounce.preview = False
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    for bone in armature.pose.bones:
        chosen = bone.bone.use_deform and not any(part in bone.name.lower() for part in LEFT_OUT)
        select(bone, chosen)
    bpy.ops.jounce.bone_capsules()
    bpy.ops.object.mode_set(mode="OBJECT")
    cape.jounce.collision_collection = body.jounce.collision_collection
    for capsule in body.jounce.collision_collection.all_objects:
        capsule.scale = (wider, 1.0, wider)
    body.jounce.use_collisions = False


def select(bone: bpy.types.PoseBone, chosen: bool) -> None:
    """Selects a bone in Pose Mode, in any version of Blender."""
    holder = bone if hasattr(bone, "select") else bone.bone
    holder.select = chosen


def attach(cape: bpy.types.Object) -> float:
    """Makes the cape an attached body as an artist does, and simulates it; returns the seconds."""
    flesh.select([cape])
    bpy.ops.jounce.add()
    state = cape.jounce
    state.kind, state.pin_group, state.use_gravity = "ATTACHED", "Pin", True
    state.handles, state.use_collisions = 80, True
    start = time.monotonic()
    bpy.ops.jounce.build()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    return time.monotonic() - start


def picture(cape: bpy.types.Object, wearer: Wearer, engine: str, scratch: Path) -> figures.Image.Image:
    """The run from behind and beside, with a moving camera."""
    meshes = [*wearer.character.body, cape]
    runner = wearer.character.armature.parent
    taken = studio.record(meshes, FRAMES)
    shapes = []
    for frame in SHOWN:
        bpy.context.scene.frame_set(frame)
        place = np.array(runner.matrix_world.translation, np.float32)
        shapes.append([turned(points - place) for points in taken[frame - FRAMES.start]])
    room = studio.Studio(meshes, shapes, engine)
    row = [figures.plain(room, shape, scratch) for shape in shapes]
    half = len(row) // 2
    columns = [""] * half
    names = [
        ", ".join(f"frame {frame}" for frame in SHOWN[part]) for part in (slice(half), slice(half, None))
    ]
    return figures.sheet([row[:half], row[half:]], columns, names, "")


def turned(points: np.ndarray) -> np.ndarray:
    """Points rotated about z, seen from behind by a camera in front and a little to the right."""
    angle = math.radians(200.0)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]], np.float32)
    return np.concatenate([points[:, :2] @ turn.T, points[:, 2:]], axis=1)


if __name__ == "__main__":
    script.run(main)
