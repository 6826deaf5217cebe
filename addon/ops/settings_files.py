"""jounce.settings_save and jounce.settings_load: all settings of a body as a text file."""

import bpy
from bpy.props import BoolProperty, StringProperty

from ..bridge.body import bodies, settings_files
from ..bridge.body.settings_files import Change
from ..bridge.common import registry
from ..bridge.rig.armature_modifier import Warn
from ..core.common.task import Task
from ..core.storage import settings_file
from ..core.storage.settings_file import SettingsFile
from . import needs
from .add import add_body
from .build import build_body
from .files import FileOperator
from .operator import LongOperator
from .setup import of_one, show


class SettingsFileOperator(FileOperator):
    """Lists files of settings in the dialog."""

    suffix = settings_file.SUFFIX
    filter_glob: StringProperty(default=f"*{settings_file.SUFFIX}", options={"HIDDEN", "SKIP_SAVE"})


class JOUNCE_OT_settings_save(SettingsFileOperator):
    """Save all settings of the body, with parts, bones, maps and stitches, to a text file"""

    bl_idname = "jounce.settings_save"
    bl_label = "Save Settings"
    needs = (needs.active_body, needs.out_of_edit_mode)

    check_existing: BoolProperty(default=True, options={"HIDDEN", "SKIP_SAVE"})

    def run(self, context: bpy.types.Context) -> str:
        """Writes the file."""
        host, path = needs.active_body(context), self.path_to_save()
        settings_file.write(path, settings_files.take(host))
        return f"Saved the settings of {host.name} to {path}."


class JOUNCE_OT_settings_load(SettingsFileOperator, LongOperator):
    """Give the character the settings in a file and build it; without Jounce, it gets Jounce first"""

    bl_idname = "jounce.settings_load"
    bl_label = "Load Settings"
    bl_options = {"UNDO"}
    needs = (needs.body_or_character, needs.out_of_edit_mode)

    def task(self, context: bpy.types.Context) -> Task:
        """Reads the file, and builds the active body by it."""
        file = settings_file.read(self.path())
        found = needs.body_or_character(context)
        if registry.is_host(found):
            return applied(list(bodies.members(found)), file, context, self.warn)
        return applied(bare(file, context) or of_one(found, context), file, context, self.warn)


def bare(file: SettingsFile, context: bpy.types.Context) -> list[bpy.types.Object]:
    """The meshes that a file names, if the scene has all and none has Jounce."""
    found, lacking = settings_files.meshes_of(file, context.scene)
    return [] if lacking or any(registry.is_of_body(obj) for obj in found) else found


def applied(
    meshes: list[bpy.types.Object], file: SettingsFile, context: bpy.types.Context, warn: Warn
) -> Task:
    """Gives a body the settings of a file and builds it. meshes: of the body or of a new one, the host first.

    Stopped or refused, all is as it was.
    """
    host, *others = meshes
    new = [obj for obj in meshes if not registry.is_of_body(obj)]
    finished = False
    try:
        if host in new:
            add_body(host, others, context, warn)
        back = settings_files.fitted(host, settings_files.take(host))
        change = settings_files.fitted(host, file)
        message = yield from built(change, back, context, warn)
        if host in new:
            show(host, warn)
        finished = True
    finally:
        if not finished:
            for obj in new:
                obj.property_unset("jounce")
    return message


def built(change: Change, back: Change, context: bpy.types.Context, warn: Warn) -> Task:
    """Makes a change of settings and builds by it; stopped or refused, makes the change back."""
    made, finished = change.make(warn), False
    try:
        message = yield from build_body(change.host, context, warn)
        finished = True
    finally:
        if not finished:
            back.make(lambda _sentence: None)
            change.unmake(made)
    return message
