"""jounce.export_training: writes held poses and their final shapes for deformers that learn."""

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ..bridge.bake import training_sets
from ..core.common.task import Task
from . import needs
from .files import LongFileOperator


class JOUNCE_OT_export_training(LongFileOperator):
    """Write random poses of the character to an FBX file, and the final shape held in each to an Alembic \
file: a training set for the ML Deformer of Unreal"""

    bl_idname = "jounce.export_training"
    bl_label = "Export Training Poses"
    needs = (needs.only_body, needs.built_flesh, needs.out_of_edit_mode)
    suffix = training_sets.FBX.suffix

    filter_glob: StringProperty(default=f"*{training_sets.FBX.suffix}", options={"HIDDEN", "SKIP_SAVE"})
    check_existing: BoolProperty(default=True, options={"HIDDEN", "SKIP_SAVE"})
    count: IntProperty(
        name="Poses", description="Number of poses after the rest pose", default=500, min=1, soft_max=5000
    )
    seed: IntProperty(name="Seed", description="Another number draws other poses", default=0, min=0)

    def task(self, context: bpy.types.Context) -> Task:
        """Writes both files; the scene stays as it is."""
        host, path = needs.only_body(context), self.path_to_save()
        return training_sets.written(host, path, self.count, self.seed, context, self.warn)
