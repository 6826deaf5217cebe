"""jounce.linear_modes and measure_frame: facts of a body for those who look inside."""

import bpy

from ..bridge.preview import displayed_modes
from ..core.common.task import Task
from . import needs
from .operator import JounceOperator, LongOperator


class JOUNCE_OT_linear_modes(LongOperator):
    """Compute the small vibrations of the flesh on its rig, and their derivatives, for a look at them"""

    bl_idname = "jounce.linear_modes"
    bl_label = "Compute Linear Modes"
    needs = (needs.flesh, needs.in_memory)

    def task(self, context: bpy.types.Context) -> Task:
        """Keeps them in memory, not in the file."""
        host = needs.flesh(context)[0]
        found = yield from displayed_modes.compute(host, context)
        return f"{host.name}: {len(found.modes)} linear modes, {len(found.derivatives)} derivatives"


class JOUNCE_OT_measure_frame(JounceOperator):
    """Simulate the shown frame once more, for its convergence, time and memory"""

    bl_idname = "jounce.measure_frame"
    bl_label = "Measure Frame"
    needs = (needs.flesh, needs.previewed)

    def run(self, context: bpy.types.Context) -> str:
        """Changes nothing."""
        host = needs.previewed(context)[0]
        found = displayed_modes.measure(host)
        return f"{host.name}: frame {found.frame}, {found.report.iterations} iterations"
