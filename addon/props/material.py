"""Material of the flesh: its frequency, or the values of a real material."""

import bpy
from bpy.props import EnumProperty, FloatProperty, PointerProperty

from ..bridge.body import law_curves
from ..core.flesh.settings import Flesh, FrequencyOf, Law, Physical
from ..core.stepping.motion import YOUNG, stiffness
from .refresh import refresh, refreshing

STIFFNESS_BY = (
    ("FREQUENCY", "Frequency", "Swings per second, with the same meaning for a mouse and a whale"),
    (
        "PHYSICAL",
        "Physical",
        "Young's modulus and density of a real material. A larger body of the same material swings more "
        "slowly: the unit scale of the scene has to be right",
    ),
)

FREQUENCY_OF = (
    (
        FrequencyOf.SIZE.value,
        "Size",
        "By the size of the body: pins, paint and rigid parts change nothing in the rest of the body",
    ),
    (
        FrequencyOf.LOWEST_MODE.value,
        "Lowest Mode",
        "The softest mode of the body, attachments included",
    ),
)


LAWS = (
    (Law.COROTATED.value, "Corotated", "Stress grows evenly with strain: as drafts have it"),
    (
        Law.NEO_HOOKEAN.value,
        "Neo-Hookean",
        "Rubber and fat: soft when stretched, and ever harder to squeeze flat",
    ),
    (
        Law.MOONEY_RIVLIN.value,
        "Mooney-Rivlin",
        "Rubber with additional resistance to changes of area: firmer in spreading skin",
    ),
    (
        Law.VENANT.value,
        "St. Venant-Kirchhoff",
        "Hardens under stretch, and yields when squeezed",
    ),
    (
        Law.CURVE.value,
        "Curve",
        "Drawn by you: stress against stretch, from 0 through 1 at rest to 2. The slope at rest is that "
        "of the frequency",
    ),
)


def _law_chosen(state: "MaterialProps", context: bpy.types.Context) -> None:
    if Law(state.law) is Law.CURVE and state.law_curve is None:
        law_curves.straighten(state.id_data)
    refresh(state, context)


@refreshing
class MaterialProps:
    """Settings of the host; changes need no build."""

    stiffness_by: EnumProperty(name="Stiffness By", description="Source of the stiffness", items=STIFFNESS_BY)
    frequency_of: EnumProperty(
        name="Frequency Of",
        description="Reference of the frequency",
        items=FREQUENCY_OF,
        default=FrequencyOf.LOWEST_MODE.value,
    )
    # Before the law, which makes a missing curve: copied in this order, no superfluous curve is made.
    law_curve: PointerProperty(
        name="Law Curve",
        description="The node group that holds the curve of the law",
        type=bpy.types.NodeTree,
        poll=law_curves.holds_curve,
    )
    law: EnumProperty(
        name="Law",
        description="Response of final flesh to stretch; drafts are corotated",
        items=LAWS,
        default=Law.COROTATED.value,
        update=_law_chosen,
    )
    hardening: FloatProperty(
        name="Hardening",
        description=(
            "Hardening of final flesh under strain, without unit: 0 none, 1 is twice as stiff at a change "
            "of length by a half, 4 is five times as stiff. Small motion is unchanged. Drafts do not "
            "harden"
        ),
        default=0.0,
        min=0.0,
        max=100.0,
        soft_max=10.0,
        step=10,
    )
    young: FloatProperty(
        name="Young's Modulus (Pa)",
        description="Stiffness of the material, in Pa: fat 2 thousand, muscle 3 thousand, rubber a million",
        default=2200.0,
        min=1.0,
        max=1e9,
        soft_min=100.0,
        soft_max=1e7,
        step=10000,
        precision=0,
    )
    density: FloatProperty(
        name="Density (kg/m³)",
        description="Mass of a cubic metre, in kilograms: fat 920, muscle 1060, rubber 1100",
        default=1000.0,
        min=1.0,
        max=30000.0,
        soft_min=500.0,
        soft_max=2000.0,
        precision=0,
    )
    built_frequency: FloatProperty(
        name="Built Frequency",
        description="Lowest frequency of the body as it was built, in Hz",
        default=0.0,
        options={"HIDDEN"},
    )

    built_size_frequency: FloatProperty(
        name="Built Size Frequency",
        description="Frequency of flesh of the body's size as it was built, in Hz",
        default=0.0,
        options={"HIDDEN"},
    )

    def flesh(self) -> Flesh:
        """Flesh of the final motion."""
        law = Law(self.law)
        if law is not Law.CURVE:
            return Flesh(law, self.poisson, self.hardening)
        return Flesh(law, self.poisson, self.hardening, law_curves.samples(self.law_curve))

    def lowest_frequency(self) -> float:
        """The frequency of the body's lowest mode in the last build, in Hz."""
        if FrequencyOf(self.frequency_of) is FrequencyOf.LOWEST_MODE or self.built_size_frequency == 0.0:
            return self.frequency / self.softness**0.5
        return self.frequency / self.softness**0.5 * self.built_frequency / self.built_size_frequency

    def young_at_rest(self) -> float | None:
        """Young's modulus at small strains, Pa: for a frequency, of flesh with the density of water.

        None for a body without a build.
        """
        if self.stiffness_by == "PHYSICAL":
            return self.young / self.softness
        is_lowest = FrequencyOf(self.frequency_of) is FrequencyOf.LOWEST_MODE
        built = self.built_frequency if is_lowest else self.built_size_frequency
        return YOUNG * stiffness(built, self.frequency) / self.softness if built > 0.0 else None

    def material(self) -> Physical | None:
        """The material, None if the frequency sets the stiffness."""
        return Physical(self.young, self.density) if self.stiffness_by == "PHYSICAL" else None
