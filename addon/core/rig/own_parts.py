"""Parts that the artist makes: regions of the surface with an amount and a softness of their own.

They act through the maps of strength and stiffness, on top of the parts that a build finds: factors multiply.
"""

from collections.abc import Iterable

import jounce
import numpy as np

from .part_settings import OF_BONE, FoundPart, PartRow

# Share (p,) in [0, 1] of each point in a part, by the part's name.
Shares = dict[str, np.ndarray]


def factors(rows: Iterable[PartRow], shares: Shares) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Factors (p,) on the rig's acceleration and on Young's modulus, None where no part changes anything.

    With w the share, `prod (1 - w + w amount)` and `prod softness^-w`. With solo parts of the artist's alone,
    the acceleration is 0 outside of them.
    """
    known = list(rows)
    own = [row for row in known if row.own and row.name in shares]
    strength, stiffness = np.ones(1), np.ones(1)
    for row in own:
        share = shares[row.name]
        strength = strength * (1.0 + share * ((0.0 if row.mute else row.amount) - 1.0))
        stiffness = stiffness * row.softness**-share
    if not any(row.solo for row in known if not row.own) and any(row.solo for row in own):
        alone = np.sum([shares[row.name] for row in own if row.solo], axis=0)
        strength = strength * np.minimum(alone, 1.0)
    return told(strength), told(stiffness)


def told(values: np.ndarray) -> np.ndarray | None:
    """Factors, None if all are 1."""
    return None if (values == 1.0).all() else values


def found(body: "jounce.Body", weights: np.ndarray, shares: Shares) -> list[FoundPart]:
    """The artist's parts in a built body: share of the skin that is flesh of theirs, and their bones.

    weights: (p, b) of the bones.
    """
    if not isinstance(body, jounce.Body):
        return []
    flesh = 1.0 - body.embedding.interpolate(body.pinned[:, np.newaxis].astype(float))[:, 0]
    parts = []
    for name, share in shares.items():
        inside = (share[:, np.newaxis] * weights).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-12)
        bones = tuple(np.flatnonzero(inside >= OF_BONE).tolist())
        parts.append(FoundPart(name, float((share * flesh).mean()), bones))
    return parts
