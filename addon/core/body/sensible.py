"""Settings suited to a body's shape and rig."""

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import jounce
import numpy as np
from jounce import standard

from ..common.user_error import passing_on
from ..mesh.surface import Surface, hashed

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")
Question = Callable[Concatenate[Surface, Asked], Answer]
# Largest number of kept answers to a question about shapes.
ANSWERS = 32

# Resolution with cells of a common size.
FIRST_RESOLUTION = 24

# On Earth, m/s^2.
GRAVITY = 9.81

LEAST_RESOLUTION, MOST_RESOLUTION = 16, 64

# Values of characters anywhere, in Blender or not.
MODES, CUBATURE, BONE_CORE = standard.MODES, standard.CUBATURE, standard.CORE
FREQUENCY, DAMPING, SUBSTEPS = standard.FREQUENCY, standard.DAMPING, standard.SUBSTEPS
LIMIT = standard.LIMIT

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
# Pieces of a body that is pinned at both ends, which sags between them.
ROPE_PIECES = 12
# Number of tets of a pinned body, whose modes are found once; frequency of its slowest swing, Hz, and damping
# ratio.
PINNED_TETS, SWING_FREQUENCY, SWING_DAMPING = 8_000, 1.5, 0.08
# Sag of a loose body under gravity, as a share of its height; at three times as much, a body lies flat after
# a fall.
SAG = 0.03


def kept(question: Question[Asked, Answer]) -> Question[Asked, Answer]:
    """A question about the shape of a surface; its last answers are kept, each of a tenth of a second."""
    answers: OrderedDict[str, Answer] = OrderedDict()

    @wraps(question)
    def answer(surface: Surface, /, *asked: Asked.args, **named: Asked.kwargs) -> Answer:
        key = hashed((surface.points, surface.triangles), (asked, named))
        if key not in answers:
            answers[key] = question(surface, *asked, **named)
        answers.move_to_end(key)
        if len(answers) > ANSWERS:
            answers.popitem(last=False)
        return answers[key]

    return answer


@kept
def resolution(surface: Surface, tets: int = standard.TETS) -> int:
    """Cells along the longest side for about this number of tets."""
    with passing_on("The body cannot be filled with cells"):
        return standard.resolution(surface.points, surface.triangles, tets)


@kept
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
