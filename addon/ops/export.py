"""jounce.export: writes the baked bodies to a file for other programs."""

from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..bridge.bake import exports
from ..bridge.body import bodies
from ..core.common.user_error import UserError
from . import needs
from .operator import JounceOperator

FORMATS = (
    ("GLTF", "glTF", "Bones and shape keys, for game engines and the web"),
    (
        "USD",
        "USD",
        "Bones and blend shapes if the bake consists of these, otherwise the shape of every frame",
    ),
    ("ALEMBIC", "Alembic", "The shape of every frame"),
)


class JOUNCE_OT_export(JounceOperator):
    """Write the baked meshes of the selected bodies to a file, with their armatures and all they need"""

    bl_idname = "jounce.export"
    bl_label = "Export"
    needs = (needs.baked, needs.out_of_edit_mode)

    file_format: EnumProperty(name="Format", description="Format of the written file", items=FORMATS)
    filepath: StringProperty(name="File", description="The file to write", subtype="FILE_PATH")
    check_existing: BoolProperty(default=True, options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Opens the file dialog, beside a saved .blend."""
        kind = exports.FORMATS[self.file_format]
        hosts = bodies.hosts(context)
        try:
            self.plan(hosts, kind, context)
        except UserError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        name = bpy.path.clean_name(hosts[0].name) + kind.suffix
        self.filepath = str(Path(bpy.path.abspath("//") or Path.home()) / name)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context) -> str:
        """Writes the file."""
        kind, hosts = exports.FORMATS[self.file_format], bodies.hosts(context)
        plan = self.plan(hosts, kind, context)
        if not self.filepath:
            raise UserError("No file was given to export to.")
        path = Path(bpy.path.abspath(self.filepath))
        if path.suffix.lower() != kind.suffix:
            path = path.with_name(path.name + kind.suffix)
        names = exports.write(plan, path, context)
        return f"Exported {', '.join(names)} to {path}."

    def plan(
        self, hosts: list[bpy.types.Object], kind: exports.Format, context: bpy.types.Context
    ) -> exports.Plan:
        """The export, with warnings about losses."""
        plan = exports.planned(hosts, kind, context)
        for sentence in plan.sentences:
            self.warn(sentence)
        return plan
