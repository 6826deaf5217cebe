"""Flesh for characters of USD, without any other program: `python -m jounce usd CHARACTER OUT`.

A character is a skeleton root of UsdSkel: what its skeletons deform, and their animation. All meshes on one skeleton are
one body. What is written is a layer over the character's file, in which its meshes have the shapes of all frames.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jounce._jounce import Body, Simulation, SkeletonCore

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

# What bodies are made with, Pa and kg/m^3; a frequency is set by a factor on the stiffness.
YOUNG, DENSITY = 1e4, 1000.0
# How near to its rest every local transform of a joint must be for it not to be animated.
STILL = 1e-6


@dataclass(frozen=True)
class Settings:
    """How flesh is. frequency: Hz, of flesh of the body's size. damping: ratio. gravity: share of the real one.

    final: every vertex of the cage is solved for, not only the modes. core: how much follows the bones, 0 to 1.
    """

    resolution: int = 32
    modes: int = 16
    frequency: float = 5.0
    damping: float = 0.12
    gravity: float = 0.0
    substeps: int = 4
    stretch: float | None = 0.55
    core: float = 0.5
    final: bool = False


@dataclass(frozen=True)
class Part:
    """A mesh of a body: its prim, and which of the points are its own."""

    prim: Any
    rows: slice


@dataclass(frozen=True)
class Character:
    """A body as its skeleton has it. points: (p, 3) where they are bound, metres. weights: (p, b).

    parents: (b,), -1 for none. heads: (b, 3), metres.
    """

    skeleton: Any
    parts: tuple[Part, ...]
    points: Floats
    triangles: Indices
    weights: Floats
    names: tuple[str, ...]
    parents: Indices
    heads: Floats


def add_flesh(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    settings: Settings | None = None,
    frames: range | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> list[str]:
    """Simulates all characters of a USD file and writes the layer with their shapes; the paths of their meshes.

    frames: those of the file if not given. progress: is told the fraction that is done. The target takes its place
    when it is whole. Raises ValueError with one sentence for a file that is missing, unreadable or without
    characters, and for what `Body` refuses; OSError where nothing can be written; ImportError without usd-core.
    """
    try:
        import pxr  # noqa: F401
    except ImportError as error:
        raise ImportError("add_flesh needs USD; install it with: pip install usd-core") from error
    path, out = Path(source).absolute(), place(target)
    stage = opened(path, out)
    over = frames or range(int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode()) + 1)
    characters = list(found(stage))
    if not characters:
        raise ValueError(f"source: {path} has no mesh that a skeleton deforms")
    edited = layer_over(stage, out)
    for number, character in enumerate(characters):
        made = simulated(stage, character, settings or Settings(), over)
        for index, (frame, shape) in enumerate(made):
            write(edited, character.parts, frame, shape)
            progress((number + (index + 1) / len(over)) / len(characters))
    put(edited, over, out)
    return [str(part.prim.GetPath()) for character in characters for part in character.parts]


def place(target: str | os.PathLike[str]) -> Path:
    """Where a layer goes; ValueError for a file of another kind."""
    out = Path(target).absolute()
    if out.suffix not in (".usda", ".usdc"):
        raise ValueError(f"target: {out.name} is no .usda or .usdc file")
    return out


def opened(path: Path, out: Path) -> Any:
    """The stage of a character. out: where the layer over it goes."""
    from pxr import Tf, Usd

    if out == path:
        raise ValueError(f"target: {out.name} is the character itself; name another file")
    try:
        return Usd.Stage.Open(str(path))
    except Tf.ErrorException as error:
        raise ValueError(f"source: {path} cannot be read as USD") from error


def layer_over(stage: Any, out: Path) -> Any:
    """A stage whose edits go to a layer over another one."""
    from pxr import Sdf, Usd

    layer = Sdf.Layer.CreateAnonymous(out.suffix)
    # An anonymous layer has no place that others could lie beside.
    layer.subLayerPaths = [stage.GetRootLayer().realPath]
    edited = Usd.Stage.Open(layer)
    for name in ("timeCodesPerSecond", "framesPerSecond", "upAxis", "metersPerUnit"):
        if stage.HasAuthoredMetadata(name):
            edited.SetMetadata(name, stage.GetMetadata(name))
    return edited


def put(stage: Any, frames: range, out: Path) -> None:
    """Writes the layer of a stage that has samples at frames."""
    from pxr import Sdf

    stage.SetStartTimeCode(frames[0])
    stage.SetEndTimeCode(frames[-1])
    layer = Sdf.Layer.CreateAnonymous(out.suffix)
    layer.TransferContent(stage.GetRootLayer())
    layer.subLayerPaths = [os.path.relpath(path, out.parent) for path in layer.subLayerPaths]
    export(layer, out)


def export(layer: Any, out: Path) -> None:
    """Writes a layer beside its place, which it takes when it is whole."""
    from pxr import Tf

    part = out.with_name(f"{out.stem}.part{out.suffix}")
    try:
        if not out.parent.is_dir() or not layer.Export(str(part)):
            raise OSError(f"{out} cannot be written")
        os.replace(part, out)
    except Tf.ErrorException as error:
        raise OSError(f"{out} cannot be written") from error
    finally:
        part.unlink(missing_ok=True)


def found(stage: Any) -> Iterator[Character]:
    """The characters of a stage, in its order."""
    from pxr import Usd, UsdGeom, UsdSkel

    cache = UsdSkel.Cache()
    for prim in stage.Traverse():
        if not prim.IsA(UsdSkel.Root):
            continue
        root = UsdSkel.Root(prim)
        cache.Populate(root, Usd.PrimDefaultPredicate)
        for binding in cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate):
            targets = [query for query in binding.GetSkinningTargets() if query.GetPrim().IsA(UsdGeom.Mesh)]
            skeleton = cache.GetSkelQuery(binding.GetSkeleton())
            if targets and skeleton:
                yield bound(stage, skeleton, targets)


def bound(stage: Any, skeleton: Any, targets: list[Any]) -> Character:
    """All meshes of one skeleton as one surface, where they are bound."""
    from pxr import UsdGeom

    metres, joints = UsdGeom.GetStageMetersPerUnit(stage), list(skeleton.GetJointOrder())
    parts, points, triangles, weights, start = [], [], [], [], 0
    for query in targets:
        mesh = UsdGeom.Mesh(query.GetPrim())
        rest = np.array(mesh.GetPointsAttr().Get(), dtype=np.float64)
        bind = np.array(query.GetGeomBindTransform())
        points.append((rest @ bind[:3, :3] + bind[3, :3]) * metres)
        triangles.append(fans(mesh) + start)
        weights.append(influences(query, len(rest), joints))
        parts.append(Part(query.GetPrim(), slice(start, start + len(rest))))
        start += len(rest)
    topology = skeleton.GetTopology()
    heads = np.array([matrix.ExtractTranslation() for matrix in skeleton.GetJointWorldBindTransforms()])
    return Character(
        skeleton,
        tuple(parts),
        np.concatenate(points),
        np.concatenate(triangles),
        np.concatenate(weights),
        tuple(str(name).rsplit("/", 1)[-1] for name in joints),
        np.array([topology.GetParent(joint) for joint in range(len(joints))], dtype=np.int64),
        heads * metres,
    )


def fans(mesh: Any) -> Indices:
    """The faces of a mesh as triangles (t, 3)."""
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get(), dtype=np.int64)
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(), dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    made = []
    for step in range(1, int(counts.max(initial=0)) - 1):
        first = starts[counts > step + 1]
        made.append(np.column_stack((corners[first], corners[first + step], corners[first + step + 1])))
    return np.concatenate(made) if made else np.empty((0, 3), dtype=np.int64)


def influences(query: Any, points: int, names: list[str]) -> Floats:
    """The weights (p, b) of the skeleton's joints; rows sum to 1."""
    indices, weights = query.ComputeVaryingJointInfluences(points)
    across = query.GetNumInfluencesPerComponent()
    # A mesh may have its own list of joints.
    own = query.GetJointOrder() or names
    joints = np.array([names.index(name) for name in own], dtype=np.int64)
    chosen = joints[np.array(indices, dtype=np.int64).reshape(points, across)]
    result = np.zeros((points, len(names)))
    np.add.at(result, (np.arange(points)[:, None], chosen), np.array(weights).reshape(points, across))
    sums = result.sum(axis=1, keepdims=True)
    if (sums <= 0.0).any():
        name = query.GetPrim().GetPath()
        raise ValueError(f"{name}: point {int(np.argmax(sums <= 0.0))} has no joint that moves it")
    return np.asarray(result / sums)


def simulated(
    stage: Any, character: Character, settings: Settings, frames: range
) -> Iterator[tuple[int, Floats]]:
    """Each frame with the places (p, 3) of all points in the world, metres."""
    from pxr import UsdGeom

    poses = [pose(stage, character, frame) for frame in frames]
    core = SkeletonCore(
        character.heads,
        character.parents,
        names=character.names,
        amount=settings.core,
        still=still(character, frames),
    )
    body = Body(
        character.points,
        character.triangles,
        character.weights,
        resolution=settings.resolution,
        modes=settings.modes,
        young=YOUNG,
        density=DENSITY,
        law="corotated" if settings.final else "arap",
        core=core if settings.core > 0.0 else None,
    )
    built = (YOUNG / DENSITY) ** 0.5 / float(body.mesh.volumes.sum()) ** (1.0 / 3.0)
    down = np.array([0.0, -9.81, 0.0] if UsdGeom.GetStageUpAxis(stage) == "Y" else [0.0, 0.0, -9.81])
    simulation = Simulation(
        body.full_space() if settings.final else body.model,
        dt=1.0 / stage.GetTimeCodesPerSecond(),
        substeps=settings.substeps,
        max_iterations=200 if settings.final else 30,
        damping=settings.damping,
        gravity=tuple(settings.gravity * down),
        stiffness=(settings.frequency / built) ** 2,
        stretch=settings.stretch,
    )
    for frame, transforms in zip(frames, poses, strict=True):
        if frame == frames[0]:
            simulation.settle(transforms)
        else:
            simulation.step(transforms)
        moved = simulation.model.displacement(simulation.coefficients, body.embedding)
        yield frame, skinned(character, transforms) + moved


def pose(stage: Any, character: Character, frame: int) -> Floats:
    """The transforms (b, 3, 4) of the joints from where points are bound to the world, metres."""
    from pxr import UsdGeom

    above = np.array(UsdGeom.XformCache(frame).GetLocalToWorldTransform(character.skeleton.GetPrim()))
    joints = np.array(character.skeleton.ComputeSkinningTransforms(frame), dtype=np.float64)
    result = np.swapaxes(joints @ above, 1, 2)[:, :3].copy()
    result[:, :, 3] *= UsdGeom.GetStageMetersPerUnit(stage)
    return result


def still(character: Character, frames: range) -> list[bool]:
    """For each joint whether nothing animates it but what it hangs on."""
    local = [np.array(character.skeleton.ComputeJointLocalTransforms(frame)) for frame in frames]
    return [bool(it) for it in (np.ptp(local, axis=0) <= STILL * np.abs(local).max()).all(axis=(1, 2))]


def skinned(character: Character, transforms: Floats) -> Floats:
    """Where the skeleton alone has all points, (p, 3)."""
    homogeneous = np.column_stack((character.points, np.ones(len(character.points))))
    return np.asarray(np.einsum("pb,bij,pj->pi", character.weights, transforms, homogeneous, optimize=True))


def write(stage: Any, parts: Sequence[Part], frame: int, shape: Floats) -> None:
    """Gives the meshes of a body their shapes in a frame, in which nothing else deforms them.

    shape: (p, 3), in the world, metres.
    """
    from pxr import UsdGeom, Vt

    scale = UsdGeom.GetStageMetersPerUnit(parts[0].prim.GetStage())
    for part in parts:
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath(part.prim.GetPath()))
        world = np.array(UsdGeom.XformCache(frame).GetLocalToWorldTransform(part.prim))
        local = np.linalg.inv(world)
        points = (shape[part.rows] / scale) @ local[:3, :3] + local[3, :3]
        array = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(points, dtype=np.float32))
        mesh.CreatePointsAttr().Set(array, frame)
        mesh.CreateExtentAttr().Set(UsdGeom.PointBased.ComputeExtent(array), frame)
        release(mesh.GetPrim())


def release(prim: Any) -> None:
    """Takes a mesh off its skeleton, and with it normals that are right at rest alone."""
    from pxr import UsdSkel

    prim.RemoveAPI(UsdSkel.BindingAPI)
    for name in ("primvars:skel:jointIndices", "primvars:skel:jointWeights", "normals", "primvars:normals"):
        if prim.HasAttribute(name):
            prim.GetAttribute(name).Block()
    for name in ("skel:skeleton", "skel:blendShapeTargets"):
        if prim.HasRelationship(name):
            prim.GetRelationship(name).SetTargets([])
