"""Flesh for the players of engines and browsers: settings, joints, and what a player lacks."""

from collections.abc import Sequence

import jounce
import numpy as np

from ..flesh.settings import MotionSettings
from ..stepping.motion import FrameInput

# From the axes of Blender, z up, to those of glTF, y up.
TO_GLTF = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
# Most substeps of a player in a frame.
MOST_SUBSTEPS = 8


def settings(simulation: "jounce.Simulation", first: FrameInput) -> dict[str, object]:
    """The settings of the extension for a motion. simulation: before its start. first: the first drive."""
    first.set_up(simulation)
    own = simulation.settings
    return {
        "stiffness": own["stiffness"],
        "damping": own["damping"],
        "amount": own["strength"],
        "stretch": own["stretch"] or 0.0,
        "limit": own["limit"] or 0.0,
        "poseRest": own["pose_rest"],
        "substep": own["dt"] / own["substeps"],
        "gravity": (TO_GLTF[:3, :3] @ np.array(own["gravity"])).tolist(),
    }


def square(transforms: np.ndarray) -> np.ndarray:
    """Transforms (b, 3, 4) as (b, 4, 4)."""
    made = np.tile(np.eye(4), (len(transforms), 1, 1))
    made[:, :3] = transforms
    return made


def inverse_binds(worlds: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """From the body's rest space to each joint, `B = W^-1 A T`, (b, 4, 4).

    worlds: (b, 4, 4), W of the joints in the file. rest: (b, 3, 4), T of the body in the same pose. A: axes.
    """
    return np.linalg.inv(worlds) @ TO_GLTF @ square(rest)


def apart(
    points: np.ndarray, weights: np.ndarray, pairs: Sequence[tuple[np.ndarray, np.ndarray]]
) -> tuple[float, int]:
    """Largest distance of the points (p, 3) as posed by the file and by the scene, and its pair.

    weights: (p, b). pairs: poses (b, 3, 4) of the file and of the scene, a pair a frame.
    """
    placed = np.hstack([points, np.ones((len(points), 1))])
    gaps = []
    for told, scene in pairs:
        moved = told - TO_GLTF[:3, :3] @ scene
        gap = np.einsum("pb,bcd,pd->pc", weights, moved, placed, optimize=True)
        gaps.append(float(np.linalg.norm(gap, axis=1).max()))
    worst = int(np.argmax(gaps))
    return gaps[worst], worst


def lacks(drives: Sequence[FrameInput], settings: MotionSettings) -> list[str]:
    """Influences on the motion of a shot without a place in a player."""
    first = drives[0]
    found = {
        "collisions": any(drive.colliders is not None for drive in drives),
        "force fields": any(drive.force is not None or drive.drag is not None for drive in drives),
        "muscles": any(drive.contraction is not None and any(drive.contraction) for drive in drives),
        "opening stitches": any(drive.stitching is not None for drive in drives),
        "animated settings": any(
            drive.feel != first.feel or drive.strength != first.strength for drive in drives
        ),
        "what shape keys and modifiers add to the bones": any(drive.offsets is not None for drive in drives),
        "cuts": any(drive.cut for drive in drives[1:]),
        "its integrator": settings.integrator != "backward_euler",
        f"more than {MOST_SUBSTEPS} substeps": settings.substeps > MOST_SUBSTEPS,
    }
    return [name for name, is_there in found.items() if is_there]


def without(name: str, lacking: list[str], is_draft: bool) -> str:
    """Sentence about the motion that a player shows; empty for the same as in Blender."""
    if not lacking and is_draft:
        return ""
    draft = "" if is_draft else " as its draft"
    listed = f", without {', '.join(lacking)}" if lacking else ""
    return f"{name} plays{draft or ' in the file'}{listed}."
