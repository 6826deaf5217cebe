//! Per-step input, checked: borrowed Python arrays, or copies free of Python.

use jounce::inputs::{self, StepInput};
use pyo3::prelude::*;

use crate::arrays::{self, Array, Axis, optional};
use crate::forces::Drag;
use crate::simulation::Simulation;

/// Checked arguments of the per-step input.
pub struct Arrays<'py> {
    pose: Option<Array<'py, f64>>,
    force: Option<Array<'py, f64>>,
    offsets: Option<Array<'py, f64>>,
    drag: Option<inputs::Drag>,
    colliders: Option<Array<'py, f64>>,
}

impl Arrays<'_> {
    pub fn input(&self) -> StepInput<'_> {
        StepInput {
            pose: self.pose.as_ref().map(|pose| arrays::transforms(pose.slice())),
            force: self.force.as_ref().map(Array::slice),
            offsets: self.offsets.as_ref().map(Array::slice),
            drag: self.drag.as_ref(),
            colliders: self.colliders.as_ref().map(|colliders| arrays::transforms(colliders.slice())),
            pull: None,
        }
    }

    /// A copy free of Python.
    pub fn to_owned(&self) -> Owned {
        let copy = |array: &Option<Array<'_, f64>>| array.as_ref().map(|array| array.slice().to_vec());
        let arrays = [&self.pose, &self.force, &self.offsets, &self.colliders];
        let [pose, force, offsets, colliders] = arrays.map(copy);
        Owned { pose, force, offsets, drag: self.drag.clone(), colliders }
    }
}

/// Per-step input, free of Python.
pub struct Owned {
    pose: Option<Vec<f64>>,
    force: Option<Vec<f64>>,
    offsets: Option<Vec<f64>>,
    drag: Option<inputs::Drag>,
    colliders: Option<Vec<f64>>,
}

impl Owned {
    pub fn input(&self) -> StepInput<'_> {
        StepInput {
            pose: self.pose.as_deref().map(arrays::transforms),
            force: self.force.as_deref(),
            offsets: self.offsets.as_deref(),
            drag: self.drag.as_ref(),
            colliders: self.colliders.as_deref().map(arrays::transforms),
            pull: None,
        }
    }
}

impl Simulation {
    /// Checks the arguments of the per-step input.
    pub fn arrays<'py>(
        &self,
        pose: Option<&Bound<'py, PyAny>>,
        force: Option<&Bound<'py, PyAny>>,
        offsets: Option<&Bound<'py, PyAny>>,
        drag: Option<&Bound<'py, Drag>>,
        colliders: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Arrays<'py>> {
        let coefficients: Vec<Axis> = self.shape.iter().copied().map(Axis::Is).collect();
        Ok(Arrays {
            pose: optional(pose, "pose", &[Axis::Is(self.bones.max(1)), Axis::Is(3), Axis::Is(4)])?,
            force: optional(force, "force", &coefficients)?,
            offsets: optional(offsets, "offsets", &[Axis::Any("k"), Axis::Is(3)])?,
            drag: drag.map(|drag| drag.get().0.clone()),
            colliders: optional(
                colliders,
                "colliders",
                &[Axis::Is(self.colliders), Axis::Is(3), Axis::Is(4)],
            )?,
        })
    }
}
