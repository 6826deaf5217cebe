"""Bones of a face: no limbs, and they tell where the skull is."""

import jounce
import numpy as np

# Half extents and centre of each block of a figure 1.8 m tall, arms out along x, facing -y.
BLOCKS = (
    ((0.2, 0.14, 0.26), (0.0, 0.0, 1.16)),
    ((0.06, 0.06, 0.1), (0.0, 0.0, 1.5)),
    ((0.11, 0.12, 0.14), (0.0, 0.0, 1.67)),
    *(((0.1, 0.1, 0.26), (0.12 * side, 0.0, 0.72)) for side in (1, -1)),
    *(((0.05, 0.05, 0.24), (0.12 * side, 0.0, 0.28)) for side in (1, -1)),
    *(((0.045, 0.12, 0.04), (0.12 * side, -0.06, 0.04)) for side in (1, -1)),
    *(((0.32, 0.05, 0.05), (0.5 * side, 0.0, 1.38)) for side in (1, -1)),
    *(((0.09, 0.05, 0.02), (0.9 * side, 0.0, 1.38)) for side in (1, -1)),
)
# Head, tail and parent of each bone: of trunk, neck and skull, of legs and arms, and of the face.
BODY = (
    ((0, 0.02, 0.95), (0, 0.02, 1.15), -1),
    ((0, 0.02, 1.15), (0, 0.02, 1.45), 0),
    ((0, 0.02, 1.45), (0, 0, 1.56), 1),
    ((0, 0, 1.56), (0, 0, 1.78), 2),
)
LIMBS = (
    ((0.12, 0, 0.9), (0.12, 0, 0.5), 0),
    ((0.12, 0, 0.5), (0.12, 0.02, 0.08), 4),
    ((0.12, 0.02, 0.08), (0.12, -0.16, 0.04), 5),
    ((0.22, 0, 1.38), (0.5, 0, 1.38), 1),
    ((0.5, 0, 1.38), (0.8, 0, 1.38), 7),
    ((0.8, 0, 1.38), (0.98, 0, 1.38), 8),
)
TEMPLE, JAW = ((0.06, -0.08, 1.56), (0.09, -0.02, 1.8), 3), ((0, -0.06, 1.58), (0, -0.12, 1.56), 3)


def mirrored(bone, first):
    """A bone on the other side. first: row of the limbs there."""
    (head, tail, parent), flip = bone, np.array([-1, 1, 1])
    return (
        tuple(head * flip),
        tuple(tail * flip),
        parent + first - len(BODY) if parent >= len(BODY) else parent,
    )


def cube(cuts=8):
    """Points and triangles of a cube from -1 to 1, cut into squares."""
    u, v = (grid.ravel() for grid in np.meshgrid(*2 * [np.linspace(-1.0, 1.0, cuts + 1)], indexing="ij"))
    at = np.arange(len(u)).reshape(cuts + 1, cuts + 1)
    corners = [each.ravel() for each in (at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:])]
    side = np.concatenate(
        [np.stack([corners[i] for i in chosen], axis=1) for chosen in ((0, 1, 2), (0, 2, 3))]
    )
    points, triangles = [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            place = np.empty((len(u), 3))
            place[:, axis], place[:, (axis + 1) % 3], place[:, (axis + 2) % 3] = sign, u, v
            triangles.append((side if sign > 0.0 else side[:, ::-1]) + len(u) * len(points))
            points.append(place)
    return np.concatenate(points), np.concatenate(triangles)


def figure():
    """Points, triangles and weights of the figure, and heads, parents and names of its bones."""
    right = [mirrored(bone, len(BODY) + len(LIMBS)) for bone in LIMBS]
    bones = [*BODY, *LIMBS, *right, TEMPLE, mirrored(TEMPLE, 0), JAW]
    points, triangles, count = [], [], 0
    for half, at in BLOCKS:
        block, faces = cube()
        points.append(block * half + at)
        triangles.append(faces + count)
        count += len(block)
    points, heads = np.concatenate(points), np.array([bone[0] for bone in bones], float)
    ways = np.array([bone[1] for bone in bones], float) - heads
    from_heads = points[:, np.newaxis] - heads
    along = np.clip((from_heads * ways).sum(axis=2) / (ways**2).sum(axis=1), 0.0, 1.0)
    near = (1e-4 + ((from_heads - along[:, :, np.newaxis] * ways) ** 2).sum(axis=2)) ** -3
    weights = near / near.sum(axis=1, keepdims=True)
    parents = np.array([bone[2] for bone in bones])
    return (points, np.concatenate(triangles), weights), (heads, parents), [""] * (len(bones) - 1) + ["jaw"]


def test_temples_are_no_limbs_and_a_jaw_tells_the_skull():
    (points, triangles, weights), (heads, parents), names = figure()
    core = jounce.SkeletonCore(heads, parents, names=names, amount=0.5, anatomy=True)
    body = jounce.Body(points, triangles, weights=weights, resolution=44, modes=2, cubature=0, core=core)
    x, y, z = np.asarray(body.mesh.vertices).T
    assert body.pinned[z > 1.66].all()
    of = dict(zip(body.parts, np.asarray(body.part_weights), strict=True))
    assert of["thighs"][(np.abs(x) > 0.06) & (z > 0.6) & (z < 0.75)].mean() > 0.5
    assert of["arms"][(np.abs(x) > 0.3) & (np.abs(x) < 0.42) & (z > 1.3)].mean() > 0.5
    assert of["belly"][(np.abs(x) < 0.08) & (y < -0.1) & (z > 1.0) & (z < 1.12)].mean() > 0.5
