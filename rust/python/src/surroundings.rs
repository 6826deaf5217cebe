//! The arguments of a `Simulation` about contact.

use std::sync::Arc;

use jounce::Error;
use jounce::potentials::contact::{self, ContactSkin};
use jounce::rig::Rig;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Axis, copied};
use crate::contact::Collider;
use crate::errors::refused;
use crate::mesh::Embedding;

/// Arguments of the constructor about contact; arrays are copies.
pub struct Surroundings {
    colliders: Vec<Py<Collider>>,
    points: Option<Py<Embedding>>,
    weights: Option<Py<PyAny>>,
    triangles: Option<Py<PyAny>>,
    self_collision: bool,
    shape: Option<Py<Collider>>,
}

impl Surroundings {
    /// Keeps the colliders, contact points, `[weights, triangles]` of these points, `true` if they collide
    /// with each other, and the body's shape.
    pub fn new(
        colliders: Vec<Bound<'_, Collider>>,
        points: Option<Bound<'_, Embedding>>,
        [weights, triangles]: [Option<&Bound<'_, PyAny>>; 2],
        self_collision: bool,
        shape: Option<Bound<'_, Collider>>,
    ) -> PyResult<Self> {
        Ok(Self {
            colliders: colliders.into_iter().map(Bound::unbind).collect(),
            points: points.map(Bound::unbind),
            weights: weights.map(copied).transpose()?,
            triangles: triangles.map(copied).transpose()?,
            self_collision,
            shape: shape.map(Bound::unbind),
        })
    }

    /// The colliders, as the core has them.
    pub fn obstacles(&self) -> Vec<contact::Collider> {
        self.colliders.iter().map(|collider| collider.get().inner.clone()).collect()
    }

    /// Collision shape of the body.
    pub fn felt(&self) -> Option<contact::Collider> {
        self.shape.as_ref().map(|shape| shape.get().inner.clone())
    }

    /// Contact points of the body.
    pub fn skin(&self, py: Python<'_>) -> PyResult<Option<ContactSkin>> {
        let Some(points) = &self.points else {
            let why = "needs contact_points and contact_triangles";
            let refusal = Error::Unsupported { what: "self_collision", why };
            return if self.self_collision { Err(refused(refusal)) } else { Ok(None) };
        };
        let points = points.get().inner.clone();
        let count = points.points().len();
        let rig = self.weights.as_ref().map(|weights| {
            let axes = [Axis::Is(count), Axis::Any("b")];
            let weights = arrays::array::<f64>(weights.bind(py), "contact_weights", &axes)?;
            Rig::new(count, weights.len(1), weights.slice()).map(Arc::new).map_err(refused)
        });
        let axes = [Axis::Any("q"), Axis::Is(3)];
        let triangles = self
            .triangles
            .as_ref()
            .map(|triangles| arrays::indices::<3>(triangles.bind(py), "contact_triangles", &axes, count));
        let triangles = triangles.transpose()?.unwrap_or_default().into();
        Ok(Some(ContactSkin {
            points,
            triangles,
            rig: rig.transpose()?,
            self_collision: self.self_collision,
        }))
    }

    /// The arguments by their names.
    pub fn by_name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        all.set_item("colliders", &self.colliders)?;
        all.set_item("contact_points", &self.points)?;
        all.set_item("contact_weights", &self.weights)?;
        all.set_item("contact_triangles", &self.triangles)?;
        all.set_item("self_collision", self.self_collision)?;
        all.set_item("shape", &self.shape)?;
        Ok(all)
    }
}
