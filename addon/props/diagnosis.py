"""Findings of the last diagnosis."""

import bpy
from bpy.props import BoolProperty, CollectionProperty, StringProperty

from .overrides import overridable


@overridable
class JounceFinding(bpy.types.PropertyGroup):
    """One finding of the bridge's diagnosis."""

    sentence: StringProperty()
    obj: StringProperty()
    fix: StringProperty()
    detail: StringProperty()


class DiagnosisProps:
    """Findings on the host."""

    findings: CollectionProperty(
        name="Findings", description="Findings of the last diagnosis", type=JounceFinding
    )
    is_diagnosed: BoolProperty(
        name="Diagnosed", description="Diagnosed since the body was added", options={"HIDDEN"}
    )
