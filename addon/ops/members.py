"""jounce.body_add and jounce.body_remove: adds meshes to an existing body, and removes them."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import bpy

from ..bridge.bake import bakes
from ..bridge.body import bodies, diagnosis, hard_parts
from ..bridge.preview import previews
from ..bridge.rig import modifier_stack
from ..bridge.rig.armature_modifier import Warn
from ..core.common.task import Step, Task
from . import needs
from .build import build, keep
from .operator import LongOperator

Objects = list[bpy.types.Object]


class JOUNCE_OT_body_add(LongOperator):
    """Add the selected meshes without Jounce to the selected body, and build the body"""

    bl_idname = "jounce.body_add"
    bl_label = "Add to Body"
    bl_options = {"UNDO"}
    needs = (needs.only_body, needs.without_body, needs.out_of_edit_mode)

    def task(self, context: bpy.types.Context) -> Task:
        """Adds all meshes, or none."""
        host = needs.only_body(context)
        joining = needs.without_body(context)
        for obj in joining:
            bodies.refuse_joining(obj, host, self.warn)
        yield from join(host, joining, context, self.warn)
        diagnosis.keep(host, context)
        return f"{host.name}: {', '.join(obj.name for obj in joining)} added."


class JOUNCE_OT_body_remove(LongOperator):
    """Remove the selected meshes from their body, with the additions of a bake, and build the rest"""

    bl_idname = "jounce.body_remove"
    bl_label = "Remove from Body"
    bl_options = {"UNDO"}
    needs = (needs.only_body, needs.parts, needs.out_of_edit_mode)

    def task(self, context: bpy.types.Context) -> Task:
        """Removes all meshes, or none; the settings of the body stay."""
        host = needs.only_body(context)
        leaving = needs.parts(context)
        for obj in leaving:
            bakes.refuse_stuck(obj)
        seams = yield from leave(host, leaving, context, self.warn)
        diagnosis.keep(host, context)
        off = f" Switched off: {', '.join(seams)}." if seams else ""
        return f"{host.name}: {', '.join(obj.name for obj in leaving)} taken out.{off}"


@contextmanager
def preview_off(host: bpy.types.Object, joining: Objects) -> Iterator[None]:
    """Switches a body's preview off during a change of its meshes. joining: meshes to preview afterwards."""
    shown = host.jounce.preview
    if shown:
        previews.refuse_unplaced(host)
        for obj in joining:
            modifier_stack.refuse_nodes(obj)
        previews.switch_off(host)
    try:
        yield
    finally:
        if shown:
            previews.switch_on(host)


def join(host: bpy.types.Object, joining: Objects, context: bpy.types.Context, warn: Warn) -> Task:
    """Adds meshes to a body and rebuilds a built one; adds none if stopped or refused."""
    before = {obj: obj.is_property_set("jounce") for obj in joining}
    finished, message = False, ""
    with preview_off(host, joining):
        try:
            for obj in joining:
                obj.jounce.host = host
            message = yield from built_again(host, context, warn)
            finished = True
        finally:
            if not finished:
                for obj, had in before.items():
                    forget_host(obj, had)
    return message


def forget_host(obj: bpy.types.Object, has_settings: bool) -> None:
    """Detaches a mesh from its body; the mesh's own settings stay."""
    if has_settings:
        obj.jounce.property_unset("host")
    else:
        obj.property_unset("jounce")


def leave(
    host: bpy.types.Object, leaving: Objects, context: bpy.types.Context, warn: Warn
) -> Generator[Step, None, list[str]]:
    """Removes meshes from a body and rebuilds a built one; removes none if stopped or refused.

    Stitch groups to these meshes are switched off, and hold again when the meshes return; their names are the
    result.
    """
    seams = [s for s in host.jounce.seams if s.use and (s.mesh_a in leaving or s.mesh_b in leaving)]
    names, finished = [seam.name for seam in seams], False
    with preview_off(host, []):
        try:
            for seam in seams:
                seam.use = False
            for obj in leaving:
                obj.jounce.property_unset("host")
            yield from built_again(host, context, warn)
            finished = True
        finally:
            if not finished:
                for obj in leaving:
                    obj.jounce.host = host
                for name in names:
                    host.jounce.seams[name].use = True
        for obj in leaving:
            bakes.free_all(obj)
            hard_parts.forget(obj)
            obj.property_unset("jounce")
    return names


def built_again(host: bpy.types.Object, context: bpy.types.Context, warn: Warn) -> Task:
    """Rebuilds a formerly built body after a change of its meshes."""
    if not host.jounce.built_digest:
        return ""
    return keep((yield from build(host, context, warn)), context)
