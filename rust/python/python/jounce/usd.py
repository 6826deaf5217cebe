"""Flesh for USD characters, without any other program: `python -m jounce usd CHARACTER OUT`.

A character is a SkelRoot of UsdSkel with skinned meshes and their animation. All meshes on one skeleton form
one body. The output is a layer over the character's file with the simulated mesh points of all frames.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jounce import standard, usd_stage
from jounce._jounce import Body, Embedding, Simulation, SkeletonCore
from jounce.extras import wanted
from jounce.usd_character import Character, Floats, Shape, characters
from jounce.usd_layer import release, write

# Relative range of the local transforms below which a joint counts as not animated.
STILL = 1e-6
# Largest offset from linear skinning, as a share of the body's size, at which a rig counts as linear.
LINEAR = 1e-5


@dataclass(frozen=True)
class Settings:
    """Settings of the flesh of USD characters.

    Parameters
    ----------
    resolution : int, optional
        Cells along the longest side; None is those of *Add Jounce* in Blender, for about 12,000 tets.
    modes : int, default 24
        Independent motions of a draft.
    frequency : float, default 5.0
        Hz, of flesh of the body's size.
    damping : float, default 0.12
        Damping ratio: 0 swings forever, 1 not at all.
    gravity : float, default 0.0
        Factor on gravity.
    substeps : int, default 4
        Steps a frame.
    limit : float, optional, default 0.25
        Largest displacement anywhere, as a share of the body's diagonal.
    stretch : float, optional, default 0.4
        Largest stretch of the flesh, as a share of its length.
    core : float, default 0.5
        Share of the flesh that follows the bones, from 0 to 1.
    final : bool, default False
        Solve for every vertex of the cage instead of the modes.

    Examples
    --------
    >>> heavy = jounce.usd.Settings(frequency=3.0, gravity=1.0)
    >>> heavy.frequency, heavy.damping, heavy.resolution
    (3.0, 0.12, None)
    """

    resolution: int | None = None
    modes: int = standard.MODES
    frequency: float = standard.FREQUENCY
    damping: float = standard.DAMPING
    gravity: float = 0.0
    substeps: int = standard.SUBSTEPS
    limit: float | None = standard.LIMIT
    stretch: float | None = standard.STRETCH
    core: float = standard.CORE
    final: bool = False


def add_flesh(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    settings: Settings | None = None,
    frames: Sequence[float | None] | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> list[str]:
    """Simulates all characters of a USD file and writes a layer over it.

    The target file appears once complete.

    Parameters
    ----------
    source : path
        A .usd, .usda, .usdc or .usdz file with skeletons.
    target : path
        A .usda or .usdc layer over it, with the shapes of all frames.
    settings : Settings, optional
        Settings of the flesh.
    frames : (float, float), optional
        First and last time code. None is the file's own, for both or for either.
    progress : callable, optional
        Called with the completed fraction.

    Returns
    -------
    list of str
        Prim paths of the meshes.

    Raises
    ------
    ValueError
        With one sentence, for a file that is missing, unreadable or without characters, and for input
        that `Body` rejects.
    OSError
        For a target that cannot be written.
    ImportError
        Without usd-core.

    Examples
    --------
    >>> jounce.usd.add_flesh("hero.usd", "flesh.usdc")  # doctest: +SKIP
    ['/Hero/Body']
    """
    wanted("pxr", "add_flesh", "usd")
    path, out = Path(source).absolute(), usd_stage.place(target)
    with usd_stage.reading(path):
        edited = usd_stage.layer_over(usd_stage.opened(path, out), out)
        stage = usd_stage.as_it_is(edited)
        found = list(characters(stage))
        if not found:
            raise ValueError(
                f"source: {path} has no mesh that a skeleton deforms by its joints and that is shown"
            )
        samples = (time for character in found for time in character.samples())
        over = usd_stage.frames(stage, samples, frames)
        for number, character in enumerate(found):
            release(edited, character.parts)
            made = shapes(character, settings or Settings(), over)
            for index, (time, shape) in enumerate(zip(over, made, strict=True)):
                write(edited, character.parts, time, shape)
                progress((number + (index + 1) / len(over)) / len(found))
        usd_stage.set_range(edited, over)
    usd_stage.put(edited, out)
    return [str(part.prim.GetPath()) for character in found for part in character.parts]


@dataclass(frozen=True)
class Frame:
    """A character in one frame, in world space, metres. joints: (b, 3, 4), relative to the bind pose."""

    joints: Floats
    points: Floats
    normals: Sequence[Floats | None]

    def shape(self, moves: Floats | float = 0.0) -> Shape:
        """The character with its flesh moved by (p, 3), metres."""
        return Shape(self.points + moves, self.points, self.normals)


class Bound:
    """A character in its bind pose, placed as in the first frame, in world space, metres."""

    def __init__(self, character: Character, first: float) -> None:
        from pxr import UsdGeom

        self.character = character
        self.metres = UsdGeom.GetStageMetersPerUnit(character.stage)
        self._stand = character.world(first)
        if np.linalg.matrix_rank(self._stand) < 4:
            raise ValueError(
                f"{character.path}: is scaled to nothing at time code {first:g}, where flesh begins"
            )
        character.joints(first)
        self.points = self.placed(np.concatenate([mesh.bound for mesh in character.meshes]), self._stand)
        self.weights = np.concatenate([mesh.weights for mesh in character.flesh])
        self.count = len(self.weights)
        starts = [part.rows.start for part in character.parts]
        self.triangles = np.concatenate(
            [mesh.triangles + start for mesh, start in zip(character.flesh, starts, strict=False)]
        )
        self.hard = SkeletonCore.hard_points(
            self.points[: self.count],
            self.triangles,
            self.weights,
            joints=len(character.names),
            hinted=np.concatenate([mesh.hinted for mesh in character.flesh]),
        )
        self.size = float(np.linalg.norm(np.ptp(self.points[: self.count], axis=0)))

    def placed(self, points: Floats, world: Floats) -> Floats:
        """Points (p, 3) of the skeleton's space in world space, metres."""
        return (points @ world[:3, :3] + world[3, :3]) * self.metres

    def frame(self, time: float) -> Frame:
        """The character at a time code, posed by UsdSkel."""
        transforms, world = self.character.joints(time), self.character.world(time)
        moved = np.linalg.inv(self._stand) @ np.array(transforms, dtype=np.float64) @ world
        joints = np.swapaxes(moved, 1, 2)[:, :3].copy()
        joints[:, :, 3] *= self.metres
        turn = np.linalg.pinv(world[:3, :3]).T
        normals = [each if each is None else each @ turn for each in self.character.normals(transforms, time)]
        return Frame(joints, self.placed(self.character.posed(transforms, time), world), normals)

    def added(self, frame: Frame) -> Floats | None:
        """Offsets (p, 3) of the flesh's points from linear skinning; None for a linear rig."""
        points = np.column_stack((self.points[: self.count], np.ones(self.count)))
        linear = np.einsum("pb,bij,pj->pi", self.weights, frame.joints, points, optimize=True)
        more = frame.points[: self.count] - linear
        return more if np.abs(more).max() > LINEAR * self.size else None

    def core(self, amount: float, over: Sequence[float]) -> SkeletonCore:
        """The skeleton core. amount: share that follows the bones, above 0."""
        return SkeletonCore(
            self.placed(self.character.heads(), self._stand),
            self.character.parents,
            names=self.character.names,
            amount=amount,
            rigid=self.hard,
            still=still(self.character, over),
        )


def shapes(character: Character, settings: Settings, over: Sequence[float]) -> Iterator[Shape]:
    """The shapes of a character at each time code."""
    bound = Bound(character, over[0])
    if bound.hard.all():
        yield from (bound.frame(time).shape() for time in over)
        return
    body = built(bound, settings, over)
    simulation = moved(bound, body, settings)
    others = bound.points[bound.count :]
    embeddings = (body.embedding, *([Embedding(body.mesh, others)] if len(others) else []))
    for time in over:
        frame = bound.frame(time)
        more = bound.added(frame)
        if more is not None:
            more = body.vertex_offsets(more) if settings.final else body.reduce_offsets(more)
        if time == over[0]:
            simulation.settle(frame.joints, offsets=more)
        else:
            simulation.step(frame.joints, offsets=more)
        moves = [simulation.model.displacement(simulation.coefficients, each) for each in embeddings]
        yield frame.shape(np.concatenate(moves))


def built(bound: Bound, settings: Settings, over: Sequence[float]) -> Body:
    """The body of a character."""
    core = bound.core(settings.core, over) if settings.core > 0.0 else None
    try:
        return Body(
            bound.points[: bound.count],
            bound.triangles,
            bound.weights,
            resolution=settings.resolution,
            modes=settings.modes,
            law="corotated" if settings.final else "arap",
            pinned=bound.hard if core is None and bound.hard.any() else None,
            core=core,
            bone_parents=bound.character.parents,
        )
    except ValueError as error:
        raise ValueError(f"{bound.character.path}: {error}") from error


def moved(bound: Bound, body: Body, settings: Settings) -> Simulation:
    """The motion of a body, before its first frame."""
    from pxr import UsdGeom

    stage = bound.character.stage
    usual = standard.motion(body.mesh, settings.frequency)
    down = np.array([0.0, -9.81, 0.0] if UsdGeom.GetStageUpAxis(stage) == "Y" else [0.0, 0.0, -9.81])
    return Simulation(
        body.full_space() if settings.final else body.model,
        dt=usd_stage.step(stage) / stage.GetTimeCodesPerSecond(),
        substeps=settings.substeps,
        max_iterations=200 if settings.final else 30,
        smoothing=usual["smoothing"],
        damping=settings.damping,
        gravity=tuple(settings.gravity * down),
        stiffness=usual["stiffness"],
        limit=settings.limit,
        stretch=settings.stretch,
    )


def still(character: Character, over: Sequence[float]) -> list[bool]:
    """`True` for each joint animated only through parents."""
    local = [np.array(character.skeleton.ComputeJointLocalTransforms(time)) for time in over]
    return [bool(it) for it in (np.ptp(local, axis=0) <= STILL * np.abs(local).max()).all(axis=(1, 2))]
