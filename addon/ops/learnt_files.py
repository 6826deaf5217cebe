"""jounce.learnt_save and jounce.learnt_load: a learnt basis as a file, for other shots of the character."""

import bpy
from bpy.props import BoolProperty, StringProperty

from ..bridge.motions import learnt_store
from ..core.body import built_bodies
from ..core.common.user_error import UserError
from ..core.flesh.settings import Quality
from ..core.shot import learnt_file
from . import needs
from .files import FileOperator


class LearntFileOperator(FileOperator):
    """Lists learnt files in the dialog."""

    suffix = learnt_file.SUFFIX
    filter_glob: StringProperty(default=f"*{learnt_file.SUFFIX}", options={"HIDDEN", "SKIP_SAVE"})


class JOUNCE_OT_learnt_save(LearntFileOperator):
    """Save the learnt motion of the selected body to a file, for other shots of this character"""

    bl_idname = "jounce.learnt_save"
    bl_label = "Save What Was Learnt"
    needs = (needs.only_body, needs.learnt)

    check_existing: BoolProperty(default=True, options={"HIDDEN", "SKIP_SAVE"})

    def run(self, context: bpy.types.Context) -> str:
        """Writes the file."""
        host, path = needs.only_body(context), self.path_to_save()
        known = learnt_store.of(host)
        if known is None:
            raise UserError(f"The learnt motion of {host.name} cannot be read any more; learn it again.")
        learnt_file.write(path, known)
        return f"Saved what {host.name} has learnt to {path}."


class JOUNCE_OT_learnt_load(LearntFileOperator):
    """Load the learnt motion of another shot of this character, instead of the present one"""

    bl_idname = "jounce.learnt_load"
    bl_label = "Load What Was Learnt"
    bl_options = {"UNDO"}
    needs = (needs.only_body, needs.flesh, needs.in_memory)

    def run(self, context: bpy.types.Context) -> str:
        """Reads the file, unless its basis belongs to another body."""
        host, path = needs.only_body(context), self.path()
        known = learnt_file.read(path)
        other = known.difference(built_bodies.CACHE.get(host.jounce.built_digest))
        if other:
            raise UserError(f"{path.name} was learnt by a body with another {other} than {host.name}.")
        learnt_store.keep(host, known)
        host.jounce.quality = Quality.LEARNT.value
        names = ", ".join(clip.name for clip in known.facts.clips)
        return f"{host.name} has learnt {names}, from {path.name}."
