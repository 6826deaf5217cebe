"""jounce.export_springs: writes a character with spring bones for engines without plug-ins."""

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, StringProperty

from ..bridge.bake import springs
from ..core.bake.spring_fit import Limits
from ..core.common.task import Task
from . import needs
from .files import LongFileOperator

GLB = ".glb"


class JOUNCE_OT_export_springs(LongFileOperator):
    """Write the character with spring bones, fitted to the final motion of its actions, to a GLB file with \
VRMC_springBone, and their settings for Godot and Unreal to a text file"""

    bl_idname = "jounce.export_springs"
    bl_label = "Export Spring Bones"
    needs = (needs.only_body, needs.built_flesh, needs.out_of_edit_mode)
    suffix = GLB

    filter_glob: StringProperty(default=f"*{GLB}", options={"HIDDEN", "SKIP_SAVE"})
    check_existing: BoolProperty(default=True, options={"HIDDEN", "SKIP_SAVE"})
    count: IntProperty(
        name="Springs", description="Largest number of spring bones", default=16, min=1, max=128, soft_max=64
    )
    fair: FloatProperty(
        name="Largest Error",
        description=(
            "Largest error of a spring in motion unknown to the fit, in percent of this motion; bones "
            "with a larger error get no spring"
        ),
        default=60.0,
        min=1.0,
        max=100.0,
        subtype="PERCENTAGE",
    )

    def task(self, context: bpy.types.Context) -> Task:
        """Fits the springs and writes both files; the scene stays as it is."""
        host = needs.only_body(context)
        limits = Limits(self.count, host.jounce.helper_influences, self.fair / 100.0)
        return springs.written(host, self.path_to_save(), limits, context, self.warn)
