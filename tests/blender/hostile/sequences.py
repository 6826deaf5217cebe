"""Random sequences: an artist and Jounce by turns, against the same without Jounce.

A sequence is a list of steps, each with its own seed: a step does the same after any independent steps. A
failing sequence is shortened as far as possible.
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random

import bpy
import scenes
import snapshot

from . import artist, operators, trial
from .hand import Hand, Jounce

LENGTHS = (8, 20)
MAPS = ("Stiffness", "Leak", "Pin", "Strength", "Muscle", "Part")
# Jounce acts a little more often than the artist.
SHARE_OF_JOUNCE = 0.55


@dataclass(frozen=True)
class Step:
    """A step of a sequence. number: seed of its random choices."""

    name: str
    number: int

    def run(self, hand: Hand) -> None:
        """Executes the step on random data."""
        KNOWN[self.name](hand, Random(self.number))


KNOWN = {step.__name__: step for step in (*artist.STEPS, *operators.STEPS)}


@dataclass(frozen=True)
class Sequence:
    """Steps in a file with some characters."""

    characters: int
    steps: tuple[Step, ...]

    def __call__(self, hand: Hand) -> None:
        """Plays all steps, each as an undo step; then the artist tidies up."""
        make_characters(self.characters)
        bpy.ops.ed.undo_push(message="at first")
        for step in self.steps:
            step.run(hand)
            if step.name not in ("undo", "redo"):
                bpy.ops.ed.undo_push(message=step.name)
        hand.finish()
        # Blender counts users anew when a file is opened.
        path = str(hand.folder / "end.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        tidy()


def sequence(seed: int) -> Sequence:
    """The sequence of a seed."""
    chance = Random(seed)
    steps = []
    for number in range(chance.randint(*LENGTHS)):
        kinds = operators.STEPS if number < 2 or chance.random() < SHARE_OF_JOUNCE else artist.STEPS
        name = "add" if number == 0 else "build" if number == 1 else chance.choice(kinds).__name__
        steps.append(Step(name, chance.randrange(1 << 30)))
    return Sequence(chance.choice((2, 3)), tuple(steps))


def make_characters(count: int) -> None:
    """Characters, the first two on one armature, and bystanders."""
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    lamp["mood"] = {"calm": 1}
    bpy.context.scene.collection.objects.link(lamp)
    bpy.data.materials.new("Skin").use_fake_user = True
    bystander, standing = scenes.character()
    bystander.name, standing.name = "Bystander", "Standing"
    standing.pose.bones["Upper"]["theirs"] = 0.5
    standing.pose.bones["Lower"].location.x = 0.1
    for number in range(1, count + 1):
        obj, rig = scenes.character()
        obj.name = obj.data.name = f"Body {number}"
        rig.name = rig.data.name = f"Rig {number}"
        rig.location.x = number
        if number == 2:
            obj.parent = obj.modifiers["Armature"].object = bpy.data.objects["Rig 1"]
    scenes.settle_scene()


def tidy() -> None:
    """Removes maps, parts and leaks, which belong to the artist, and renames data numbered by Blender."""
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    for obj in sorted(bpy.data.objects, key=lambda each: each.name):
        keys = obj.data.shape_keys if obj.type == "MESH" else None
        if keys is not None:
            keys.name = f"Keys of {obj.name}"
            # Their slot has the name from the time of their first key.
            slot = getattr(keys.animation_data, "action_slot", None)
            if slot is not None:
                slot.name_display = keys.name
        for kind, block in (("object", obj), ("keys", keys)):
            data = None if block is None else block.animation_data
            if data is not None and data.action is not None:
                data.action.name = f"Action of the {kind} {obj.name}"
        for group in [group for group in obj.vertex_groups if group.name.startswith(MAPS)]:
            obj.vertex_groups.remove(group)
        if obj.vertex_groups:
            obj.vertex_groups.active_index = 0
        for bone in obj.pose.bones if obj.pose is not None else ():
            bone.property_unset("jounce_leak")


def problems(found: Sequence, folder: Path) -> list[str]:
    """Problems after a sequence."""
    with trial.away():
        without, trouble = trial.play(found, Hand(trial.made(folder / "without")))
    before = trial.handlers()
    with_it, more = trial.play(found, Jounce(trial.made(folder / "with")))
    trouble = trouble + more
    if not trouble:
        for state in (without, with_it):
            state["files"] = [name for name in state["files"] if not name.endswith(".pc2")]
        trouble = snapshot.differences(without, with_it)[: trial.MOST_LINES]
        trouble += [f"{handler} was left" for handler in trial.handlers() - before]
    return trouble


def shrunk(found: Sequence, folder: Path) -> Sequence:
    """A failing sequence without the unnecessary steps."""
    attempts, index = 0, len(found.steps) - 1
    while index >= 0:
        less = Sequence(found.characters, found.steps[:index] + found.steps[index + 1 :])
        attempts += 1
        if problems(less, folder / f"less {attempts}"):
            found = less
        index -= 1
    return found
