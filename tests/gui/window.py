"""The window of the tests: simulated keys and mouse, the viewport's context, pictures of the screen.

Coordinates are Blender's: pixels of the window, from its lower left corner.
"""

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import bpy
import extension
import numpy as np

SIDEBAR_TAB = "Jounce"
# Grey of the buttons and sliders in Blender's own theme.
BUTTON = 84


class Skip(Exception):
    """Raised by a test that cannot run here, with the reason."""


class Window:
    """The only window of the testing Blender."""

    def __init__(self, out: Path) -> None:
        """out: folder for pictures."""
        self._out = out
        self._tables: set[str] = set()

    @property
    def handle(self) -> bpy.types.Window:
        """Blender's own window, a new one after a file was loaded."""
        return bpy.context.window_manager.windows[0]

    @property
    def viewport(self) -> bpy.types.Area:
        """The largest 3D viewport."""
        areas = [area for area in self.handle.screen.areas if area.type == "VIEW_3D"]
        return max(areas, key=lambda area: area.width * area.height)

    def region(self, kind: str = "WINDOW") -> bpy.types.Region:
        """A region of the viewport."""
        return next(region for region in self.viewport.regions if region.type == kind)

    def context(self) -> AbstractContextManager:
        """Context of operators started in the viewport."""
        return bpy.context.temp_override(
            window=self.handle, area=self.viewport, region=self.region(), space_data=self.viewport.spaces[0]
        )

    def invoke(self, operator: str, **properties) -> set[str]:
        """Starts an operator such as `jounce.build` like a button in the viewport."""
        group, name = operator.split(".")
        with self.context():
            return getattr(getattr(bpy.ops, group), name)("INVOKE_DEFAULT", **properties)

    def is_running(self, operator: str) -> bool:
        """True while a modal operator such as `JOUNCE_OT_build` runs."""
        return any(running.bl_idname == operator for running in self.handle.modal_operators)

    def centre(self) -> tuple[int, int]:
        """The middle of the viewport, beside its sidebar."""
        region, sidebar = self.region(), self.region("UI")
        width = region.width - (sidebar.width if sidebar.width > 1 else 0)
        return region.x + width // 2, region.y + region.height // 2

    def move(self, x: int, y: int) -> None:
        """Moves the mouse."""
        self.handle.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)

    def press(self, key: str, at: tuple[int, int] | None = None, **modifiers: bool) -> None:
        """Presses and releases a key or a button of the mouse."""
        for value in ("PRESS", "RELEASE"):
            self.hold(key, value, at, **modifiers)

    def hold(self, key: str, value: str, at: tuple[int, int] | None = None, **modifiers: bool) -> None:
        """Half of `press`: "PRESS" or "RELEASE"."""
        x, y = at or self.centre()
        self.handle.event_simulate(type=key, value=value, x=x, y=y, **modifiers)

    def click(self, at: tuple[int, int]) -> Iterator[float]:
        """Moves the mouse to a place and presses its left button there; use with `yield from`."""
        self.move(*at)
        yield 0.3
        for value in ("PRESS", "RELEASE"):
            self.hold("LEFTMOUSE", value, at)
            yield 0.1

    def pull(self, start: tuple[int, int], by: tuple[int, int]) -> Iterator[float]:
        """Drags with the left button; use with `yield from`."""
        self.move(*start)
        yield 0.3
        self.hold("LEFTMOUSE", "PRESS", start)
        yield from self.drag(start, by)
        self.hold("LEFTMOUSE", "RELEASE", (start[0] + by[0], start[1] + by[1]))
        yield 0.1

    def buttons(self, along: float, heights: range) -> list[tuple[int, int]]:
        """Middles of the buttons that a vertical line through the sidebar crosses, the uppermost first.

        along: place of the line, as a share of the width; a text on the line hides a button. heights: of the
        wanted buttons, in pixels.
        """
        sidebar, pixels = self.region("UI"), self.sidebar_pixels().astype(int)
        x = round(along * sidebar.width)
        is_button = (np.abs(pixels[:, x] - BUTTON).max(axis=1) < 4).astype(int)
        ends = np.flatnonzero(np.diff(is_button, prepend=0, append=0)).reshape(-1, 2)
        rows = [(first + last) // 2 for first, last in ends if last - first in heights]
        return [(sidebar.x + x, sidebar.y + sidebar.height - 1 - row) for row in rows]

    def drag(self, start: tuple[int, int], by: tuple[int, int], steps: int = 6) -> Iterator[float]:
        """Moves the mouse along a line, with time between the steps; use with `yield from`."""
        for step in range(1, steps + 1):
            self.move(start[0] + by[0] * step // steps, start[1] + by[1] * step // steps)
            yield 0.05

    def show_sidebar(self) -> None:
        """Opens the sidebar of the viewport at the tab of the extension."""
        self.viewport.spaces[0].show_region_ui = True
        self.redraw()
        self.region("UI").active_panel_category = SIDEBAR_TAB
        self.redraw()

    def open_panels(self, *names: str) -> None:
        """Opens initially closed panels, all of them without names, by a new registration."""
        known = importlib.import_module(f"{extension.INSTALLED}.panels").CLASSES
        panels = [cls for cls in known if issubclass(cls, bpy.types.Panel)]
        for cls in reversed(panels):
            bpy.utils.unregister_class(cls)
        for cls in panels:
            if not names or cls.__name__ in names:
                cls.bl_options = set(getattr(cls, "bl_options", ())) - {"DEFAULT_CLOSED"}
            bpy.utils.register_class(cls)

    def calm(self) -> None:
        """A viewport without moving or blending parts, for comparing pixels."""
        space = self.viewport.spaces[0]
        bpy.context.preferences.view.smooth_view = 0
        bpy.context.preferences.system.viewport_aa = "OFF"
        space.show_gizmo = space.show_region_ui = False
        overlay = space.overlay
        overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = overlay.show_cursor = False
        overlay.show_text = overlay.show_outline_selected = overlay.show_object_origins = False

    def look_at(self, obj: bpy.types.Object) -> None:
        """Shows an object from the front, as large as the viewport allows."""
        for other in bpy.context.selected_objects:
            other.select_set(False)
        obj.select_set(True)
        with self.context():
            bpy.ops.view3d.view_axis(type="FRONT")
            bpy.ops.view3d.view_selected()
        self.viewport.spaces[0].region_3d.update()
        self.redraw()

    def redraw(self) -> None:
        """Draws the whole window now."""
        with bpy.context.temp_override(window=self.handle):
            bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)

    def pixels(self) -> np.ndarray:
        """The screen's pixels, (height, width, 3) u8, the upper row first."""
        self.redraw()
        handle = self.handle
        command = ["import", "-silent", "-window", "root", "-depth", "8", "rgb:-"]
        raw = subprocess.run(command, check=True, capture_output=True).stdout
        return np.frombuffer(raw, np.uint8).reshape(-1, screen_width(len(raw), handle), 3)

    def view_pixels(self) -> np.ndarray:
        """The pixels of the viewport's main region."""
        return self._part(self.region())

    def sidebar_pixels(self) -> np.ndarray:
        """The pixels of the sidebar."""
        return self._part(self.region("UI"))

    def timeline_pixels(self) -> np.ndarray:
        """The pixels of the timeline."""
        return self._part(next(area for area in self.handle.screen.areas if area.ui_type == "TIMELINE"))

    def _part(self, of: bpy.types.Region | bpy.types.Area) -> np.ndarray:
        pixels = self.pixels()
        bottom = pixels.shape[0] - of.y
        return pixels[bottom - of.height : bottom, of.x : of.x + of.width]

    def screenshot(self, name: str) -> None:
        """Keeps a picture of the screen."""
        self.redraw()
        command = ["import", "-silent", "-window", "root", os.fspath(self._out / f"{name}.png")]
        subprocess.run(command, check=True, capture_output=True)

    def picture(self, name: str) -> None:
        """Keeps a picture of the viewport alone."""
        self.redraw()
        region = self.region()
        top = self.handle.height - region.y - region.height
        part = f"{region.width}x{region.height}+{region.x}+{top}"
        command = ["import", "-silent", "-window", "root", "-crop", part, "+repage"]
        subprocess.run([*command, os.fspath(self._out / f"{name}.png")], check=True, capture_output=True)

    def montage(self, name: str, rows: list[list[tuple[str, str]]], scale: str) -> None:
        """Keeps one WebP of parts of pictures side by side, row below row.

        rows: names of kept pictures, each with its part as "WIDTHxHEIGHT+LEFT+TOP". scale: such as "60%".
        """
        words = ["-background", "#303030"]
        for row in rows:
            words.append("(")
            for picture, part in row:
                path = os.fspath(self._out / f"{picture}.png")
                words += ["(", path, "-crop", part, "+repage", ")"]
            words += ["+append", ")"]
        words += ["-append", "-resize", scale, "-quality", "88", os.fspath(self._out / f"{name}.webp")]
        subprocess.run(["convert", *words], check=True, capture_output=True)

    def keep(self, name: str, text: str) -> None:
        """Keeps a text beside the pictures."""
        (self._out / name).write_text(text + "\n", encoding="utf-8")

    def note(self, name: str, columns: list[str], row: list[object]) -> None:
        """Adds a row to a table kept beside the pictures."""
        lines = [f"| {' | '.join(map(str, row))} |"]
        path = self._out / name
        if name not in self._tables:
            self._tables.add(name)
            lines[:0] = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
            path.unlink(missing_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)

    def scroll_sidebar(self, times: int) -> None:
        """Turns the wheel of the mouse over the sidebar, downwards."""
        sidebar = self.region("UI")
        at = (sidebar.x + sidebar.width // 2, sidebar.y + sidebar.height // 2)
        for _ in range(times):
            self.press("WHEELDOWNMOUSE", at)


def screen_width(byte_count: int, handle: bpy.types.Window) -> int:
    """The width of a screen filled by the window."""
    assert byte_count == 3 * handle.width * handle.height, "the window does not fill the screen"
    return handle.width


def resident_bytes():
    """Memory in use by this process."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096


@contextmanager
def console() -> Iterator[list[str]]:
    """Collects the lines printed by Blender and Python, available after the block."""
    said: list[str] = []
    sys.stdout.flush()
    kept = [os.dup(number) for number in (1, 2)]
    with tempfile.TemporaryFile() as file:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        try:
            yield said
        finally:
            sys.stdout.flush()
            for number, before in zip((1, 2), kept, strict=True):
                os.dup2(before, number)
                os.close(before)
            file.seek(0)
            said += file.read().decode(errors="replace").splitlines()
