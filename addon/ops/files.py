"""Common base of the operators with a file dialog."""

from pathlib import Path

import bpy
from bpy.props import StringProperty

from ..bridge.body import bodies
from ..core.common.user_error import UserError
from . import needs
from .operator import JounceOperator


class FileOperator(JounceOperator):
    """Opens a file dialog, beside a saved .blend. Subclasses name suffix and filter."""

    suffix: str
    filepath: StringProperty(name="File", description="The file", subtype="FILE_PATH")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Opens the dialog with the name of the active body, or object."""
        active = needs.active_object(context)
        name = bpy.path.clean_name((bodies.host_of(active) or active).name) + self.suffix
        self.filepath = str(Path(bpy.path.abspath("//") or Path.home()) / name)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def path(self) -> Path:
        """The chosen file."""
        if not self.filepath:
            raise UserError("No file was given; choose one.")
        return Path(bpy.path.abspath(self.filepath))

    def path_to_save(self) -> Path:
        """The chosen file, with the suffix."""
        path = self.path()
        return path if path.name.lower().endswith(self.suffix) else path.with_name(path.name + self.suffix)
