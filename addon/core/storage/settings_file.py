"""A file with all settings of a body: JSON with a readable line for each value.

Painted maps are kept twice: exactly, by the vertices of each mesh, and as one mean value for each bone, for
meshes of other characters.
"""

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypedDict

import numpy as np

from ..common.user_error import UserError

SUFFIX = ".jounce.json"
KIND, VERSION = "Jounce settings", 1

Plain = bool | int | float | str
Values = dict[str, Plain | list[Plain]]


class StitchGroup(TypedDict):
    """A stitch group: its two meshes, pairs of their vertices, and settings."""

    name: str
    meshes: list[str]
    pairs: list[list[int]]
    settings: Values


class PaintedMap(TypedDict):
    """A painted map: the mean value of each bone's flesh, and of each mesh the vertices of each weight."""

    bones: dict[str, float]
    meshes: dict[str, dict[str, str]]


@dataclass(frozen=True)
class SettingsFile:
    """The sections of a file.

    meshes: hash of the shape by name, the host first. body: settings of the host. law: points of the drawn
    law, each x, y and the kind of its handle. parts, directions: settings by the name of the part. muscles:
    the further ones. bones: settings by the bone's name. materials: names of the hard ones. rigid: hard faces
    of each mesh as ranges, or `ALL`. stitches: groups. maps: painted maps by the name of the vertex group.
    """

    meshes: dict[str, str]
    body: Values
    law: list[list[float | str]] = field(default_factory=list)
    parts: dict[str, Values] = field(default_factory=dict)
    directions: dict[str, Values] = field(default_factory=dict)
    muscles: list[Values] = field(default_factory=list)
    bones: dict[str, Values] = field(default_factory=dict)
    materials: list[str] = field(default_factory=list)
    rigid: dict[str, str] = field(default_factory=dict)
    stitches: list[StitchGroup] = field(default_factory=list)
    maps: dict[str, PaintedMap] = field(default_factory=dict)


# In `rigid`: the whole mesh.
ALL = "all"


# Refuses a value of another form; the text names the place.
Check = Callable[[object, str], None]


def of_kinds(*kinds: type) -> Check:
    """One plain value of these types; no infinite number."""

    def check(value: object, place: str) -> None:
        is_kind = bool in kinds if isinstance(value, bool) else isinstance(value, kinds)
        if not is_kind or (isinstance(value, float) and not math.isfinite(value)):
            raise UserError(f"{place} has a value of another kind; save the file again.")

    return check


def list_of(each: Check) -> Check:
    """Any number of values."""

    def check(value: object, place: str) -> None:
        if not isinstance(value, list):
            raise UserError(f"{place} has another form; save the file again.")
        for item in value:
            each(item, place)

    return check


def row_of(*each: Check) -> Check:
    """As many values as checks, in their order."""

    def check(value: object, place: str) -> None:
        if not isinstance(value, list) or len(value) != len(each):
            raise UserError(f"{place} has a row that has not {len(each)} values; save the file again.")
        for item, of_value in zip(value, each, strict=True):
            of_value(item, place)

    return check


def handle(value: object, place: str) -> None:
    """A kind of handle of Blender's curves."""
    if value not in ("AUTO", "AUTO_CLAMPED", "VECTOR"):
        raise UserError(f"{place} has no handle {value!r}; save the file again.")


def by_name(each: Check) -> Check:
    """Any number of values, each with a name."""

    def check(value: object, place: str) -> None:
        if not isinstance(value, dict):
            raise UserError(f"{place} has another form; save the file again.")
        for name, item in value.items():
            each(item, f"{place}, {name}")

    return check


def record(**each: Check) -> Check:
    """These values by name, and any others."""

    def check(value: object, place: str) -> None:
        if not isinstance(value, dict):
            raise UserError(f"{place} has another form; save the file again.")
        for name, of_value in each.items():
            if name not in value:
                raise UserError(f"{place} lacks {name}; save the file again.")
            of_value(value[name], f"{place}, {name}")

    return check


def setting(value: object, place: str) -> None:
    """A plain value, or a list of plain values."""
    plain = of_kinds(bool, int, float, str)
    (list_of(plain) if isinstance(value, list) else plain)(value, place)


NAME, INDEX, NUMBER = of_kinds(str), of_kinds(int), of_kinds(int, float)
SETTINGS = by_name(setting)
SECTIONS: dict[str, Check] = {
    "meshes": by_name(NAME),
    "body": SETTINGS,
    "law": list_of(row_of(NUMBER, NUMBER, handle)),
    "parts": by_name(SETTINGS),
    "directions": by_name(SETTINGS),
    "muscles": list_of(SETTINGS),
    "bones": by_name(SETTINGS),
    "materials": list_of(NAME),
    "rigid": by_name(NAME),
    "stitches": list_of(
        record(name=NAME, meshes=row_of(NAME, NAME), pairs=list_of(row_of(INDEX, INDEX)), settings=SETTINGS)
    ),
    "maps": by_name(record(bones=by_name(NUMBER), meshes=by_name(by_name(NAME)))),
}


def text_of(settings: SettingsFile) -> str:
    """The text of a file; empty sections are left out."""
    sections = {each.name: getattr(settings, each.name) for each in fields(settings)}
    kept = {name: value for name, value in sections.items() if value}
    return json.dumps({"kind": KIND, "version": VERSION} | kept, indent=2, ensure_ascii=False) + "\n"


def settings_of(text: str, name: str) -> SettingsFile:
    """The settings in a text; refuses any other text. name: of the file, for the sentence."""
    try:
        read = json.loads(text)
    except ValueError as error:
        raise UserError(f"{name} is no file of settings ({error}); choose one saved by Jounce.") from error
    if not isinstance(read, dict) or read.get("kind") != KIND:
        raise UserError(f"{name} is no file of settings; choose one saved by Jounce.")
    if read.get("version") != VERSION:
        raise UserError(f"{name} is of a newer version of Jounce; update Jounce, or save it again there.")
    for section, check in SECTIONS.items():
        if section in read:
            check(read[section], f"{name}: {section}")
    if not read.get("meshes"):
        raise UserError(f"{name} names no mesh; save it again.")
    return SettingsFile(**{"body": {}} | {each: read[each] for each in SECTIONS if each in read})


def read(path: Path) -> SettingsFile:
    """The settings in a file."""
    try:
        return settings_of(path.read_text("utf-8"), path.name)
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); choose another file.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path.name} is no file of settings; choose one saved by Jounce.") from error


def write(path: Path, settings: SettingsFile) -> None:
    """Writes a file completely or not at all; never replaces a file of another program."""
    if os.path.lexists(path):
        refuse_foreign(path)
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("x", encoding="utf-8") as file:
            file.write(text_of(settings))
        os.replace(part, path)
    except OSError as error:
        if not isinstance(error, FileExistsError):
            part.unlink(missing_ok=True)
        raise UserError(f"{path} cannot be written ({error.strerror}); choose another folder.") from error


def refuse_foreign(path: Path) -> None:
    """Refuses to replace anything but a file of settings."""
    try:
        read(path)
    except UserError as refusal:
        raise UserError(f"{path} is no file of settings; choose another name.") from refusal


def shortest(value: float) -> float:
    """The shortest number with the same single precision, as settings are kept."""
    return float(str(np.float32(value)))


def ranges(rows: np.ndarray) -> str:
    """Ascending numbers (n,) as ranges, such as "0-12 15"."""
    rows = np.asarray(rows, np.int64)
    ends = np.flatnonzero(np.diff(rows) != 1)
    firsts, lasts = np.append(rows[:1], rows[ends + 1]), np.append(rows[ends], rows[-1:])
    spans = zip(firsts.tolist(), lasts.tolist(), strict=True)
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def numbers(spans: str, count: int, place: str) -> np.ndarray:
    """The numbers (n,) of ranges, all below a count. place: for the sentence of a refusal."""
    found = []
    for span in spans.split():
        found_span = re.fullmatch(r"([0-9]+)(?:-([0-9]+))?", span)
        first, last = found_span.groups() if found_span else ("", "")
        if not first or not int(first) <= int(last or first) < count:
            raise UserError(f"{place} has no range {span}; save the file again.")
        found.append(np.arange(int(first), int(last or first) + 1))
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def weights_of(values: np.ndarray) -> dict[str, str]:
    """The weights (p,) of a vertex group, NaN outside of it: the vertices of each weight, as ranges."""
    values = np.asarray(values, np.float32)
    known = np.unique(values[np.isfinite(values)])
    return {str(value): ranges(np.flatnonzero(values == value)) for value in known}


def weights(kept: Mapping[str, str], count: int, place: str) -> np.ndarray:
    """The weights (p,) f32 from `weights_of`, of this number of vertices."""
    values = np.full(count, np.nan, np.float32)
    for weight, spans in kept.items():
        try:
            value = float(weight)
        except ValueError:
            value = -1.0
        if not 0.0 <= value <= 1.0:
            raise UserError(
                f"{place} has the weight {weight}, which is not from 0 to 1; mend or save it again."
            )
        values[numbers(spans, count, place)] = value
    return values
