"""Reads the drive of a body in one frame from the evaluated scene."""

from dataclasses import replace

import bpy
import numpy as np

from ...core.common.user_error import UserError
from ...core.stepping.motion import FrameInput, VertexInput
from ..body import stitches
from ..body.bodies import BodyScene
from ..rig.bone_transforms import Unposable
from .posed_meshes import PosedShapes


def read(scene: BodyScene, depsgraph: bpy.types.Depsgraph, shapes: PosedShapes | None = None) -> FrameInput:
    """The drive of the evaluated frame, independent of the simulation.

    shapes: without them every rig is read as linear skinning.
    """
    refuse_exchanged(scene, depsgraph.scene.frame_current)
    state = scene.host.evaluated_get(depsgraph).jounce
    around = scene.colliders.read(depsgraph)
    try:
        pose = scene.reader.read(depsgraph)
        shape = None if shapes is None else shapes.read(depsgraph, pose)
    except Unposable as refusal:
        return FrameInput(
            np.zeros((len(scene.reader.movers), 3, 4)), 0.0, held=str(refusal), colliders=around
        )
    load = scene.forces.read(pose, depsgraph)
    feel = scene.feel.read(depsgraph)
    offsets = None if shape is None or shape.offsets is None else shapes.body.reduce_offsets(shape.offsets)
    amount = state.strength * state.shot_amount
    drive = FrameInput(pose, amount, offsets, load.force, load.drag, state.cut, feel, colliders=around)
    if shape is not None:
        drive = replace(drive, spots=shape.spots, switches=shape.switches)
    if scene.host.jounce.is_loose:
        touching = tuple(read(companion.scene, depsgraph) for companion in scene.companions)
        drive = replace(drive, inflation=state.inflation, animated=state.animated, touching=touching)
        own = None if state.is_draft_alone else scene.forces.read_at_vertices(pose, depsgraph, None)
        at_vertices = own is not None and own.force is not None
        return replace(drive, vertices=VertexInput(own.force, own.drag)) if at_vertices else drive
    if scene.surface.stitches.opens.any():
        drive = replace(drive, stitching=stitches.shares(state))
    if scene.host.jounce.is_draft_alone:
        return drive
    if scene.muscles is not None:
        contraction = tuple(muscle.contraction for muscle in state.muscles)
        drive = replace(drive, contraction=contraction)
    carried = None if offsets is None else shapes.body.vertex_offsets(shape.offsets)
    own = scene.forces.read_at_vertices(pose, depsgraph, carried)
    if own.force is None and carried is None:
        return drive
    return replace(drive, vertices=VertexInput(own.force, own.drag, carried))


def refuse_exchanged(scene: BodyScene, frame: int) -> None:
    """Refuses a frame in which a handler has given an object another mesh, or other vertices."""
    obj = scene.exchanged()
    if obj is not None:
        raise UserError(
            f"{obj.name} has another mesh in frame {frame} than it was read with, so flesh cannot follow it; "
            "give it one mesh for the whole shot, and show and hide objects in place of meshes."
        )
