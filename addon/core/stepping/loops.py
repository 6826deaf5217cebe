"""Looping motion: the flesh ends in its first state."""

from typing import TypedDict

import jounce
import numpy as np

from ..common.user_error import UserError
from ..mesh.surface import Surface
from .motion import FrameInput, Schedule

# Largest distance between the first and the last pose, as a share of the size.
CYCLIC = 1e-3
# Seam, as a share of the size, above which a loop is visible.
VISIBLE_SEAM = 1e-4


def refuse_open(drives: list[FrameInput], surface: Surface, course: Schedule, colliders: list[str]) -> None:
    """Refuses drives that form no cycle. colliders: their names."""
    held = next((drive.held for drive in drives if drive.held), "")
    if held:
        raise UserError(f"The motion cannot loop, as it cannot be followed in all frames: {held}.")
    poses = [drive.pose for drive in drives]
    gap, advance = pose_gap(surface, poses[0], poses[-1])
    if gap > CYCLIC:
        raise UserError(
            f"The last frame shows another pose than the first, {gap:.2%} of the size apart, so the motion "
            "cannot loop; end the range where the first pose comes again, or turn Loop off."
        )
    apart = ends_elsewhere(drives[0].around, drives[-1].around, advance)
    astray = np.flatnonzero(apart > CYCLIC * surface.diagonal)
    if len(astray):
        raise UserError(
            f"{colliders[astray[0]]} ends neither where it began nor moved along with the body, so the "
            "motion cannot loop; key it so, take it out of the Collision Collection, or turn Loop off."
        )
    teleports = course.teleports()
    if any([drive.cut or teleports.follow(drive.pose, drive.spots, drive.switches) for drive in drives][1:]):
        raise UserError(
            "The motion is reset or teleports within the range, so it cannot loop; remove these, or turn "
            "Loop off."
        )
    if len({(drive.feel, drive.contraction, drive.stitching) for drive in drives}) > 1:
        raise UserError(
            "Settings of the flesh are animated (frequency, damping, gravity, contraction, stitches), so "
            "the motion cannot loop; remove these keys, or turn Loop off."
        )


class CycleArguments(TypedDict):
    """Arguments of the native module for the drives of a cycle."""

    poses: np.ndarray
    strengths: np.ndarray
    forces: np.ndarray | None
    offsets: np.ndarray | None
    drags: "list[jounce.Drag | None]"
    colliders: np.ndarray | None


def cycle_arguments(drives: list[FrameInput]) -> CycleArguments:
    """Arguments for drives in the native module's form."""
    return {
        "poses": np.stack([drive.pose for drive in drives]),
        "strengths": np.array([drive.strength for drive in drives]),
        "forces": stacked([drive.force for drive in drives]),
        "offsets": stacked([drive.offsets for drive in drives]),
        "drags": [drive.drag for drive in drives],
        "colliders": stacked([drive.colliders for drive in drives]),
    }


def stacked(rows: list[np.ndarray | None]) -> np.ndarray | None:
    """All rows in one array, zero for missing ones; None without any row."""
    given = next((row for row in rows if row is not None), None)
    if given is None:
        return None
    return np.stack([np.zeros_like(given) if row is None else row for row in rows])


def ends_elsewhere(first: np.ndarray, last: np.ndarray, advance: np.ndarray) -> np.ndarray:
    """Distances (c,) of colliders from their first placements (c, 3, 4), with or without a translation (3,),
    metres; infinite for a turned one.
    """
    turned = np.abs(last[:, :, :3] - first[:, :, :3]).max(axis=(1, 2), initial=0.0)
    moved = last[:, :, 3] - first[:, :, 3]
    apart = np.minimum(np.linalg.norm(moved, axis=1), np.linalg.norm(moved - advance, axis=1))
    return np.where(turned <= CYCLIC, apart, np.inf)


def pose_gap(surface: Surface, first: np.ndarray, last: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest motion of any surface point from one pose to another, as a share of the size, after a
    common translation (3,), and this translation.
    """
    blended = surface.weights @ (last - first).reshape(len(first), 12)
    places = np.concatenate([surface.points, np.ones((len(surface.points), 1))], axis=1)
    moved = np.einsum("pij,pj->pi", blended.reshape(-1, 3, 4), places)
    advance = moved.mean(axis=0)
    return float(np.linalg.norm(moved - advance, axis=1).max()) / surface.diagonal, advance
