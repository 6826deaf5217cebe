//! Contact with rigid colliders that move: ground, spheres, capsules, boxes and closed meshes.
//!
//! A [`Collider`] is a [`Shape`] with a friction coefficient; where it stands, a step is told. What touches it are
//! points of a body's surface, sums `c = sum_v w_v x_v + d` of its rows: of vertices, d being what weights of their own add,
//! or of the coordinates of handles, d being where they are at rest. Each
//! point near a collider has a [`Touch`]: the tangent plane `(n, t)` where it meets the collider, with the energy
//!
//! `k / 2 min(0, n.(c - t))^2 + huber((1 - n n')(c - a))`,
//!
//! which is convex and joins the incremental energy. The second part is Coulomb's friction: a spring to the anchor a
//! at which the point touched first, that yields and drags the anchor along where its force would exceed
//! `mu` times the normal one. Anchors are part of the state: what sticks does not creep.
//!
//! Planes are found anew before each line search and frozen in it, so that no search compares the energies of two sets.
//! A point is swept from where it was relative to the collider at the start of the substep, and along the way it is about
//! to go: it meets the side that it comes from, however thin the collider is. The stiffness is derived from the metric,
//! `k = HARD / (s' A^-1 s)` with the point's weights s: a force makes a point go that many times less deep than it would
//! make it move freely.
//!
//! The direction of a search (`directions`) minimises the quasi-Newton model of the smooth energy together with the contacts'
//! own (`response`), which needs the metric's inverse only between points in contact. Contacts may so be many times
//! stiffer than flesh at no more iterations and no more trials, and the curvature learnt is of the smooth energy alone: it
//! outlives changes of the set of contacts.
//!
//! Points are looked at in groups of neighbours (`near`): a collider that none of a group can reach costs nothing, and which
//! these are changes no bit.
//!
//! Bodies of handles that are stepped as one touch each other likewise (`joint`), each the others' rest shape
//! as they deform it (`soft`).
//!
//! Vertices of domains, whose frames turn, meet colliders and answer to each other in the same way; trees of spheres find which
//! (`method::domains`).
//!
//! What it does not do: rigid colliders that deform; bodies that touch themselves; bounce beyond what flesh
//! gives.

mod directions;
mod distance_grid;
mod joint;
mod links;
mod near;
mod placement;
mod points;
mod response;
mod shape;
mod soft;
mod state;
mod sweep;
mod touch;

pub use points::ContactSkin;
pub use shape::{Collider, Shape};
pub use touch::Touch;

pub(crate) use directions::{Contact, End, HARD, HELD, LET_OUT, NEAR, SWALLOWED, Start};
pub(crate) use joint::{JointContact, Member};
pub(crate) use near::{Bound, Course, Moved};
pub(crate) use placement::{Placement, ROWS};
pub(crate) use points::{ContactPoints, Corners, VertexRows};
pub(crate) use response::{Compliance, Mobility, entered, mind, respond};
pub(crate) use soft::SoftShape;
pub(crate) use state::{Anchor, ContactState};

pub(crate) use sweep::meet;

use near::PointGroups;
use sweep::Path;
