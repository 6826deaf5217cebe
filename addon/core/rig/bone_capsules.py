"""Fits capsules to the flesh around bones, and finds the bones of limbs, which need capsules."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# Smallest number of points with the bone as main bone, and smallest radius and length as shares of the
# diagonal, for a capsule.
FEWEST, THIN, SHORT = 8, 0.006, 0.03
# Percentiles of the flesh along the bone, for both ends of the capsule.
ENDS = (2.0, 98.0)
# Half of the shortest segment of a capsule's mesh, as a share of the radius.
SHORTEST = 1e-3
# Smallest share of all flesh for a branch: fingers are none.
BRANCH = 0.01
# Flesh with at least this weight of a bone and its neighbours may pass through the bone's capsule.
OWN = 0.3
# The same for flesh whose distance at rest is below this share of the largest depth in the capsule.
CLOSE = 0.3
# Shares (s, 3) of a triangle's corners at the places where it is looked at, corners included.
PARTS = 8
SAMPLES = np.array([(a, b, PARTS - a - b) for a in range(PARTS + 1) for b in range(PARTS + 1 - a)]) / PARTS

# Distances (n,) of points (n, 3) from a collider, metres, negative inside.
Distances = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Capsule:
    """A segment at rest, (3,) each, and a radius; metres."""

    start: np.ndarray
    end: np.ndarray
    radius: float

    @property
    def volume(self) -> float:
        """Volume of the capsule, m^3."""
        length = float(np.linalg.norm(self.end - self.start))
        return np.pi * self.radius**2 * (length + 4.0 / 3.0 * self.radius)

    def miss(self, points: np.ndarray) -> float:
        """Distance of points (p, 3) from the capsule's skin, root mean square, metres."""
        along = self.end - self.start
        square = max(float(along @ along), np.finfo(float).tiny)
        share = np.clip((points - self.start) @ along / square, 0.0, 1.0)
        away = np.linalg.norm(points - self.start - share[:, None] * along, axis=1) - self.radius
        return float(np.sqrt(np.mean(away**2)))


def fitted(
    points: np.ndarray, heads: np.ndarray, ends: np.ndarray, weights: np.ndarray
) -> list[Capsule | None]:
    """A capsule for each bone with enough flesh, along the bone, in the middle of its main flesh.

    points: (p, 3). heads: (b, 3). ends: (e, b, 3), the candidates for the ends: the best fit wins. weights:
    (p, b). The radius is the median distance from the axis: half of the skin lies slightly outside the
    capsule.
    """
    diagonal = float(np.linalg.norm(np.ptp(points, axis=0)))
    main = weights.argmax(axis=1)
    found: list[Capsule | None] = []
    for bone, head in enumerate(heads):
        own = points[main == bone]
        tried = [made for end in ends[:, bone] if (made := capsule(own, head, end, diagonal)) is not None]
        found.append(min(tried, key=lambda each: each.miss(own), default=None))
    return found


def capsule(own: np.ndarray, head: np.ndarray, tail: np.ndarray, diagonal: float) -> Capsule | None:
    """The capsule of one bone, None with too little flesh."""
    length = float(np.linalg.norm(tail - head))
    if len(own) < FEWEST or length == 0.0:
        return None
    axis = (tail - head) / length
    along = (own - head) @ axis
    across = own - head - along[:, None] * axis
    middle = np.median(across, axis=0)
    radius = float(np.median(np.linalg.norm(across - middle, axis=1)))
    low, high = np.percentile(along, ENDS)
    if radius < THIN * diagonal or high - low < SHORT * diagonal:
        return None
    ends = (low + radius, high - radius) if high - low > 2.0 * radius else (0.5 * (low + high),) * 2
    start, end = (head + middle + place * axis for place in ends)
    return Capsule(start, end, radius)


def limbs(capsules: list[Capsule | None], parents: np.ndarray) -> list[int]:
    """The bones with capsules in limbs: chains with a single branch of flesh.

    A single bone on the trunk, for instance for a belly, belongs to the trunk.
    """
    volumes = np.array([0.0 if each is None else each.volume for each in capsules])
    below = volumes.copy()
    for bone in sorted(range(len(parents)), key=lambda bone: -len(above(bone, parents))):
        if parents[bone] >= 0:
            below[parents[bone]] += below[bone]
    is_branch = (parents >= 0) & (below > BRANCH * volumes.sum())
    branches = np.bincount(parents[is_branch], minlength=len(parents))
    trunk: set[int] = set()
    for bone in np.flatnonzero(branches > 1).tolist():
        trunk.update((bone, *above(bone, parents)))
    alone = {bone for bone in range(len(parents)) if parents[bone] in trunk and bone not in parents}
    return [bone for bone, each in enumerate(capsules) if each is not None and bone not in trunk | alone]


def above(bone: int, parents: np.ndarray) -> list[int]:
    """The ancestors of a bone."""
    found: list[int] = []
    while parents[bone] >= 0:
        bone = int(parents[bone])
        found.append(bone)
    return found


def spared(weights: np.ndarray, parents: np.ndarray, bone: int, away: np.ndarray) -> np.ndarray:
    """The points (k,) that pass through a bone's capsule: those of the bone and its neighbours, and close
    ones.

    weights: (p, b). away: (p,) distances from the capsule at rest, metres, negative inside.
    """
    bones = np.arange(len(parents))
    near = (bones == bone) | (parents == bone) | (bones == parents[bone])
    own = weights[:, near].sum(axis=1) > OWN
    return np.flatnonzero(own | (away < -CLOSE * away.min()))


def entered(points: np.ndarray, triangles: np.ndarray, away: np.ndarray, distances: Distances) -> np.ndarray:
    """The corners (k,) of the triangles (q, 3) that a collider enters at rest, between its points too.

    points: (p, 3). away: (p,) distances of the points from the collider, metres. distances: of any points.
    """
    corners = points[triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    near = away[triangles].min(axis=1, initial=np.inf) < longest
    samples = np.einsum("sc,qcd->qsd", SAMPLES, corners[near])
    deepest = distances(samples.reshape(-1, 3)).reshape(samples.shape[:2]).min(axis=1, initial=np.inf)
    return np.unique(triangles[near][deepest < 0.0])


def mesh(
    half: float, radius: float, sides: int = 16, rings: int = 4
) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """Points (p, 3) and faces of a capsule along y about the origin. half: of the length of the segment.

    A minimum length keeps the axis recognisable. sides: a multiple of four, for the bounding box of a round
    capsule. rings: of each cap.
    """
    half = max(half, SHORTEST * radius)
    lift = 0.5 * np.pi * np.arange(rings) / rings
    heights = np.concatenate([half + radius * np.sin(lift[::-1]), -half - radius * np.sin(lift)])
    widths = radius * np.concatenate([np.cos(lift[::-1]), np.cos(lift)])
    turns = 2.0 * np.pi * np.arange(sides) / sides
    across = np.stack([np.cos(turns), np.zeros(sides), np.sin(turns)], axis=1)
    ring = widths[:, None, None] * across + heights[:, None, None] * (0.0, 1.0, 0.0)
    points = np.concatenate([ring.reshape(-1, 3), [(0.0, half + radius, 0.0), (0.0, -half - radius, 0.0)]])
    top, last = len(points) - 2, (len(widths) - 1) * sides
    faces: list[tuple[int, ...]] = []
    for side in range(sides):
        after = (side + 1) % sides
        faces.append((top, after, side))
        faces.append((top + 1, last + side, last + after))
        for row in range(0, last, sides):
            faces.append((row + side, row + after, row + sides + after, row + sides + side))
    return points, faces
