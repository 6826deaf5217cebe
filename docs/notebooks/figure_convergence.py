# %% [markdown]
# # Figure: convergence of quasi-Newton descent
#
# The descent of the full space starts each direction with a factored Laplacian, and corrects it by L-BFGS
# (Liu, Bouaziz, Kavan, fig. 4 compares memories and metrics). Here the distance to the minimum falls with
# the iterations of a single large step: without curvature pairs, with five (the default), and by Newton's
# method, which factors a new matrix in each iteration. Beside it is a minimiser that knows nothing of the
# Laplacian, SciPy's L-BFGS on `ElasticEnergy`.

# %%
import jounce
import numpy as np
from jounce import operators
from matplotlib import pyplot as plt
from scipy import optimize

points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
mesh = jounce.TetMesh.lattice(points, triangles, resolution=10)
material = jounce.Material(young=5e4, poisson=0.4, law="neo_hookean")
held = mesh.vertices[:, 0] < 0.2
model = jounce.Model.full_space(mesh, material, pinned=held)
gravity, dt = np.array([0.0, 0.0, -9.81]), 0.1


def after(iterations, minimiser=5):
    """Displacements of one step with at most this many iterations."""
    limits = {"max_iterations": iterations, "tolerance": 0.0, "minimiser": minimiser}
    simulation = jounce.Simulation(model, dt=dt, gravity=tuple(gravity), **limits)
    simulation.step()
    return simulation.coefficients


exact = after(2000)
mass = operators.lumped_mass(mesh, material)


def distance(u):
    """Root mean square over the mass, as a share of the largest motion."""
    return np.sqrt((mass[:, None] * (u - exact) ** 2).sum() / mass.sum()) / np.abs(exact).max()


counts = np.unique(np.geomspace(1, 60, 14).round().astype(int))
courses = {
    label: [distance(after(int(count), minimiser)) for count in counts]
    for minimiser, label in ((0, "Laplacian alone"), (5, "Laplacian and L-BFGS"), ("newton", "Newton"))
}

# %% [markdown]
# The same incremental energy, `m / (2 h^2) |u - h^2 g|^2 + E(X + u)`, by SciPy:

# %%
energy, free, course = operators.ElasticEnergy(mesh, material), ~held, []


def incremental(flat):
    """Energy of a step and its gradient at the free vertices."""
    u = np.zeros_like(mesh.vertices)
    u[free] = flat.reshape(-1, 3)
    apart = u - dt**2 * gravity
    inertia = mass[:, None] / dt**2 * apart
    value = 0.5 * (inertia[free] * apart[free]).sum() + energy.value(mesh.vertices + u)
    return value, (inertia + energy.gradient(mesh.vertices + u))[free].ravel()


def recorded(flat):
    """Keeps the distance of an iterate."""
    u = np.zeros_like(mesh.vertices)
    u[free] = flat.reshape(-1, 3)
    course.append(distance(u))


start = np.zeros(3 * free.sum())
options = {"maxiter": 150, "ftol": 0, "gtol": 0}
optimize.minimize(incremental, start, jac=True, method="L-BFGS-B", callback=recorded, options=options)
for label, jounced in courses.items():
    plt.semilogy(counts, np.maximum(jounced, 1e-10), "o-", label=f"Jounce: {label}")
plt.semilogy(np.arange(1, len(course) + 1), course, label="SciPy: L-BFGS alone")
plt.xlabel("iterations of one step")
plt.ylabel("distance to the minimum")
plt.xlim(0, 100)
plt.legend()
paired, plain = (
    np.interp(20, counts, courses[label]) for label in ("Laplacian and L-BFGS", "Laplacian alone")
)
print(f"after 20 iterations: {paired:.1e}, without pairs {plain:.1e}, SciPy {course[19]:.1e}")
assert paired < 0.1 * course[19] and paired < plain
