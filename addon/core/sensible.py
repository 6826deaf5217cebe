"""Settings that suit a body, chosen from its shape and its rig."""

import jounce
import numpy as np

from .surface import Surface
from .user_error import passing_on

# Enough tets that fingers and ears stand apart from what is beside them, few enough to build in a second.
TETS = 12_000
# Where the number of tets is looked at. They grow with a power of the resolution between those of surfaces
# and volumes: 2.5 to 2.8 on characters of all kinds.
FIRST_RESOLUTION = 24
GROWTH = 2.65
# Four tenths of the way from the bones to the surface follow them, and parts thinner than a forearm.
BONE_CORE = 0.5

# On Earth, m/s^2.
GRAVITY = 9.81

LEAST_RESOLUTION, MOST_RESOLUTION = 16, 64

# Drafts are off the final motion, in the median of twenty characters, by 28 percent at the default limits and
# by 20 without any. With 16 modes limits have them 32 percent off, with 100 cells 31.
MODES, CUBATURE = 24, 140


# Handles smooth what cells do, so that fewer of them are enough.
LOOSE_TETS = 4_000
# Share of its height by which what is loose sags under gravity; three times as much lies flat after a fall.
SAG = 0.03


def resolution(surface: Surface, tets: int = TETS) -> int:
    """Cells along the longest side that give about so many tets."""
    with passing_on("The body cannot be filled with cells"):
        mesh = jounce.TetMesh.lattice(surface.points, surface.triangles, FIRST_RESOLUTION)
    cells = FIRST_RESOLUTION * (tets / len(mesh.tets)) ** (1.0 / GROWTH)
    return round(min(max(cells, LEAST_RESOLUTION), MOST_RESOLUTION))


def loose_resolution(surface: Surface) -> int:
    """Cells along the longest side of what is loose."""
    return resolution(surface, LOOSE_TETS)


def loose_frequency(diagonal: float) -> float:
    """The frequency in Hz at which a cube of that diagonal sags by `SAG` of its edge L under gravity.

    With `f = sqrt(E / rho) / L` the sag `rho g L / (2 E)` is `g / (2 f^2 L)`.
    """
    return float(np.sqrt(GRAVITY / (2.0 * SAG * diagonal / np.sqrt(3.0))))
