# %% [markdown]
# # Projective dynamics
#
# Loose and attached bodies are moved by affine *handles*. Their step alternates local projections, one
# rotation a cluster, with a solve whose matrix never changes. [The
# method](../methods/projective_dynamics.md) has the formulas, by Brandt, Eisemann and Hildebrandt, 2018.

# %%
import jounce
import numpy as np

points, triangles = jounce.shapes.box((1.0, 1.0, 1.0))
mesh = jounce.TetMesh.lattice(points, triangles, resolution=10)
jelly = jounce.Model.projective(mesh, jounce.Material(young=6e4), handles=12, clusters=40)
print(jelly, f"swings at {jelly.frequency:.2f} Hz")

# %% [markdown]
# ## A fall
#
# The cube starts half a metre above the ground, turned, and falls on an edge.

# %%
turn = np.array([[np.cos(0.6), 0.0, np.sin(0.6)], [0.0, 1.0, 0.0], [-np.sin(0.6), 0.0, np.cos(0.6)]])
place = np.concatenate([turn, [[0.0], [0.0], [0.9]]], axis=1)
simulation = jounce.Simulation(
    jelly,
    dt=1 / 48,
    substeps=4,
    damping=0.05,
    gravity=(0.0, 0.0, -9.81),
    colliders=[jounce.Collider.plane(friction=0.6)],
)
simulation.place(place, spin=(0.0, 1.0, 0.0))
frames, reports = [], []
for _ in range(72):
    reports.append(simulation.step())
    frames.append(mesh.vertices + simulation.displacement())
print(f"lands after {next(i for i, frame in enumerate(frames) if frame[:, 2].min() < 0.005) / 48:.2f} s")
axes = jounce.plot.strip(frames, mesh.boundary, count=7)
axes.axhline(0.0, color="gray", linewidth=1)

# %%
jounce.plot.energies({"jelly": reports}, dt=1 / 48).set_title("each impact squeezes the jelly")

# %% [markdown]
# ## A cape
#
# A surface without volume hangs on a bone by its upper edge, and swings when the bone is moved sideways.

# %%
side, rows = 1.0, 13
grid = np.stack(np.meshgrid(np.linspace(0, side, rows), np.linspace(0, -side, rows)), axis=-1).reshape(-1, 2)
corner = np.arange(rows * rows).reshape(rows, rows)
quads = np.stack([corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]], axis=-1).reshape(-1, 4)
places = np.stack([grid[:, 0], np.zeros(len(grid)), grid[:, 1]], axis=1)
cape = jounce.SurfaceMesh(places, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]))
rig = jounce.Rig(cape, np.ones((len(grid), 1)))
cloth = jounce.Model.projective(
    cape, jounce.Material(young=4e5), handles=16, thickness=0.003, rig=rig, attached=grid[:, 1] > -0.01
)
simulation = jounce.Simulation(cloth, dt=1 / 24, substeps=4, damping=0.02, gravity=(0.0, 0.0, -9.81))
pose = np.eye(3, 4)[None].copy()
simulation.settle(pose)
frames = []
for frame in range(36):
    pose[0, 1, 3] = 0.25 * np.sin(0.4 * frame)
    simulation.step(pose)
    frames.append(cape.points + simulation.displacement())
jounce.plot.strip(frames, cape.triangles, axes=(1, 2), count=6)
