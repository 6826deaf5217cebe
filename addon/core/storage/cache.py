"""Stored motion of a body: 12 numbers per mode and frame, and digests of the inputs.

A cache belongs to an *origin*, all inputs of the motion except the poses, each under a name known to the
artist. Every frame has the digest of its drive. A cache is fresh as far as origin and drives are unchanged,
through renaming, copying, undo and reopening, and can name the differences.
"""

import hashlib
import json
from dataclasses import fields

import jounce
import numpy as np
from jounce.final_motion import DIGEST_BYTES

from ..mesh.surface import Surface, hashed

Origin = dict[str, str]

FORMAT = b"jounce motion 1\n"


class MotionCache:
    """Consecutive frames of a motion, each with its drive's digest and coefficients (m, 3, 4) f64.

    states: starting points for further simulation, by the index of the frame before; not packed.
    """

    # Largest number of steps from a kept state.
    frames_per_state = 16

    def __init__(self, origin: Origin, first: int) -> None:
        """first: start frame of the motion."""
        self.origin = origin
        self.first = first
        self.digests: list[bytes] = []
        self.coefficients: list[np.ndarray] = []
        self.states: dict[int, jounce.State] = {}
        # Indices of frames whose simulation has not converged.
        self.rough: set[int] = set()

    def __len__(self) -> int:
        return len(self.digests)

    @property
    def frames(self) -> range:
        """The cached frames."""
        return range(self.first, self.first + len(self))

    def append(self, digest: bytes, coefficients: np.ndarray) -> None:
        """Adds the next frame."""
        self.digests.append(digest)
        self.coefficients.append(coefficients)

    def mark_rough(self) -> None:
        """Notes that the last added frame has not converged."""
        self.rough.add(len(self) - 1)

    def keep_state(self, index: int, state: "jounce.State") -> None:
        """Keeps the state after the last added frame."""
        self.states[index] = state

    def truncate(self, count: int) -> None:
        """Keeps only the first frames."""
        del self.digests[count:]
        del self.coefficients[count:]
        self.rough = {index for index in self.rough if index < count}
        for late in [index for index in self.states if index >= count]:
            del self.states[late]

    def get(self, frame: int) -> np.ndarray | None:
        """The coefficients of a frame, None without a cached frame."""
        return self.coefficients[frame - self.first] if frame in self.frames else None

    def changes(self, origin: Origin) -> list[str]:
        """The names of the changed inputs."""
        names = dict.fromkeys([*self.origin, *origin])
        return [name for name in names if self.origin.get(name) != origin.get(name)]

    def pack(self) -> bytes:
        """The cache as bytes."""
        shape = self.coefficients[0].shape if self.coefficients else (0, 3, 4)
        header = json.dumps(
            {"origin": self.origin, "first": self.first, "frames": len(self), "modes": shape[0]}
        )
        numbers = np.array(self.coefficients, "<f8").tobytes()
        return FORMAT + header.encode() + b"\n" + b"".join(self.digests) + numbers


def unpack(data: bytes) -> MotionCache | None:
    """The cache in these bytes, None for unreadable ones."""
    if not data.startswith(FORMAT):
        return None
    line, _, body = data[len(FORMAT) :].partition(b"\n")
    try:
        header = json.loads(line)
        cache = MotionCache(header["origin"], header["first"])
        frames, modes = header["frames"], header["modes"]
        digests, numbers = body[: DIGEST_BYTES * frames], body[DIGEST_BYTES * frames :]
        coefficients = np.frombuffer(numbers, "<f8").reshape(frames, modes, 3, 4)
    except (ValueError, KeyError, TypeError):
        return None
    for index in range(frames):
        cache.append(digests[DIGEST_BYTES * index : DIGEST_BYTES * (index + 1)], coefficients[index])
    return cache if np.isfinite(coefficients).all() else None


def surface_origin(surface: Surface) -> Origin:
    """Inputs of a motion that belong to the surface."""
    maps = (getattr(surface.maps, field.name) for field in fields(surface.maps))
    attached = () if surface.attached is None else (surface.attached,)
    core = surface.core
    parts = {} if core is None else {"Body parts": hashed(core.arrays, core.words)}
    return parts | {
        "Mesh": digest_of(surface.points, surface.triangles),
        "Weights": digest_of(surface.weights),
        "Maps": digest_of(*maps, *attached),
        "Bones that count": digest_of(surface.bone_parents, surface.merge_into),
        "Shape keys that count": digest_of(surface.shapes),
        "Stitches": digest_of(*surface.stitches.arrays),
    }


def digest_of(*arrays: np.ndarray | None) -> str:
    """Hash of some arrays, their shapes included."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for array in arrays:
        digest.update(b"none" if array is None else str(array.shape).encode())
        digest.update(b"" if array is None else np.ascontiguousarray(array).data)
    return digest.hexdigest()
