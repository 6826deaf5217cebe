"""Settings suited to a body's shape and rig."""

import jounce
import numpy as np

from ..common.user_error import passing_on
from ..mesh.surface import Surface

# Number of tets: enough to separate fingers and ears from their neighbours, few enough for a build in a
# second.
TETS = 12_000
# Resolution for estimating the number of tets, which grows with a power of the resolution between those of
# surfaces and volumes: 2.5 to 2.8 on characters of all kinds.
FIRST_RESOLUTION = 24
GROWTH = 2.65
# The core reaches four tenths of the way from the bones to the surface, and fills parts thinner than a
# forearm.
BONE_CORE = 0.5

# On Earth, m/s^2.
GRAVITY = 9.81

LEAST_RESOLUTION, MOST_RESOLUTION = 16, 64

# Drafts are off the final motion, in the median of twenty characters, by 28 percent at the default limits and
# by 20 without any. With 16 modes limits have them 32 percent off, with 100 cells 31.
MODES, CUBATURE = 24, 140


# Flesh share of a cell that has an inside, and share of such cells below which a body has none. Twelve
# characters have 0.45 to 0.6 of them at their resolution; sheets up to a cell thick have none.
FILLED, INSIDE = 0.5, 0.02
# Number of tets in a cell.
SPLIT = 5

# Handles need fewer cells, since they smooth the motion.
LOOSE_TETS = 4_000
# Dropped without damping, three boxes are 12 to 13 percent off the full space in shape; with 100 clusters
# they are 21 to 29 off, in 0.7 to 0.9 of the time, and with 80 handles 10 to 12, in 1.4 to 1.6 times.
LOOSE_HANDLES, LOOSE_CLUSTERS = 40, 1_000
# Sag of a loose body under gravity, as a share of its height; at three times as much, a body lies flat after
# a fall.
SAG = 0.03


def resolution(surface: Surface, tets: int = TETS) -> int:
    """Cells along the longest side for about this number of tets."""
    with passing_on("The body cannot be filled with cells"):
        mesh = jounce.TetMesh.lattice(surface.points, surface.triangles, FIRST_RESOLUTION)
    cells = FIRST_RESOLUTION * (tets / len(mesh.tets)) ** (1.0 / GROWTH)
    return round(min(max(cells, LEAST_RESOLUTION), MOST_RESOLUTION))


def is_thin(surface: Surface, cells: int = 0) -> bool:
    """True for a surface that encloses no flesh, such as a card: thinner than a cell nearly everywhere.

    cells: along the longest side, by default those of `resolution`.
    """
    cells = cells or resolution(surface)
    with passing_on("The body cannot be filled with cells"):
        mesh = jounce.TetMesh.lattice(surface.points, surface.triangles, cells, solid=True)
    solid, whole = ((v.reshape(-1, SPLIT).sum(axis=1)) for v in (mesh.volumes, mesh.volumes / mesh.solid))
    return bool(np.mean(solid > FILLED * whole) < INSIDE)


def loose_resolution(surface: Surface) -> int:
    """Cells along the longest side of a loose body."""
    return resolution(surface, LOOSE_TETS)


def loose_frequency(diagonal: float) -> float:
    """The frequency in Hz at which a cube of this diagonal sags by `SAG` of its edge L under gravity.

    With `f = sqrt(E / rho) / L` the sag `rho g L / (2 E)` is `g / (2 f^2 L)`.
    """
    return float(np.sqrt(GRAVITY / (2.0 * SAG * diagonal / np.sqrt(3.0))))
