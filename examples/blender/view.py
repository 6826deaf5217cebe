"""The camera's view of a shot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class View:
    """The camera's direction from the character: degrees from its front, and rise. low, high: the framed part
    of its height in the first shape, as shares.
    """

    azimuth: float = 28.0
    rise: float = 0.24
    low: float = 0.0
    high: float = 1.0

    def framed(self, shapes: list[list[np.ndarray]]) -> np.ndarray:
        """Points (p, 3) of all shapes that are in the picture."""
        heights = np.concatenate(shapes[0])[:, 2].astype(float)
        bottom, height = heights.min(), max(np.ptp(heights), 1e-12)
        shares = [(points[:, 2] - bottom) / height for points in shapes[0]]
        seen = [(share >= self.low) & (share <= self.high) for share in shares]
        return np.concatenate([p[mask] for shape in shapes for p, mask in zip(shape, seen, strict=True)])
