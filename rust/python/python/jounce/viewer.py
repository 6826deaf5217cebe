"""A window that shows a moving body, by polyscope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from jounce._jounce import Body, SurfaceMesh, TetMesh
from jounce.extras import wanted

Array = npt.NDArray[Any]
# Frames per second while playing.
RATE = 24.0


def view(
    mesh: Body | TetMesh | SurfaceMesh,
    frames: Sequence[Array] | Array | None = None,
    values: Mapping[str, Array] | None = None,
    *,
    show: bool = True,
) -> Any:
    """Opens a window with a mesh; with frames, a slider and a button play them. Returns when it is closed.

    Parameters
    ----------
    mesh : Body, TetMesh or SurfaceMesh
        A body is its surface, a mesh of tets its boundary, with a cut through the inside on request.
    frames : (f, n, 3) array, optional
        Places of the vertices in each frame, such as those of `Body.deformed`; None is at rest.
    values : mapping of str to arrays, optional
        Colours by name: (n,), or (f, n) for one row a frame.
    show : bool, default True
        False opens no window, for pictures by `polyscope.screenshot`.

    Returns
    -------
    polyscope structure
        The shown mesh, for further settings.

    Raises
    ------
    ValueError
        For frames and values of another number of vertices.
    ImportError
        Without polyscope.

    Examples
    --------
    >>> box = jounce.SurfaceMesh(*jounce.shapes.box())
    >>> jounce.view(box)  # doctest: +SKIP
    """
    polyscope = wanted("polyscope", "view", "view")
    rest = mesh.vertices if isinstance(mesh, TetMesh) else mesh.points
    moved = np.asarray(rest[None] if frames is None else frames, dtype=float)
    if moved.shape[1:] != rest.shape or not len(moved):
        raise ValueError(f"frames: expected shape (f, {len(rest)}, 3), got {moved.shape}")
    colours = {name: _rows(name, array, moved.shape[:2]) for name, array in (values or {}).items()}
    polyscope.set_allow_headless_backends(not show)
    # Polyscope and its interface remember their windows in files of the current folder.
    polyscope.set_use_prefs_file(False)
    polyscope.init()
    polyscope.imgui.GetIO().IniFilename = ""
    polyscope.set_up_dir("z_up")
    polyscope.remove_all_structures()
    if isinstance(mesh, TetMesh):
        shown = polyscope.register_volume_mesh("mesh", moved[0], tets=mesh.tets)
    else:
        shown = polyscope.register_surface_mesh("mesh", moved[0], mesh.triangles)
    player = _Player(shown, moved, colours)
    player.show(0)
    if len(moved) > 1:
        polyscope.set_user_callback(lambda: player.draw(polyscope.imgui))
    if show:
        polyscope.show()
        polyscope.clear_user_callback()
    return shown


class _Player:
    """Frames of a shown mesh, with a slider and a button."""

    def __init__(self, shown: Any, frames: Array, colours: Mapping[str, Array]) -> None:
        self.shown, self.frames, self.colours = shown, frames, colours
        self.time, self.is_playing = 0.0, True

    def show(self, frame: int) -> None:
        """Shows a frame."""
        self.shown.update_vertex_positions(self.frames[frame])
        for name, rows in self.colours.items():
            range_ = {"vminmax": (float(rows.min()), float(rows.max()))}
            self.shown.add_scalar_quantity(name, rows[frame], enabled=True, cmap="reds", **range_)

    def draw(self, gui: Any) -> None:
        """Draws the slider and the button, and shows the frame of the time."""
        count = len(self.frames)
        if self.is_playing:
            self.time = (self.time + RATE * gui.GetIO().DeltaTime) % count
        has_moved, frame = gui.SliderInt("frame", int(self.time), 0, count - 1)
        if has_moved:
            self.time, self.is_playing = float(frame), False
        if gui.Button("pause" if self.is_playing else "play"):
            self.is_playing = not self.is_playing
        self.show(int(self.time))


def _rows(name: str, array: Array, shape: tuple[int, ...]) -> Array:
    """Values as one row a frame."""
    given = np.asarray(array, dtype=float)
    if given.shape not in (shape[1:], shape):
        raise ValueError(f"{name}: expected shape ({shape[1]},) or {shape}, got {given.shape}")
    return np.broadcast_to(given, shape)
