# %% [markdown]
# # Figure: handles and clusters
#
# Hyper-reduced projective dynamics trades exactness for speed by the number of handles, which move the
# body, and of clusters, which have a rotation each (Brandt et al., fig. 3 and 5). A jelly bar held at one
# end hangs by its weight; the more handles, the nearer to the full space of the same energy.

# %%
import time

import jounce
import numpy as np
from matplotlib import pyplot as plt

points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
mesh = jounce.TetMesh.lattice(points, triangles, resolution=12)
material = jounce.Material(young=6e4)
rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
held = mesh.vertices[:, 0] < 0.4
gravity = (0.0, 0.0, -9.81)
pose = np.eye(3, 4)[None]


def hung(model):
    """Places of the vertices in static equilibrium."""
    simulation = jounce.Simulation(model, gravity=gravity, tolerance=1e-7)
    simulation.settle(pose, max_iterations=5000)
    return mesh.vertices + simulation.displacement()


truth = hung(jounce.Model.full_space(mesh, material, rig, pinned=held, complementary=False))

# %%
counts, errors, costs = (4, 8, 16, 32), [], []
for handles in counts:
    at = {"rig": rig, "attached": held, "attachment": 60.0}
    model = jounce.Model.projective(mesh, material, handles, 4 * handles, **at)
    found = hung(model)
    errors.append(np.linalg.norm(found - truth) / np.linalg.norm(truth - mesh.vertices))
    simulation = jounce.Simulation(model, dt=1 / 60, gravity=gravity, max_iterations=10, tolerance=0.0)
    simulation.reset(pose)
    simulation.step(pose)
    start = time.perf_counter()
    for _ in range(20):
        simulation.step(pose)
    costs.append((time.perf_counter() - start) / 20)
    print(f"{handles:3} handles: {errors[-1]:.1%} off the full space")
assert errors[-1] < 0.5 * errors[0]

# %%
figure, (left, right) = plt.subplots(1, 2)
left.loglog(counts, errors, "o-")
left.set_xlabel("handles, a quarter of the clusters")
left.set_ylabel("share of the sag that is missed")
right.loglog(counts, np.array(costs) / costs[0], "o-")
for axes in (left, right):
    axes.set_xticks(counts, counts)
    axes.minorticks_off()
right.set_xlabel("handles")
right.set_ylabel(f"time of a step, in that of {counts[0]} handles")
