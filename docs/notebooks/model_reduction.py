# %% [markdown]
# # Model reduction
#
# A shot of the full space is *learnt*: the principal displacements of its frames in the mass norm become a
# basis, and a few weighted tets, the cubature, stand for the forces of all. [The
# method](../methods/model_reduction.md) has the formulas, after Barbič's course notes, 2012.

# %%
import time

import jounce
import numpy as np
from matplotlib import pyplot as plt

points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
weights = np.stack([points[:, 0] < 2.0, points[:, 0] > 2.0], axis=1).astype(float)
body = jounce.Body(points, triangles, weights, resolution=12, modes=8, clusters=40)

frames = 48
poses = np.tile(np.eye(3, 4), (frames, 2, 1, 1))
swing = 0.5 * np.sin(0.35 * np.arange(frames))
poses[:, 1, 2, 3] = swing
poses[:, 1, 0, 2] = 0.3 * swing

# %% [markdown]
# ## The shot in the full space


# %%
def played(model):
    """Displacements in each frame, and seconds."""
    firmness = (2.0 / body.model.frequency) ** 2
    simulation = jounce.Simulation(model, dt=1 / 24, damping=0.05, stiffness=firmness)
    simulation.reset(poses[0])
    start, moved = time.perf_counter(), []
    for pose in poses:
        simulation.step(pose)
        moved.append(simulation.displacement())
    return np.array(moved), time.perf_counter() - start


truth, slow = played(body.full_space())

# %% [markdown]
# ## Learnt
#
# A few displacements replay the shot. The error is the root mean square over all vertices and frames, as a
# share of that of the motion.

# %%
counts, errors = (2, 4, 8, 16), []
for count in counts:
    learnt = body.learn(truth, poses, count=count)
    moved, fast = played(learnt)
    errors.append(np.linalg.norm(moved - truth) / np.linalg.norm(truth))
    print(f"{count:3} displacements asked, {learnt.basis.shapes.shape[0]:3} learnt, error {errors[-1]:.1%}")
draft = np.linalg.norm(played(body.model)[0] - truth) / np.linalg.norm(truth)

plt.semilogy(counts, errors, "o-", label="learnt")
plt.axhline(draft, color="gray", linestyle="--", label=f"{body.model.mode_count} skinning modes")
plt.xlabel("displacements")
plt.ylabel("error")
plt.legend()
assert errors[-1] < 0.2 * draft

# %%
places = [body.rig.posed(body.mesh.vertices, pose) for pose in poses]
apart = np.linalg.norm(moved - truth, axis=2)
axes = jounce.plot.strip(places + moved, body.mesh.boundary, apart, count=6)
axes.figure.colorbar(axes.collections[-1], ax=axes, label="off the full space (m)", shrink=0.6)
