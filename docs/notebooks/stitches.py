# %% [markdown]
# # Stitches and edits
#
# Stitches are springs between points of the flesh. A body that is *editable* keeps the factor of its modal
# analysis, so that modes after a change of stitches or stiffness follow from those before, with an estimate
# of their error (Mukherjee, Wu and Wang, 2016). [The method](../methods/skinning_modes.md) has the details.

# %%
import time

import jounce
import numpy as np
from matplotlib import pyplot as plt

points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
# A fork of two tines on a common root.
tines = [points * [1.0, 0.35, 1.0], points * [1.0, 0.35, 1.0] + [0.0, 0.65, 0.0], points * [0.2, 1.0, 1.0]]
surface = np.concatenate(tines)
faces = np.concatenate([triangles + 8 * part for part in range(3)])
weights = np.ones((len(surface), 1))
root = surface[:, 0] < 0.1
settings = {"resolution": 24, "modes": 8, "clusters": 30, "pinned": root, "editable": True}


def timed(**changes):
    """A body and the seconds that it took."""
    start = time.perf_counter()
    made = jounce.Body(surface, faces, weights, **settings | changes)
    return made, time.perf_counter() - start


plain, first = timed()
print(plain)

# %% [markdown]
# ## Sewn
#
# A stitch joins the free ends of both tines. The update starts from the factor of the plain fork.

# %%
# The corner of each box at the end beside the other tine.
right = surface[:8] - surface[:8].mean(axis=0)
ends = [[int(np.argmax(right @ [1, 1, 0])), 8 + int(np.argmax(right @ [1, -1, 0]))]]
sewn, again = timed(stitches=ends, stitch_stiffness=2e3)
updated, quick = timed(stitches=ends, stitch_stiffness=2e3, like=plain)
difference = np.abs(updated.modes.eigenvalues / sewn.modes.eigenvalues - 1.0).max()
print(f"eigenvalues of the update differ by {difference:.1e}; its own bound says {updated.residual:.1e}")

# %%
shown = {"plain": (plain, "o"), "sewn, built anew": (sewn, "x"), "sewn, updated": (updated, "+")}
for name, (body, marker) in shown.items():
    axes = jounce.plot.spectrum(body.modes, ax=plt.gca(), label=name, marker=marker, markersize=8)
axes.legend()

# %% [markdown]
# ## Opened
#
# The same model plays with closed and with open stitches: `stitching` is their active share.

# %%
frames = []
for share in (1.0, 0.0):
    simulation = jounce.Simulation(sewn.full_space(), dt=1 / 48, stitching=share, damping=0.05)
    force = np.zeros_like(sewn.mesh.vertices)
    tip = (sewn.mesh.vertices[:, 0] > 3.8) & (sewn.mesh.vertices[:, 1] < 0.4)
    force[tip, 1] = -40.0 / tip.sum()
    simulation.settle(np.eye(3, 4)[None], force=force)
    frames.append(sewn.mesh.vertices + simulation.displacement())
axes = jounce.plot.strip(frames, sewn.mesh.boundary, axes=(0, 1), count=2)
axes.set_title("one tine is pulled: sewn, and open")
