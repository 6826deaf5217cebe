"""Makes the pictures of the documentation from real runs of Jounce.

    python pictures.py --extension jounce.zip --out docs/images [--only leak]

Needs bpy and Pillow; the extension contains the native module. The creature and a ball are procedural.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import belly_flop
import bpy
import caught_jelly
import cut_bar
import drawn_laws
import figures
import flesh
import keyed_belly
import leaves as bushes
import lesson
import numpy as np
import platform_pictures
import script
import sewn_leaves
import stadium as stadiums
import studio
import subjects
import thrown_jelly
import touching_jellies
import windy_props
from PIL import Image

LIMIT = 200_000
MODES = 5
DEEP = 0.06
OFF = 0.02
CHANGED = 0.08


def main() -> int:
    """Makes all pictures, or the named one; returns the process's exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"), help="folder for the pictures")
    parser.add_argument("--extension", type=Path, help="zip of the extension, if it is not installed")
    parser.add_argument("--engine", choices=("WORKBENCH", "CYCLES"), help="what renders")
    parser.add_argument("--only", choices=sorted(PICTURES), help="one of them")
    options = parser.parse_args()
    try:
        flesh.enable(options.extension)
    except flesh.Missing as problem:
        print(problem, file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    engine = options.engine or studio.best_engine()
    for name in [options.only] if options.only else PICTURES:
        path = options.out / (name if "." in name else f"{name}.webp")
        figures.save(PICTURES[name](engine, options.out / "render.png"), path, LIMIT)
        print(f"pictures: {path}, {path.stat().st_size / 1e3:.0f} kB", flush=True)
    (options.out / "render.png").unlink(missing_ok=True)
    return 0


def stiffness(engine: str, scratch: Path) -> Image.Image:
    """Painted stiffness, and its effect on the modes."""
    creature = subjects.Creature()
    soft = creature.soft_belly()
    painted, uniform = creature.body(young=subjects.YOUNG * 100.0 ** (1.0 - soft)), creature.body()
    room = studio.Studio(creature.meshes, [creature.rest], engine)
    rows = []
    for body, amounts in ((uniform, 0.0 * soft), (painted, soft)):
        modes = subjects.amounts(body, range(MODES))
        rows.append([figures.painted(room, creature, paint, scratch) for paint in [amounts, *modes]])
    columns = ["softness", *(f"mode {k + 1}" for k in range(MODES))]
    return figures.sheet(
        rows, columns, ["uniform", "painted"], "red: softest (a hundredth of the stiffness), or moves most"
    )


def localised(engine: str, scratch: Path) -> Image.Image:
    """Global modes, and modes confined to parts of the body."""
    creature = subjects.Creature()
    room = studio.Studio(creature.meshes, [creature.rest], engine)
    rows, names = [], []
    for locality in (0.0, 10.0, 50.0):
        modes = subjects.amounts(creature.body(locality=locality), range(MODES - 1))
        rows.append([figures.painted(room, creature, mode, scratch) for mode in modes])
        names.append(f"locality {locality:g}")
    return figures.sheet(rows, [f"mode {k + 1}" for k in range(MODES - 1)], names, "red: moves most")


def leak(engine: str, scratch: Path) -> Image.Image:
    """One character with no leak, the default, and full leak."""
    creature = subjects.Creature()
    body = creature.body()
    takes = [creature.take(body, leak) for leak in (0.0 * body.leak, body.leak, 0.0 * body.leak + 1.0)]
    frames = figures.strongest(creature, takes[1], 2)
    room = studio.Studio(creature.meshes, [take[frame] for take in takes for frame in frames], engine)
    rows = []
    for frame in frames:
        shown = [figures.plain(room, creature.posed[frame], scratch)]
        for take in takes:
            far = creature.distance(take[frame], creature.posed[frame]) / 0.04
            shown.append(figures.painted(room, creature, far, scratch, take[frame]))
        rows.append(shown)
    columns = ["posed by the bones", "leak 0 everywhere", "default leak", "leak 1 everywhere"]
    names = [f"frame {creature.first + frame}" for frame in frames]
    return figures.sheet(rows, columns, names, "red: 4 % of the size or more from the pose")


def parts(engine: str, scratch: Path) -> Image.Image:
    """The core of a character, and the effect of momentum leak on the belly."""
    creature = subjects.Creature()
    takes = []
    for kept in (1.0, 0.5, 0.0):
        leak = 1.0 - (1.0 - kept) * np.minimum(2.0 * creature.soft_belly(), 1.0)
        body = creature.body(core=creature.core(), leak=leak, modes=24)
        # Default frequency of Add Jounce for flesh of this size.
        at_rest = np.sqrt(subjects.YOUNG / 1e3) / np.cbrt(body.mesh.volumes.sum())
        takes.append(creature.played(body.model, body, at_rest))
    core = body.embedding.interpolate(body.pinned[:, np.newaxis].astype(float))[:, 0]
    frames = figures.strongest(creature, takes[0], 2)
    room = studio.Studio(creature.meshes, [take[frame] for take in takes for frame in frames], engine)
    rows = []
    for frame in frames:
        posed = creature.posed[frame]
        shown = [figures.painted(room, creature, core, scratch, posed)]
        for take in takes:
            far = creature.distance(take[frame], posed) / 0.08
            shown.append(figures.painted(room, creature, far, scratch, take[frame]))
        rows.append(shown)
    columns = ["core (red)", "leak 1", "leak 0.5 on the belly", "leak 0 on the belly"]
    names = [f"frame {creature.first + frame}" for frame in frames]
    return figures.sheet(rows, columns, names, "red: core; or 8 % of the size or more from the pose")


def volume(engine: str, scratch: Path) -> Image.Image:
    """A ball between two plates: as rigid as possible, and volume-preserving."""
    ball = subjects.Ball()
    shapes, columns = [ball.shape(None)], ["at rest"]
    for law, poisson, name in (
        ("arap", 0.0, "as rigid as possible"),
        ("corotated", 0.45, "Volume Preservation 0.45"),
    ):
        shape, change = ball.squashed(law, poisson)
        shapes.append(shape)
        columns.append(f"{name}\nvolume {100 * change:+.0f} %")
    room = studio.Studio(ball.meshes, shapes, engine)
    return figures.sheet([[figures.plain(room, shape, scratch) for shape in shapes]], columns, [""], "")


def stitches(engine: str, scratch: Path) -> Image.Image:
    """A bar that is cut through: hanging apart, and sewn together."""
    bar = cut_bar.CutBar()
    shapes = [bar.shape(), bar.hanging(None), bar.hanging(1.0), bar.hanging(0.0)]
    room = studio.Studio(bar.meshes, shapes, engine)
    columns = ["at rest", "not sewn", "sewn, Keep Gap on", "sewn, Keep Gap off"]
    return figures.sheet([[figures.plain(room, shape, scratch) for shape in shapes]], columns, [""], "")


def sewn(engine: str, scratch: Path) -> Image.Image:
    """A stem and its leaves, swinging independently, and sewn together."""
    plant = sewn_leaves.SewnLeaves()
    takes = {"each by itself": plant.apart(), "sewn": plant.sewn()}
    return compared(plant.meshes, takes, (0, 5, 8, 12, 15, 18), engine, scratch)


def opening(engine: str, scratch: Path) -> Image.Image:
    """The sewn bar while its seam opens from below, and the estimated error of modes with a later seam."""
    bar = cut_bar.CutBar()
    frames, counts = range(4, 40, 8), (1, 3, 9, 25, 49)
    take, errors = bar.unzipped(frames), bar.mode_errors(counts)
    room = studio.Studio(bar.meshes, [bar.shape(), *take], engine)
    unzipped = [figures.plain(room, shape, scratch) for shape in take]
    most = max(error.max() for error in errors)
    off = []
    for error in errors:
        room.paint(bar.split(error / most))
        off.append(figures.photograph(room, bar.shape(), scratch))
    columns = [f"frame {frame}\n{count} sewn" for frame, count in zip(frames, counts, strict=True)]
    legend = f"red: modes may be off by {100 * most:.1g} % of their largest weights"
    return figures.sheet([unzipped, off], columns, ["opening", "Mode Error"], legend)


def collisions(engine: str, scratch: Path) -> Image.Image:
    """A belly that lands on the ground, without and with collisions."""
    flop = belly_flop.BellyFlop()
    takes = {"no collisions": flop.free(), "collisions": flop.landed()}
    frames = (8, 12, 13, 15, 29)
    room = studio.Studio(flop.meshes, [take[frame] for take in takes.values() for frame in frames], engine)
    rows = []
    for take in takes.values():
        shown = []
        for frame in frames:
            room.paint([np.clip(-points[:, 2] / DEEP, 0.0, 1.0) for points in take[frame]])
            shown.append(figures.photograph(room, take[frame], scratch))
        rows.append(shown)
    columns = [f"frame {belly_flop.FRAMES[frame]}" for frame in frames]
    return figures.sheet(rows, columns, list(takes), f"red: {100 * DEEP:.0f} cm or more below the ground")


def loose(engine: str, scratch: Path) -> Image.Image:
    """A thrown block of jelly with its built stiffness and softer; the camera follows."""
    thrown = thrown_jelly.ThrownJelly()
    takes = {"as added": thrown.take(1.0), "half the frequency": thrown.take(0.5)}
    frames = (0, 8, 10, 12, 15, 47)
    seen = {name: [thrown_jelly.from_beside(take[frame]) for frame in frames] for name, take in takes.items()}
    room = studio.Studio([thrown.block], [shape for shapes in seen.values() for shape in shapes], engine)
    rows = [[figures.plain(room, shape, scratch) for shape in shapes] for shapes in seen.values()]
    columns = [f"frame {thrown_jelly.FRAMES[frame]}" for frame in frames]
    return figures.sheet(rows, columns, list(takes), "")


def touching(engine: str, scratch: Path) -> Image.Image:
    """Three blocks of jelly falling onto each other, without and with collisions between the blocks."""
    heap = touching_jellies.TouchingJellies()
    takes = {"ground alone": heap.apart(), "each other, too": heap.touching()}
    return compared(heap.blocks, takes, (0, 6, 9, 12, 15, 20), engine, scratch)


def compared(
    meshes: list[bpy.types.Object],
    takes: dict[str, list[subjects.Shape]],
    frames: tuple[int, ...],
    engine: str,
    scratch: Path,
) -> Image.Image:
    """Takes below each other, all from frame 1, with some of their frames side by side."""
    room = studio.Studio(meshes, [take[frame] for take in takes.values() for frame in frames], engine)
    rows = [[figures.plain(room, take[frame], scratch) for frame in frames] for take in takes.values()]
    return figures.sheet(rows, [f"frame {frame + 1}" for frame in frames], list(takes), "")


def props(engine: str, scratch: Path) -> Image.Image:
    """Props in the wind, each built by one click."""
    windy, frames, rows = windy_props.WindyProps(), (0, 17, 26, 35, 52), []
    for name, meshes in windy.meshes.items():
        take = windy.take(name)
        room = studio.Studio(meshes, [take[frame] for frame in frames], engine)
        rows.append([figures.plain(room, take[frame], scratch) for frame in frames])
    columns = [f"frame {windy_props.FRAMES[frame]}" for frame in frames]
    return figures.sheet(rows, columns, list(windy.meshes), "")


def leaves(engine: str, scratch: Path) -> Image.Image:
    """A strongly bent leaf, unwarped and warped; and a bush of a thousand in the wind, far and near."""
    bush = bushes.Bush(1000)
    bent = bush.bent()
    room = studio.Studio([bush.leaf_object], [[points] for points in bent.values()], engine)
    rows = [[figures.plain(room, [points], scratch) for points in bent.values()]]
    meshes, frames = [bush.leaves, bush.twigs], range(6, 54, 12)
    takes = [studio.record(meshes, range(frame, frame + 1))[0] for frame in frames]
    branch = takes[0][0][np.linalg.norm(takes[0][0] - bush.outermost, axis=1) < 0.15]
    for framed, lower in ((takes, 0.0), ([[branch]], 1.0)):
        room = studio.Studio(meshes, framed, engine)
        room.ground.location.z -= lower
        rows.append([figures.plain(room, take, scratch) for take in takes])
    names = ["one leaf", "frames " + ", ".join(map(str, frames)), "near by"]
    return figures.sheet(rows, list(bent), names, "")


def stadium(_engine: str, scratch: Path) -> Image.Image:
    """A thousand creatures, by Cycles: instances are no meshes of a studio."""
    stadiums.Stadium(1000).photograph(scratch)
    return Image.open(scratch).convert("RGB")


def caught(engine: str, scratch: Path) -> Image.Image:
    """A block of jelly thrown and caught by an arm, and inflated in its flight."""
    jelly = caught_jelly.CaughtJelly()
    takes = {"as built": jelly.take(), "inflated in flight": jelly.inflated()}
    frames = (0, 9, 13, 17, 21, 29)
    room = studio.Studio(jelly.meshes, [take[frame] for take in takes.values() for frame in frames], engine)
    rows = [[figures.plain(room, take[frame], scratch) for frame in frames] for take in takes.values()]
    columns = [f"frame {caught_jelly.FRAMES[frame]}" for frame in frames]
    return figures.sheet(rows, columns, list(takes), "")


def learnt(engine: str, scratch: Path) -> Image.Image:
    """A jump as its draft, as learnt and as its final motion, coloured by the distance from the latter."""
    known = lesson.Lesson()
    takes = {"Draft": known.take("DRAFT"), "Learnt": known.take("LEARNT"), "Final": known.take("FINAL")}
    final = takes["Final"]
    both = zip(takes["Draft"], final, strict=True)
    worst = [np.mean(np.concatenate(lesson.apart(*pair))) for pair in both]
    frames = sorted(np.argsort(worst)[-16::4])
    room = studio.Studio(known.meshes, [take[frame] for take in takes.values() for frame in frames], engine)
    rows = []
    for take in takes.values():
        shown = []
        for frame in frames:
            room.paint([np.clip(far / OFF, 0.0, 1.0) for far in lesson.apart(take[frame], final[frame])])
            shown.append(figures.photograph(room, take[frame], scratch))
        rows.append(shown)
    columns = [f"frame {lesson.FRAMES[frame]}" for frame in frames]
    return figures.sheet(rows, columns, list(takes), f"red: {100 * OFF:.0f} % of the size or more from Final")


def law(engine: str, scratch: Path) -> Image.Image:
    """A jump with three drawn laws, coloured by the distance from the pose."""
    drawn = drawn_laws.DrawnLaws()
    takes, stresses = {}, []
    for name, points in drawn_laws.LAWS.items():
        takes[name] = drawn.take(points)
        stresses.append(drawn.stress())
    even, *others = takes.values()
    apart = [np.mean(np.concatenate(lesson.apart(*pair))) for pair in zip(even, others[0], strict=True)]
    frames = sorted(np.argsort(apart)[-16::8])
    room = studio.Studio(drawn.meshes, [take[frame] for take in takes.values() for frame in frames], engine)
    rows = [stresses]
    rows += [[figures.plain(room, take[frame], scratch) for take in takes.values()] for frame in frames]
    names = ["stress", *(f"frame {lesson.FRAMES[frame]}" for frame in frames)]
    return figures.sheet(rows, list(takes), names, "")


def direct(engine: str, scratch: Path) -> Image.Image:
    """The creature's jump as simulated, with a keyed belly, and without swing; coloured by the change."""
    belly = keyed_belly.KeyedBelly()
    takes = {"simulated": belly.filled(), "keyed": belly.keyed(), "Swing 0": belly.without_swing()}
    frames = [keyed_belly.KEY + step for step in (-9, -6, -3, 0, 3, 6, 9)]
    shown = [frame - lesson.FRAMES.start for frame in frames]
    room = studio.Studio(belly.meshes, [take[row] for take in takes.values() for row in shown], engine)
    rows = []
    for take in takes.values():
        rows.append([])
        for row in shown:
            changed = lesson.apart(take[row], takes["simulated"][row])
            room.paint([np.clip(far / CHANGED, 0.0, 1.0) for far in changed])
            rows[-1].append(figures.photograph(room, take[row], scratch))
    columns = [f"frame {frame}" + ("\nkey" if frame == keyed_belly.KEY else "") for frame in frames]
    return figures.sheet(
        rows, columns, list(takes), f"red: {100 * CHANGED:.0f} % of the size or more changed"
    )


PICTURES: dict[str, Callable[[str, Path], Image.Image]] = {
    "stiffness": stiffness,
    "localised": localised,
    "leak": leak,
    "parts": parts,
    "volume": volume,
    "stitches": stitches,
    "opening": opening,
    "sewn": sewn,
    "collisions": collisions,
    "loose": loose,
    "touching": touching,
    "caught": caught,
    "learnt": learnt,
    "law": law,
    "leaves": leaves,
    "props": props,
    "stadium": stadium,
    "direct": direct,
    "icon.png": platform_pictures.icon,
    "featured.jpg": platform_pictures.featured,
}

if __name__ == "__main__":
    script.run(main)
