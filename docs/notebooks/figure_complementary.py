# %% [markdown]
# # Figure: motion that the rig cannot make
#
# Complementary dynamics adds only what the rig itself cannot do (FastCD, sec. 3): the displacement u obeys
# `J' M D u = 0`, with the Jacobian J of linear blend skinning, the mass M and the momentum leak D. This
# page shows the constraint and what happens without it.

# %%
import jounce
import numpy as np
from jounce import operators
from matplotlib import pyplot as plt

points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
mesh = jounce.TetMesh.lattice(points, triangles, resolution=14)
rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
material = jounce.Material(young=3e3)
leak = jounce.momentum_leak(mesh)
mass = operators.lumped_mass(mesh, material)
jacobian = operators.skinning_jacobian(mesh.vertices, rig).to_scipy()

# %% [markdown]
# A single bone carries the bar up and down. The flesh of the complementary body lags and leads in its
# shape, not in its place; without the constraint the whole body falls behind its bone and never catches up.

# %%
moved, broken = {}, {}
for name, complementary in (("complementary", True), ("free of the rig", False)):
    model = jounce.Model.full_space(mesh, material, rig, complementary=complementary)
    simulation = jounce.Simulation(model, dt=1 / 24, damping=0.05)
    pose = np.eye(3, 4)[None].copy()
    simulation.reset(pose)
    middles, largest = [], 0.0
    for frame in range(48):
        pose[0, 2, 3] = 0.5 * np.sin(0.4 * frame)
        simulation.step(pose)
        u = simulation.coefficients
        middles.append(mass @ u[:, 2] / mass.sum())
        works = jacobian.T @ (((1.0 - leak) * mass)[:, None] * u).ravel()
        scale = abs(jacobian).T @ (((1.0 - leak) * mass)[:, None] * np.abs(u)).ravel()
        largest = max(largest, float((np.abs(works) / (scale + 1e-12)).max()))
    moved[name], broken[name] = middles, largest
    print(f"{name:16} largest |J' M D u| as a share of its terms: {largest:.1e}")
assert broken["complementary"] < 1e-6 < 1e-2 < broken["free of the rig"]

# %%
for name, middles in moved.items():
    plt.plot(np.arange(48) / 24, middles, label=name)
plt.xlabel("time (s)")
plt.ylabel("flesh's mean place above its bone (m)")
plt.legend()

# %% [markdown]
# ## The leak
#
# At the surface the constraint lets momentum leak (D = 0), so that skin moves though everything inside is
# tied.

# %%
side = np.abs(mesh.vertices[:, 1] - 0.5) < 0.01 + np.abs(mesh.vertices[:, 1] - 0.5).min()
contour = plt.tricontourf(mesh.vertices[side, 0], mesh.vertices[side, 2], leak[side], 12)
plt.colorbar(contour, label="leak", shrink=0.6)
plt.gca().set_aspect("equal")
