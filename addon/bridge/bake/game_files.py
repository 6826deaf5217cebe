"""Writes characters with their flesh for the players of engines and browsers: GLB files of JOUNCE_flesh."""

import os
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from jounce import gltf
from mathutils.kdtree import KDTree

from ...core.bake import game_flesh
from ...core.common.task import Step, Task, in_turn, scaled
from ...core.common.user_error import UserError, passing_on
from ...core.flesh.settings import Quality
from ...core.stepping.motion import FrameInput
from ..body import bodies
from ..body.bodies import BodyScene
from ..common import frames, registry, units
from ..inputs import directions
from ..motions.motions import Motions
from ..preview import previews
from ..rig import bone_transforms, modifier_stack
from ..rig.armature_modifier import Warn
from . import export_losses, exports, rehearsals

# Distance in a file, as a share of the size, above which it is told.
TOLD = 1e-4
# Most frames in which the bones of a file are compared with the scene.
COMPARED = 12


@dataclass(frozen=True)
class Playing:
    """A body in an export, with its drives over the frames of the scene."""

    scene: BodyScene
    made: Motions
    drives: list[FrameInput]

    @property
    def name(self) -> str:
        """The name of the host."""
        return self.scene.host.name


def export_gltf(path: Path, _asked: exports.Asked) -> None:
    """Armatures at rest with the actions that play, every frame; objects stand as in the first one."""
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)
    bpy.ops.export_scene.gltf(
        filepath=str(path),
        use_selection=True,
        export_animation_mode="ACTIVE_ACTIONS",
        export_all_influences=True,
        export_rest_position_armature=True,
        export_current_frame=True,
        export_def_bones=False,
        export_yup=True,
    )


KIND = exports.Format("glTF", ".glb", frozenset(), export_gltf)


def written(hosts: list[bpy.types.Object], path: Path, context: bpy.types.Context, warn: Warn) -> Task:
    """Writes bodies and their characters to a file, and checks the file."""
    plan = planned(hosts, context, warn)
    playing = yield from scaled(in_turn(read(host, context, warn) for host in hosts), 0.0, 0.8)
    for each in playing:
        tell_lacks(each, warn)
    yield Step(0.8, "Exporting")
    names = exports.write(plan, path, context, lambda part: add(playing, part, context, warn))
    return f"Exported {', '.join(names)} to {path}."


def planned(hosts: list[bpy.types.Object], context: bpy.types.Context, warn: Warn) -> exports.Plan:
    """The export; refuses what a file cannot hold, and warns about losses."""
    scene = context.scene
    if units.metres_per_unit(scene) != 1.0:
        raise UserError("glTF is in metres, and this scene is not; set its Unit Scale to 1.")
    # Clothes follow their bones in a game; a loose part is in its mesh, whose mask a file does not hold.
    worn = [host for host in bodies.dressed(hosts) if registry.linked(host, "cut_from") is None]
    objects = exports.exported(worn)
    baked = next((obj for obj in objects if modifier_stack.is_baked(obj)), None)
    if baked is not None:
        raise UserError(f"{baked.name} shows its bake, which would play beside the flesh; free it first.")
    exports.refuse_unseen(objects)
    span = scene.frame_start, scene.frame_end
    losses = export_losses.losses(objects, span, context)
    exports.refuse_another(KIND, losses)
    for loss in losses:
        warn(loss.sentence)
    asked = exports.Asked(is_rigged=True, evaluated="VIEWPORT")
    return exports.Plan(hosts, objects, KIND, asked, (), span)


def read(host: bpy.types.Object, context: bpy.types.Context, warn: Warn) -> Generator[Step, None, Playing]:
    """A body as built, and its drives."""
    made = yield from scaled(rehearsals.opened(host, context, warn), 0.0, 0.7)
    steps = range(context.scene.frame_start, context.scene.frame_end + 1)
    drives = yield from scaled(rehearsals.driven(made, steps, context), 0.7, 1.0)
    return Playing(made.scene, made, drives)


def tell_lacks(playing: Playing, warn: Warn) -> None:
    """Warns about influences that a player lacks."""
    state = playing.scene.host.jounce
    lacking = game_flesh.lacks(playing.drives, state.motion_settings())
    if not directions.is_neutral(playing.scene.host):
        lacking.append("the curves and keys of its direction and the damping of its parts")
    sentence = game_flesh.without(playing.name, lacking, state.simulated_quality is Quality.DRAFT)
    if sentence:
        warn(sentence)


def add(playing: list[Playing], part: Path, context: bpy.types.Context, warn: Warn) -> None:
    """Adds the flesh to a written file, and compares the file with the scene."""
    with passing_on(f"{part.name} is not as expected"):
        data = part.read_bytes()
        character = gltf.Character(data)
        with previews.paused(), frames.kept(context.scene):
            context.scene.frame_set(context.scene.frame_start)
            bodies_in_file = [flesh(each, character, context) for each in playing]
        data = gltf.add_flesh(data, bodies_in_file)
        character = gltf.Character(data)
        for each, body in zip(playing, character.bodies, strict=True):
            body.player()
            rest_rows(each.scene, character, body, context)
            compare(each, character, body, context, warn)
    with open(part, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def flesh(playing: Playing, character: gltf.Character, context: bpy.types.Context) -> gltf.Flesh:
    """The body of a file. The scene stands as in the first frame."""
    made, settings = playing.made, playing.scene.host.jounce.motion_settings()
    start = made.rehearsal(context.scene, settings).fresh()
    told = game_flesh.settings(start, playing.drives[0])
    return replace(hull(playing.scene, character, context), model=made.body.model.to_bytes(), settings=told)


def hull(scene: BodyScene, character: gltf.Character, context: bpy.types.Context) -> gltf.Flesh:
    """Joints and meshes of a body in a file, without its flesh. The scene stands as in the first frame."""
    reader, objects = scene.reader, scene.objects
    nodes = Nodes(character)
    joints = tuple(nodes.of(mover, reader.carried[mover.carrier][0]) for mover in reader.movers)
    with bone_transforms.rest_position(objects, context.view_layer):
        rest = reader.read(context.evaluated_depsgraph_get())
    binds = game_flesh.inverse_binds(character.worlds(clip=None)[list(joints)], rest)
    meshes = tuple(nodes.named(obj.name, lambda node: "mesh" in node) for obj in objects)
    return gltf.Flesh(b"", joints, binds, meshes)


class Nodes:
    """Nodes of a file by the names of objects and bones."""

    def __init__(self, character: gltf.Character) -> None:
        self.nodes = character.json.get("nodes", [])
        self.joints = {joint for skin in character.json.get("skins", []) for joint in skin["joints"]}

    def named(self, name: str, fits: Callable[[dict[str, Any]], bool] = lambda _: True) -> int:
        """The node of an object."""
        for index, node in enumerate(self.nodes):
            if node.get("name") == name and index not in self.joints and fits(node):
                return index
        raise UserError(f"{name} is not in the file that Blender wrote; show it and its parents.")

    def of(self, mover: bone_transforms.Mover, carried: bpy.types.Object) -> int:
        """The node with the motion of a bone, or of an object."""
        if mover.armature is None:
            return self.named(carried.name)
        waiting = [self.named(mover.armature.name)]
        for node in waiting:
            entry = self.nodes[node]
            if entry.get("name") == mover.bone and "mesh" not in entry and node != waiting[0]:
                return node
            waiting += entry.get("children", [])
        raise UserError(f"The bone {mover.bone} of {mover.armature.name} is not in the file.")


def rest_rows(
    scene: BodyScene, character: gltf.Character, body: gltf.Flesh, context: bpy.types.Context
) -> list[np.ndarray]:
    """Rows of the body's points for the vertices of each primitive of its meshes, in order.

    Refuses a file whose vertices at rest are not those of the body.
    """
    found = []
    for obj, part, node in zip(scene.objects, scene.surface.parts, body.nodes, strict=True):
        own = bodies.rest_places(obj, context.scene)
        tree = KDTree(len(own))
        for row, place in enumerate(own):
            tree.insert(place, row)
        tree.balance()
        for told in character.rest_points(replace(body, nodes=(node,))):
            near = [tree.find(place) for place in told]
            far = max(distance for _, _, distance in near) / scene.surface.diagonal
            if far > TOLD:
                raise UserError(
                    f"{obj.name} has another rest shape in the file than in its body, by {far:.1%} of the "
                    "size; "
                    "apply its modifiers, or build it again."
                )
            found.append(part.points.start + np.array([row for _, row, _ in near]))
    return found


def compare(
    playing: Playing, character: gltf.Character, body: gltf.Flesh, context: bpy.types.Context, warn: Warn
) -> None:
    """Compares the poses of a file with those of the scene, in some frames."""
    if not character.clips:
        return
    seconds = units.frame_seconds(context.scene)
    # Blender's exporter moves a clip from before frame 0 to its start.
    first = seconds * max(0, context.scene.frame_start)
    rows = range(0, len(playing.drives), max(1, len(playing.drives) // COMPARED))
    pairs = [(body.pose(character.worlds(first + row * seconds)), playing.drives[row].pose) for row in rows]
    surface = playing.scene.surface
    gap, worst = game_flesh.apart(surface.points, surface.weights, pairs)
    share, frame = gap / surface.diagonal, context.scene.frame_start + rows[worst]
    sentence = (
        f"glTF keeps a location, a rotation and a scale for each bone, which places {playing.name} up to "
        f"{share:.1%} of the size elsewhere in frame {frame}"
    )
    if share > exports.ANOTHER:
        raise UserError(
            f"{sentence}; remove bones and objects that shear, or that move outside of the action."
        )
    if share > TOLD:
        warn(f"{sentence}.")
