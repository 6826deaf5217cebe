"""Fits capsules to the flesh around bones, and finds the bones of limbs, which are to have some."""

from dataclasses import dataclass

import numpy as np

# A capsule is there for bones that are main to so many points, and of such a radius and length, as shares of
# the diagonal.
FEWEST, THIN, SHORT = 8, 0.006, 0.03
# Ends are where all but these shares of the flesh lie between.
ENDS = (2.0, 98.0)
# Half of the shortest segment of a capsule's mesh, as a share of its radius.
SHORTEST = 1e-3
# A branch is one of this share of all flesh: fingers are none.
BRANCH = 0.01
# Flesh that a bone and those next to it move by this share passes through the bone's capsule.
OWN = 0.3
# As does flesh that is no further from it at rest than this share of how deep the deepest is in it.
CLOSE = 0.3


@dataclass(frozen=True, eq=False)
class Capsule:
    """A segment at rest, (3,) each, and a radius; metres."""

    start: np.ndarray
    end: np.ndarray
    radius: float

    @property
    def volume(self) -> float:
        """Of the capsule, m^3."""
        length = float(np.linalg.norm(self.end - self.start))
        return np.pi * self.radius**2 * (length + 4.0 / 3.0 * self.radius)

    def miss(self, points: np.ndarray) -> float:
        """How far points (p, 3) are from its skin, root mean square, metres."""
        along = self.end - self.start
        square = max(float(along @ along), np.finfo(float).tiny)
        share = np.clip((points - self.start) @ along / square, 0.0, 1.0)
        away = np.linalg.norm(points - self.start - share[:, None] * along, axis=1) - self.radius
        return float(np.sqrt(np.mean(away**2)))


def fitted(
    points: np.ndarray, heads: np.ndarray, ends: np.ndarray, weights: np.ndarray
) -> list[Capsule | None]:
    """A capsule for each bone with enough flesh, along it, in the middle of the flesh that it moves most.

    points: (p, 3). heads: (b, 3). ends: (e, b, 3), where each may end: the end whose capsule is nearest to
    the flesh is taken. weights: (p, b). The radius is the median distance from the axis, so that half of the
    skin stands out of the capsule a little.
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
    """The capsule of one bone, none where it has too little flesh."""
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
    """The bones with capsules that are of limbs: chains along which only one branch of flesh goes on.

    A bone alone that hangs on the trunk, as for a belly, is flesh of the trunk.
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
    """The bones above one."""
    found: list[int] = []
    while parents[bone] >= 0:
        bone = int(parents[bone])
        found.append(bone)
    return found


def spared(weights: np.ndarray, parents: np.ndarray, bone: int, away: np.ndarray) -> np.ndarray:
    """The points (k,) that pass through a bone's capsule: of it and bones next to it, and what is close.

    weights: (p, b). away: (p,) how far points are from the capsule at rest, metres, negative inside.
    """
    bones = np.arange(len(parents))
    near = (bones == bone) | (parents == bone) | (bones == parents[bone])
    own = weights[:, near].sum(axis=1) > OWN
    return np.flatnonzero(own | (away < -CLOSE * away.min()))


def mesh(
    half: float, radius: float, sides: int = 16, rings: int = 4
) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """Points (p, 3) and faces of a capsule along y about the origin. half: of the length of its segment.

    It is never so short that it does not tell which way it runs. sides: a multiple of four, so that its
    bounding box is that of a round one. rings: of each cap.
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
