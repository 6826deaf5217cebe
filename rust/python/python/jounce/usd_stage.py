"""USD files: the stage of a character, the frames, and the layer on top."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Range of time codes per second for frames; other codes are seconds, milliseconds or ticks.
FRAME_RATES = (12.0, 240.0)
# Frames per second for a file with other time codes and without a valid frame rate.
USUAL_RATE = 24.0
# Tolerance of time codes as a share of a frame.
ROUNDING = 1e-6
# Composition metadata of a layer; all other metadata of a root layer belong to the stage.
COMPOSITION = frozenset(["subLayers", "subLayerOffsets", "layerRelocates"])


def place(target: str | os.PathLike[str]) -> Path:
    """The path of a layer. Raises ValueError for other file types."""
    out = Path(target).absolute()
    if out.suffix not in (".usda", ".usdc"):
        raise ValueError(f"target: {out.name} is no .usda or .usdc file")
    return out


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Converts USD errors to a ValueError with the file's name."""
    from pxr import Tf

    try:
        yield
    except Tf.ErrorException as error:
        fault = "cannot be read as USD" if path.exists() else "does not exist"
        raise ValueError(f"source: {path} {fault}") from error


def opened(path: Path, out: Path) -> Any:
    """The stage of a character. out: the path of the layer over it."""
    from pxr import Usd

    if out == path:
        raise ValueError(f"target: {out.name} is the character itself; name another file")
    with reading(path):
        return Usd.Stage.Open(str(path))


def layer_over(stage: Any, out: Path) -> Any:
    """A stage for a layer over another, with uninstanced characters."""
    from pxr import Sdf, Usd

    layer, root = Sdf.Layer.CreateAnonymous(out.suffix), stage.GetRootLayer()
    for name in root.pseudoRoot.ListInfoKeys():
        if name not in COMPOSITION:
            layer.pseudoRoot.SetInfo(name, root.pseudoRoot.GetInfo(name))
    # An anonymous layer has no path, therefore relative paths do not work.
    layer.subLayerPaths = [root.realPath]
    edited = Usd.Stage.Open(layer)
    while shared := [prim for prim in edited.Traverse() if prim.IsInstance() and is_of_character(prim)]:
        for prim in shared:
            prim.SetInstanceable(False)
    return edited


def is_of_character(prim: Any) -> bool:
    """True if a prim is inside a SkelRoot, or contains one."""
    from pxr import Usd, UsdSkel

    above = prim
    while above:
        if above.IsA(UsdSkel.Root):
            return True
        above = above.GetParent()
    return any(below.IsA(UsdSkel.Root) for below in Usd.PrimRange(prim, Usd.TraverseInstanceProxies()))


def as_it_is(stage: Any) -> Any:
    """A stage of the same layers that later edits do not change."""
    from pxr import Sdf, Usd

    layer = Sdf.Layer.CreateAnonymous()
    layer.TransferContent(stage.GetRootLayer())
    return Usd.Stage.Open(layer)


def step(stage: Any) -> float:
    """Time codes from one frame to the next."""
    codes, rate = float(stage.GetTimeCodesPerSecond()), float(stage.GetFramesPerSecond())
    if not 0.0 < codes < math.inf:
        raise ValueError(f"source: its time codes per second are {codes:g}; expected a number above 0")
    low, high = FRAME_RATES
    if low <= codes <= high:
        return 1.0
    return codes / (rate if low <= rate <= high else USUAL_RATE)


def frames(stage: Any, samples: Iterable[float], given: Sequence[float | None] | None) -> list[float]:
    """Time codes of all frames from the first given code to the last; None is the file's own.

    samples: time codes of the animation. Frames are integer multiples of their step, and enclose both ends.
    """
    ends = (None, None) if given is None else (*given[:1], *given[-1:])
    own = own_range(stage, samples)
    codes = [known if end is None else end for end, known in zip(ends, own, strict=False)]
    if not codes or not -math.inf < codes[0] <= codes[-1] < math.inf:
        raise ValueError("frames: expected a first time code and a last one that is not before it")
    width = step(stage)
    numbers = range(math.floor(codes[0] / width + ROUNDING), math.ceil(codes[-1] / width - ROUNDING) + 1)
    return [number * width for number in numbers]


def own_range(stage: Any, samples: Iterable[float]) -> tuple[float, float]:
    """Range of time codes of a stage, else of the samples."""
    if stage.HasAuthoredTimeCodeRange():
        return stage.GetStartTimeCode(), stage.GetEndTimeCode()
    moved = list(samples)
    return min(moved, default=0.0), max(moved, default=0.0)


def set_range(stage: Any, over: Sequence[float]) -> None:
    """Sets the range of a stage to the frames, unless equal."""
    width = step(stage)
    early, late = stage.GetStartTimeCode() - over[0], over[-1] - stage.GetEndTimeCode()
    near = all(-width * ROUNDING <= gap < width for gap in (early, late))
    if not (near and stage.HasAuthoredTimeCodeRange()):
        stage.SetStartTimeCode(over[0])
        stage.SetEndTimeCode(over[-1])


def put(stage: Any, out: Path) -> None:
    """Writes the layer with the edits of a stage."""
    from pxr import Sdf

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
