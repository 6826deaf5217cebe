"""Settings chosen from the shape and the rig."""

import re
from pathlib import Path

import numpy as np
from jounce_core.body import sensible
from jounce_core.mesh.surface import Surface


def box(size):
    """A closed box as a surface."""
    corners = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]) * size
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = np.array([corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))])
    return Surface(corners, triangles, np.ones((8, 1)), ())


def test_a_thin_body_gets_finer_cells_than_a_compact_one():
    compact, thin = sensible.resolution(box((1.0, 1.0, 1.0))), sensible.resolution(box((1.0, 0.1, 0.1)))
    assert sensible.LEAST_RESOLUTION <= compact < thin <= sensible.MOST_RESOLUTION


def test_size_does_not_matter():
    assert sensible.resolution(box((1.0, 0.4, 0.3))) == sensible.resolution(box((1e3, 4e2, 3e2)))


def test_the_builder_in_the_browser_has_the_same_settings():
    text = (Path(__file__).resolve().parents[2] / "rust/player/src/builder.rs").read_text()
    constants = re.findall(r"pub const (\w+): (?:f64|usize) = ([\d_.e]+);", text)
    theirs = {name: float(value.replace("_", "")) for name, value in constants}
    low, high = re.findall(r"RESOLUTIONS: \[f64; 2\] = \[([\d.]+), ([\d.]+)\]", text)[0]
    assert (float(low), float(high)) == (sensible.LEAST_RESOLUTION, sensible.MOST_RESOLUTION)
    own = {
        "TETS": sensible.TETS,
        "FIRST_RESOLUTION": sensible.FIRST_RESOLUTION,
        "GROWTH": sensible.GROWTH,
        "BONE_CORE": sensible.BONE_CORE,
        "MODES": sensible.MODES,
        "CLUSTERS": sensible.CUBATURE,
    }
    assert {name: theirs[name] for name in own} == own
