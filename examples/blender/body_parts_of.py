"""One character for `body_parts.py`: added as an artist does, previewed over a clip, measured, photographed.

    python body_parts_of.py FILE --report OUT.json [--frames 60] [--sheets DIR]

Motion: largest distance of a vertex from the posed mesh, as a share of the diagonal at the first frame; for
a part, the 90th percentile of its vertices. Stretch: relative change of an edge's length against the posed
mesh in the worst frame, for edges longer than a thousandth of the size. Flipped triangles: those of flesh
that are turned inside out against the posed mesh; cloth has no inside. Volume: largest relative change of the
volume inside the skin of flesh, against the posed mesh; holes are closed. Jitter: the 99th percentile of the
displacement's second difference in time, over vertices and frames; of the rig: the same of the posed mesh,
over vertices of flesh. Of springs: the same of masses on springs of the body's damping, that feel the body's
amount of the rig's acceleration and move as much as vertices of flesh do. Lively: largest lag of a mass on a
damped spring of the body's frequency, carried by a vertex; the 90th percentile of hips and spine.

Seen: mean distance from the posed mesh over the frames and over the hundredth of the vertices that moves
most, in pixels of a picture in which the character's longest side has 864; moving: over the frames in which a
vertex of the posed mesh moves by more than a thousandth of the size. A character with an action for walking
is measured in that too, for at most two seconds, after Add Jounce for this action alone.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import character as characters
import flesh
import found_parts
import one_character
import script
import sheet
import studio

# The measured parts of a character by bone names; the first match counts.
PARTS = {
    "ears, tails": r"(?-i:Ear|(?<![A-Za-z])ear)s?(?![a-z])|tail",
    "hands": r"hand|finger|thumb|index|middle|ring|pinky|wrist|palm|fist|claw",
    "feet": r"foot|toe|ball|paw|hoof|heel|ankle|ff$|ff[._ ]",
    "head": r"head|jaw|eye|brow|mouth|beak|muzzle|skull|face|horn",
    "upper legs": r"upleg|upperleg|thigh|leg_?up|upper_leg|legupper|leg_joint_[lr]_1",
    "hips, spine": r"hip|pelvis|spine|torso|body|chest|belly|abdomen|waist|stomach|back|root",
}
# The part with a measure of liveliness, and those that keep their places.
DRIVEN, STILL = "hips, spine", ("hands", "feet", "head")
# Parts that a build finds, with the motion that is measured.
FOUND = ("belly", "buttocks", "thighs", "ears", "tail")
# Name of a calm action for walking, and its seconds.
WALK, SECONDS = re.compile(r"(^|[|_])walk(ing)?(_a)?$", re.IGNORECASE), 2.0
SHORT = 1e-3
# Integration steps per frame of a mass on a spring.
STEPS = 64
# Number of masses that are compared with flesh, and frequencies of their springs, in Hz.
MASSES, FREQUENCIES = 400, np.geomspace(0.5, 16.0, 26)
# Share of the way from the hips to the head beyond which the trunk counts as rib cage.
RIBS = 0.5
# Pixels of the longest side, and share of the vertices that visible motion is averaged over.
PIXELS, LIVELIEST = 864, 0.01
# Largest motion of a vertex from the frame before, as a share of the size, in a frame that holds still.
HELD = 1e-3
# Least largest motion of a vertex of flesh, as a share of the size.
FLESHY = 5e-3


def main() -> None:
    """Measures one character and writes the report."""
    options = one_character.shooting_parser(__doc__).parse_args()
    one_character.shoot(options, shoot_both, characters.choose_played)


def shoot_both(
    package: str, character: characters.Character, shot: characters.Shot
) -> tuple[dict, sheet.Take]:
    """The measurements of a shot and of a walk, and the take of the shot."""
    report, take = shoot(package, character, shot)
    if (walk := walk_of(character)) is not None:
        flesh.select([character.armature])
        bpy.ops.jounce.remove()
        characters.assign(character.armature, walk.action)
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = walk.first, walk.last
        report["walk"], _ = shoot(package, character, walk)
    return report, take


def walk_of(character: characters.Character) -> characters.Shot | None:
    """The first action for walking, two seconds of it or as long as it is without repeating; None without."""
    render = bpy.context.scene.render
    frames = round(SECONDS * render.fps / render.fps_base)
    for action in characters.actions_of(character.armature):
        first, last = (round(frame) for frame in action.frame_range)
        if WALK.search(action.name):
            end = first + frames
            return characters.Shot(action, first, end if characters.repeats(action) else min(end, last))
    return None


def shoot(package: str, character: characters.Character, shot: characters.Shot) -> tuple[dict, sheet.Take]:
    """Adds Jounce to a character and records its final motion beside the pose; measurements and take."""
    found = regions(character)
    posed = studio.record(character.body, shot.frames)
    bpy.context.scene.frame_set(shot.first)
    flesh.select([character.armature])
    started = time.perf_counter()
    bpy.ops.jounce.setup()
    seconds = time.perf_counter() - started
    host = next(mesh for mesh in character.body if mesh.jounce.is_host)
    bpy.ops.jounce.fill_cache()
    fleshed = studio.record(character.body, shot.frames)
    take = one_character.take(character, shot, posed, fleshed)
    chosen = {"add s": seconds, "frequency": host.jounce.frequency, "amount": host.jounce.shot_amount}
    lively = liveliness(found, take, host.jounce.frequency, host.jounce.damping)
    shaking = shaken(take, displacements(take), host.jounce.shot_amount, host.jounce.damping)
    own, _ = found_parts.found(package, host, character.body)
    values = measure(character, take, found) | of_parts(take, found, own)
    return chosen | lively | shaking | values | {"volume": change_of_volume(character, take)}, take


def of_parts(take: sheet.Take, named: dict[str, np.ndarray], own: dict[str, np.ndarray]) -> dict:
    """Motion of the parts that a build finds, the part that moves most, and the largest of what keeps still.

    named, own: vertices (p,) of the parts by bones' names, and of the found ones.
    """
    peak = np.linalg.norm(displacements(take), axis=2).max(axis=0)
    furthest = np.argsort(peak)[-max(1, round(LIVELIEST * len(peak))) :]
    shares = {part: float(mine[furthest].mean()) for part, mine in own.items()}
    shares["none"] = 1.0 - float(np.any([*own.values()], axis=0)[furthest].mean()) if own else 1.0
    values: dict = {"where, part": max(shares, key=lambda part: shares[part])}
    values |= {f"{part}, largest": float(peak[named[part]].max()) for part in STILL if named[part].any()}
    moved = {part: peak[own[part]] for part in FOUND if part in own and own[part].any()}
    return values | {part: float(np.percentile(far, 90.0)) for part, far in moved.items()}


def change_of_volume(character: characters.Character, take: sheet.Take) -> float:
    """Largest relative change of the volume inside the skin of flesh against the posed mesh."""
    triangles = of_flesh(character, take, topology(character.body)[1])
    skin, worst = found_parts.welded(np.concatenate(take.posed[0]), triangles), 0.0
    for before, after in zip(take.posed, take.fleshed, strict=True):
        was, now = (found_parts.enclosed(np.concatenate(s).astype(float), skin) for s in (before, after))
        worst = max(worst, abs(now / was - 1.0))
    return worst


def regions(character: characters.Character) -> dict[str, np.ndarray]:
    """Vertices (p,) of each part of a character by name, and of the rib cage if thighs and head are known.

    The rib cage is the upper half of hips and spine, on the way from the two thighs furthest from the
    head to the head. The armature is put to rest in the meantime.
    """
    labels = np.concatenate([part_labels(mesh) for mesh in character.body])
    found = {part: labels == part for part in PARTS}
    armature = character.armature
    thighs, heads = first_heads(armature, "upper legs"), first_heads(armature, "head")
    if thighs and heads:
        armature.data.pose_position = "REST"
        [rest] = studio.record(character.body, range(1))
        armature.data.pose_position = "POSE"
        head = np.mean(heads, axis=0)
        furthest = sorted(thighs, key=lambda place: float(np.linalg.norm(place - head)))[-2:]
        hips = np.mean(furthest, axis=0)
        along = (np.concatenate(rest) - hips) @ (head - hips) / ((head - hips) @ (head - hips))
        found["rib cage"] = found["hips, spine"] & (along > RIBS)
    return found


def first_heads(armature: bpy.types.Object, part: str) -> list[np.ndarray]:
    """Heads of the uppermost bones of a part at rest, in world space."""
    own = [bone for bone in armature.data.bones if part_of(bone.name) == part]
    first = [bone for bone in own if not any(part_of(above.name) == part for above in bone.parent_recursive)]
    return [np.array(armature.matrix_world @ bone.head_local) for bone in first]


def liveliness(
    found: dict[str, np.ndarray], take: sheet.Take, frequency: float, damping: float
) -> dict[str, float]:
    """Lag of a mass on a spring of this frequency, Hz, and damping, for the part `DRIVEN`."""
    places = np.array([np.concatenate(shape) for shape in take.posed], float) / take.size
    if not found[DRIVEN].any():
        return {}
    behind = lag(places[:, found[DRIVEN]], frequency, damping, take.frame_rate)
    return {"lively": float(np.percentile(behind, 90.0))}


def lag(places: np.ndarray, frequency: float, damping: float, rate: float) -> np.ndarray:
    """Largest lags (p,) of masses on springs attached to places (f, p, 3), initially in steady motion."""
    return np.linalg.norm(swing(places, frequency, damping, rate), axis=2).max(axis=0)


def swing(places: np.ndarray, frequency: float, damping: float, rate: float) -> np.ndarray:
    """Offsets (f - 2, p, 3) of masses on springs attached to places (f, p, 3), initially in steady motion."""
    h, omega = 1.0 / (rate * STEPS), 2.0 * np.pi * frequency
    offset, velocity, offsets = np.zeros_like(places[0]), np.zeros_like(places[0]), []
    for acceleration in rate**2 * np.diff(places, n=2, axis=0):
        for _ in range(STEPS):
            velocity -= h * (acceleration + omega**2 * offset)
            velocity /= 1.0 + 2.0 * damping * omega * h
            offset = offset + h * velocity
        offsets.append(offset)
    return np.array(offsets)


def shaken(take: sheet.Take, offsets: np.ndarray, amount: float, damping: float) -> dict[str, float]:
    """Jitter of some vertices of flesh, and of masses on springs that move as much as these.

    offsets: (f, p, 3) of the vertices. Each mass feels this amount of its vertex's acceleration; of several
    frequencies it has the one at which its motion is most nearly as large, root mean square over frames.
    """
    fleshy = np.flatnonzero(np.linalg.norm(offsets, axis=2).max(axis=0) > FLESHY)
    fleshy = fleshy[:: max(1, len(fleshy) // MASSES)]
    if not len(fleshy):
        return {}
    places = np.array([np.concatenate(shape)[fleshy] for shape in take.posed], float) / take.size
    own = offsets[2:, fleshy]
    sizes = np.sqrt((own**2).sum(axis=(0, 2)))
    masses, missed = np.zeros_like(own), np.full(len(fleshy), np.inf)
    for frequency in FREQUENCIES:
        found = amount * swing(places, frequency, damping, take.frame_rate)
        miss = np.abs(np.log(np.sqrt((found**2).sum(axis=(0, 2))) / sizes))
        masses = np.where((miss < missed)[:, np.newaxis], found, masses)
        missed = np.minimum(miss, missed)
    return {"jitter of flesh": jitter(own), "jitter of springs": jitter(masses)}


def measure(character: characters.Character, take: sheet.Take, found: dict[str, np.ndarray]) -> dict:
    """Measurements of a take, as shares. found: the vertices (p,) of each region."""
    offsets = displacements(take)
    moved = np.linalg.norm(offsets, axis=2)
    peak = moved.max(axis=0)
    furthest = np.argsort(peak)[-max(1, round(LIVELIEST * len(peak))) :]
    bones = np.concatenate([strongest_bones(mesh) for mesh in character.body])
    names, counts = np.unique(bones[furthest], return_counts=True)
    seen = moved[:, furthest].mean(axis=1) * take.size * PIXELS / longest_side(take)
    moving = ~held(take)
    values = {
        "seen": float(seen.mean()),
        "seen, moving": float(seen[moving].mean()) if moving.any() else 0.0,
        "still": 1.0 - float(moving.mean()),
        "where": str(names[counts.argmax()]),
        "largest": float(peak.max()),
        "jitter": jitter(offsets),
    }
    if (flesh := peak > FLESHY).any():
        posed = np.array([np.concatenate(shape) for shape in take.posed], float) / take.size
        values["jitter of the rig"] = jitter(posed[:, flesh])
    for region, mine in found.items():
        if mine.any():
            values[region] = float(np.percentile(peak[mine], 90.0))
    return values | tearing(character, take)


def displacements(take: sheet.Take) -> np.ndarray:
    """Offsets (f, p, 3) of the vertices from the posed mesh, as shares of the size."""
    pairs = zip(take.posed, take.fleshed, strict=True)
    return np.array([(np.concatenate(after) - np.concatenate(before)) / take.size for before, after in pairs])


def jitter(places: np.ndarray) -> float:
    """The 99th percentile of the second difference in time of places (f, p, 3)."""
    return float(np.percentile(np.linalg.norm(np.diff(places, n=2, axis=0), axis=2), 99.0))


def held(take: sheet.Take) -> np.ndarray:
    """True for frames (f,) in which the posed mesh is where it was; the first is none of them."""
    places = np.array([np.concatenate(shape) for shape in take.posed], float) / take.size
    steps = np.linalg.norm(np.diff(places, axis=0), axis=2).max(axis=1, initial=0.0)
    return np.concatenate([[False], steps < HELD])


def longest_side(take: sheet.Take) -> float:
    """Longest side of the posed character in world units, the median over the frames."""
    sides = [np.ptp(np.concatenate(shape), axis=0).max() for shape in take.posed]
    return float(np.median(sides))


def part_labels(mesh: bpy.types.Object) -> np.ndarray:
    """Part (p,) of each vertex by the strongest bone, empty for none."""
    return np.array([part_of(bone) for bone in strongest_bones(mesh)])


def strongest_bones(mesh: bpy.types.Object) -> np.ndarray:
    """Strongest bone (p,) of each vertex, empty for none."""
    names = [group.name for group in mesh.vertex_groups]
    parent = mesh.parent_bone if mesh.parent_type == "BONE" else ""
    most = (max(v.groups, key=lambda g: g.weight, default=None) for v in mesh.data.vertices)
    return np.array([parent if group is None else names[group.group] for group in most])


def part_of(bone: str) -> str:
    """Part named by a bone's name."""
    return next((part for part, pattern in PARTS.items() if re.search(pattern, bone, re.IGNORECASE)), "")


def tearing(character: characters.Character, take: sheet.Take) -> dict:
    """Stretch of edges and flipped triangles of flesh in the worst frame."""
    worst = {"stretch, 99.9 percentile": 0.0, "largest stretch": 0.0, "flipped triangles": 0.0}
    edges, triangles = topology(character.body)
    triangles = of_flesh(character, take, triangles)
    for before, after in zip(take.posed, take.fleshed, strict=True):
        x, y = np.concatenate(before).astype(float), np.concatenate(after).astype(float)
        lengths = np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)
        long = lengths > SHORT * take.size
        now = np.linalg.norm(y[edges[:, 0]] - y[edges[:, 1]], axis=1)
        stretch = np.abs(now[long] / lengths[long] - 1.0)
        flipped = (normals(x, triangles) * normals(y, triangles)).sum(axis=1) < 0.0
        found = (np.percentile(stretch, 99.9), stretch.max(), flipped.mean())
        worst = {name: max(old, float(new)) for (name, old), new in zip(worst.items(), found, strict=True)}
    return worst


def of_flesh(character: characters.Character, take: sheet.Take, triangles: np.ndarray) -> np.ndarray:
    """Triangles (q, 3) of all meshes that are not cloth."""
    is_cloth = np.repeat([swings(mesh) for mesh in character.body], [len(x) for x in take.posed[0]])
    return triangles[~is_cloth[triangles[:, 0]]]


def swings(mesh: bpy.types.Object) -> bool:
    """True if a mesh swings as cloth."""
    return (mesh if mesh.jounce.is_host else mesh.jounce.host or mesh).jounce.is_attached


def topology(meshes: list[bpy.types.Object]) -> tuple[np.ndarray, np.ndarray]:
    """Edges (e, 2) and triangles (q, 3) of all meshes, their vertices one after the other."""
    edges, triangles, start = [], [], 0
    for mesh in meshes:
        data = mesh.data
        data.calc_loop_triangles()
        for items, width, found in ((data.edges, 2, edges), (data.loop_triangles, 3, triangles)):
            flat = np.empty(width * len(items), np.int32)
            items.foreach_get("vertices", flat)
            found.append(flat.reshape(-1, width) + start)
        start += len(data.vertices)
    return np.concatenate(edges), np.concatenate(triangles)


def normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals (q, 3) of triangles, with twice their areas as lengths."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    return np.cross(b - a, c - a)


if __name__ == "__main__":
    script.run(main)
