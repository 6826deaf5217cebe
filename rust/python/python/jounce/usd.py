"""Flesh for USD characters, without any other program: `python -m jounce usd CHARACTER OUT`.

A character is a SkelRoot of UsdSkel with skinned meshes and their animation. All meshes on one skeleton form
one body. The output is a layer over the character's file with the simulated mesh points of all frames.
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

# Young's modulus and density of all bodies, Pa and kg/m^3; a factor on the stiffness sets the frequency.
YOUNG, DENSITY = 1e4, 1000.0
# Relative range of the local transforms below which a joint counts as not animated.
STILL = 1e-6


@dataclass(frozen=True)
class Settings:
    """Settings of the flesh. frequency: Hz, for flesh of the body's size. damping: ratio. gravity: share of
    9.81 m/s^2.

    final: solve for every vertex of the cage, not only for the modes. core: share that follows the bones, 0
    to 1.
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
    """A mesh of a body: prim and range of points."""

    prim: Any
    rows: slice


@dataclass(frozen=True)
class Character:
    """A body bound to a skeleton. points: (p, 3) in the bind pose, metres. weights: (p, b).

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
    """Simulates all characters of a USD file and writes a layer with the results; returns the prim paths of
    the meshes.

    frames: by default the frames of the file. progress: callback with the completed fraction. The target file
    appears once complete. Raises ValueError with one sentence for a file that is missing, unreadable or
    without characters, and for a body refused by `Body`; OSError if the target cannot be written; ImportError
    without usd-core.
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
    """Absolute path of a layer to write; raises ValueError for a file of another kind."""
    out = Path(target).absolute()
    if out.suffix not in (".usda", ".usdc"):
        raise ValueError(f"target: {out.name} is no .usda or .usdc file")
    return out


def opened(path: Path, out: Path) -> Any:
    """Opens the stage of a character. out: path of the layer to write."""
    from pxr import Tf, Usd

    if out == path:
        raise ValueError(f"target: {out.name} is the character itself; name another file")
    try:
        return Usd.Stage.Open(str(path))
    except Tf.ErrorException as error:
        raise ValueError(f"source: {path} cannot be read as USD") from error


def layer_over(stage: Any, out: Path) -> Any:
    """A stage for edits in a layer over another stage."""
    from pxr import Sdf, Usd

    layer = Sdf.Layer.CreateAnonymous(out.suffix)
    # An anonymous layer has no path, therefore relative paths do not work.
    layer.subLayerPaths = [stage.GetRootLayer().realPath]
    edited = Usd.Stage.Open(layer)
    for name in ("timeCodesPerSecond", "framesPerSecond", "upAxis", "metersPerUnit"):
        if stage.HasAuthoredMetadata(name):
            edited.SetMetadata(name, stage.GetMetadata(name))
    return edited


def put(stage: Any, frames: range, out: Path) -> None:
    """Writes the layer of a stage with samples at the given frames."""
    from pxr import Sdf

    stage.SetStartTimeCode(frames[0])
    stage.SetEndTimeCode(frames[-1])
    layer = Sdf.Layer.CreateAnonymous(out.suffix)
    layer.TransferContent(stage.GetRootLayer())
    layer.subLayerPaths = [os.path.relpath(path, out.parent) for path in layer.subLayerPaths]
    export(layer, out)


def export(layer: Any, out: Path) -> None:
    """Writes a layer to a temporary file and renames the complete file."""
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
    """The characters of a stage, in traversal order."""
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
    """All meshes of one skeleton as one surface in the bind pose."""
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
    """Frames with the world positions (p, 3) of all points, metres."""
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
    """Transforms (b, 3, 4) of the joints from the bind pose to the world, metres."""
    from pxr import UsdGeom

    above = np.array(UsdGeom.XformCache(frame).GetLocalToWorldTransform(character.skeleton.GetPrim()))
    joints = np.array(character.skeleton.ComputeSkinningTransforms(frame), dtype=np.float64)
    result = np.swapaxes(joints @ above, 1, 2)[:, :3].copy()
    result[:, :, 3] *= UsdGeom.GetStageMetersPerUnit(stage)
    return result


def still(character: Character, frames: range) -> list[bool]:
    """True for each joint without animation of its own."""
    local = [np.array(character.skeleton.ComputeJointLocalTransforms(frame)) for frame in frames]
    return [bool(it) for it in (np.ptp(local, axis=0) <= STILL * np.abs(local).max()).all(axis=(1, 2))]


def skinned(character: Character, transforms: Floats) -> Floats:
    """Positions of all points by linear skinning alone, (p, 3)."""
    homogeneous = np.column_stack((character.points, np.ones(len(character.points))))
    return np.asarray(np.einsum("pb,bij,pj->pi", character.weights, transforms, homogeneous, optimize=True))


def write(stage: Any, parts: Sequence[Part], frame: int, shape: Floats) -> None:
    """Writes the points of a body's meshes in a frame and removes all other deformation.

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
    """Unbinds a mesh from its skeleton and blocks its rest-pose normals."""
    from pxr import UsdSkel

    prim.RemoveAPI(UsdSkel.BindingAPI)
    for name in ("primvars:skel:jointIndices", "primvars:skel:jointWeights", "normals", "primvars:normals"):
        if prim.HasAttribute(name):
            prim.GetAttribute(name).Block()
    for name in ("skel:skeleton", "skel:blendShapeTargets"):
        if prim.HasRelationship(name):
            prim.GetRelationship(name).SetTargets([])
