"""The modes of the last build, as a list."""

import bpy
import numpy as np
from bpy.props import CollectionProperty, FloatProperty, IntProperty

from ..bridge.preview import displayed_modes
from ..overlay import view
from .overrides import overridable


@overridable
class JounceMode(bpy.types.PropertyGroup):
    """One mode."""

    ratio: FloatProperty(
        name="Ratio", description="Frequency as a multiple of the lowest deforming mode's, without unit"
    )


def _chosen(_self: "ModesProps", context: bpy.types.Context) -> None:
    if context.window_manager.jounce.scrub != 0.0:
        displayed_modes.scrub(context)
    view.redraw(context)


class ModesProps:
    """Settings of the host."""

    modes_built: CollectionProperty(
        name="Modes", description="The modes of the last build, lowest first", type=JounceMode
    )
    mode_index: IntProperty(
        name="Chosen Mode", description="Number of the mode in the overlay, from 0", min=0, update=_chosen
    )

    @property
    def knows_build(self) -> bool:
        """True if modes and tets of the last build are known; only flesh has any."""
        return not self.is_flesh or (len(self.modes_built) > 0 and self.built_tets > 0)

    def list_modes(self, ratios: np.ndarray) -> None:
        """Makes the list anew. ratios: (m,), frequencies as multiples of the lowest."""
        self.modes_built.clear()
        for number, ratio in enumerate(ratios, start=1):
            mode = self.modes_built.add()
            # Library overrides tell the items of a list apart by their names.
            mode.name, mode.ratio = f"Mode {number}", ratio
        self.mode_index = min(self.mode_index, len(ratios) - 1)
