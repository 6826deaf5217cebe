# %% [markdown]
# # Figure: rotations for free
#
# Each skinning mode is weighted with a whole 3x4 matrix (FastCD, sec. 4). A field of translations, rotated,
# is again one: the span is closed under rotation. Linear modes are not: a rotated mode leaves their span,
# and a body in them grows when it turns.

# %%
import jounce
import numpy as np
from jounce import operators
from matplotlib import pyplot as plt

points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
mesh = jounce.TetMesh.lattice(points, triangles, resolution=12)
material = jounce.Material(young=1e4)
mass = np.repeat(operators.lumped_mass(mesh, material), 3)
n = len(mesh.vertices)


def span(fields):
    """Mass-orthonormal columns."""
    return np.linalg.qr(np.sqrt(mass)[:, None] * fields)[0]


def rotated(fields, angle):
    """Fields of displacements, turned about the y axis."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    return np.einsum("ij,njk->nik", turn, fields.reshape(n, 3, -1)).reshape(3 * n, -1)


# %%
skinning = jounce.skinning_modes(mesh, material, 3)
homogeneous = np.concatenate([mesh.vertices, np.ones((n, 1))], axis=1)
blended = (skinning.weights[:, :, None] * homogeneous[:, None, :]).reshape(n, -1)
skinned = np.einsum("ij,nk->nijk", np.eye(3), blended).reshape(3 * n, -1)
linear = jounce.linear_modes(mesh, material, skinned.shape[1])
bases = {"skinning modes": skinned, "linear modes": linear.shapes.reshape(len(linear.shapes), -1).T}

angles = np.linspace(0.0, np.pi / 2, 10)
for name, fields in bases.items():
    basis = span(fields)
    shares = []
    for angle in angles:
        turned = span(rotated(fields, angle))
        shares.append(np.linalg.norm(turned - basis @ (basis.T @ turned)) / np.sqrt(turned.shape[1]))
    plt.plot(np.degrees(angles), shares, "o-", label=f"{fields.shape[1]} columns of {name}")
    print(f"{name:15} lose {max(shares):.1e} of a rotated field")
plt.xlabel("rotation (degrees)")
plt.ylabel("share that leaves the span")
plt.legend()

# %% [markdown]
# ## What it does to a bend
#
# The end of the bar is turned by a quarter. The nearest motion in each basis, in the mass norm:

# %%
bend = np.clip(mesh.vertices[:, 0] / 4.0, 0.0, 1.0) * np.pi / 2
radius = 8.0 / np.pi
axis = np.stack([np.sin(bend), np.zeros(n), np.cos(bend)], axis=1)
bent = axis * (radius + mesh.vertices[:, 2:] - 0.5) + [0.0, 0.0, 0.5 - radius]
bent[:, 1] = mesh.vertices[:, 1]
frames = [bent]
for name, fields in bases.items():
    basis, target = span(fields), np.sqrt(mass) * (bent - mesh.vertices).ravel()
    found = basis @ (basis.T @ target)
    print(f"{name:15} miss {np.linalg.norm(found - target) / np.linalg.norm(target):.1%} of the bend")
    frames.append(mesh.vertices + (found / np.sqrt(mass)).reshape(n, 3))
jounce.plot.strip(frames, mesh.boundary, count=3).set_title("the bend, in skinning modes, in linear modes")
