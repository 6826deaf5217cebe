# %% [markdown]
# # Figure: subspaces of edited bodies
#
# Incremental deformation subspace reconstruction (Mukherjee, Wu and Wang, 2016) updates the modes of a body
# after an edit, where others factor and decompose the stiffness anew. The figures answer the paper's two
# questions on a fork of our own: how far off are the updated modes, and how much time do they save?
# `cargo x notebooks figure_subspaces` makes it.

# %%
import time

import jounce
import numpy as np
from matplotlib import pyplot as plt

# Two tines on a common root, which is held.
tine, sides = jounce.shapes.box((4.0, 0.35, 1.0))
root, faces = jounce.shapes.box((0.2, 1.0, 1.0))
surface = np.concatenate([tine, tine + [0.0, 0.65, 0.0], root])
triangles = np.concatenate([sides, sides + len(tine), faces + 2 * len(tine)])
mesh = jounce.TetMesh.lattice(surface, triangles, resolution=40)
rubber, held, count = jounce.Material(young=1e5), mesh.vertices[:, 0] < 0.15, 10


def timed(make):
    """Modes and the least seconds of three runs."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        made = make()
        seconds.append(time.perf_counter() - start)
    return made, min(seconds)


def built(material=rubber, **edit):
    """Modes of the edited fork, built anew."""
    return jounce.linear_modes(mesh, material, count, pinned=held, **edit)


before = jounce.linear_modes(mesh, rubber, 2 * count, pinned=held)
print(f"{len(mesh.vertices)} vertices, lowest modes at", before.frequencies[:3].round(3), "Hz")


def compared(update, rebuild):
    """Largest error of an eigenvalue after the update, and seconds anew as multiples of its seconds."""
    (found, quick), (exact, slow) = timed(update), timed(rebuild)
    return np.abs(found.eigenvalues / exact.eigenvalues - 1.0).max(), slow / quick


def drawn(sizes, results, label):
    """Errors and ratios of times by the size of an edit."""
    errors, ratios = np.transpose(results)
    _, (left, right) = plt.subplots(1, 2)
    left.loglog(sizes, errors, "o-")
    left.set(xlabel=label, ylabel="largest error of an eigenvalue")
    right.semilogx(sizes, ratios, "o-")
    right.axhline(1.0, color="grey", linewidth=0.8)
    right.set(xlabel=label, ylabel="time anew / time of the update", ylim=(0.0, None))
    for axes in (left, right):
        axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
        axes.minorticks_off()


# %% [markdown]
# ## Stitches
#
# One to 32 stitches sew the tines together from their free ends on. `LinearModes.stitched` searches in the
# span of the old modes and of static responses to the stitches, with the factor of the plain fork, until its
# own bound is below half a percent. Eigenvalues are closer, and the update is several times as fast.

# %%
x, y, z = mesh.vertices.T
inner = np.flatnonzero((y > 0.0) & (y < 0.5))
lower = inner[np.isclose(y[inner], y[inner][y[inner] < 0.5].max())]
lower = lower[np.argsort(-x[lower])]
beyond = np.flatnonzero(y > 0.5)
near = beyond[np.isclose(y[beyond], y[beyond].min())]
ends = [[a, near[np.hypot(x[near] - x[a], z[near] - z[a]).argmin()]] for a in lower]
sizes = [1, 2, 4, 8, 16, 32]
sewn = [jounce.Stitches(mesh, ends[:size], stiffness=1e3) for size in sizes]
results = [
    compared(lambda edit=edit: before.stitched(edit, count), lambda edit=edit: built(stitches=edit))
    for edit in sewn
]
drawn(sizes, results, "stitches")
print("largest error of an eigenvalue:", f"{max(error for error, _ in results):.1e}")

# %% [markdown]
# ## Stiffness
#
# One tine becomes stiffer, by 1.25 to 20 times. `LinearModes.stiffened` keeps the factor while the search
# converges quickly with it, and would factor anew otherwise. The larger the edit, the longer the search.

# %%
factors = [1.25, 2.0, 5.0, 20.0]
upper = mesh.vertices[mesh.tets].mean(axis=1)[:, 1] > 0.5
results, anew = [], []
for factor in factors:
    share = np.where(upper, factor, 1.0)
    edited = jounce.Material(young=1e5 * share)
    results.append(compared(lambda s=share: before.stiffened(s, count), lambda m=edited: built(m)))
    anew.append(before.stiffened(share, count).refactored)
drawn(factors, results, "factor on the stiffness of a tine")
print("factored anew:", dict(zip(factors, anew, strict=True)))
