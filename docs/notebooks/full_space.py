# %% [markdown]
# # The full space
#
# The final motion of Jounce has no modes: every vertex of the cage moves, and each step minimises the
# incremental energy of any hyperelastic law by quasi-Newton descent, whose metric is a factored Laplacian.
# [The method](../methods/quasi_newton.md) has the formulas, by Liu, Bouaziz and Kavan, 2017.

# %%
import jounce
import numpy as np
from jounce import operators

points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
mesh = jounce.TetMesh.lattice(points, triangles, resolution=12)
held = mesh.vertices[:, 0] < 0.2
gravity = (0.0, 0.0, -9.81)

# %% [markdown]
# ## Laws
#
# The same bar of four laws, whose stiffness at rest is the same, hangs from its left end in static
# equilibrium.

# %%
frames, energies = [], {}
for law in ("corotated", "neo_hookean", "mooney_rivlin", "stvk"):
    material = jounce.Material(young=8e5, poisson=0.4, law=law)
    model = jounce.Model.full_space(mesh, material, pinned=held)
    simulation = jounce.Simulation(model, gravity=gravity)
    report = simulation.settle()
    frames.append(mesh.vertices + simulation.displacement())
    energies[law] = operators.ElasticEnergy(mesh, material).value(mesh.vertices + simulation.coefficients)
    joules = f"{report.energy:7.1f} J, as ElasticEnergy has it: {energies[law]:7.1f} J"
    print(f"{law:14} {report.iterations:4} iterations, {joules}")
    assert abs(energies[law] / report.energy - 1.0) < 1e-9
jounce.plot.strip(frames, mesh.boundary, count=4)

# %% [markdown]
# ## Balance
#
# In equilibrium the gradient of the elastic energy bears the weight of each free vertex, and one step of
# Newton's method from there, with the sparse Hessian, changes hardly anything.

# %%
from scipy.sparse.linalg import spsolve

energy = operators.ElasticEnergy(mesh, material)
x = mesh.vertices + simulation.coefficients
weight = operators.lumped_mass(mesh, material)[:, None] * gravity
residual = (energy.gradient(x) - weight)[~held]
print(f"largest force out of balance: {np.abs(residual).max():.1e} N of {np.abs(weight).max():.1f} N")

rows = np.flatnonzero(np.repeat(~held, 3))
hessian = energy.hessian(x).to_scipy()[rows][:, rows]
step = spsolve(hessian.tocsc(), -residual.ravel())
print(f"Newton's step moves no vertex by more than {np.abs(step).max():.1e} m")
assert np.abs(step).max() < 1e-3

# %% [markdown]
# ## Motion

# %%
model = jounce.Model.full_space(mesh, jounce.Material(young=8e6, poisson=0.4, law="neo_hookean"), pinned=held)
curves = {}
for integrator in ("backward_euler", "bdf2"):
    simulation = jounce.Simulation(model, dt=1 / 48, gravity=gravity, integrator=integrator)
    curves[integrator] = [simulation.step() for _ in range(60)]
jounce.plot.energies(curves, dt=1 / 48).set_title("let go: backward Euler loses energy, BDF2 keeps more")
