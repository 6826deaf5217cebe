"""Common base of the operators with a file dialog."""

from pathlib import Path

import bpy
from bpy.props import StringProperty

from ..bridge.body import bodies
from ..core.common.user_error import UserError
from . import needs
from .operator import JounceOperator, LongOperator


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


class LongFileOperator(FileOperator, LongOperator):
    """Long work on a file: opens the dialog without a file, otherwise works in ticks.

    Blender runs an operator of a file dialog to its end, so the operator starts itself anew with the file.
    """

    _is_asked = False

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Opens the dialog, or starts the task."""
        if self.properties.is_property_set("filepath"):
            return LongOperator.invoke(self, context, event)
        self._is_asked = True
        return FileOperator.invoke(self, context, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Runs to the end when called by a script; after the dialog works in ticks."""
        if not self._is_asked or bpy.app.background:
            return super().execute(context)
        name = self.bl_idname.split(".")[1]
        getattr(bpy.ops.jounce, name)("INVOKE_DEFAULT", **self.as_keywords(ignore=("check_existing",)))
        return {"FINISHED"}
