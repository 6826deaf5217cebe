"""Stored final motions as USD: `python -m jounce cache FILE... OUT`.

The output contains the meshes of the bodies with the points of all frames, or is a layer over a character
with these meshes, which keeps its materials.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jounce.extras import wanted
from jounce.final_motion import FinalMotion, Scene, read
from jounce.usd_character import Part
from jounce.usd_layer import as_given, release, write
from jounce.usd_stage import as_it_is, layer_over, opened, place, put
from jounce.usd_surface import normals_of


def write_motions(
    sources: Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    over: str | os.PathLike[str] | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> list[str]:
    """Writes the meshes of bodies with stored final motions.

    The target file appears once complete.

    Parameters
    ----------
    sources : sequence of paths
        Motion files; files of one body, such as the shards of a shot, are joined.
    target : path
        A .usda or .usdc file.
    over : path, optional
        A character whose meshes receive the motion, matched by name; None writes meshes of their own.
    progress : callable, optional
        Called with the completed fraction.

    Returns
    -------
    list of str
        Prim paths of the meshes.

    Raises
    ------
    ValueError
        With one sentence, for files that are missing, damaged or incomplete.
    OSError
        For a target that cannot be written.
    ImportError
        Without usd-core.

    Examples
    --------
    >>> jounce.usd_cache.write_motions(["shot Hero.jcache"], "flesh.usdc")  # doctest: +SKIP
    ['/Body']
    """
    wanted("pxr", "write_motions", "usd")
    from pxr import Usd, UsdGeom

    out = place(target)
    bodies = joined([read(source) for source in sources])
    stage = (
        Usd.Stage.CreateInMemory() if over is None else layer_over(opened(Path(over).absolute(), out), out)
    )
    if over is None:
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    rate = 1.0 / bodies[0][0].scene.seconds
    stage.SetTimeCodesPerSecond(rate)
    stage.SetFramesPerSecond(rate)
    # Motion files are z-up, as in Blender.
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    turn = turn if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y else np.eye(3)
    source, names, frames = as_it_is(stage), [], []
    for number, motions in enumerate(bodies):
        scene = motions[0].scene
        parts = made(stage, scene) if over is None else meant(source, scene)
        release(stage, parts)
        owner = {frame: motion for motion in reversed(motions) for frame in motion.frames}
        for index, frame in enumerate(sorted(owner)):
            write(stage, parts, frame, as_given(parts, frame, owner[frame].shape(frame) @ turn))
            progress((number + (index + 1) / len(owner)) / len(bodies))
        names += [str(part.prim.GetPath()) for part in parts]
        frames += list(owner)
    stage.SetStartTimeCode(min(frames))
    stage.SetEndTimeCode(max(frames))
    put(stage, out)
    return names


def joined(motions: list[FinalMotion]) -> list[list[FinalMotion]]:
    """Motions grouped by body, checked for equal meshes and for gaps between frames."""
    bodies: dict[str, list[FinalMotion]] = {}
    for motion in motions:
        bodies.setdefault(motion.scene.body, []).append(motion)
    for name, own in bodies.items():
        first = own[0]
        for motion in own:
            if not same_meshes(first.scene, motion.scene):
                raise ValueError(f"{motion.path} has other meshes of {name} than {first.path}")
        there = {frame for motion in own for frame in motion.frames}
        for frame in range(min(there), max(there)):
            if frame not in there:
                raise ValueError(f"no file has frame {frame} of {name}; simulate it")
    if len({motion.scene.seconds for motion in motions}) > 1:
        raise ValueError("the files have different frame rates; write them to several files")
    return list(bodies.values())


def same_meshes(one: Scene, other: Scene) -> bool:
    """True if two scenes have the same meshes."""
    arrays = ((getattr(one, name), getattr(other, name)) for name in ("points", "triangles"))
    return one.parts == other.parts and all(np.array_equal(*pair) for pair in arrays)


def rows_of(scene: Scene) -> list[tuple[str, slice]]:
    """Name and range of points of each mesh."""
    ends = np.cumsum([count for _, count in scene.parts])
    return [
        (name, slice(int(end) - count, int(end)))
        for (name, count), end in zip(scene.parts, ends, strict=True)
    ]


def made(stage: Any, scene: Scene) -> tuple[Part, ...]:
    """Creates the meshes of a body in a stage."""
    from pxr import Sdf, Tf, UsdGeom, Vt

    root = free(stage, Sdf.Path.absoluteRootPath, Tf.MakeValidIdentifier(scene.body))
    UsdGeom.Xform.Define(stage, root)
    parts = []
    for name, rows in rows_of(scene):
        mesh = UsdGeom.Mesh.Define(stage, free(stage, root, Tf.MakeValidIdentifier(name)))
        own = scene.triangles[((scene.triangles >= rows.start) & (scene.triangles < rows.stop)).all(axis=1)]
        corners = np.ascontiguousarray((own - rows.start).ravel(), np.int32)
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray(len(own), 3))
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(corners))
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        parts.append(Part(mesh.GetPrim(), rows))
    return tuple(parts)


def free(stage: Any, above: Any, name: str) -> Any:
    """An unused path below another path."""
    path, number = above.AppendChild(name), 1
    while stage.GetPrimAtPath(path):
        number += 1
        path = above.AppendChild(f"{name}_{number}")
    return path


def meant(stage: Any, scene: Scene) -> tuple[Part, ...]:
    """The meshes of a character that match the meshes of a body by the name of the prim or its parent."""
    from pxr import Tf, Usd, UsdGeom

    meshes = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    first = Usd.TimeCode.EarliestTime()
    parts = []
    for name, rows in rows_of(scene):
        word, count = Tf.MakeValidIdentifier(name), rows.stop - rows.start
        named = [prim for prim in meshes if word in (prim.GetName(), prim.GetParent().GetName())]
        fit = [prim for prim in named if len(UsdGeom.Mesh(prim).GetPointsAttr().Get(first) or ()) == count]
        if len(fit) != 1:
            number = "no mesh" if not fit else "several meshes"
            raise ValueError(
                f"over: the character has {number} {word} of {count} points, as {scene.body} has"
            )
        parts.append(Part(fit[0], rows, normals_of(UsdGeom.Mesh(fit[0]))))
    return tuple(parts)
