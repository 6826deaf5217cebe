"""The surface of a body for the build: all render meshes in one, at rest, in world space and metres."""

import hashlib
from dataclasses import astuple, dataclass, field, fields

import numpy as np

from ..common.user_error import UserError
from ..flesh.settings import AttachedSettings, BuildSettings, LooseSettings, PinnedSettings
from ..rig.bone_core import BoneCore
from .maps import Maps
from .stitches import NONE, Stitches

# Version of the build: increases when the same surface and settings give another body, which invalidates
# stored motion.
BUILDING = 8


@dataclass(frozen=True)
class Part:
    """One render mesh of a body.

    name: of the object. points: rows of the surface. to_world: 3x3, from offsets in the object's space at
    rest (Blender units) to world offsets (metres). preserves_volume: True if the armature blends rigid
    motions instead of matrices. stands: (p,) i64, the representative of each vertex: for hidden vertices the
    nearest shown one; None if all are shown. following: (p,) in [0, 1], share of the flesh that each vertex
    gets from another mesh by itself; None if there is none.
    """

    name: str
    points: slice
    to_world: np.ndarray
    preserves_volume: bool = False
    stands: np.ndarray | None = None
    following: np.ndarray | None = None

    def own(self, values: np.ndarray) -> np.ndarray:
        """Values (p, ...) of displacements, without the shares that come from another mesh."""
        if self.following is None:
            return values
        own = (1.0 - self.following).astype(values.dtype)
        return values * own.reshape(-1, *[1] * (values.ndim - 1))

    def alone(self, values: np.ndarray) -> np.ndarray:
        """Values (p, ...) of the vertices that follow no other mesh, zero for others."""
        if self.following is None:
            return values
        return np.where((self.following == 0.0).reshape(-1, *[1] * (values.ndim - 1)), values, 0.0)

    def stood_in(self, values: np.ndarray) -> np.ndarray:
        """Values (p, ...) of the vertices, with those of their representatives."""
        return values if self.stands is None else values[self.stands]

    def shown(self, values: np.ndarray) -> np.ndarray:
        """Values of the vertices visible in some frame."""
        return values if self.stands is None else values[self.stands == np.arange(len(self.stands))]


@dataclass(frozen=True)
class Surface:
    """Points (p, 3) f64 in metres, triangles (q, 3) i64, weights (p, b) f64 of row sum 1, the parts.

    maps: painted values at the points. All bones count, or those that are not small according to bone_parents
    (b,) i64, or those left by merge_into (b,) i64. shapes: (s, p, 3) f64, metres, shapes of the rig that the
    flesh must not imitate. stitches: between the points. core: request for the bone core, None for no core.
    attached: (p,) f64 in [0, 1], pin weights of a surface without volume, None for flesh and without pins.
    keeps_stiffness: True if the stiffness is not painted, or changed by parts of the artist's: a body with
    another one is built anew.
    """

    points: np.ndarray
    triangles: np.ndarray
    weights: np.ndarray
    parts: tuple[Part, ...]
    maps: Maps = Maps()
    bone_parents: np.ndarray | None = None
    merge_into: np.ndarray | None = None
    shapes: np.ndarray | None = None
    stitches: Stitches = NONE
    core: BoneCore | None = None
    attached: np.ndarray | None = None
    keeps_stiffness: bool = False
    _digests: dict[object, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def diagonal(self) -> float:
        """Length of the bounding box's diagonal, in metres: the reference size of relative errors."""
        return float(np.linalg.norm(np.ptp(self.points, axis=0)))

    def digest(self, settings: BuildSettings | LooseSettings | AttachedSettings | PinnedSettings) -> str:
        """Hash of all inputs of a model; equal digests give equal models, up to updates of modes."""
        if settings not in self._digests:
            self._digests[settings] = self._digest(settings)
        return self._digests[settings]

    def _digest(self, settings: BuildSettings | LooseSettings | AttachedSettings | PinnedSettings) -> str:
        painted = (getattr(self.maps, field.name) for field in fields(self.maps))
        rig = (self.weights, self.bone_parents, self.merge_into, self.shapes)
        core, words = ((), ()) if self.core is None else (self.core.arrays, self.core.words)
        arrays = self.points, self.triangles, *painted, *rig, *self.stitches.arrays, *core
        arrays += () if self.attached is None else (self.attached,)
        return hashed(arrays, (BUILDING, *astuple(settings), *words))

    def ground_digest(self, settings: BuildSettings) -> str:
        """Hash of the inputs of lattice and weights, independent of maps, stitches and all settings but the
        resolution.
        """
        return hashed((self.points, self.triangles, self.weights), (settings.resolution,))

    def stands_as(self, other: "Surface") -> bool:
        """True if both have the same points and weights, so that the flesh of one fits the other."""
        return np.array_equal(self.points, other.points) and np.array_equal(self.weights, other.weights)

    @property
    def bones(self) -> tuple[str, ...]:
        """Names of the bones of the core, empty without one."""
        return () if self.core is None else self.core.names

    def refuse_unusable(self) -> None:
        """Refuses a surface without a usable volume."""
        if len(self.triangles) == 0:
            names = ", ".join(part.name for part in self.parts)
            raise UserError(f"{names} has no faces, so there is no volume to simulate.")
        if self.diagonal == 0.0:
            raise UserError("All vertices of the body are in one place, so there is no volume to simulate.")
        if self.maps.pinned is not None and self.maps.pinned.all():
            names = ", ".join(part.name for part in self.parts)
            raise UserError(
                f"All of {names} is pinned, so nothing of it can move; take some of it out of the map."
            )


def hashed(arrays: tuple[np.ndarray | None, ...], settings: tuple[object, ...]) -> str:
    """Hash of optional arrays and of settings."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(b"none" if array is None else str(array.shape).encode())
        digest.update(b"" if array is None else np.ascontiguousarray(array).data)
    digest.update(repr(settings).encode())
    return digest.hexdigest()
