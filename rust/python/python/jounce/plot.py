"""Plots with matplotlib: spectra of modes, energies over time, and strips of frames.

Each function draws into given axes, or into new ones, and returns them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from jounce._jounce import LinearModes, SkinningModes, StepReport
from jounce.extras import wanted

Array = npt.NDArray[Any]


def spectrum(
    modes: SkinningModes | LinearModes | Sequence[float] | Array, ax: Any = None, **kwargs: Any
) -> Any:
    """Frequencies of modes by their number.

    Parameters
    ----------
    modes : SkinningModes, LinearModes or sequence of float
        Modes, or frequencies in Hz.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; None makes new ones.
    **kwargs
        As for `Axes.plot`, such as label and color.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    ImportError
        Without matplotlib.

    Examples
    --------
    >>> axes = jounce.plot.spectrum([1.0, 2.5, 2.6])
    >>> axes.get_ylabel()
    'frequency (Hz)'
    """
    ax = _axes(ax, "spectrum")
    if isinstance(modes, SkinningModes | LinearModes):
        modes = np.sqrt(np.maximum(modes.eigenvalues, 0.0)) / (2.0 * np.pi)
    hertz = np.asarray(modes, dtype=float)
    ax.plot(
        np.arange(1, len(hertz) + 1), hertz, **{"marker": "o", "linestyle": "none", "markersize": 4} | kwargs
    )
    ax.set_xlabel("mode")
    ax.set_ylabel("frequency (Hz)")
    ax.set_ylim(bottom=0.0)
    return ax


def energies(
    reports: Mapping[str, Sequence[StepReport] | Sequence[float]], dt: float = 1 / 24, ax: Any = None
) -> Any:
    """Elastic energies over time.

    Parameters
    ----------
    reports : mapping of str to sequences
        Reports of steps, or energies in J, by the name of each curve.
    dt : float, default 1 / 24
        Seconds a step.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; None makes new ones.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    ImportError
        Without matplotlib.

    Examples
    --------
    >>> axes = jounce.plot.energies({"draft": [0.0, 2.0, 1.0]}, dt=0.5)
    >>> bool(axes.get_xlim()[1] > 1.4)
    True
    """
    ax = _axes(ax, "energies")
    for name, curve in reports.items():
        joules = [each.energy if isinstance(each, StepReport) else float(each) for each in curve]
        ax.plot(dt * np.arange(1, len(joules) + 1), joules, label=name)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("elastic energy (J)")
    ax.legend()
    return ax


def strip(
    frames: Sequence[Array] | Array,
    triangles: Array,
    values: Sequence[Array] | Array | None = None,
    *,
    axes: tuple[int, int] = (0, 2),
    count: int = 6,
    ax: Any = None,
    cmap: str = "magma",
) -> Any:
    """A strip of frames side by side, shaded, seen along an axis.

    Parameters
    ----------
    frames : (f, p, 3) array
        Places of the points in each frame, metres.
    triangles : (q, 3) array of integers
        Indices of the points.
    values : (f, p) array, optional
        Values at the points that colour the triangles; None is grey.
    axes : (int, int), default (0, 2)
        World axes to the right and upwards.
    count : int, default 6
        Most frames shown, evenly spread over all.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; None makes new ones.
    cmap : str, default 'magma'
        Colours of values.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; a colour bar needs `ax.collections[-1]`.

    Raises
    ------
    ImportError
        Without matplotlib.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((1.0, 1.0, 2.0))
    >>> axes = jounce.plot.strip([points, points + [0.0, 0.0, 0.2]], triangles)
    >>> len(axes.collections)
    2
    """
    ax = _axes(ax, "strip")
    collections = wanted("matplotlib.collections", "strip", "plot")
    chosen = np.unique(np.linspace(0, len(frames) - 1, count).round().astype(int))
    shown = [np.asarray(frames[frame], dtype=float) for frame in chosen]
    right, up = axes
    width = 1.1 * max(np.ptp(points[:, right]) for points in shown)
    norm = None
    if values is not None:
        every = np.concatenate([np.asarray(values[frame], dtype=float) for frame in chosen])
        norm = wanted("matplotlib.colors", "strip", "plot").Normalize(every.min(), every.max())
    for place, (frame, points) in enumerate(zip(chosen, shown, strict=True)):
        order, light = _lit(points[triangles], (right, up))
        corners = points[triangles[order]][:, :, [right, up]]
        corners[:, :, 0] += place * width - 0.5 * (points[:, right].min() + points[:, right].max())
        drawn = collections.PolyCollection(corners, linewidths=0.2, cmap=cmap, norm=norm)
        if values is None:
            shade = np.tile(0.25 + 0.65 * light[:, None], (1, 3))
            drawn.set_facecolor(shade)
            drawn.set_edgecolor(shade)
        else:
            drawn.set_array(np.asarray(values[frame], dtype=float)[triangles[order]].mean(axis=1))
            drawn.set_edgecolor("face")
        ax.add_collection(drawn)
    ax.autoscale_view()
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _lit(corners: Array, axes: tuple[int, int]) -> tuple[Array, Array]:
    """Triangles from the back to the front, and the light on each in [0, 1]."""
    depth = 3 - sum(axes)
    # The viewer stands where the third axis of a right-handed frame points.
    sign = 1.0 if (axes[0] + 1) % 3 == axes[1] else -1.0
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    order = np.argsort(sign * corners[:, :, depth].mean(axis=1))
    lamp = np.zeros(3)
    lamp[[*axes, depth]] = 0.3, 0.6, 0.75 * sign
    return order, np.clip(normals[order] @ (lamp / np.linalg.norm(lamp)), 0.0, 1.0)


def _axes(ax: Any, function: str) -> Any:
    return wanted("matplotlib.pyplot", function, "plot").subplots()[1] if ax is None else ax
