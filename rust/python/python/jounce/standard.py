"""Values for the flesh of characters where nothing else is asked for.

`Body`, characters of USD, players and *Add Jounce* in Blender, before it fits the flesh to a shot, have these
defaults. Their home is the Rust module `jounce::body::standard`.
"""

from __future__ import annotations

from typing import TypedDict

from jounce._jounce import STANDARD, TetMesh, resolution, size_frequency

__all__ = [
    "CORE",
    "CUBATURE",
    "DAMPING",
    "DENSITY",
    "FREQUENCY",
    "LIMIT",
    "MODES",
    "SMOOTHING",
    "STRETCH",
    "SUBSTEPS",
    "TETS",
    "YOUNG",
    "Motion",
    "motion",
    "resolution",
    "size_frequency",
]

# Modes of a draft, tets of its cubature, and tets of a body.
MODES = int(STANDARD["modes"])
CUBATURE = int(STANDARD["cubature"])
TETS = int(STANDARD["tets"])
# Amount of the skeleton core.
CORE = float(STANDARD["core"])
# Pa, kg/m^3, and Hz of flesh of the body's size.
YOUNG = float(STANDARD["young"])
DENSITY = float(STANDARD["density"])
FREQUENCY = float(STANDARD["frequency"])
# Damping ratio, substeps a frame, share of the rig's acceleration felt as constant between two poses, largest
# displacement as a share of the diagonal, and largest change of a length as a share.
DAMPING = float(STANDARD["damping"])
SUBSTEPS = int(STANDARD["substeps"])
SMOOTHING = float(STANDARD["smoothing"])
LIMIT = float(STANDARD["limit"])
STRETCH = float(STANDARD["stretch"])


class Motion(TypedDict):
    """Arguments of `Simulation`, by name.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> calm: jounce.standard.Motion = jounce.standard.motion(mesh) | {"damping": 0.5}
    >>> sorted(calm)
    ['damping', 'limit', 'smoothing', 'stiffness', 'stretch', 'substeps']
    """

    substeps: int
    damping: float
    smoothing: float
    limit: float | None
    stretch: float | None
    stiffness: float


def motion(mesh: TetMesh, frequency: float = FREQUENCY) -> Motion:
    """The arguments of `Simulation` for flesh as *Add Jounce* makes it, before a fit to a shot.

    Parameters
    ----------
    mesh : TetMesh
        Mesh of a body with the default `young` and `density`.
    frequency : float, default 5.0
        Frequency of flesh of the body's size, Hz.

    Returns
    -------
    dict
        Substeps, damping, smoothing, limit, stretch, and the stiffness for the frequency.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=12, modes=4)
    >>> simulation = jounce.Simulation(body.model, dt=1 / 24, **jounce.standard.motion(body.mesh))
    >>> simulation.settings["damping"], simulation.settings["stretch"]
    (0.12, 0.4)
    """
    return {
        "substeps": SUBSTEPS,
        "damping": DAMPING,
        "smoothing": SMOOTHING,
        "limit": LIMIT,
        "stretch": STRETCH,
        "stiffness": (frequency / size_frequency(float(mesh.volumes.sum()))) ** 2,
    }
