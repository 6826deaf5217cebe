# %% [markdown]
# # Figure: what hyper-reduction leaves out
#
# Figures 3 to 5 and table 2 of hyper-reduced projective dynamics (Brandt et al.), on bodies of our own: the
# paper's armadillo and dragon are a doll of boxes here, with arms, legs and ears. `Model.full_space` is the
# full method, and `Model.projective` the reduced one. `cargo x notebooks figure_hyper_reduction` makes all.

# %%
import time

import jounce
import numpy as np
from jounce import operators
from matplotlib import pyplot as plt
from scipy.cluster.vq import kmeans2
from scipy.linalg import lstsq

gravity = (0.0, 0.0, -9.81)


def joined(*boxes):
    """Surface of boxes, each a size and a centre."""
    points, triangles = [], []
    for size, center in boxes:
        corners, faces = jounce.shapes.box(size)
        triangles.append(faces + sum(map(len, points)))
        points.append(corners - corners.mean(axis=0) + center)
    return np.concatenate(points), np.concatenate(triangles)


# %% [markdown]
# ## Figure 3: energy over the iterations
#
# A bar of 4 m is bent to a U and let go, with two steps of half a second. The objective of a step, inertia
# and elastic energy with a rotation for each tet (2), is evaluated after 1 to 100 iterations. Both methods
# start in the same place, and lose most of the energy in ten iterations; the reduced one ends a little
# higher, after a fraction of the time. (As in the paper, the start of the second step is out of range.)

# %%
bar = jounce.TetMesh.lattice(*jounce.shapes.box((4.0, 1.0, 1.0)), resolution=32)
rubber = jounce.Material(young=1e5)
mass = operators.lumped_mass(bar, rubber)
elastic = operators.ElasticEnergy(bar, rubber)
along = bar.vertices[:, 0] - np.average(bar.vertices[:, 0], weights=mass)
bend = np.zeros_like(bar.vertices)
bend[:, 2] = 30.0 * mass * (along**2 - np.average(along**2, weights=mass))
counts, dt = np.unique(np.geomspace(1, 100, 16).round().astype(int)), 0.5

model = jounce.Model.projective(bar, rubber, handles=60, clusters=400)
reduced = jounce.Simulation(model, dt=1 / 30, damping=1.0, max_iterations=50)
reduced.place()
for _ in range(90):
    reduced.step(force=model.reduce_forces(bend))
reduced.cut()
reduced.vary(dt=dt, damping=0.0, tolerance=0.0)
bent = reduced.displacement()

# The full space takes the bent place as a pose of its rig, which the first step undoes.
rig = jounce.Rig(bar, np.ones((len(bar.vertices), 1)))
model = jounce.Model.full_space(bar, rubber, rig, complementary=False)
full = jounce.Simulation(model, dt=dt, pose_rest=0.0, tolerance=0.0)
still = {"pose": np.eye(3, 4)[None], "offsets": np.zeros_like(bar.vertices)}
full.reset(still["pose"], offsets=bent)


def descended(simulation, start, target, inputs):
    """Objectives, J, of a step before and after iterations, and seconds of an iteration; then makes it."""
    before = simulation.save_state()

    def objective(x):
        return 0.5 / dt**2 * (mass[:, None] * (x - target) ** 2).sum() + elastic.value(x)

    values, seconds = [objective(start)], []
    for count in counts:
        simulation.restore_state(before)
        simulation.vary(max_iterations=int(count))
        began = time.perf_counter()
        simulation.step(**inputs)
        seconds.append((time.perf_counter() - began) / count)
        values.append(objective(bar.vertices + simulation.displacement()))
    return np.array(values), min(seconds)


figure, panels = plt.subplots(1, 3, sharey=True, figsize=(10, 3.4))
costs = []
for name, simulation, inputs in (("full", full, still), ("reduced", reduced, {})):
    start = bar.vertices + bent
    first, cost = descended(simulation, start, start, inputs)
    middle = bar.vertices + simulation.displacement()
    second, _ = descended(simulation, middle, 2.0 * middle - start, inputs)
    milliseconds = 1e3 * cost * np.append(0, counts)
    panels[0].plot(np.append(0, counts), first, ".-", label=name)
    panels[1].plot(milliseconds, first, ".-")
    panels[2].plot(milliseconds[1:], second[1:], ".-")
    costs.append(cost)
    print(f"{name:7}: from {first[0]:.0f} to {first[-1]:.0f} J, then {second[-1]:.0f} J")
panels[0].set_xlabel("iterations, first step")
panels[0].set_ylabel("objective of the step (J)")
panels[0].set_xlim(0, 30)
panels[0].set_ylim(0, 25e3)
panels[0].legend()
for panel in panels[1:]:
    panel.set_xlim(0, 15e3 * max(costs))
panels[1].set_xlabel("milliseconds, first step")
panels[2].set_xlabel("milliseconds, second step")
print(f"an iteration is {costs[0] / costs[1]:.0f} times faster; in the paper about 30 times")

# %% [markdown]
# ## Figure 5: a doll falls on the ground
#
# A doll of 3 m falls, 240 steps a second of ten iterations, in the full space and with 120 handles, the
# paper's 1,440 degrees of freedom. The fine time step shows what the reduction leaves out. The paper sees no
# difference between ten and a thousand iterations; here it is a number.

# %%
doll = jounce.TetMesh.lattice(
    *joined(
        ((0.8, 0.5, 1.0), (0.0, 0.0, 0.0)),
        ((0.5, 0.4, 0.5), (0.0, 0.0, 0.7)),
        ((0.9, 0.2, 0.2), (0.8, 0.0, 0.35)),
        ((0.9, 0.2, 0.2), (-0.8, 0.0, 0.35)),
        ((0.3, 0.3, 1.0), (0.25, 0.0, -0.9)),
        ((0.3, 0.3, 1.0), (-0.25, 0.0, -0.9)),
        ((0.1, 0.1, 0.5), (0.2, 0.0, 1.1)),
        ((0.1, 0.1, 0.5), (-0.2, 0.0, 1.1)),
    ),
    resolution=40,
)
jelly = jounce.Material(young=1e5)
turned = np.array([[0.8, 0.0, 0.6, 0.0], [0.0, 1.0, 0.0, 0.0], [-0.6, 0.0, 0.8, 1.5]])


def fallen(model, frames, rate=240, iterations=10, obstacles=()):
    """Places of the vertices in the frames of a fall."""
    colliders = [jounce.Collider.plane(), *obstacles]
    solver = {"max_iterations": iterations, "tolerance": 0.0}
    simulation = jounce.Simulation(model, dt=1 / rate, gravity=gravity, colliders=colliders, **solver)
    simulation.place(turned, velocity=(0.0, 0.0, -3.0))
    places = []
    for _ in range(frames):
        simulation.step()
        places.append(doll.vertices + simulation.displacement())
    return np.array(places)


def apart(these, those):
    """Root mean squares of distances, as shares of the doll's height."""
    return np.sqrt(((these - those) ** 2).sum(axis=2).mean(axis=1)) / np.ptp(doll.vertices[:, 2])


models = {k: jounce.Model.projective(doll, jelly, handles=k, clusters=400) for k in (30, 120, 330)}
whole, few = (fallen(model, 100) for model in (jounce.Model.full_space(doll, jelly), models[120]))
figure, rows = plt.subplots(2, 1, figsize=(10, 6))
for axes, places, name in zip(rows, (whole, few), ("full", "1,440 degrees of freedom"), strict=True):
    jounce.plot.strip(places[30:], doll.boundary, ax=axes)
    axes.set_title(name)
print(
    f"{len(doll.vertices):,} vertices; reduced and full: {apart(few, whole).max():.1%} of the height at most"
)
ten, thousand = (fallen(models[120], 40, rate=60, iterations=count) for count in (10, 1000))
print(f"10 and 1,000 iterations, 60 steps a second: {apart(ten, thousand).max():.1e} of the height at most")

# %% [markdown]
# ## Table 2: what the handles can show
#
# Every frame of the full fall, projected onto three subspaces; errors as shares of the norm of the doll,
# about its centre. The paper's are those of its armadillo.

# %%
norm = np.linalg.norm(doll.vertices - doll.vertices.mean(axis=0))
print("degrees of freedom   mean   largest   the paper's")
paper = {30: "0.0269, 0.0513", 120: "0.0106, 0.0228", 330: "0.0057, 0.0112"}
means = []
moved = (whole - doll.vertices).transpose(1, 0, 2).reshape(len(doll.vertices), -1)


def weights(model):
    """Weights of the handles at the vertices: what moves if a handle moves by a metre."""
    moves = np.zeros(model.coefficient_shape)
    columns = []
    for handle in range(len(moves)):
        moves[:] = 0.0
        moves[handle, 0, 3] = 1.0
        columns.append(model.displacement(moves)[:, 0])
    return np.stack(columns, axis=1).astype(float)


for handles, model in models.items():
    affine = np.column_stack([doll.vertices, np.ones(len(doll.vertices))])
    basis = (weights(model)[:, :, None] * affine[:, None, :]).reshape(len(affine), -1)
    rest = moved - basis @ lstsq(basis, moved, cond=1e-6, lapack_driver="gelsy")[0]
    missed = np.linalg.norm(rest.reshape(len(affine), -1, 3), axis=(0, 2))
    means.append(np.mean(missed) / norm)
    print(f"{12 * handles:18,}   {means[-1]:.4f}  {max(missed) / norm:.4f}   {paper[handles]}")
assert means[0] > means[1] > means[2]

# %% [markdown]
# ## Figure 4: projections from a few tets
#
# The reduced doll falls on a ball and rolls to the ground. In every fourth frame, rotations of all tets give
# the right side of the global step, `S' p`. The paper takes 400 sampled tets and fits the weights of 40
# handles, 360 degrees of freedom, to their projections (8, 9). Jounce takes 400 rotations too, one for each
# cluster of tets, nearest to its mean.

# %%
ball = jounce.Collider.sphere(0.6, (0.2, 0.0, 0.0))
frames = fallen(models[120], 120, rate=120, obstacles=[ball])[::4]
gradient = operators.gradient(doll).to_scipy()
volumes = np.repeat(doll.volumes, 3)
middles = doll.vertices[doll.tets].mean(axis=1)
_, labels = kmeans2(middles, 400, minit="++", seed=0)


def rotations(gradients):
    """The nearest rotation of each matrix."""
    left, _, right = np.linalg.svd(gradients)
    left[:, :, 2] *= np.linalg.det(left @ right)[:, None]
    return left @ right


def means(values):
    """Means over the clusters, by volume, at their tets."""
    sums = np.zeros((400, 3, 3))
    np.add.at(sums, labels, doll.volumes[:, None, None] * values)
    return (sums / np.bincount(labels, doll.volumes, 400)[:, None, None])[labels]


def spread_out(points, count):
    """Points far from each other, the furthest from all before first."""
    chosen, distances = [], np.full(len(points), np.inf)
    for _ in range(count):
        chosen.append(int(np.argmax(distances)))
        distances = np.minimum(distances, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return chosen


samples = spread_out(middles, 400)
handles = weights(jounce.Model.projective(doll, jelly, 40, 40))
fit = handles[doll.tets].mean(axis=1)
errors = {"fitted to 400 tets (the paper)": [], "400 clusters (Jounce)": []}
for x in frames:
    stretched = (gradient @ x).reshape(-1, 3, 3).transpose(0, 2, 1)
    exact = rotations(stretched)
    fitted = fit @ np.linalg.lstsq(fit[samples], exact[samples].reshape(-1, 9), rcond=1e-8)[0]
    shared = rotations(means(stretched))
    right = [
        gradient.T @ (volumes[:, None] * p.reshape(-1, 3, 3).transpose(0, 2, 1).reshape(-1, 3))
        for p in (exact, fitted, shared)
    ]
    for curve, side in zip(errors.values(), right[1:], strict=True):
        curve.append(np.linalg.norm(side - right[0]) / np.linalg.norm(right[0]))
figure, (above, below) = plt.subplots(2, 1, figsize=(10, 5))
jounce.plot.strip(frames, doll.boundary, ax=above)
for name, curve in errors.items():
    below.plot(np.arange(len(curve)) / 30, curve, label=name)
    print(f"{name}: {np.mean(curve):.1%} in the mean, {max(curve):.1%} at most")
below.set_xlabel("time (s)")
below.set_ylabel("error of the right side")
below.set_ylim(bottom=0.0)
below.legend()
assert np.mean(curve) < np.mean(errors["fitted to 400 tets (the paper)"])
