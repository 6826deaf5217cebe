"""Conventions of the interface for all operators and properties."""

from inspect import get_annotations

import bpy
import messages
import pytest

# Operators without a change to the file: they show something, or keep a preset beside it.
CHANGES_NOTHING = {f"jounce.{name}" for name in ("fill_cache", "flex_mode", "export", "export_games")}
CHANGES_NOTHING |= {
    f"jounce.{name}" for name in ("export_springs", "export_training", "linear_modes", "measure_frame")
}
CHANGES_NOTHING |= {
    "jounce.material_preset_add",
    "jounce.body_preset_add",
    "jounce.learnt_save",
    "jounce.settings_save",
    "jounce.asset_library",
}
UNITS = ("without unit", "in Hz", "in Pa", "in kilograms", "in m/s", "in degrees", "in seconds", "in frames")
HAS_UNIT = {"PERCENTAGE", "FACTOR"}
KEYED = {"strength", "contraction", "cut", "push", "field_weight", "frequency", "damping", "pose_rest"} | {
    "animated",
    "inflation",
    "cloth_frequency",
    "swing_frequency",
    "gravity",
    "use_gravity",
    "young",
    "density",
    "exaggerate",
    "lag",
    "follow_through",
}


@pytest.fixture
def classes(module):
    """All registered classes."""
    return module("registration").CLASSES


@pytest.fixture
def operators(classes):
    """Operators by name, each with Blender's registered type."""
    found = {cls.bl_idname: cls for cls in classes if issubclass(cls, bpy.types.Operator)}
    return {name: (cls, getattr(bpy.ops.jounce, name[7:]).get_rna_type()) for name, cls in found.items()}


@pytest.fixture
def properties(classes, operators):
    """Every shown property of Jounce, by the names of owner and property."""
    found = {}
    for cls in classes:
        known = operators[cls.bl_idname][1] if issubclass(cls, bpy.types.Operator) else cls.bl_rna
        own = {name for base in cls.__mro__ for name in get_annotations(base)}
        for prop in known.properties:
            if prop.identifier in own and messages.is_shown(prop):
                found[cls.__name__, prop.identifier] = prop
    return found


def test_what_changes_the_file_can_be_undone(operators):
    without = {name for name, (cls, _) in operators.items() if "UNDO" not in getattr(cls, "bl_options", ())}
    assert without == CHANGES_NOTHING


def test_each_operator_says_what_it_does(operators):
    for name, (cls, known) in operators.items():
        assert len(known.description) > 15 and not known.description.endswith("."), name
        assert cls.bl_label[0].isupper(), name


def test_each_property_has_a_name_and_says_what_it_is(properties):
    assert len(properties) > 80
    for place, prop in properties.items():
        assert prop.name[0].isupper(), place
        assert prop.description and not prop.description.endswith("."), place
        assert prop.description != prop.name, place


def test_each_number_has_its_unit_in_the_tooltip_or_beside_it(properties):
    for place, prop in properties.items():
        if prop.type == "FLOAT":
            named = any(unit in prop.description for unit in UNITS)
            assert named or prop.unit != "NONE" or prop.subtype in HAS_UNIT, place


def test_only_what_each_frame_reads_takes_keys(properties):
    for (owner, name), prop in properties.items():
        if owner == "JounceObject":
            assert prop.is_animatable == (name in KEYED), name
