"""jounce.setup: from a rigged mesh to a body that moves when played, in one click."""

import bpy

from ..bridge.body import bodies
from ..bridge.common import registry
from ..bridge.preview import previews
from ..bridge.rig import armature_modifier
from ..core import sensible
from ..core.settings import BodyKind
from ..core.task import Step, Task, scaled
from ..core.user_error import UserError
from . import needs
from .add import add_body
from .build import build_body
from .fit import fit_body, shot
from .operator import LongOperator

# How much of a shot is looked at to choose the frequency; more takes long with heavy rigs.
FITTED_FRAMES = 120


class JOUNCE_OT_setup(LongOperator):
    """Give flesh to the selected meshes, or to all meshes of the selected armature, and build it"""

    bl_idname = "jounce.setup"
    bl_label = "Add Jounce"
    bl_options = {"UNDO"}
    needs = (needs.character, needs.out_of_edit_mode)

    def task(self, context: bpy.types.Context) -> Task:
        """Adds, builds and previews; stopped or refused, nothing was added."""
        host, others = chosen(context)
        new = [obj for obj in (host, *others) if not registry.is_of_body(obj)]
        finished = False
        try:
            add_body(host, others, context, self.warn)
            yield Step(0.0, "Looking at the body")
            (choose_loose if bodies.is_held_by_nothing(host) else choose)(host, context)
            message = yield from scaled(build_body(host, context, self.warn), 0.05, 0.6)
            if not host.jounce.is_loose:
                frames = shot(context.scene)[:FITTED_FRAMES]
                message += "; " + (yield from scaled(fit_body(host, context, frames), 0.6, 1.0))
            previews.switch_on(host)
            finished = True
        finally:
            if not finished:
                for obj in new:
                    obj.property_unset("jounce")
        return message


def chosen(context: bpy.types.Context) -> tuple[bpy.types.Object, list[bpy.types.Object]]:
    """The mesh that is to be the host, and those beside it."""
    active = needs.character(context)
    if active.type == "ARMATURE":
        meshes = armature_modifier.moved_by(active, context)
        if not meshes:
            raise UserError(f"{active.name} moves no mesh; select the character's meshes.")
        host = meshes[0]
    else:
        meshes, host = [obj for obj in context.selected_objects if obj.type == "MESH"], active
    if bodies.host_of(host) is not None:
        raise UserError(f"{host.name} has Jounce already.")
    return host, [obj for obj in meshes if obj != host]


def choose(host: bpy.types.Object, context: bpy.types.Context) -> None:
    """Sets what suits the body, from its shape and its rig."""
    bodies.bind(host, context)
    surface = bodies.read(host, context, lambda _sentence: None).surface
    surface.refuse_unusable()
    host.jounce.bone_core = sensible.BONE_CORE
    host.jounce.resolution = sensible.resolution(surface)
    host.jounce.modes, host.jounce.clusters = sensible.MODES, sensible.CUBATURE


def choose_loose(host: bpy.types.Object, context: bpy.types.Context) -> None:
    """Sets what suits a body that nothing holds, from its size: it falls, and is firm enough to stand."""
    state = host.jounce
    state.kind, state.use_gravity = BodyKind.LOOSE.value, True
    bodies.bind(host, context)
    surface = bodies.read(host, context, lambda _sentence: None).surface
    surface.refuse_unusable()
    state.resolution = sensible.loose_resolution(surface)
    state.frequency = sensible.loose_frequency(surface.diagonal)
