"""Limbs of a rig, found from its tree of bones: arms, legs and heads, without names."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

# Least reach of a limb as a share of the height of all bones; difference of the reaches of a pair, as a
# share.
LEAST, ALIKE = 0.15, 0.1
# Drop of a leg from its joint to its end as a share of its reach, and height of the end above the lowest bone
# as a share of the height of all bones.
DROP, GROUND = 0.6, 0.25


@dataclass(frozen=True, eq=False)
class Limb:
    """A limb. bones: (k,), its joint first. links: (m, 2, 3), metres, its lines from bone to bone."""

    bones: np.ndarray
    start: np.ndarray
    links: np.ndarray

    def at_height(self, height: float) -> np.ndarray | None:
        """The place (3,) of the limb at a height, None above its joint and below its end."""
        low, high = self.links[:, :, 2].min(axis=1), self.links[:, :, 2].max(axis=1)
        crossing = np.flatnonzero((low <= height) & (height < high))
        if not len(crossing):
            return None
        one, other = self.links[crossing[0]]
        return one + (height - one[2]) / (other[2] - one[2]) * (other - one)


@dataclass(frozen=True, eq=False)
class Limbs:
    """Limbs of a rig. arms, heads: rows of their bones. legs: pairs of limbs."""

    arms: np.ndarray
    heads: np.ndarray
    legs: tuple[tuple[Limb, Limb], ...]

    @property
    def of_legs(self) -> np.ndarray:
        """Rows of the bones of all legs."""
        return np.unique([bone for pair in self.legs for limb in pair for bone in limb.bones]).astype(int)


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The bones of a rig at rest. heads: (b, 3), metres. parents: (b,), -1 for none."""

    heads: np.ndarray
    parents: np.ndarray

    @cached_property
    def limbs(self) -> Limbs:
        """Arms and legs are pairs of branches alike; heads are the bones without a pair at or below them."""
        below = self._below()
        height = float(np.ptp(self.heads[:, 2])) if len(self.heads) else 0.0
        reach = [
            float(np.linalg.norm(self.heads[own] - self.heads[bone], axis=1).max()) for bone, own in below
        ]
        arms: set[int] = set()
        legs: list[tuple[Limb, Limb]] = []
        paired: set[int] = set()
        for one, other in self._pairs(reach, [len(own) for _, own in below], LEAST * height):
            pair = self._limb(below[one][1]), self._limb(below[other][1])
            paired.update(below[one][1], below[other][1])
            if all(self._stands(limb, height) for limb in pair):
                legs.append(pair)
            else:
                arms.update(below[one][1], below[other][1])
        above = {bone for start in paired for bone in self._above(start)}
        heads = [bone for bone in range(len(self.parents)) if bone not in above | paired]
        return Limbs(np.array(sorted(arms), int), np.array(heads, int), tuple(legs))

    def _below(self) -> list[tuple[int, list[int]]]:
        """Each bone with all bones below it, itself first."""
        children: dict[int, list[int]] = {}
        for bone, parent in enumerate(self.parents.tolist()):
            children.setdefault(parent, []).append(bone)

        def all_of(bone: int) -> list[int]:
            found, new = [], [bone]
            while new:
                found += new
                new = [child for each in new for child in children.get(each, [])]
            return found

        return [(bone, all_of(bone)) for bone in range(len(self.parents))]

    def _pairs(self, reach: list[float], counts: list[int], least: float) -> list[tuple[int, int]]:
        """Branches of one bone that reach about as far with as many bones."""
        found: list[tuple[int, int]] = []
        taken: set[int] = set()
        for one in range(len(self.parents)):
            for other in range(one + 1, len(self.parents)):
                if self.parents[one] != self.parents[other] or counts[one] != counts[other]:
                    continue
                longest = max(reach[one], reach[other])
                is_long = longest >= least and abs(reach[one] - reach[other]) <= ALIKE * longest
                if is_long and not taken & {one, other}:
                    found.append((one, other))
                    taken |= {one, other}
        return found

    def _limb(self, bones: list[int]) -> Limb:
        ends = np.array([bone for bone in bones[1:]], int)
        links = np.stack([self.heads[self.parents[ends]], self.heads[ends]], axis=1)
        return Limb(np.array(bones), self.heads[bones[0]], links.reshape(-1, 2, 3))

    def _stands(self, limb: Limb, height: float) -> bool:
        places = self.heads[limb.bones]
        end = places[np.linalg.norm(places - limb.start, axis=1).argmax()]
        drop, way = limb.start[2] - end[2], np.linalg.norm(end - limb.start)
        return bool(drop >= DROP * way and end[2] - self.heads[:, 2].min() <= GROUND * height)

    def _above(self, bone: int) -> list[int]:
        found = []
        while self.parents[bone] >= 0:
            bone = int(self.parents[bone])
            found.append(bone)
        return found
