"""Spring bones for engines without plug-ins, fitted to final motions of the file's actions."""

import json
import os
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
from jounce import gltf

from ...core.bake.spring_files import hung
from ...core.bake.spring_fit import Fit, Limits, fitted
from ...core.bake.springs import Clip
from ...core.common.task import Step, Task, scaled
from ...core.common.user_error import UserError, passing_on
from ..common import frames, units
from ..inputs import file_actions
from ..motions.motions import Motions
from ..preview import previews
from ..rig import armature_modifier
from ..rig.armature_modifier import Warn
from . import exports, game_files, rehearsals

# Most frames of an action, and of all actions together, that are simulated.
MOST_FRAMES, MOST_TOGETHER = 240, 1500
# Least frames of a clip to fit to.
LEAST_FRAMES = 12
# Share of a single clip that the fit does not see.
UNSEEN = 1.0 / 3.0
SUFFIX = ".springs.json"


@dataclass(frozen=True)
class Shown:
    """A simulated action. frames: of the scene."""

    name: str
    steps: range
    clip: Clip


def written(
    host: bpy.types.Object, path: Path, limits: Limits, context: bpy.types.Context, warn: Warn
) -> Task:
    """Fits springs to a body and writes its character with them, and a text file with the same settings."""
    plan = game_files.planned([host], context, warn)
    made = yield from scaled(rehearsals.opened(host, context, warn), 0.0, 0.1)
    shown = yield from scaled(clips(made, context, warn), 0.1, 0.6)
    fit = yield from scaled(fit_of(made, shown, limits), 0.6, 0.95)
    names = [mover.bone or mover.carrier[-1] for mover in made.scene.reader.movers]
    refuse_unfair(host, fit, names, limits)
    yield Step(0.95, "Exporting")
    text = path.with_name(path.stem + SUFFIX)
    told: dict[str, object] = {}
    exports.write(plan, path, context, lambda part: add(made, fit, names, part, told, context))
    write_text(text, told)
    return f"Exported {host.name} with {summary(fit, names)} to {path} and {text.name}."


def clips(made: Motions, context: bpy.types.Context, warn: Warn) -> Generator[Step, None, list[Shown]]:
    """The actions of a body's armature with their final motions; without any, the frames of the scene."""
    armatures = armature_modifier.moving(made.scene.objects)
    scene, done = context.scene, []
    full = yield from scaled(rehearsals.fine(made), 0.0, 0.05)
    asked = turns(armatures, scene)
    with file_actions.kept(armatures, scene) as put_back:
        for number, (action, steps) in enumerate(asked):
            put_back()
            if action is not None:
                file_actions.play(armatures[0], action)
            context.view_layer.update()
            name = scene.name if action is None else action.name
            begun, ended = 0.05 + 0.95 * number / len(asked), 0.05 + 0.95 * (number + 1) / len(asked)
            try:
                clip = yield from scaled(simulated(made, full, steps, context), begun, ended)
                done.append(Shown(name, steps, clip))
            except UserError as refusal:
                warn(f"{name} is not fitted: {refusal}")
    if not done:
        raise UserError(f"{made.scene.host.name} has too few frames to fit springs to; give it an action.")
    return done


def turns(
    armatures: list[bpy.types.Object], scene: bpy.types.Scene
) -> list[tuple[bpy.types.Action | None, range]]:
    """Actions with their frames, as many as fit; None for what plays in the frames of the scene."""
    found: list[tuple[bpy.types.Action | None, range]] = []
    if len(armatures) == 1:
        file_actions.refuse_tweaked(armatures[0])
        left = MOST_TOGETHER
        for action in file_actions.of(armatures[0]):
            steps = file_actions.frames_of(action)[: min(MOST_FRAMES, left)]
            if len(steps) >= LEAST_FRAMES:
                found.append((action, steps))
                left -= len(steps)
    whole = range(scene.frame_start, scene.frame_end + 1)[:MOST_TOGETHER]
    return found or ([(None, whole)] if len(whole) >= LEAST_FRAMES else [])


def simulated(
    made: Motions, full: object, steps: range, context: bpy.types.Context
) -> Generator[Step, None, Clip]:
    """The clip of what plays in some frames."""
    drives = yield from rehearsals.driven(made, steps, context)
    settings = made.scene.host.jounce.motion_settings()
    motion, moved = yield from rehearsals.simulated(made, full, drives, settings, context.scene)
    return Clip(motion.poses, moved.astype(np.float64), units.frame_seconds(context.scene))


def fit_of(made: Motions, shown: list[Shown], limits: Limits) -> Generator[Step, None, Fit]:
    """The fit to all clips but the last, or to the first part of a single one; the rest is unseen."""
    seen, unseen = [each.clip for each in shown[:-1]], [shown[-1].clip]
    if not seen:
        clip = shown[0].clip
        seen_frames = len(clip.poses) - round(UNSEEN * len(clip.poses))
        seen, unseen = [clip.part(slice(seen_frames))], [clip.part(slice(seen_frames, None))]
    surface = made.scene.surface
    weights = surface.weights.copy()
    for obj, part in zip(made.scene.objects, surface.parts, strict=True):
        if armature_modifier.deformer(obj, lambda _: None) is None:
            weights[part.points] = 0.0
    has_gravity = made.scene.host.jounce.use_gravity
    return (yield from fitted(surface.points, weights, seen, unseen, limits, has_gravity))


def refuse_unfair(host: bpy.types.Object, fit: Fit, names: list[str], limits: Limits) -> None:
    """Refuses a body without springs that are a fair stand-in."""
    if len(fit.springs):
        return
    nearest = min(fit.unfair, key=fit.unfair.__getitem__, default=-1)
    told = "" if nearest < 0 else f" (nearest: {names[nearest]}, which misses {fit.unfair[nearest]:.0%})"
    raise UserError(
        f"No spring moves as the flesh of {host.name}, to {limits.fair:.0%} of the motion{told}; raise "
        "Largest Error, give the file more actions, or use Export for Games or Helper Bones."
    )


def summary(fit: Fit, names: list[str]) -> str:
    """The springs and their errors, in words."""
    text = f"{len(fit.springs)} springs, which miss {fit.error:.0%} of the unseen motion"
    nearest = sorted(fit.errors, key=fit.errors.__getitem__)
    text += f" ({', '.join(f'{names[bone]} {fit.errors[bone]:.0%}' for bone in nearest)})"
    left = ", ".join(f"{names[bone]} {error:.0%}" for bone, error in fit.unfair.items())
    return f"{text}, without those that would miss more: {left}," if left else text


def add(
    made: Motions,
    fit: Fit,
    names: list[str],
    part: Path,
    told: dict[str, object],
    context: bpy.types.Context,
) -> None:
    """Adds springs to a written file, and fills in the text beside it."""
    with passing_on(f"{part.name} is not as expected"):
        data = part.read_bytes()
        character = gltf.Character(data)
        with previews.paused(), frames.kept(context.scene):
            context.scene.frame_set(context.scene.frame_start)
            body = game_files.hull(made.scene, character, context)
            rows = game_files.rest_rows(made.scene, character, body, context)
        data, springs = hung(data, body, fit.springs, fit.shares, rows)
        gltf.Character(data)
    told |= springs.told(fit.error, {names[bone]: error for bone, error in fit.errors.items()})
    with open(part, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_text(path: Path, told: dict[str, object]) -> None:
    """Writes a text file beside its place and moves it there."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {exports.sentence_of(error)}.") from error
    finally:
        part.unlink(missing_ok=True)
