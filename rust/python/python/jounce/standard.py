"""Values for the flesh of characters where nothing else is asked for.

`Body`, characters of USD and *Add Jounce* in Blender have these defaults. Their home is the Rust module
`jounce::body::standard`.
"""

from __future__ import annotations

from jounce._jounce import STANDARD, resolution

__all__ = [
    "CORE",
    "CUBATURE",
    "DAMPING",
    "DENSITY",
    "FREQUENCY",
    "LIMIT",
    "MODES",
    "SMOOTHING",
    "SUBSTEPS",
    "TETS",
    "YOUNG",
    "resolution",
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
# Damping ratio, substeps a frame, share of the rig's acceleration felt as constant between two poses, and
# largest displacement as a share of the diagonal.
DAMPING = float(STANDARD["damping"])
SUBSTEPS = int(STANDARD["substeps"])
SMOOTHING = float(STANDARD["smoothing"])
LIMIT = float(STANDARD["limit"])
