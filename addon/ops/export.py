"""jounce.export and jounce.export_games: write bodies to a file for other programs and for engines."""

from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..bridge.bake import exports, game_files
from ..bridge.body import bodies
from ..core.common.task import Runner
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
        hosts = bodies.dressed(bodies.hosts(context))
        try:
            self.plan(hosts, kind, context)
        except UserError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        self.filepath = beside(hosts[0], kind)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context) -> str:
        """Writes the file."""
        kind, hosts = exports.FORMATS[self.file_format], bodies.dressed(bodies.hosts(context))
        plan = self.plan(hosts, kind, context)
        path = chosen(self.filepath, kind)
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


class JOUNCE_OT_export_games(JounceOperator):
    """Write the selected characters, with flesh that moves live in engines and browsers, to a GLB file"""

    bl_idname = "jounce.export_games"
    bl_label = "Export for Games"
    needs = (needs.built_flesh, needs.out_of_edit_mode)

    filepath: StringProperty(name="File", description="The file to write", subtype="FILE_PATH")
    filter_glob: StringProperty(default=f"*{game_files.KIND.suffix}", options={"HIDDEN", "SKIP_SAVE"})
    check_existing: BoolProperty(default=True, options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Opens the file dialog, beside a saved .blend."""
        self.filepath = beside(needs.built_flesh(context)[0], game_files.KIND)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context) -> str:
        """Writes the file."""
        path = chosen(self.filepath, game_files.KIND)
        runner = Runner(game_files.written(needs.built_flesh(context), path, context, self.warn))
        runner.run(float("inf"))
        return runner.message


def beside(host: bpy.types.Object, kind: exports.Format) -> str:
    """A file for a body, beside a saved .blend."""
    name = bpy.path.clean_name(host.name) + kind.suffix
    return str(Path(bpy.path.abspath("//") or Path.home()) / name)


def chosen(filepath: str, kind: exports.Format) -> Path:
    """The chosen file, with the suffix of its format."""
    if not filepath:
        raise UserError("No file was given to export to; choose one.")
    path = Path(bpy.path.abspath(filepath))
    return path if path.suffix.lower() == kind.suffix else path.with_name(path.name + kind.suffix)
