"""The bone core, the rigid part of a body, as a request to the native module."""

from dataclasses import astuple, dataclass
from enum import Enum
from typing import Literal, cast

import jounce
import numpy as np


class Role(Enum):
    """Behaviour of the flesh of a bone."""

    AUTOMATIC = "AUTOMATIC"
    FLESH = "FLESH"
    RIGID = "RIGID"
    FREE = "FREE"

    @property
    def native(self) -> Literal["automatic", "flesh", "rigid", "free"]:
        """The native module's name of the role."""
        return cast(Literal["automatic", "flesh", "rigid", "free"], self.value.lower())


@dataclass(frozen=True)
class PartSetting:
    """Setting of a part of the body.

    softness: factor on the compliance, > 0. amount: felt share of the rig's acceleration, in [0, 3].
    """

    name: str
    softness: float = 1.0
    amount: float = 1.0


@dataclass(frozen=True)
class BoneCore:
    """A request for a core.

    heads: (b, 3) f64 at rest, metres. parents: (b,) i64, -1 for none. names: hints at parts of the body.
    amount: share that follows the bones, in (0, 1]. rigid: (p,) bool, the hard points of the surface, or
    None. still: (b,) bones moved by their parents alone; empty for none. anatomy: True for a share of bone by
    region and direction. parts: settings of parts of the body; those left out have the usual one.
    """

    heads: np.ndarray
    parents: np.ndarray
    names: tuple[str, ...]
    roles: tuple[Role, ...]
    amount: float
    rigid: np.ndarray | None = None
    still: tuple[bool, ...] = ()
    anatomy: bool = False
    parts: tuple[PartSetting, ...] = ()

    @property
    def is_hard(self) -> bool:
        """True if all points of the surface are hard."""
        return self.rigid is not None and bool(self.rigid.all())

    @property
    def arrays(self) -> tuple[np.ndarray | None, ...]:
        """Arrays per bone or point."""
        return self.heads, self.parents, self.rigid

    @property
    def words(self) -> tuple[object, ...]:
        """Everything except the arrays."""
        said = (self.names, tuple(role.value for role in self.roles), self.amount)
        regional = ("anatomy", *map(astuple, self.parts)) if self.anatomy else ()
        return (*said, self.still, *regional) if self.still else (*said, *regional)

    def native(self, resolution: int) -> "jounce.SkeletonCore":
        """The request for the native module. resolution: cells along the longest side for finding
        thin parts.
        """
        return jounce.SkeletonCore(
            self.heads,
            self.parents,
            names=self.names,
            roles=[role.native for role in self.roles],
            amount=self.amount,
            rigid=self.rigid,
            still=self.still or None,
            resolution=resolution,
            anatomy=self.anatomy,
            parts={part.name: (part.softness, part.amount) for part in self.parts},
        )

    def swings(self, roles: list[str]) -> np.ndarray:
        """Bones (b,) bool that swing freely with these roles without being set to do this."""
        found = zip(self.roles, roles, strict=True)
        return np.array([asked is Role.AUTOMATIC and role == Role.FREE.native for asked, role in found])


def still_bones(parents: np.ndarray, moved: np.ndarray, names: tuple[str, ...]) -> tuple[bool, ...]:
    """Bones (b,) bool without motion of their own or below; empty if there is none, or if it holds for all.

    parents: (b,) i64, -1 for none. moved: (b,) bool. Bones of hands, feet and heads are excluded, and so are
    bones without another still bone directly above or below, which never swing freely.
    """
    hard = np.array([jounce.SkeletonCore.is_hard_name(name) for name in names])
    still = ~(moved | hard)
    for bone in np.flatnonzero(~still):
        above = parents[bone]
        while above >= 0 and still[above]:
            still[above] = False
            above = parents[above]
    has_child = np.zeros(len(still), bool)
    has_child[parents[still & (parents >= 0)]] = True
    still &= has_child | (still[parents] & (parents >= 0))
    return tuple(still.tolist()) if moved.any() and still.any() else ()
