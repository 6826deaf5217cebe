"""Anatomical parts of the last build, each with settings of its own."""

from collections.abc import Iterable
from dataclasses import replace

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, StringProperty

from ..bridge.body import bodies
from ..bridge.preview import previews
from ..core.display.fields import Field
from ..core.rig.part_settings import MOST_AMOUNT, PLAIN, FoundPart, PartRow
from ..core.shot.fit_report import PartReport
from ..core.shot.fitting import Reason
from ..overlay import view
from .animated import keyed_where_read
from .overrides import overridable
from .refresh import refreshing

# Separates the names of bones, which may contain anything else.
BETWEEN = "\n"
AMOUNT = {"default": 1.0, "min": 0.0, "max": MOST_AMOUNT, "step": 5}
SOFTNESS = {"default": 1.0, "min": 0.25, "max": 4.0, "step": 5}
DAMPING = {"default": 1.0, "min": 0.25, "max": 4.0, "step": 5}
# Settings of the artist, as in a row.
OWN = ("softness", "amount", "damping", "mute", "solo", "own")


def _is_shown(part: "JouncePart") -> bool:
    names = [each.name for each in part.id_data.jounce.shown_parts()]
    return bpy.context.window_manager.jounce.field == Field.PART.value and part.name in names


def _show(part: "JouncePart", shown: bool) -> None:
    state, window = part.id_data.jounce, bpy.context.window_manager.jounce
    state.part_index, window.parts_of_bones = state.parts.find(part.name), False
    window.field = (Field.PART if shown else Field.NONE).value


def _direct(part: "JouncePart", _context: bpy.types.Context) -> None:
    previews.direct(part.id_data)


def _chosen(_self: "PartProps", context: bpy.types.Context) -> None:
    view.redraw(context)


@refreshing
class OfPart:
    """Settings of one part, built in automatically by the preview."""

    amount: FloatProperty(
        name="Amount",
        description=(
            "Share of the rig's acceleration felt by the part, without unit: 0 none, 1 as the body, or as "
            "fitted by Fit to Shot"
        ),
        **AMOUNT,
    )
    softness: FloatProperty(
        name="Softness",
        description=(
            "Softness of the part relative to the body, without unit: 1 as usual for such a part, or as "
            "fitted by Fit to Shot, 4 swings half as often, 0.25 twice as often"
        ),
        **SOFTNESS,
    )
    damping: FloatProperty(
        name="Damping",
        description=(
            "Damping of the part relative to the body, without unit: 4 lets a swing die away four times as "
            "fast, 0.25 lasts four times as long. Acts at once, without a build"
        ),
        options=set(),
        update=_direct,
        **DAMPING,
    )
    mute: BoolProperty(
        name="Mute", description="The part feels nothing of the rig, and moves with its neighbours alone"
    )
    solo: BoolProperty(name="Solo", description="Only this part and other solo ones move")


@keyed_where_read
@overridable
class JouncePart(OfPart, bpy.types.PropertyGroup):
    """A part, named as in the native module."""

    found: FloatProperty(
        name="Found", description="Share of the volume in the last build", options={"HIDDEN"}
    )
    bones: StringProperty(
        name="Bones", description="Names of the bones with flesh in this part", options={"HIDDEN"}
    )
    own: BoolProperty(
        name="Own",
        description=("Part made by the artist, as a vertex group of the same name"),
        options={"HIDDEN"},
    )
    fitted_softness: FloatProperty(
        name="Fitted Softness",
        description="Softness of the part from the last fit to the shot, which Softness multiplies",
        default=1.0,
        options={"HIDDEN"},
    )
    fitted_amount: FloatProperty(
        name="Fitted Amount",
        description="Amount of the part from the last fit to the shot, which Amount multiplies",
        default=1.0,
        options={"HIDDEN"},
    )
    fitted_hertz: FloatProperty(
        name="Fitted Hertz",
        description="Frequency of the part after the last fit, in Hz, with all flesh around it held",
        options={"HIDDEN"},
    )
    fitted_size: FloatProperty(
        name="Fitted Size",
        description="Motion of the part in the last fit, as a share of the size of the body",
        options={"HIDDEN"},
    )
    fitted_reason: StringProperty(
        name="Fitted Reason",
        description="The reason for the softness of the part; empty without a fit",
        options={"HIDDEN"},
    )
    shown: BoolProperty(
        name="Show",
        description="Colour the part in the viewport",
        get=_is_shown,
        set=_show,
        options={"SKIP_SAVE"},
    )

    def row(self) -> PartRow:
        """The settings as plain values."""
        fitted = self.fitted_softness, self.fitted_amount
        return PartRow(self.name, fitted=fitted, **{name: getattr(self, name) for name in OWN})

    def take(self, other: PartRow) -> None:
        """Takes over the artist's settings, and writes only different ones."""
        for name in OWN:
            if getattr(self, name) != getattr(other, name):
                setattr(self, name, getattr(other, name))

    def fit(self, softness: float, amount: float) -> None:
        """Takes over the settings of a fit."""
        self.fitted_softness, self.fitted_amount = softness, amount

    @property
    def report(self) -> PartReport | None:
        """The report of the last fit, None without one."""
        if self.fitted_reason not in Reason.__members__:
            return None
        return PartReport(self.fitted_hertz, self.fitted_size, Reason[self.fitted_reason])

    def tell(self, report: PartReport | None) -> None:
        """Keeps a report, None for no fit."""
        if report is None:
            for name in ("fitted_hertz", "fitted_size", "fitted_reason"):
                self.property_unset(name)
            return
        self.fitted_hertz, self.fitted_size = report.hertz, report.size
        self.fitted_reason = report.reason.name

    @property
    def is_plain(self) -> bool:
        """True for settings that change nothing."""
        return replace(self.row(), fitted=PLAIN) == PartRow(self.name, own=self.own)


def _mean(name: str) -> dict[str, object]:
    """Getter and setter of a setting of all parts of the selected bones."""

    def get(state: "PartProps") -> float:
        values = [getattr(part, name) for part in state.parts_of_bones()]
        return sum(values) / len(values) if values else 1.0

    def put(state: "PartProps", value: float) -> None:
        for part in state.parts_of_bones():
            setattr(part, name, value)

    return {"get": get, "set": put}


def _all(name: str) -> dict[str, object]:
    """Getter and setter of a switch of all parts of the selected bones: on if all are."""

    def get(state: "PartProps") -> bool:
        parts = state.parts_of_bones()
        return bool(parts) and all(getattr(part, name) for part in parts)

    def put(state: "PartProps", value: bool) -> None:
        for part in state.parts_of_bones():
            setattr(part, name, value)

    return {"get": get, "set": put}


def _are_shown(_state: "PartProps") -> bool:
    window = bpy.context.window_manager.jounce
    return window.field == Field.PART.value and window.parts_of_bones


def _show_all(_state: "PartProps", shown: bool) -> None:
    window = bpy.context.window_manager.jounce
    window.parts_of_bones = shown
    window.field = (Field.PART if shown else Field.NONE).value


class PartProps:
    """Settings of the host; a change needs a short build, which is automatic in a preview."""

    parts: CollectionProperty(
        name="Parts", description="Parts of the body found by the last build", type=JouncePart
    )
    part_index: IntProperty(
        name="Part", description="The part chosen in the list, which the overlay shows", update=_chosen
    )
    bones_amount: FloatProperty(
        name="Amount",
        description="Amount of all parts of the selected bones at once, without unit",
        **{name: AMOUNT[name] for name in ("min", "max", "step")},
        options={"SKIP_SAVE"},
        **_mean("amount"),
    )
    bones_softness: FloatProperty(
        name="Softness",
        description="Softness of all parts of the selected bones at once, without unit",
        **{name: SOFTNESS[name] for name in ("min", "max", "step")},
        options={"SKIP_SAVE"},
        **_mean("softness"),
    )

    bones_damping: FloatProperty(
        name="Damping",
        description="Damping of all parts of the selected bones at once, without unit",
        **{name: DAMPING[name] for name in ("min", "max", "step")},
        options={"SKIP_SAVE"},
        **_mean("damping"),
    )
    bones_shown: BoolProperty(
        name="Show",
        description="Colour the parts of the selected bones in the viewport",
        get=_are_shown,
        set=_show_all,
        options={"SKIP_SAVE"},
    )
    bones_mute: BoolProperty(
        name="Mute",
        description=(
            "The parts of the selected bones feel nothing of the rig, and move with their neighbours alone"
        ),
        options={"SKIP_SAVE"},
        **_all("mute"),
    )
    bones_solo: BoolProperty(
        name="Solo",
        description="Only the parts of the selected bones and other solo ones move",
        options={"SKIP_SAVE"},
        **_all("solo"),
    )

    @property
    def has_list(self) -> bool:
        """True for several parts, or an own part of the artist; the rest alone is the whole body."""
        return len(self.parts) > 1 or any(part.own for part in self.parts)

    @property
    def part(self) -> JouncePart | None:
        """The chosen part."""
        return self.parts[self.part_index] if 0 <= self.part_index < len(self.parts) else None

    def shown_parts(self) -> list[JouncePart]:
        """The parts that the overlay colours: those of the selected bones if asked, or the chosen one."""
        window, chosen = bpy.context.window_manager.jounce, self.part
        of_bones = self.parts_of_bones() if window.parts_of_bones else []
        return of_bones or ([] if chosen is None else [chosen])

    def part_rows(self) -> list[PartRow]:
        """The settings of all parts as plain values."""
        return [part.row() for part in self.parts]

    def take_parts(self, rows: Iterable[PartRow]) -> None:
        """Takes over changed rows of another body, by name; other parts come with a build."""
        for row in rows:
            if row != PartRow(row.name):
                part = self.parts.get(row.name) or self.parts.add()
                part.name = row.name
                part.take(row)
                part.fit(*row.fitted)

    def list_parts(self, found: Iterable[tuple[FoundPart, list[str]]]) -> None:
        """Lists the parts of a build with their bones; settings and own parts stay, missing ones too."""
        known = dict((part.name, (part, bones)) for part, bones in found)
        settings = {part.name: part.row() for part in self.parts}
        reports = {part.name: part.report for part in self.parts}
        kept = (
            part.name for part in self.parts if part.name not in known and (part.own or not part.is_plain)
        )
        names = [*known, *kept]
        chosen = self.part.name if self.part is not None else ""
        if names != list(settings):
            self.parts.clear()
            for name in names:
                part = self.parts.add()
                part.name = name
                part.take(settings.get(name, PartRow(name)))
                part.fit(*settings.get(name, PartRow(name)).fitted)
                part.tell(reports.get(name))
            self.part_index = max(0, self.parts.find(chosen))
        for part in self.parts:
            self._place(part, *known.get(part.name, (FoundPart(part.name, 0.0, ()), [])))

    def fit_parts(self, fitted: dict[str, tuple[float, float]], told: dict[str, PartReport]) -> None:
        """Takes over softness, amount and report of a fit by the names of the parts; 1 for the others."""
        for part in self.parts:
            part.fit(*fitted.get(part.name, PLAIN))
            part.tell(told.get(part.name))

    @staticmethod
    def _place(part: JouncePart, found: FoundPart, bones: list[str]) -> None:
        part.found, part.bones = found.share, BETWEEN.join(bones)

    def add_part(self, name: str) -> JouncePart:
        """A new part of the artist's, listed and chosen."""
        part = self.parts.add()
        part.name, part.own = name, True
        self.part_index = len(self.parts) - 1
        self.id_data.update_tag()
        return part

    def remove_part(self) -> None:
        """Takes the chosen part off the list."""
        self.parts.remove(self.part_index)
        self.part_index = max(0, min(self.part_index, len(self.parts) - 1))
        self.id_data.update_tag()

    def parts_of_bones(self) -> list[JouncePart]:
        """The parts of the bones that are selected in Pose Mode."""
        # While a file is read there is no active object.
        armature = getattr(bpy.context, "object", None)
        if armature is None or bodies.host_of(armature) != self.id_data:
            return []
        selected = {bone.name for bone in bpy.context.selected_pose_bones or ()}
        return [part for part in self.parts if selected.intersection(part.bones.split(BETWEEN))]
