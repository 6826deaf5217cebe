"""Keeps with a host what was built of its body."""

import bpy
import jounce
import numpy as np

from ...core import modes, motion
from ...core.settings import FrequencyOf
from . import diagnosis


def remember(
    host: bpy.types.Object, body: "jounce.Body", digest: str, summary: str, context: bpy.types.Context
) -> None:
    """Keeps from what a body was built, one line on it, its frequency and its modes."""
    state = host.jounce
    state.built_digest, state.built_summary = digest, summary
    state.built_frequency = body.model.frequency
    state.built_size_frequency = motion.built_frequency(body, FrequencyOf.SIZE)
    state.list_modes(modes.frequency_ratios(body) if state.is_flesh else np.empty(0))
    diagnosis.renew(host, "build", context)
