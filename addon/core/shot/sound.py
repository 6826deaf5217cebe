"""Sound of a body over a shot: impacts found in the motion excite the linear modes of a substance."""

import io
import wave
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Union

import jounce
import numpy as np

from ..body.full_space import Coordinates
from ..body.loose import LooseBody
from ..common.task import Step
from ..common.user_error import UserError, passing_on
from ..stepping.motion import Motion
from .blows import Blow, blows, rigid_motion

RATE = 48000
# Largest number of modes, including the rigid ones of a free body.
MODES = 40
# Amplitude of the loudest sample.
PEAK = 0.9

Built = Union["jounce.Body", LooseBody]
Damping = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Substance:
    """Sounding substance: Young's modulus in Pa, Poisson ratio, kg/m^3, and damping ratios at two
    frequencies.
    """

    young: float
    poisson: float
    density: float
    damping: Damping


SUBSTANCES = {
    "STEEL": Substance(2e11, 0.3, 7800.0, ((200.0, 2e-3), (5000.0, 1e-3))),
    "BRONZE": Substance(1.1e11, 0.34, 8700.0, ((500.0, 4e-4), (8000.0, 6e-4))),
    "GLASS": Substance(7e10, 0.22, 2500.0, ((500.0, 1e-3), (8000.0, 1.5e-3))),
    "WOOD": Substance(1.1e10, 0.3, 600.0, ((200.0, 0.01), (4000.0, 0.02))),
    "PLASTIC": Substance(2.5e9, 0.38, 1050.0, ((200.0, 0.02), (4000.0, 0.03))),
}


@dataclass(frozen=True)
class SoundSettings:
    """Inputs of a sound, beside the motion.

    pitch: factor on all frequencies. quietest: smallest audible impact, as a share of the hardest. ring_out:
    seconds of sound after the last frame.
    """

    substance: Substance
    pitch: float
    quietest: float
    ring_out: float


@dataclass(frozen=True, eq=False)
class Sounding:
    """Sounding object: a cage at rest, its held vertices (n,), and the mass of each vertex (n,), kg."""

    mesh: "jounce.TetMesh"
    held: np.ndarray
    masses: np.ndarray

    @property
    def is_held(self) -> bool:
        """True if some vertices are held: impacts then come from the support."""
        return bool(self.held.any())


@dataclass(frozen=True, eq=False)
class Sound:
    """Samples (s,) f32 in [-1, 1] from the first frame on, and the number of impacts."""

    samples: np.ndarray
    blows: int

    def wav(self) -> bytes:
        """A WAV file of 16 bits."""
        made = io.BytesIO()
        with wave.open(made, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(np.round(32767.0 * self.samples).astype("<i2").tobytes())
        return made.getvalue()


def sound(
    body: Built, shown: Coordinates, motion: Motion, fps: float, settings: SoundSettings, name: str
) -> Generator[Step, None, Sound]:
    """The sound of a motion. shown: owner of the coefficients. name: of the body, for refusals."""
    yield Step(0.0, "Listening")
    sounding = of_body(body, settings.substance.density)
    # The support moves the held vertices; the other vertices vibrate relative to them.
    carried = sounding.held if sounding.is_held else np.ones_like(sounding.held)
    rest = np.asarray(sounding.mesh.vertices)
    frames = (frame[carried] for frame in places(body, shown, motion))
    whole = rigid_motion(frames, rest[carried], sounding.masses[carried])
    found = blows(whole, fps, motion.breaks, settings.quietest)
    if not found:
        raise UserError(
            f"{name} has no impact in these frames: it never stops or changes its course suddenly."
        )
    yield Step(0.5, "Finding modes")
    with passing_on(f"{name} makes no sound"):
        modes = linear_modes(sounding, settings)
    struck = [strikes(sounding, blow) for blow in found]
    times = [np.full(len(hit), blow.time) for blow, (hit, _) in zip(found, struck, strict=True)]
    seconds = (len(motion.poses) - 1) / fps + settings.ring_out
    with passing_on(f"{name} makes no sound"):
        samples = modes.sound(
            seconds,
            np.concatenate(times),
            np.concatenate([vertices for vertices, _ in struck]),
            np.concatenate([impulses for _, impulses in struck]),
            damping=settings.substance.damping,
            rate=RATE,
        )
    loudest = float(np.abs(samples).max())
    if loudest == 0.0:
        raise UserError(f"{name} makes no sound: no blow moves any of its modes.")
    return Sound(samples * np.float32(PEAK / loudest), len(found))


def of_body(body: Built, density: float) -> Sounding:
    """The cage of a body as a sounding object; the pinned vertices are held."""
    mesh, count = body.mesh, len(body.mesh.vertices)
    held = np.zeros(count, bool) if isinstance(body, LooseBody) else np.array(body.pinned, bool)
    return Sounding(mesh, held, density * mesh.vertex_volumes)


def places(body: Built, shown: Coordinates, motion: Motion) -> Iterator[np.ndarray]:
    """Vertex positions of a body's cage in each frame, (n, 3), metres."""
    weights, rest = np.asarray(body.rig.weights), np.asarray(body.mesh.vertices)
    homogeneous = np.column_stack([rest, np.ones(len(rest))])
    for pose, coefficients in zip(motion.poses, motion.coefficients, strict=True):
        rigged = np.zeros_like(rest)
        for bone, weight in zip(pose, weights.T, strict=True):
            rigged += weight[:, None] * (homogeneous @ bone.T)
        yield rigged + shown.model.displacement(coefficients)


def linear_modes(sounding: Sounding, settings: SoundSettings) -> "jounce.LinearModes":
    """The audible modes. A pitch scales the stiffness by its square."""
    substance = settings.substance
    material = jounce.Material(substance.young * settings.pitch**2, substance.poisson, substance.density)
    pinned = sounding.held if sounding.is_held else None
    count = min(MODES, 3 * int((~sounding.held).sum()))
    return jounce.linear_modes(sounding.mesh, material, count, pinned=pinned)


def strikes(sounding: Sounding, blow: Blow) -> tuple[np.ndarray, np.ndarray]:
    """Struck vertices and impulses of an impact, (s,) and (s, 3) in N s, in the body's own axes.

    Held bodies are struck by their own inertia, `-m (v + w x r)` at each vertex, r from the centre of the
    support. Free bodies are struck in one place, by the gained momentum `P`; the line of action is at `r = P
    x H / |P|^2` from the centre, H the angular momentum.
    """
    rest, masses = np.asarray(sounding.mesh.vertices), sounding.masses
    carried = sounding.held if sounding.is_held else np.ones_like(sounding.held)
    away = rest - masses[carried] @ rest[carried] / masses[carried].sum()
    if sounding.is_held:
        moved = blow.velocity + np.cross(blow.spin, away)
        return np.arange(len(rest)), -masses[:, None] * moved
    gained = masses.sum() * blow.velocity
    turned = (masses[:, None] * np.cross(away, np.cross(blow.spin, away))).sum(axis=0)
    line = np.cross(gained, turned) / max(float(gained @ gained), np.finfo(float).tiny)
    return np.array([struck_vertex(sounding.mesh, away - line, gained)]), gained[None]


def struck_vertex(mesh: "jounce.TetMesh", away: np.ndarray, along: np.ndarray) -> int:
    """First intersection of a line through the origin with the facing surface.

    away: (n, 3), the vertices relative to the line. along: (3,), direction of the line.
    """
    direction = along / max(float(np.linalg.norm(along)), np.finfo(float).tiny)
    corners = np.asarray(mesh.boundary)
    a, b, c = (away[corners[:, k]] for k in range(3))
    normals, facing = np.cross(b - a, c - a), np.zeros(away.shape)
    for k in range(3):
        np.add.at(facing, corners[:, k], normals)
    surface = np.unique(corners)
    against = surface[facing[surface] @ direction < 0.0]
    candidates = against if len(against) else surface
    height = away[candidates] @ direction
    apart = np.linalg.norm(away[candidates] - height[:, None] * direction, axis=1)
    edge = np.sqrt(np.linalg.norm(normals, axis=1).mean())
    near = apart <= apart.min() + edge
    return int(candidates[near][np.argmin(height[near])])
