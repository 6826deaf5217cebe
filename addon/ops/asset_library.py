"""jounce.asset_library: lists the example character in the Asset Browser."""

import bpy

from ..bridge.common import asset_library
from ..core.common.user_error import UserError
from .operator import JounceOperator


def unlisted(_context: bpy.types.Context) -> None:
    """Refuses a second entry in the preferences."""
    if asset_library.is_listed():
        raise UserError("The Asset Browser lists the example character already.")


class JOUNCE_OT_asset_library(JounceOperator):
    """List the example character in the Asset Browser, as the library Jounce in Preferences, File Paths"""

    bl_idname = "jounce.asset_library"
    bl_label = "Add Asset Library"
    needs = (unlisted,)

    def run(self, context: bpy.types.Context) -> str:
        """Adds the library to the preferences."""
        asset_library.add()
        return "The Asset Browser has a library Jounce: drag its creature into the scene."
