# %% [markdown]
# # Skinning modes
#
# The draft of Jounce moves a body by a few *skinning modes*: scalar fields on the flesh, each weighted with
# a 3x4 matrix, as a bone is. They are the lowest eigenvectors of a Laplacian under the constraint that the
# motion which they make is *complementary* to the rig: the animator's pose stays as it is. [The
# method](../methods/skinning_modes.md) has the formulas, by Benchekroun et al., 2023.

# %%
import jounce
import numpy as np
from matplotlib import pyplot as plt

points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
mesh = jounce.TetMesh.lattice(points, triangles, resolution=16)
along = np.clip((mesh.vertices[:, 0] - 1.0) / 2.0, 0.0, 1.0)
rig = jounce.Rig(mesh, np.stack([1.0 - along, along], axis=1))
print(mesh, rig)

# %% [markdown]
# ## The same modes with SciPy
#
# `jounce.operators` has the matrices of which the modes are made. The eigenproblem is small enough here for
# dense linear algebra: null space of the constraint, then the lowest generalised eigenvectors.

# %%
from jounce import operators
from scipy import linalg

material = jounce.Material(young=1e4, density=1000.0)
constraint = operators.weight_constraint(mesh, material, rig).to_scipy().toarray()
free = linalg.null_space(constraint)
hessian = operators.weight_hessian(mesh, material).to_scipy()
mass = operators.lumped_mass(mesh, material)
values = linalg.eigh(free.T @ (hessian @ free), free.T @ (mass[:, None] * free), eigvals_only=True)

modes = jounce.skinning_modes(mesh, material, 12, rig)
apart = np.abs(values[:12] / modes.eigenvalues - 1.0).max()
print(f"{constraint.shape[0]} rows of constraint; eigenvalues differ by {apart:.1e}")
assert apart < 1e-6

# %%
figure, (left, right) = plt.subplots(1, 2, width_ratios=(1, 2))
jounce.plot.spectrum(modes, ax=left, label="Jounce")
jounce.plot.spectrum(np.sqrt(values[:12]) / (2 * np.pi), ax=left, label="SciPy", marker="x", markersize=7)
left.legend()
side = mesh.vertices[:, 1] < 1e-9
for number in range(3):
    right.tricontourf(
        mesh.vertices[side, 0], mesh.vertices[side, 2] - 1.4 * number, modes.weights[side, number], 12
    )
right.set_aspect("equal")
right.set_axis_off()
right.set_title("the three lowest modes on a side of the bar")

# %% [markdown]
# ## Motion
#
# Clusters of tets share a rotation. The bone at the right end jerks upwards, and the flesh follows.

# %%
labels = jounce.cluster_tets(mesh, modes, 40)
model = jounce.Model.skinning(mesh, material, modes, labels, rig)
simulation = jounce.Simulation(model, dt=1 / 24, damping=0.05, stiffness=(2.0 / model.frequency) ** 2)

pose = np.tile(np.eye(3, 4), (2, 1, 1))
simulation.reset(pose)
frames = []
for frame in range(24):
    pose[1, 2, 3] = 0.6 * min(frame / 4, 1.0)
    simulation.step(pose)
    frames.append(rig.posed(mesh.vertices, pose) + simulation.displacement())
jounce.plot.strip(frames, mesh.boundary, count=6)
lag = np.abs(simulation.displacement()).max()
print(f"after {simulation.time:.2f} s the flesh is {lag:.3f} m from its pose")
