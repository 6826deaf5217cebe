# %% [markdown]
# # Figure: modal derivatives
#
# Linear modes shear where a body should bend. Their *modal derivatives* (Barbič 2012, sec. 3.2) are the
# second-order motion that belongs to pairs of them; with these in the basis a reduced body bends as the
# full space does.

# %%
import jounce
import numpy as np
from matplotlib import pyplot as plt

points, triangles = jounce.shapes.box((6.0, 1.0, 1.0))
mesh = jounce.TetMesh.lattice(points, triangles, resolution=12)
material = jounce.Material(young=4e4, poisson=0.3, law="stvk")
held = mesh.vertices[:, 0] < 0.2
tip = mesh.vertices[:, 0] > 5.9
full = jounce.Model.full_space(mesh, material, pinned=held)


def bent(model, newtons):
    """Places under a force on the tip."""
    simulation = jounce.Simulation(model, max_iterations=2000)
    force = np.zeros_like(mesh.vertices)
    force[tip, 2] = -newtons / tip.sum()
    simulation.settle(force=model.reduce_forces(force), max_iterations=3000)
    return mesh.vertices + simulation.displacement()


# %%
modes = jounce.linear_modes(mesh, material, 6, pinned=held)
bases = {
    "6 linear modes": jounce.Basis(modes.shapes),
    "6 modes and their derivatives": modes.bent_basis(20),
}
newtons = np.linspace(100.0, 900.0, 5)
truth = [bent(full, each) for each in newtons]
plt.plot(newtons, [1.0 - each[tip, 2].mean() for each in truth], "k", label="full space")
last = [truth[-1]]
errors = {}
for name, basis in bases.items():
    model = jounce.Model.reduced(mesh, material, basis)
    places = [bent(model, each) for each in newtons]
    plt.plot(newtons, [1.0 - each[tip, 2].mean() for each in places], "o--", label=name)
    last.append(places[-1])
    errors[name] = np.linalg.norm(places[-1] - truth[-1]) / np.linalg.norm(truth[-1] - mesh.vertices)
    print(f"{name:30} {errors[name]:.1%} off the full space at {newtons[-1]:.0f} N")
plt.xlabel("force on the tip (N)")
plt.ylabel("how far it sinks (m)")
plt.legend()
plain, derived = errors.values()
assert derived < 0.3 * plain

# %%
jounce.plot.strip(last, mesh.boundary, count=3).set_title("full space, linear modes, with derivatives")
