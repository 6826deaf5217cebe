"""Keeps facts about a built body with its host."""

import bpy
import jounce
import numpy as np

from ...core import modes, motion
from ...core.settings import FrequencyOf
from . import diagnosis


def remember(
    host: bpy.types.Object, body: "jounce.Body", digest: str, summary: str, context: bpy.types.Context
) -> None:
    """Keeps the digest of the inputs, one line about the body, its frequency and its modes."""
    state = host.jounce
    state.built_digest, state.built_summary = digest, summary
    state.built_frequency = body.model.frequency
    state.built_size_frequency = motion.built_frequency(body, FrequencyOf.SIZE)
    state.list_modes(modes.frequency_ratios(body) if state.is_flesh else np.empty(0))
    diagnosis.renew(host, "build", context)
