"""Fields of a body for display in false colours: values at the render vertices, with their scale."""

from enum import Enum

import jounce
import numpy as np

from ..body.attached import AttachedBody
from ..body.full_space import DraftError
from ..body.loose import LooseBody
from ..body.muscles import Muscles
from ..body.pinned import PinnedBody
from ..rig.part_settings import LABELS
from ..shot.penetration import SEEN
from .colours import Look, Scale

# Area relative to the largest triangle below which a triangle has no reliable stretch.
SLIVER = 1e-12

# Smallest end of the scale of stretches, in percent; a smaller one shows rounding errors.
LEAST_STRETCH = 1.0

# Quantile of a moving field at the end of the scale: a single crease must not darken everything else. Few
# vertices penetrate, and the deepest one counts.
MOST, DEEPEST = 0.99, 1.0


class Field(Enum):
    """Displayed field."""

    NONE = "NONE"
    WEIGHTS = "WEIGHTS"
    CLUSTERS = "CLUSTERS"
    CORE = "CORE"
    PART = "PART"
    LEAK = "LEAK"
    STIFFNESS = "STIFFNESS"
    MUSCLE = "MUSCLE"
    DRAFT_ERROR = "DRAFT_ERROR"
    RESIDUAL = "RESIDUAL"
    STRETCH = "STRETCH"
    VELOCITY = "VELOCITY"
    PENETRATION = "PENETRATION"

    @property
    def moves(self) -> bool:
        """True if the values change with the frame."""
        return self in MOVING


# Names of parts; with the share (p,) of each point in those that the artist made, None for others.
Parts = dict[str, np.ndarray | None]
# Title, unit, smallest end of the scale and quantile at the end of each field that changes with the frame.
MOVING = {
    Field.STRETCH: ("Stretch", "%", LEAST_STRETCH, MOST),
    Field.VELOCITY: ("Velocity", "m/s", 0.0, MOST),
    Field.PENETRATION: ("Penetration", "% of the size", 100.0 * SEEN, DEEPEST),
}


def at_rest(
    field: Field,
    body: "jounce.Body",
    mode: int,
    stiffness: float,
    parts: Parts | None = None,
) -> tuple[np.ndarray, Scale]:
    """Values (p,) of a constant field, and their scale.

    mode: index from 0, for weights. stiffness: factor on Young's modulus in the motion. parts: to be shown.
    """
    if isinstance(body, LooseBody | AttachedBody | PinnedBody):
        return np.zeros(len(body.embedding.points)), Scale("Only flesh has this", "", Look.SEQUENTIAL)
    if field is Field.WEIGHTS:
        values = body.embedding.interpolate(body.modes.weights[:, mode : mode + 1].copy())[:, 0]
        most = float(np.abs(values).max(initial=0.0))
        values = values / most if most > 0.0 else values
        return values, Scale(f"Mode {mode + 1}", "of its largest", Look.DIVERGING, -1.0, 1.0)
    if field is Field.CLUSTERS:
        count = int(body.labels.max()) + 1
        return body.labels[body.embedding.tets], Scale(f"{count} clusters", "", Look.CATEGORIES)
    if field is Field.CORE:
        values = body.embedding.interpolate(body.pinned[:, np.newaxis].astype(np.float64))[:, 0]
        return values, Scale("Bone core", "1: follows the rig", Look.SEQUENTIAL)
    if field is Field.PART:
        return of_parts(body, parts or {})
    if field is Field.LEAK:
        values = body.embedding.interpolate(body.leak[:, np.newaxis])[:, 0]
        return values, Scale("Momentum leak", "", Look.SEQUENTIAL)
    if field is Field.RESIDUAL:
        return residual(body)
    young = np.broadcast_to(body.material.young, len(body.labels))[body.embedding.tets] * (1e-3 * stiffness)
    return young, Scale("Stiffness", "kPa", Look.LOGARITHMIC, float(young.min()), float(young.max()))


def draft_error(error: DraftError | None, body: "jounce.Body", title: str) -> tuple[np.ndarray, Scale]:
    """Error (p,) of a draft or learnt motion at each point, in percent of the size; the scale."""
    if error is None:
        return np.zeros(len(body.embedding.points)), Scale(
            "No final motion to compare with", "", Look.SEQUENTIAL
        )
    size = float(np.linalg.norm(np.ptp(body.embedding.points, axis=0)))
    values = 100.0 * error.apart / size
    return values, Scale(title, "% of the size", Look.SEQUENTIAL, 0.0, float(values.max()))


def of_parts(body: "jounce.Body", parts: Parts) -> tuple[np.ndarray, Scale]:
    """Share (p,) of each point in some parts together; the scale."""
    if len(parts) < 2:
        return of_part(body, *next(iter(parts.items()), ("", None)))
    found = [of_part(body, name, own)[0] for name, own in parts.items()]
    title = ", ".join(map(part_title, parts))
    return np.minimum(np.sum(found, axis=0), 1.0), Scale(title, "", Look.SEQUENTIAL)


def of_part(body: "jounce.Body", name: str, own: np.ndarray | None = None) -> tuple[np.ndarray, Scale]:
    """Share (p,) of each point in a part; the scale. own: the shares, if the artist made the part."""
    if own is not None and len(own) == len(body.embedding.points):
        return own, Scale(part_title(name), "", Look.SEQUENTIAL)
    if name not in body.parts:
        return np.zeros(len(body.embedding.points)), Scale("No such part is built", "", Look.SEQUENTIAL)
    weights = np.ascontiguousarray(body.part_weights[body.parts.index(name)])
    return body.embedding.interpolate(weights[:, np.newaxis])[:, 0], Scale(
        part_title(name), "", Look.SEQUENTIAL
    )


def part_title(name: str) -> str:
    """The displayed name of a part, in English."""
    return LABELS.get(name, name)


def residual(body: "jounce.Body") -> tuple[np.ndarray, Scale]:
    """Error bound (p,) of updated modes at each point, in percent of the largest weights; the scale."""
    values = 100.0 * body.embedding.interpolate(body.residuals[:, np.newaxis])[:, 0]
    if not body.residual:
        return values, Scale("The modes are as built", "", Look.SEQUENTIAL)
    return values, Scale("Mode error", "% of a mode", Look.SEQUENTIAL, 0.0, float(values.max()))


def muscle(muscles: Muscles | None, body: "jounce.Body") -> tuple[np.ndarray, Scale]:
    """Share (p,) of muscle in the flesh at each point; the scale."""
    if muscles is None:
        return np.zeros(len(body.embedding.points)), Scale("No muscles in a preview", "", Look.SEQUENTIAL)
    return muscles.share, Scale("Muscle", "", Look.SEQUENTIAL)


def stretch(rest: np.ndarray, posed: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """By how much the skin is longer than at rest in its longest direction, at each vertex (p,), in percent.

    The largest singular value of each triangle's deformation gradient, from its first fundamental forms:
    with `C = G^-1 g`, `G = E'E` at rest and `g = e'e` posed,
    `sigma^2 = tr C / 2 + sqrt(tr^2 C / 4 - det C)`.
    Means over the triangles at a vertex, by their area at rest. rest, posed: (p, 3). triangles: (q, 3).
    """
    (a, b, c), (u, v, w) = forms(rest, triangles), forms(posed, triangles)
    det = a * c - b * b
    sound = det > SLIVER * det.max(initial=0.0)
    safe = np.where(sound, det, 1.0)
    half = 0.5 * (a * w - 2.0 * b * v + c * u) / safe
    squared = half + np.sqrt(np.maximum(half * half - (u * w - v * v) / safe, 0.0))
    area = np.where(sound, np.sqrt(np.maximum(det, 0.0)), 0.0)
    weighted = area * 100.0 * (np.sqrt(squared) - 1.0)
    total, sums = np.zeros(len(rest)), np.zeros(len(rest))
    for corner in triangles.T:
        total += np.bincount(corner, area, len(rest))
        sums += np.bincount(corner, weighted, len(rest))
    return np.divide(sums, total, out=np.zeros(len(rest)), where=total > 0.0)


def forms(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The entries e1.e1, e1.e2, e2.e2 of each triangle's first fundamental form."""
    corners = points[triangles]
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return (first * first).sum(axis=1), (first * second).sum(axis=1), (second * second).sum(axis=1)


class Trail:
    """Vertex positions in the previous frame, for the velocity."""

    def __init__(self) -> None:
        self._frame = 0.0
        self._points: np.ndarray | None = None
        self._speed = np.empty(0)

    def speed(self, frame: float, points: np.ndarray, frame_seconds: float) -> np.ndarray:
        """Speeds (p,) in m/s at positions (p, 3) in metres, over the time since another frame was shown."""
        passed = abs(frame - self._frame) * frame_seconds
        if self._points is None or self._points.shape != points.shape:
            self._speed = np.zeros(len(points))
        elif passed > 0.0:
            self._speed = np.linalg.norm(points - self._points, axis=1) / passed
        if self._points is None or passed > 0.0:
            self._frame, self._points = frame, points
        return self._speed


class Peak:
    """Largest values of a moving field until now, for a scale without flicker."""

    def __init__(self) -> None:
        self.value = 0.0
        self._largest = 0.0

    def scale(self, field: Field, values: np.ndarray) -> Scale:
        """The scale of a moving field, from zero to the running quantile of the values."""
        title, unit, least, quantile = MOVING[field]
        most = np.quantile(values, quantile, method="higher") if len(values) else 0.0
        self.value = max(self.value, least, float(most))
        self._largest = max(self._largest, float(values.max(initial=0.0)))
        return Scale(title, unit, Look.SEQUENTIAL, 0.0, self.value, beyond=self._largest > self.value)
