"""jounce.add: marks the meshes of a body."""

import bpy

from ..bridge.body import bodies, diagnosis
from ..bridge.rig import armature_modifier
from ..core.flesh.settings import FrequencyOf
from . import needs
from .operator import JounceOperator


class JOUNCE_OT_add(JounceOperator):
    """Make one Jounce body of the selected meshes. The active one keeps the settings"""

    bl_idname = "jounce.add"
    bl_label = "Add Jounce"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.active_mesh, needs.out_of_edit_mode)

    def run(self, context: bpy.types.Context) -> str:
        """Marks the active mesh as host and adds the other selected meshes."""
        host = needs.active_mesh(context)
        others = [obj for obj in context.selected_objects if obj.type == "MESH" and obj != host]
        add_body(host, others, context, self.warn)
        warn_of_others(host, self.warn)
        return f"{host.name} is a body of {len(bodies.members(host))} mesh(es)."


def add_body(
    host: bpy.types.Object,
    others: list[bpy.types.Object],
    context: bpy.types.Context,
    warn: armature_modifier.Warn,
) -> None:
    """Adds the other meshes to the host as `mark` does, and runs the diagnosis."""
    mark(host, others, warn)
    diagnosis.keep(host, context)


def mark(host: bpy.types.Object, others: list[bpy.types.Object], warn: armature_modifier.Warn) -> None:
    """Adds the other meshes to the host, unless one of them cannot be part of a body.

    The diagnosis follows the build.
    """
    for obj in (host, *others):
        bodies.refuse_joining(obj, host, warn)
    host.jounce.is_host = True
    # The properties' own defaults are simpler: those of a body that a script makes.
    host.jounce.frequency_of = FrequencyOf.SIZE.value
    host.jounce.forces = "CUBATURE"
    host.jounce.use_stretch = True
    host.jounce.anatomy = True
    for obj in others:
        obj.jounce.host = host
    diagnosis.await_build(host)


def warn_of_others(host: bpy.types.Object, warn: armature_modifier.Warn) -> None:
    """Warns of meshes without flesh, which the diagnosis found."""
    if {"add_to_body", "add_all_to_body"} & {found.fix for found in host.jounce.findings}:
        warn("Other meshes of the armature are no part of the body; Diagnosis offers to add them.")
