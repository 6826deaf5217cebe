"""Keeps facts about a built body with its host."""

from dataclasses import dataclass

import bpy
import jounce
import numpy as np

from ...core.display import modes
from ...core.flesh.settings import FrequencyOf
from ...core.rig import own_parts, part_settings
from ...core.shot.fit_report import PartReport
from ...core.stepping import motion
from . import diagnosis
from .bodies import BodyScene


@dataclass(frozen=True)
class FitOfParts:
    """The fit in a build: softness and amount by the names of the parts, empty if all are alike.

    folds: as text. told: reports of the measured parts by their names.
    """

    parts: dict[str, tuple[float, float]]
    folds: str
    told: dict[str, PartReport]


def remember(
    scene: BodyScene,
    body: "jounce.Body",
    digest: str,
    summary: str,
    context: bpy.types.Context,
    fit: FitOfParts | None = None,
) -> None:
    """Keeps the digest of the inputs, one line about the body, its frequency, its modes and its parts.

    fit: of the parts, with which the body was built; None for a build with the known one.
    """
    state, bones = scene.host.jounce, scene.surface.bones
    state.built_digest, state.built_summary = digest, summary
    state.built_tets = len(body.mesh.tets) if state.has_final else 0
    state.built_frequency = body.model.frequency
    state.built_size_frequency = motion.built_frequency(body, FrequencyOf.SIZE)
    state.list_modes(modes.frequency_ratios(body) if state.is_flesh else np.empty(0))
    parts = part_settings.found(body) + own_parts.found(body, scene.surface.weights, scene.shares)
    state.list_parts((part, [bones[bone] for bone in part.bones if bones]) for part in parts)
    if fit is not None:
        state.folds = fit.folds
        state.fit_parts(fit.parts, fit.told)
    diagnosis.renew(scene.host, "build", context)
