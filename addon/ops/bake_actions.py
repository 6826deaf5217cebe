"""jounce.bake_actions: bakes every action of the file, each to a bake of its own."""

from collections.abc import Iterator
from dataclasses import dataclass

import bpy
from bpy.props import BoolProperty

from ..bridge.bake import kept
from ..bridge.body import bodies
from ..bridge.inputs import file_actions
from ..bridge.rig import armature_modifier
from ..core.common.task import Step, Task, scaled
from ..core.common.user_error import UserError
from . import needs
from .bake import bake_bodies
from .operator import LongOperator


@dataclass(frozen=True)
class Turn:
    """An action, None for all strips together, with its frames and its bodies."""

    action: bpy.types.Action | None
    frames: range
    hosts: tuple[bpy.types.Object, ...]

    @property
    def name(self) -> str:
        """The name for the artist."""
        return "NLA" if self.action is None else self.action.name


class JOUNCE_OT_bake_actions(LongOperator):
    """Bake every action of the file onto the selected bodies; the bake of the played action then shows"""

    bl_idname = "jounce.bake_actions"
    bl_label = "Bake All Actions"
    bl_options = {"UNDO"}
    needs = (needs.own_bodies, needs.out_of_edit_mode)

    strips: BoolProperty(
        name="NLA as a Whole",
        description="Bake the NLA strips together as well, over the frames of the scene, if any of them play",
        default=True,
    )

    def task(self, context: bpy.types.Context) -> Task:
        """Bakes one action after the other; finished bakes survive a stop."""
        self.done: list[str] = []
        hosts = bodies.dressed(bodies.hosts(context))
        turns = list(self.turns(hosts, context.scene))
        if not turns:
            raise UserError(f"The file has no action that moves {', '.join(host.name for host in hosts)}.")
        whole, done = sum(len(turn.frames) for turn in turns), 0
        try:
            with file_actions.kept([armature_of(host) for host in hosts], context.scene) as put_back:
                for turn in turns:
                    put_back()
                    part = self.baked(turn, context)
                    yield from scaled(part, done / whole, (done + len(turn.frames)) / whole)
                    done += len(turn.frames)
        finally:
            for host in hosts:
                kept.sync(host)
        if not self.done:
            raise UserError("No action was baked; the warnings give the reasons.")
        return f"Baked {len(self.done)} action(s): {', '.join(self.done)}."

    def turns(self, hosts: list[bpy.types.Object], scene: bpy.types.Scene) -> Iterator[Turn]:
        """The actions of the file with their bodies, then the strips."""
        known: dict[bpy.types.Action, list[bpy.types.Object]] = {}
        for host in hosts:
            kept.refuse(host, host.jounce.bake_settings(host.jounce.target, 0, 0).target)
            kept.refuse_shown(host)
            file_actions.refuse_tweaked(armature_of(host))
            for action in file_actions.of(armature_of(host)):
                known.setdefault(action, []).append(host)
        for action, playing in known.items():
            yield Turn(action, file_actions.frames_of(action), tuple(playing))
        striped = [host for host in hosts if file_actions.plays_strips(armature_of(host))]
        if self.strips and striped:
            yield Turn(None, range(scene.frame_start, scene.frame_end + 1), tuple(striped))

    def baked(self, turn: Turn, context: bpy.types.Context) -> Task:
        """Bakes an action onto the bodies; a refusal becomes a warning."""
        asked = []
        for host in turn.hosts:
            file_actions.play(armature_of(host), turn.action)
            kept.show(host, turn.action)
            state = host.jounce
            asked.append((host, state.bake_settings(state.target, turn.frames[0], turn.frames[-1])))
        context.view_layer.update()
        baking = bake_bodies(asked, context, lambda text: self.warn(f"{turn.name}: {text}"))
        try:
            while True:
                step = next(baking)
                yield Step(step.fraction, f"{turn.name}: {step.stage}")
        except StopIteration:
            self.done.append(turn.name)
        except UserError as refusal:
            self.warn(f"{turn.name} is not baked: {refusal}")
        finally:
            baking.close()
        return ""

    def stopped(self) -> set[str]:
        """Finished actions stay, as a step that can be undone."""
        if not self.done:
            return super().stopped()
        self.report({"INFO"}, f"{self.bl_label} was stopped; finished and kept: {', '.join(self.done)}.")
        return {"FINISHED"}


def armature_of(host: bpy.types.Object) -> bpy.types.Object:
    """The armature of a body."""
    found = armature_modifier.moving(bodies.members(host))
    if not found:
        raise UserError(f"{host.name} has no armature, so it plays no action; use Bake instead.")
    return found[0]
