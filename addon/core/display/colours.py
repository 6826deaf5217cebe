"""False colours: from values to colours, and the few numbers of a legend.

Colours are sRGB with components in [0, 1].
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np

# From dark to bright, which stays readable in black and white.
SEQUENTIAL = np.array(
    [(0.10, 0.06, 0.32), (0.17, 0.31, 0.60), (0.13, 0.56, 0.55), (0.48, 0.78, 0.33), (0.98, 0.91, 0.25)]
)
# From below zero, through zero in the middle, to above.
DIVERGING = np.array(
    [(0.10, 0.25, 0.65), (0.45, 0.63, 0.90), (0.92, 0.92, 0.92), (0.93, 0.55, 0.42), (0.70, 0.10, 0.15)]
)
# A turn of the golden ratio makes neighbours in number differ in hue.
GOLDEN = 0.618034
# Ratio of a range to the larger end below which the range counts as a single value.
FLAT = 1e-9
# Suffix of the upper end of a legend if some values exceed the scale.
BEYOND = "and more"


class Look(Enum):
    """Mapping from values to colours."""

    SEQUENTIAL = "SEQUENTIAL"
    LOGARITHMIC = "LOGARITHMIC"
    DIVERGING = "DIVERGING"
    CATEGORIES = "CATEGORIES"


@dataclass(frozen=True)
class Scale:
    """Colours for values from low to high; categories are whole numbers and have no range.

    title, unit: meaning of the values, for the legend. beyond: True if some values are above high.
    """

    title: str
    unit: str
    look: Look
    low: float = 0.0
    high: float = 1.0
    beyond: bool = False

    def colours(self, values: np.ndarray) -> np.ndarray:
        """Colours (p, 3) f32 of values (p,); values out of range get the colour of the nearer end."""
        if self.look is Look.CATEGORIES:
            return hues(values)
        table = DIVERGING if self.look is Look.DIVERGING else SEQUENTIAL
        places = np.clip(self._places(values), 0.0, 1.0)
        stops = np.linspace(0.0, 1.0, len(table))
        columns = [np.interp(places, stops, table[:, channel]) for channel in range(3)]
        return np.stack(columns, axis=-1).astype(np.float32)

    @property
    def is_flat(self) -> bool:
        """True if all values in range are equal."""
        return self.high - self.low <= FLAT * max(abs(self.low), abs(self.high))

    def _places(self, values: np.ndarray) -> np.ndarray:
        if self.is_flat:
            return np.zeros(np.shape(values)) if self.high == 0.0 else np.full(np.shape(values), 0.5)
        low, high = self.low, self.high
        if self.look is Look.LOGARITHMIC:
            low, high, values = np.log(low), np.log(high), np.log(values)
        return (values - low) / (high - low)

    def ticks(self) -> list[tuple[float, str]]:
        """Positions from 0 to 1 and texts of a legend."""
        if self.look is Look.CATEGORIES:
            return []
        if self.is_flat:
            return [(0.0 if self.high == 0.0 else 0.5, f"{self.high:.3g}")]
        if self.look is Look.LOGARITHMIC:
            middle = float(np.sqrt(self.low * self.high))
        else:
            middle = 0.5 * (self.low + self.high)
        last = f"{self.high:.3g} {BEYOND}" if self.beyond else f"{self.high:.3g}"
        return [(0.0, f"{self.low:.3g}"), (0.5, f"{middle:.3g}"), (1.0, last)]

    def bar(self, count: int) -> np.ndarray:
        """The colours (count, 3) f32 of the scale from the low to the high end."""
        return Scale(self.title, self.unit, self._bar_look()).colours(np.linspace(0.0, 1.0, count))

    def _bar_look(self) -> Look:
        return Look.SEQUENTIAL if self.look is Look.LOGARITHMIC else self.look


def hues(numbers: np.ndarray) -> np.ndarray:
    """Colours (p, 3) f32 of whole numbers, neighbours far apart in hue."""
    turn = 6.0 * ((np.asarray(numbers, dtype=np.float64) * GOLDEN) % 1.0)
    channels = [np.clip(np.abs((turn + shift) % 6.0 - 3.0) - 1.0, 0.0, 1.0) for shift in (0.0, 4.0, 2.0)]
    return (0.25 + 0.65 * np.stack(channels, axis=-1)).astype(np.float32)
