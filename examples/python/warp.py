"""A blade of grass in its linear modes, and the same warped: out/warp.svg shows strong bending and twisting.

Linear modes (grey) make rotating parts grow. Warping by rotation and strain (green) keeps the length. Modal
warping (orange) rotates each vertex independently, so a bent blade gets shorter.
"""

import argparse
from pathlib import Path

import jounce
import numpy as np

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("folder", type=Path, nargs="?", default=Path("out"), help="for the picture")
folder = parser.parse_args().folder
folder.mkdir(parents=True, exist_ok=True)

LONG, WIDE, THICK = 1.0, 0.12, 0.05
# Displacement of the end in the first mode, m, and its twist, rad.
BENDS = (0.5, 1.0, 1.5)
TWISTS = (0.8, 1.6, 2.4)
SCALE, STEP = 300, 380
COLOURS = ("#ccc", "#d83", "#375")

points = np.array([[x, y, z] for z in (0.0, THICK) for y in (0.0, WIDE) for x in (0.0, LONG)])
quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
triangles = np.array([corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))])
mesh = jounce.TetMesh.lattice(points, triangles, 48)
rest = mesh.vertices
held = rest[:, 0] < rest[:, 0].min() + 1e-6
end = rest[:, 0] > rest[:, 0].max() - 1e-6
modes = jounce.linear_modes(mesh, jounce.Material(young=1e6, poisson=0.3, density=500.0), 8, pinned=held)


def middle_line(places: np.ndarray) -> float:
    """Length of the line through the centres of the cross-sections."""
    sections = np.unique(rest[:, 0].round(6))
    middles = [places[np.abs(rest[:, 0] - x) < 1e-5].mean(axis=0) for x in sections]
    return float(np.linalg.norm(np.diff(middles, axis=0), axis=1).sum())


def volume(places: np.ndarray) -> float:
    """Volume of all tets."""
    edges = places[mesh.tets[:, 1:]] - places[mesh.tets[:, :1]]
    return float(np.linalg.det(edges).sum() / 6.0)


def twist(shape: np.ndarray) -> float:
    """Rotation of the end about the blade's axis by a mode, rad for an amplitude of 1."""
    around = rest[end, 1:] - rest[end, 1:].mean(axis=0)
    turned = around[:, 0] * shape[end, 2] - around[:, 1] * shape[end, 1]
    return float(turned.sum() / (around**2).sum())


def drawn(places: np.ndarray, left: float, top: float, colour: str) -> str:
    """The surface, seen from the side and a little from above."""
    seen = np.stack([places[:, 0] + 0.25 * places[:, 1], -places[:, 2] - 0.45 * places[:, 1]], 1)
    seen = seen * SCALE + (left, top)
    corners = mesh.boundary
    paths = "".join(
        f"M{a[0]:.0f} {a[1]:.0f}L{b[0]:.0f} {b[1]:.0f}L{c[0]:.0f} {c[1]:.0f}z" for a, b, c in seen[corners]
    )
    return f'<path d="{paths}" fill="{colour}" stroke="{colour}"/>'


bend, torsion = 0, int(np.argmax([abs(twist(shape)) for shape in modes.shapes]))
lift = modes.shapes[bend, end, 2].mean()
asked = [(bend, far / lift, f"bent by {far:g} m") for far in BENDS]
asked += [(torsion, angle / twist(modes.shapes[torsion]), f"twisted by {angle:g} rad") for angle in TWISTS]
shapes = []
print("lengths, then volumes, of linear modes, modal and rotation-strain warping; 1 is at rest")
for number, (mode, amplitude, name) in enumerate(asked):
    z = amplitude * np.eye(8)[mode]
    moved = (amplitude * modes.shapes[mode], modes.warped(z, "modal"), modes.warped(z))
    shown = [rest + far for far in moved]
    ratios = [measure(places) / measure(rest) for measure in (middle_line, volume) for places in shown]
    print(f"{name:18} " + " ".join(f"{ratio:6.3f}" for ratio in ratios))
    left, top = 40 + STEP * (number % 3), 480 + 330 * (number // 3)
    shapes += [drawn(places, left, top, colour) for places, colour in zip(shown, COLOURS, strict=True)]
    shapes.append(f'<text x="{left}" y="{top + 60}">{name}</text>')
with open(folder / "warp.svg", "w", encoding="utf-8") as picture:
    picture.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {3 * STEP + 60} 900" ')
    picture.write('font-family="sans-serif" font-size="16" stroke-width="0.4">')
    picture.write(f'<rect width="100%" height="100%" fill="#fff"/>{"".join(shapes)}</svg>')
