"""The bake to existing bones: a copy of the character with the flesh's motion on tail, ears or hair.

The copy is made as for helper bones, with only the rig's bones and weights.
"""

from functools import partial

import bpy
import numpy as np

from ...core.bake.own_bones import fitted
from ...core.bake.prepared import Preparation, Prepared
from ...core.common.task import scaled
from ...core.flesh.settings import BakeSettings
from ...core.stepping.motion import Motion
from ..body.bodies import BodyScene
from ..rig import bone_transforms
from ..rig.skeletons import skeleton
from . import helper_bones


def prepare(
    scene: BodyScene, body: object, motion: Motion, settings: BakeSettings, context: bpy.types.Context
) -> Preparation:
    """Reads the shapes and fits the bones; nothing changes before the writing."""
    state, rig = scene.host.jounce, skeleton(scene.reader, context.evaluated_depsgraph_get(), 1.0)
    chosen = chosen_bones(scene, state.own_collection)
    wanted = yield from scaled(helper_bones.read(scene, body, motion, settings, context), 0.0, 0.5)
    fitting = fitted(wanted, rig, motion.poses, chosen, state.own_turn_only)
    fit = yield from scaled(fitting, 0.5, 1.0)
    parts = f"{np.count_nonzero(chosen)} bones, {fit.rms / scene.surface.diagonal:.3%} off on average"
    return Prepared(fit.error, parts, partial(helper_bones.write, scene, fit, settings.frames, context))


def chosen_bones(scene: BodyScene, collection: str) -> np.ndarray:
    """Flags of the rig's transforms that are bones in a collection, or any bones for an empty name."""
    movers = scene.reader.movers
    if collection:
        return bone_transforms.in_collection(movers, collection)
    return np.array([mover.armature is not None for mover in movers])
