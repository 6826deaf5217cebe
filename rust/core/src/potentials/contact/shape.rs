//! Shapes of colliders: signed distances, negative inside, and outward normals.

use std::sync::Arc;

use nalgebra::Vector3;

use super::cuboid::{direction, of_box};
use super::distance_grid::{DistanceGrid, Whole, no_inside};
use crate::mesh::SurfaceMesh;
use crate::{Error, Result};

/// Smallest cosine, at the core, between skin and the way out for which the skin counts as across it.
const ACROSS: f64 = 0.5;

/// Largest accepted coordinate or size, metres.
const LARGEST: f64 = 1e9;

/// A rigid obstacle: a shape at its initial place, a friction coefficient, and excluded points.
///
/// ```
/// use jounce::potentials::contact::{Collider, Shape};
///
/// let ball = Collider::new(Shape::sphere([0.0, 0.0, 1.0], 0.5)?, 0.6)?;
/// let (distance, _) = ball.shape().distance([0.0, 0.0, 2.0]);
/// assert!((distance - 0.5).abs() < 1e-12);
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Collider {
    shape: Shape,
    friction: f64,
    /// Indices of excluded points, in order.
    spared: Arc<[u32]>,
}

impl Collider {
    /// A shape with a Coulomb friction coefficient, >= 0.
    ///
    /// # Errors
    /// [`Error::Range`] for an invalid coefficient.
    pub fn new(shape: Shape, friction: f64) -> Result<Self> {
        if friction.is_finite() && friction >= 0.0 {
            return Ok(Self { shape, friction, spared: Arc::default() });
        }
        Err(Error::Range { what: "friction", expected: "a coefficient >= 0", got: friction })
    }

    /// The same collider with contact switched off for some contact points, such as those of the flesh
    /// around it.
    pub fn sparing(mut self, points: &[u32]) -> Self {
        let mut points = points.to_vec();
        points.sort_unstable();
        self.spared = points.into();
        self
    }

    /// Indices of the excluded points, in order.
    pub(crate) fn spared(&self) -> &[u32] {
        &self.spared
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Coulomb coefficient of friction.
    pub fn friction(&self) -> f64 {
        self.friction
    }
}

/// A closed set of points; cheap to clone.
#[derive(Debug, Clone)]
pub struct Shape(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// The half-space behind a plane.
    Plane {
        normal: Vector3<f64>,
        offset: f64,
    },
    /// All points near a segment; a sphere if the segment is a point.
    Capsule {
        start: Vector3<f64>,
        along: Vector3<f64>,
        radius: f64,
    },
    Box {
        center: Vector3<f64>,
        half: Vector3<f64>,
    },
    Mesh(Arc<DistanceGrid>),
}

impl Shape {
    /// The half-space behind a plane through a point.
    ///
    /// # Errors
    /// [`Error::NotFinite`]; [`Error::Range`] for a normal without length, or numbers above 1e9.
    pub fn plane(point: [f64; 3], normal: [f64; 3]) -> Result<Self> {
        check("point", &point)?;
        check("normal", &normal)?;
        let normal = Vector3::from(normal);
        let length = normal.norm();
        if length == 0.0 {
            return Err(Error::Range { what: "normal", expected: "a direction", got: 0.0 });
        }
        let normal = normal / length;
        Ok(Self(Kind::Plane { offset: normal.dot(&Vector3::from(point)), normal }))
    }

    /// A ball.
    ///
    /// # Errors
    /// [`Error::NotFinite`]; [`Error::Range`] for a radius that is not positive, or numbers above 1e9.
    pub fn sphere(center: [f64; 3], radius: f64) -> Result<Self> {
        Self::capsule(center, center, radius)
    }

    /// All points within a radius of a segment.
    ///
    /// # Errors
    /// As [`Shape::sphere`].
    pub fn capsule(start: [f64; 3], end: [f64; 3], radius: f64) -> Result<Self> {
        check("start", &start)?;
        check("end", &end)?;
        check_size("radius", radius)?;
        let start = Vector3::from(start);
        Ok(Self(Kind::Capsule { start, along: Vector3::from(end) - start, radius }))
    }

    /// An axis-aligned box with given sides.
    ///
    /// # Errors
    /// As [`Shape::sphere`], for each side.
    pub fn cuboid(center: [f64; 3], size: [f64; 3]) -> Result<Self> {
        check("center", &center)?;
        size.iter().try_for_each(|&side| check_size("size", side))?;
        Ok(Self(Kind::Box { center: center.into(), half: Vector3::from(size) / 2.0 }))
    }

    /// The inside of a surface, as a grid of distances with `resolution` cells along the longest side.
    /// Details and walls thinner than a cell are lost.
    ///
    /// The surface may have several parts, overlap itself, and have holes and flipped triangles.
    ///
    /// # Errors
    /// [`Error::Range`] for a resolution outside 8 to 128, for numbers above 1e9, and for a surface without
    /// an inside at this resolution.
    pub fn mesh(surface: &SurfaceMesh, resolution: usize) -> Result<Self> {
        surface.points().iter().try_for_each(|point| check("points", point))?;
        Ok(Self(Kind::Mesh(DistanceGrid::new(surface, resolution)?.into())))
    }

    /// The solids behind patches of a surface, each given by its triangles: the part of the inside that is
    /// nearest to these, up to a quarter of their longest side deep. The cells of a grid are those of
    /// [`Shape::mesh`] with this resolution, but at least 8 along a patch.
    ///
    /// Solids of neighbouring patches overlap, and each may move by itself: together they are a collider that
    /// deforms. A patch of a flat part has no inside, and touches nothing.
    ///
    /// # Errors
    /// As [`Shape::mesh`], if no patch has an inside; [`Error::Index`] for an unknown triangle.
    pub fn patches(surface: &SurfaceMesh, patches: &[Vec<u32>], resolution: usize) -> Result<Vec<Self>> {
        surface.points().iter().try_for_each(|point| check("points", point))?;
        let whole = Whole::new(surface);
        let behind = |patch: &Vec<u32>| DistanceGrid::behind(&whole, &part(surface, patch)?, resolution);
        let grids: Vec<DistanceGrid> = patches.iter().map(behind).collect::<Result<_>>()?;
        if grids.iter().all(|grid| grid.deepest() == 0.0) {
            return Err(no_inside());
        }
        Ok(grids.into_iter().map(|grid| Self(Kind::Mesh(grid.into()))).collect())
    }

    /// Signed distance of a point, metres, negative inside; and the outward normal, the gradient of the
    /// distance.
    ///
    /// Beyond the grid of a mesh the distance is a lower bound. For several nearest points, the normal is
    /// that of one of them.
    pub fn distance(&self, point: [f64; 3]) -> (f64, [f64; 3]) {
        let (distance, normal) = self.nearest(&point.into());
        (distance, normal.into())
    }

    /// Lower bound, metres and cheap: no point within a radius of this one is nearer than the bound minus
    /// the radius.
    pub(crate) fn least_distance(&self, point: &Vector3<f64>) -> f64 {
        match &self.0 {
            Kind::Mesh(grid) => grid.least_distance(point),
            _ => self.nearest(point).0,
        }
    }

    /// `true` if a shape is the same after a translation, to within a distance.
    pub(crate) fn is_same_after(&self, translation: &Vector3<f64>, within: f64) -> bool {
        match &self.0 {
            Kind::Plane { normal, .. } => normal.dot(translation).abs() <= within,
            _ => translation.norm() <= within,
        }
    }

    /// `true` if distances are exact and convex, so that the nearest point of a face is found. Those of a
    /// grid are interpolated.
    pub(super) fn is_exact(&self) -> bool {
        !matches!(self.0, Kind::Mesh(_))
    }

    /// `true` if the lower bound is above a distance.
    pub(super) fn is_beyond(&self, point: &Vector3<f64>, distance: f64) -> bool {
        match &self.0 {
            Kind::Mesh(grid) => grid.is_beyond(point, distance),
            _ => self.nearest(point).0 > distance,
        }
    }

    /// The shape rounded at its edges within a depth of `most` metres; `None` for a plane
    /// and a patch, which have none.
    pub(super) fn rounded(&self, most: f64) -> Option<Rounded<'_>> {
        let depth = match &self.0 {
            Kind::Plane { .. } => return None,
            Kind::Mesh(grid) if grid.is_patch() => return None,
            Kind::Capsule { radius, .. } => *radius,
            Kind::Box { half, .. } => most.min(half.min()),
            Kind::Mesh(grid) => grid.spacing(),
        };
        Some(Rounded { shape: self, depth })
    }

    /// Depth of the deepest place inside, metres; infinite for a plane.
    pub(super) fn core(&self) -> f64 {
        match &self.0 {
            Kind::Plane { .. } => f64::INFINITY,
            Kind::Capsule { radius, .. } => *radius,
            Kind::Box { half, .. } => half.min(),
            Kind::Mesh(grid) => grid.deepest(),
        }
    }

    /// `true` if skin with this outward direction, at a place inside with the given distance and normal,
    /// would close around the shape on its nearest way out, instead of being dented by it. Near the core the
    /// nearest ways of neighbours diverge, and skin across them counts too.
    pub(super) fn is_engulfed(&self, distance: f64, normal: &Vector3<f64>, facing: &Vector3<f64>) -> bool {
        self.engulfing(distance, normal, facing) > 0.0
    }

    /// Cosine between the way out and the skin's outward direction, above the largest one of a dent.
    pub(super) fn engulfing(&self, distance: f64, normal: &Vector3<f64>, facing: &Vector3<f64>) -> f64 {
        normal.dot(facing) - ACROSS * distance / self.core()
    }

    pub(crate) fn nearest(&self, point: &Vector3<f64>) -> (f64, Vector3<f64>) {
        match &self.0 {
            Kind::Plane { normal, offset } => (normal.dot(point) - offset, *normal),
            Kind::Capsule { start, along, radius } => {
                let length = along.norm_squared();
                let share = if length > 0.0 { (point - start).dot(along) / length } else { 0.0 };
                let apart = point - start - share.clamp(0.0, 1.0) * along;
                (apart.norm() - radius, direction(apart))
            }
            Kind::Box { center, half } => of_box(&(point - center), half),
            Kind::Mesh(grid) => grid.nearest(point),
        }
    }
}

/// All points within a depth of the core of a shape, below its surface by that depth. The normal is
/// continuous down to the core.
pub(super) struct Rounded<'a> {
    pub(super) shape: &'a Shape,
    /// Metres.
    pub(super) depth: f64,
}

impl Rounded<'_> {
    /// The same shape rounded as far as possible.
    pub(super) fn to_the_core(&self) -> Rounded<'_> {
        let depth = match &self.shape.0 {
            Kind::Box { half, .. } => half.min(),
            _ => self.depth,
        };
        Rounded { shape: self.shape, depth }
    }

    /// Signed distance and outward normal.
    pub(super) fn nearest(&self, point: &Vector3<f64>) -> (f64, Vector3<f64>) {
        let Kind::Box { center, half } = &self.shape.0 else { return self.shape.nearest(point) };
        let (distance, normal) = of_box(&(point - center), &half.add_scalar(-self.depth));
        (distance - self.depth, normal)
    }
}

/// Some triangles of a surface.
fn part(surface: &SurfaceMesh, triangles: &[u32]) -> Result<SurfaceMesh> {
    let count = surface.triangles().len();
    if let Some(element) = triangles.iter().position(|&triangle| triangle as usize >= count) {
        let index = triangles[element].into();
        return Err(Error::Index { what: "patches", element, index, count });
    }
    let corners = triangles.iter().flat_map(|&triangle| surface.triangles()[triangle as usize]);
    let points = corners.map(|corner| surface.points()[corner as usize]).collect();
    SurfaceMesh::new(points, (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect())
}

fn check(what: &'static str, point: &[f64; 3]) -> Result<()> {
    for (element, &value) in point.iter().enumerate() {
        if !value.is_finite() {
            return Err(Error::NotFinite { what, element, value });
        }
        if value.abs() > LARGEST {
            return Err(Error::Range { what, expected: "numbers of at most 1e9", got: value });
        }
    }
    Ok(())
}

fn check_size(what: &'static str, size: f64) -> Result<()> {
    if size > 0.0 && size <= LARGEST {
        return Ok(());
    }
    Err(Error::Range { what, expected: "a positive number of metres, at most 1e9", got: size })
}
