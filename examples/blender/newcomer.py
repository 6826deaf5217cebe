"""A newcomer's way from a character's file to a bake, with counts of clicks and seconds.

    python newcomer.py FILE [FILE ...] [--extension ZIP] [--vertices 15000] [--out PAGE.md]

It starts in Blender's factory scene with its cube, changes no setting, and calls the operators of the
buttons. Characters with fewer vertices are subdivided first, which is not counted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

import character as characters
import flesh
import numpy as np
import script
import studio

MOST_CLICKS = 4
MOST_SECONDS = 60.0
HEADING = """# From a file to a bake, measured

Made by `examples/blender/newcomer.py` with Blender {version} on two cores: factory settings, all frames of
the scene. The clicks, after the import of the file: the tab *Jounce* of the sidebar, the character if the
importer has not made it active, *Add Jounce*, *Bake*. Characters with fewer than {least:,} vertices were
subdivided first. *Largest motion*: largest distance of a baked vertex from the pose, as a share of the size.
Load of the machine meanwhile, this program included: {load:.0f}.

| character | vertices | frames | clicks | import | Add Jounce | Bake | in all | largest motion |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


@dataclass
class Way:
    """Record of the clicks, and of the machine's time per task."""

    clicks: int = 0
    times: dict[str, float] = field(default_factory=dict)

    def wait(self, name: str, action: Callable[[], object]) -> None:
        """Run a task of the machine, after any number of clicks."""
        started = time.perf_counter()
        action()
        self.times[name] = time.perf_counter() - started

    def click(self, name: str, action: Callable[[], object]) -> None:
        """Click once, and wait for the end of the task."""
        self.clicks += 1
        self.wait(name, action)

    @property
    def seconds(self) -> float:
        """Total time of the machine in seconds."""
        return sum(self.times.values())


def walk(path: Path, least: int) -> list[str]:
    """Goes the whole way with one character; returns the cells of its row in the table."""
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    way = Way()
    # A menu, a file browser and its options: not one click, and different for each format.
    way.wait("import", lambda: read(path))
    character = characters.find(path.stem)
    finer(character, least)
    # A key and a click without work for the machine.
    way.click("sidebar, tab Jounce", lambda: None)
    if bpy.context.view_layer.objects.active not in (character.armature, *character.body):
        way.click("select", lambda: select(character.armature))
    way.click("Add Jounce", bpy.ops.jounce.setup)
    way.click("Bake", bpy.ops.jounce.bake)
    host = next(mesh for mesh in character.body if mesh.jounce.is_host)
    assert host.jounce.bake_parts and way.clicks <= MOST_CLICKS
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    return [
        character.name,
        f"{sum(len(mesh.data.vertices) for mesh in character.body):,}",
        str(len(frames)),
        str(way.clicks),
        *(f"{way.times[name]:.1f} s" for name in ("import", "Add Jounce", "Bake")),
        f"{way.seconds:.1f} s{'' if way.seconds <= MOST_SECONDS else ', too long'}",
        f"{largest_motion(character, frames):.1%}",
    ]


def read(path: Path) -> None:
    """Import through the menu File; of a .blend a copy is opened."""
    kind = path.suffix.lower()
    if kind == ".fbx":
        bpy.ops.import_scene.fbx(filepath=str(path))
    elif kind == ".blend":
        characters.open_copy(path)
    else:
        bpy.ops.import_scene.gltf(filepath=str(path))


def select(armature: bpy.types.Object) -> None:
    """A click on the armature in the viewport."""
    for other in bpy.context.selected_objects:
        other.select_set(False)
    armature.select_set(True)
    bpy.context.view_layer.objects.active = armature


def finer(character: characters.Character, least: int) -> None:
    """Subdivides the meshes until the character has enough vertices."""
    while sum(len(mesh.data.vertices) for mesh in character.body) < least:
        for mesh in character.body:
            name = mesh.modifiers.new("Finer", "SUBSURF").name
            mesh.modifiers[name].subdivision_type = "SIMPLE"
            with bpy.context.temp_override(object=mesh, active_object=mesh):
                bpy.ops.object.modifier_move_to_index(modifier=name, index=0)
                bpy.ops.object.modifier_apply(modifier=name)


def largest_motion(character: characters.Character, frames: range) -> float:
    """Largest distance of a baked vertex from the pose, as a share of the size."""
    select(character.armature)
    fleshed = studio.record(character.body, frames)
    bpy.ops.jounce.free_bake()
    posed = studio.record(character.body, frames)
    size = np.linalg.norm(np.ptp(np.concatenate(posed[0]), axis=0))
    return max(
        float(np.linalg.norm(np.concatenate(a) - np.concatenate(b), axis=1).max()) / size
        for a, b in zip(fleshed, posed, strict=True)
    )


def main() -> None:
    """Walks the way with each character and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--extension", type=Path)
    parser.add_argument("--vertices", type=int, default=15000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    flesh.enable(options.extension)
    rows = [f"| {' | '.join(walk(file, options.vertices))} |\n" for file in options.files]
    load = os.getloadavg()[1]
    text = HEADING.format(version=bpy.app.version_string, least=options.vertices, load=load) + "".join(rows)
    print(text)
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    script.run(main)
