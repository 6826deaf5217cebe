"""An antenna keyed at three frames, hit on the way, and led back: out/keyed.svg plots its tip.

Grey: free motion after the blow. Green: keyed motion with minimal forces. Orange: the same forces and a blow.
Blue: the blow, with tracking forces that lead back.
"""

import argparse
from pathlib import Path

import jounce
import numpy as np

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("folder", type=Path, nargs="?", default=Path("out"), help="for the picture")
folder = parser.parse_args().folder
folder.mkdir(parents=True, exist_ok=True)

LONG, WIDE = 0.4, 0.03
FRAMES = 48
# Target positions of the tip, m, with their frames.
KEYS = ((14, (0.0, 0.0, 0.12)), (30, (0.0, 0.1, -0.08)), (47, (0.0, 0.0, 0.0)))
# The blow: frame, and force, N.
HIT, BLOW = 20, (0.0, 2.0, 0.0)
# Height of half a plot, pixels.
HALF = 155
COLOURS = {"alone": "#bbb", "keyed": "#375", "hit": "#d83", "tracked": "#36c"}

points = np.array([[x, y, z] for z in (0.0, WIDE) for y in (0.0, WIDE) for x in (0.0, LONG)])
quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
triangles = np.array([corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))])
mesh = jounce.TetMesh.lattice(points, triangles, 12)
material = jounce.Material(young=3e5, poisson=0.3, density=500.0, law="neo_hookean")
held = mesh.vertices[:, 0] < mesh.vertices[:, 0].min() + 1e-6
tip = int(np.argmax(mesh.vertices[:, 0] - np.abs(mesh.vertices[:, 1:] - WIDE / 2).sum(axis=1)))
modes = jounce.linear_modes(mesh, material, 5, pinned=held)
model = jounce.Model.reduced(mesh, material, modes.bent_basis(8))

simulation = jounce.Simulation(model, dt=1 / 24, damping=0.03, max_iterations=200, tolerance=1e-9)
keys = [jounce.Key.vertex(frame, tip, place) for frame, place in KEYS]
motion = jounce.keyed_motion(simulation, keys, FRAMES)
tracking = motion.tracking(effort=1e-3)
blow = np.zeros_like(mesh.vertices)
blow[tip] = BLOW
blow = model.reduce_forces(blow)


def played(kind: str) -> np.ndarray:
    """Position of the tip at each frame."""
    simulation.reset()
    places = []
    for frame in range(FRAMES):
        force = np.zeros(len(blow)) if kind == "alone" else motion.forces[frame].copy()
        if kind == "tracked":
            force = tracking.force(frame, simulation.save_state())
        if kind != "keyed" and HIT <= frame < HIT + 2:
            force += blow
        simulation.step(force=force)
        places.append(simulation.displacement()[tip])
    return np.array(places)


paths = {kind: played(kind) for kind in COLOURS}
print(f"{motion.iterations} iterations, forces changed by {motion.residual:.0e} of them in the last")
print("keys are missed by", ", ".join(f"{miss:.1e}" for miss in motion.misses), "of the diagonal")
for kind in ("hit", "tracked"):
    off = np.linalg.norm(paths[kind] - paths["keyed"], axis=1)
    print(f"{kind}: {100 * off.max():.1f} cm off at most, {100 * off[-1]:.2f} cm at the end")

# The largest swing takes the whole height of its half of the picture.
scale = HALF / max(np.abs(path[:, 1:]).max() for path in paths.values())
lines = []
for axis, name in ((1, "y"), (2, "z")):
    top = 200 + 320 * (axis - 1)
    lines.append(f'<path d="M40 {top}H760" stroke="#ddd"/><text x="12" y="{top + 5}">{name}</text>')
    for kind, colour in COLOURS.items():
        path = "L".join(f"{40 + 15 * f} {top - scale * u:.1f}" for f, u in enumerate(paths[kind][:, axis]))
        lines.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for frame, place in KEYS:
        lines.append(f'<circle cx="{40 + 15 * frame}" cy="{top - scale * place[axis]:.1f}" r="5"/>')
with open(folder / "keyed.svg", "w", encoding="utf-8") as picture:
    picture.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 680" font-family="sans-serif">')
    picture.write(f'<rect width="100%" height="100%" fill="#fff"/>{"".join(lines)}</svg>')
