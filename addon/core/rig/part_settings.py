"""Anatomical parts of a body, such as belly and ears: their names, settings and places."""

from collections.abc import Iterable
from dataclasses import dataclass

import jounce
import numpy as np

from .bone_core import PartSetting

# Displayed names by the native module's names, in the order of the list.
LABELS = {
    "belly": "Belly",
    "chest": "Chest",
    "buttocks": "Buttocks",
    "thighs": "Thighs",
    "calves": "Calves",
    "arms": "Arms",
    "neck": "Neck",
    "ears": "Ears",
    "tail": "Tail",
    "fins": "Fins",
    "hair": "Hair",
    "rest": "Other",
}
# Motion of each part up to which it looks natural, as a share of the target amplitude of the body. On a
# person it is, in percent of the size at the default target, 4.5 of a belly and 6 of ears.
MOTION = {
    "belly": 1.3,
    "chest": 0.08,
    "buttocks": 1.0,
    "thighs": 1.0,
    "calves": 0.5,
    "arms": 0.6,
    "neck": 0.3,
    "ears": 1.8,
    "tail": 1.8,
    "fins": 1.8,
    "hair": 2.0,
    "rest": 1.0,
}
# Parts that hang on a body and swing by themselves, and the factor by which they may exceed their motion
# while the body is fitted: about as much as the first step of a fit of their own takes back.
HANGING, EXCESS = frozenset({"ears", "tail", "fins", "hair"}), 3.0
# Softness and amount that change nothing.
PLAIN = 1.0, 1.0
# Largest amount.
MOST_AMOUNT = 3.0
# Share of a bone's flesh in a part from which on the part is the bone's.
OF_BONE = 0.25


@dataclass(frozen=True)
class PartRow:
    """A row of the list of parts: its setting, and its switches.

    damping: factor on the body's, for the display. mute: the part feels nothing. solo: all parts without it
    feel nothing. own: made by the artist, as a vertex group of this name. fitted: softness and amount of the
    last fit, which the artist's multiplies.
    """

    name: str
    softness: float = 1.0
    amount: float = 1.0
    mute: bool = False
    solo: bool = False
    own: bool = False
    fitted: tuple[float, float] = PLAIN
    damping: float = 1.0

    def setting(self, is_solo: bool) -> PartSetting:
        """The setting that acts. is_solo: True if there is a solo part."""
        softness, amount = self.fitted
        is_silent = self.mute or (is_solo and not self.solo)
        amount = 0.0 if is_silent else min(MOST_AMOUNT, self.amount * amount)
        return PartSetting(self.name, self.softness * softness, amount)


@dataclass(frozen=True)
class FoundPart:
    """A part of a built body. share: of the volume. bones: indices of the bones with flesh in this part."""

    name: str
    share: float
    bones: tuple[int, ...]


def acting(rows: Iterable[PartRow]) -> tuple[PartSetting, ...]:
    """The setting of each found part other than by default, in the order of their names."""
    known = sorted((row for row in rows if not row.own), key=lambda row: row.name)
    is_solo = any(row.solo for row in known)
    settings = (row.setting(is_solo) for row in known)
    return tuple(setting for setting in settings if setting != PartSetting(setting.name))


def found(body: "jounce.Body") -> list[FoundPart]:
    """The parts of a built body in the order of the list; none without anatomy."""
    if not isinstance(body, jounce.Body) or not body.parts:
        return []
    weights = np.asarray(body.part_weights)
    volumes = np.bincount(
        np.asarray(body.mesh.tets).ravel(), np.repeat(np.asarray(body.mesh.volumes), 4), weights.shape[1]
    )
    of_bones = np.asarray(body.rig.weights)
    shares = (weights * volumes) @ of_bones / np.maximum(volumes @ of_bones, np.finfo(float).tiny)
    whole = weights @ volumes / volumes.sum()
    parts = {
        name: FoundPart(name, float(share), tuple(np.flatnonzero(row >= OF_BONE).tolist()))
        for name, share, row in zip(body.parts, whole, shares, strict=True)
    }
    return [parts[name] for name in LABELS if name in parts]
