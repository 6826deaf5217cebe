"""The main workflow, end to end: a rigged character in, baked secondary motion out, with pictures.

    python demo.py [character.fbx|.glb|.gltf|.blend] --out DIR [--extension ZIP] [--frames 60]

Without a character it builds a soft creature. It writes to DIR, all named after the character: the baked
.blend, a contact sheet (.png) and a short loop of the motion (.webp).
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import character as characters
import creature
import flesh
import script
import sheet
import studio


def main() -> int:
    """Runs the demo; returns the process's exit code."""
    options = _options()
    started = time.perf_counter()
    try:
        flesh.enable(options.extension)
        character, shot, settings = _cast(options)
        _say(f"{character.name}: {shot.action.name}, frames {shot.first} to {shot.last}")
        take, baked = _shoot(character, shot, settings)
    except (characters.Unreadable, flesh.Missing, RuntimeError) as problem:
        print(str(problem).strip(), file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    blend, picture, film = (options.out / f"{character.name}{kind}" for kind in (".blend", ".png", ".webp"))
    bpy.ops.wm.save_as_mainfile(filepath=str(blend.resolve()), copy=True)
    _say(f"saved {blend}")
    _photograph(character, take, options, picture, film)
    _summarise(character, shot, take, baked)
    _say(f"{time.perf_counter() - started:.0f} s in all")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "character", type=Path, nargs="?", help="FBX, glTF or .blend; without one, our own creature"
    )
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the results")
    parser.add_argument("--extension", type=Path, help="zip of the extension, if it is not installed")
    parser.add_argument("--frames", type=int, default=characters.DEFAULT_FRAMES, help="length of the shot")
    parser.add_argument("--engine", choices=("WORKBENCH", "CYCLES"), help="what renders")
    return parser.parse_args()


def _cast(options: argparse.Namespace) -> tuple[characters.Character, characters.Shot, dict[str, str]]:
    """The character, its shot, and suitable settings."""
    if options.character is not None:
        character = characters.load(options.character)
        return character, characters.choose_shot(character, options.frames), {}
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    built = creature.build()
    character = characters.Character("creature", built.armature, [built.body], built.parts)
    scene = bpy.context.scene
    scene.frame_end = scene.frame_start + options.frames - 1
    shot = characters.Shot(built.action, scene.frame_start, scene.frame_end)
    # The gallery shows the creature so, too.
    return character, shot, {"preset": "Cartoon"}


def _shoot(
    character: characters.Character, shot: characters.Shot, settings: dict[str, str]
) -> tuple[sheet.Take, flesh.Flesh]:
    """Record the shot, add flesh to the character, bake it, and record the result as Blender evaluates it."""
    posed = studio.record(character.body, shot.frames)
    baked = flesh.add_flesh(character.body, shot.frames, "MODAL_KEYS", **settings)
    _say(f"built in {baked.build_seconds:.1f} s, baked in {baked.bake_seconds:.1f} s")
    fleshed = studio.record(character.body, shot.frames)
    render = bpy.context.scene.render
    size = float(np.linalg.norm(np.ptp(np.concatenate(posed[0]), axis=0)))
    name = character.name.replace("_", " ")
    title = f"{name[:1].upper()}{name[1:]}: {shot.action.name.split('|')[-1]}"
    return sheet.Take(title, shot.first, render.fps / render.fps_base, size, posed, fleshed), baked


def _photograph(
    character: characters.Character, take: sheet.Take, options: argparse.Namespace, picture: Path, film: Path
) -> None:
    engine = options.engine or studio.best_engine()
    take = take.in_place()
    room = studio.Studio(character.body, take.framed(), engine)
    scratch = options.out / "render.png"
    shown = sheet.contact_sheet(room, take, picture, scratch)
    _say(f"rendered {picture}, frames {', '.join(map(str, shown))}")
    size = sheet.loop(room, take, film, scratch)
    _say(f"rendered {film}, {size / 1e6:.2f} MB")
    scratch.unlink()


def _summarise(
    character: characters.Character, shot: characters.Shot, take: sheet.Take, baked: flesh.Flesh
) -> None:
    amplitudes = take.amplitudes()
    peak = int(np.argmax(amplitudes))
    frames = len(shot.frames)
    bones = {group.name for mesh in character.meshes for group in mesh.vertex_groups}
    lines = {
        "vertices": sum(len(mesh.data.vertices) for mesh in character.body),
        "meshes": len(character.body),
        "bones": len(bones & set(character.armature.data.bones.keys())),
        "body": baked.summary,
        "build": f"{baked.build_seconds:.1f} s",
        "bake": f"{1e3 * baked.bake_seconds / frames:.1f} ms a frame",
        "shape keys": f"{baked.keys} for {frames} frames",
        "bake error": f"{100 * baked.error:.3f} % of the size",
        "largest motion": f"{100 * amplitudes[peak]:.1f} % of the size, at frame {shot.first + peak}",
    }
    for name, value in lines.items():
        print(f"  {name:>14}  {value}")
    if not math.isfinite(float(amplitudes.max())):
        raise RuntimeError("The baked shape is not finite.")


def _say(text: str) -> None:
    print(f"demo: {text}", flush=True)


if __name__ == "__main__":
    script.run(main)
