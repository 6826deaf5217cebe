"""Reduced-order elastodynamics that gives rigged characters flesh.

Meshes, rigs and materials go in; skinning modes, a model and a simulation follow; displacements come out. Arrays
are numpy, C order, SI units; a wrong dtype or order is a TypeError, everything else that is refused a ValueError
that says what and where.
"""

from __future__ import annotations

from jounce._jounce import (
    Body,
    BodyJob,
    Cubature,
    CycleReport,
    Drag,
    Embedding,
    ForceSamples,
    HelperBonesJob,
    Job,
    LocalisedModes,
    Material,
    ModalKeysJob,
    Model,
    MotionJob,
    Rig,
    Simulation,
    SkeletonCore,
    SkinningModes,
    State,
    StepReport,
    Stitches,
    TetMesh,
    cluster_tets,
    helper_bones,
    localised_modes,
    modal_keys,
    momentum_leak,
    pull_back,
    skinning_modes,
    spread_to_interior,
    step_together,
)
from jounce.io import read_mesh

__all__ = [
    "Body",
    "BodyJob",
    "Cubature",
    "CycleReport",
    "Drag",
    "Embedding",
    "ForceSamples",
    "HelperBonesJob",
    "Job",
    "LocalisedModes",
    "Material",
    "ModalKeysJob",
    "Model",
    "MotionJob",
    "Rig",
    "Simulation",
    "SkeletonCore",
    "SkinningModes",
    "State",
    "StepReport",
    "Stitches",
    "TetMesh",
    "cluster_tets",
    "helper_bones",
    "localised_modes",
    "modal_keys",
    "momentum_leak",
    "pull_back",
    "read_mesh",
    "skinning_modes",
    "spread_to_interior",
    "step_together",
]
