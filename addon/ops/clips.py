"""Operators for a folder of actions: choose one, continue with the next, bake all."""

from dataclasses import replace
from pathlib import Path

import bpy
from bpy.props import IntProperty, StringProperty

from ..bridge.bake import bakes, mesh_cache
from ..bridge.body import bodies, diagnosis
from ..bridge.inputs import clips
from ..bridge.preview import previews
from ..bridge.rig import modifier_stack
from ..core.common.task import Step, Task, scaled
from ..core.common.user_error import UserError
from ..core.rig.clips import files
from . import needs
from .bake import bake_body
from .operator import JounceOperator, LongOperator


def folder(context: bpy.types.Context) -> Path:
    """The chosen folder of actions."""
    return Path(bpy.path.abspath(needs.clip_folder(context)))


def save_copy(target: Path) -> None:
    """Saves a copy of the open file in its present state."""
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(target), copy=True)
    except RuntimeError as error:
        raise UserError(f"{target} cannot be written; choose another folder.") from error


class JOUNCE_OT_clips_list(JounceOperator):
    """List the FBX files of the folder"""

    bl_idname = "jounce.clips_list"
    bl_label = "List Actions"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.clip_folder,)

    def run(self, context: bpy.types.Context) -> str:
        """Reads the folder anew."""
        state = context.scene.jounce
        paths = files(folder(context))
        state.clips.clear()
        for path in paths:
            state.clips.add().name = path.name
        state.clip_index = min(state.clip_index, max(0, len(paths) - 1))
        return f"{len(paths)} action(s) in {folder(context)}."


class JOUNCE_OT_clip_assign(JounceOperator):
    """Put an action onto the armature of the selected body. The previous action stays in the file"""

    bl_idname = "jounce.clip_assign"
    bl_label = "Use Action"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.only_body, needs.clip_list, clips.refuse_to_import)

    step: IntProperty(
        name="Step",
        description="Number of actions to step from the chosen one; -1 is the previous action",
        default=0,
    )

    def run(self, context: bpy.types.Context) -> str:
        """Reads the file of the action and assigns the action."""
        state = context.scene.jounce
        host = needs.only_body(context)
        armature = clips.armature_of(bodies.members(host))
        index = (state.clip_index + self.step) % len(state.clips)
        clip = clips.read(folder(context) / state.clips[index].name, context)
        clips.assign(armature, clip, context.scene)
        state.clip_index = index
        scene = context.scene
        scene.frame_set(scene.frame_start)
        diagnosis.renew(host, "animate", context)
        return f"{armature.name} plays {clip.name}, frames {scene.frame_start} to {scene.frame_end}."


class JOUNCE_OT_clips_bake(LongOperator):
    """Bake every action of the folder onto the selected body, and save each as a separate .blend file"""

    bl_idname = "jounce.clips_bake"
    bl_label = "Bake Whole Folder"
    bl_options = {"UNDO"}
    needs = (needs.only_body, needs.clip_folder, clips.refuse_to_import)

    directory: StringProperty(
        name="Into",
        description="Folder for the files; `baked` inside the folder of actions if not given",
        subtype="DIR_PATH",
    )

    def task(self, context: bpy.types.Context) -> Task:
        """Bakes one action after the other; restores the open file afterwards."""
        host = needs.only_body(context)
        objects = bodies.members(host)
        if host.jounce.bake_parts or any(modifier_stack.is_baked(obj) for obj in objects):
            raise UserError(f"{host.name} is baked already; free that bake first.")
        paths = files(folder(context))
        if not paths:
            raise UserError(f"There is no FBX file in {folder(context)}.")
        into = Path(bpy.path.abspath(self.directory)) if self.directory else folder(context) / "baked"
        try:
            into.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"The folder {into} cannot be made: {error.strerror}.") from error
        previewed = host.jounce.preview
        with clips.kept_animation(clips.armature_of(objects), context.scene):
            for index, path in enumerate(paths):
                part = self.bake_clip(host, path, into, context)
                try:
                    yield from scaled(part, index / len(paths), (index + 1) / len(paths))
                finally:
                    # A bake ends the preview.
                    if previewed:
                        previews.switch_on(host)
        return f"{len(paths)} action(s) baked onto {host.name}, into {into}."

    def bake_clip(self, host: bpy.types.Object, path: Path, into: Path, context: bpy.types.Context) -> Task:
        """Bakes one action and saves a copy of the file with the bake."""
        scene, objects = context.scene, bodies.members(host)
        yield Step(0.0, f"Reading {path.name}")
        action = clips.assign(clips.armature_of(objects), clips.read(path, context), scene)
        try:
            target = into / f"{host.name} {path.stem}.blend"
            settings = host.jounce.bake_settings(host.jounce.target, scene.frame_start, scene.frame_end)
            settings = replace(settings, caches=str(target.with_suffix("")))
            yield from scaled(bake_body(host, context, settings, self.warn), 0.1, 0.9)
            with mesh_cache.handed_over(objects, target):
                save_copy(target)
            yield Step(1.0, f"Saved {target.name}")
        finally:
            for obj in objects:
                bakes.free_all(obj)
            bakes.forget(host)
            bpy.data.actions.remove(action)
        return ""
