"""Chosen preset of a body, read from and written to the settings."""

import bpy
from bpy.props import EnumProperty

from ..bridge.common import preset_files, preset_pictures

Item = tuple[str, str, str, int, int]
# Number of the item for settings of no preset.
OWN_NUMBER = 1_000
# Blender needs the texts of a changing list to stay in memory.
_items: list[Item] = []


def _listed(state: "PresetProps", _context: bpy.types.Context | None) -> list[Item]:
    known = preset_files.named(preset_files.BODY)
    found = [
        (name, name, "", preset_pictures.icon(name, settings), number)
        for number, (name, settings) in enumerate(known.items())
    ]
    if isinstance(state, PresetProps) and not preset_files.name_of(state, preset_files.BODY):
        own = {name: getattr(state, name) for name in preset_files.SETTINGS[preset_files.BODY]}
        picture = preset_pictures.icon(f"{preset_files.OWN}: {state.id_data.name_full}", own)
        found.append((preset_files.OWN, preset_files.OWN, "", picture, OWN_NUMBER))
    if found != _items:
        _items[:] = found
    return _items


def _chosen(state: "PresetProps") -> int:
    name = preset_files.name_of(state, preset_files.BODY)
    return list(preset_files.named(preset_files.BODY)).index(name) if name else OWN_NUMBER


def _choose(state: "PresetProps", number: int) -> None:
    known = list(preset_files.named(preset_files.BODY).values())
    for name, value in known[number].items() if number < len(known) else ():
        setattr(state, name, value)


class PresetProps:
    """The preset of the host, which is not stored."""

    preset: EnumProperty(
        name="Preset",
        description="Amount, softness, damping and limits of the flesh, all at once",
        items=_listed,
        get=_chosen,
        set=_choose,
        options={"SKIP_SAVE"},
    )
