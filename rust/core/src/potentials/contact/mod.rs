//! Contact with rigid colliders that move: ground, spheres, capsules, boxes, closed meshes and their patches.
//!
//! A [`Collider`] is a [`Shape`] with a friction coefficient; each step receives its placement. Contact
//! points are points of a body's surface, sums `c = sum_v w_v x_v + d` of its rows. The rows are vertices,
//! with d from the points' own skinning weights, or handle coordinates, with d the rest position. Each
//! point near a collider has a [`Touch`]: the tangent plane `(n, t)` at the contact, with the convex energy
//!
//! `k / 2 min(0, n.(c - t))^2 + huber((1 - n n')(c - a))`.
//!
//! It is part of the incremental energy. The second term is Coulomb friction: a spring to the anchor a, the
//! place of first contact. The anchor slides if the spring force would exceed `mu` times the normal force.
//! Anchors are part of the state, and sticking points do not creep.
//!
//! Planes are detected before each line search and frozen during the search, to keep the energy of the
//! search consistent. Each point is swept from its position relative to the collider at the start of the
//! substep, and along its next step. It meets the side of its approach, even of a thin collider. Late planes
//! and friction bounds of a substep stand, so that its searches come to an end (`detection`). The
//! stiffness follows from the metric, `k = HARD / (s' A^-1 s)` with the point's weights s: penetration
//! under a force is `HARD` times smaller than free motion under the same force.
//!
//! The direction of a search (`directions`) minimises the quasi-Newton model of the smooth energy together
//! with the contacts' own (`response`), and needs the metric's inverse only between points in contact.
//! Contacts may therefore be much stiffer than flesh without more iterations or trials. Curvature pairs
//! describe the smooth energy alone and survive changes of the contact set. Hundreds of contacts between
//! bodies are relaxed one after the other (`relaxation`).
//!
//! Faces between the points have contact points of their own where an obstacle is narrower than the spacing
//! of points (`faces`), found anew in each substep.
//!
//! Skin that starts a substep deep inside has no side yet. It is let out the nearest way, slowly. Where
//! attached skin would close around the collider, because its outward direction is along the way out or near
//! the core across it, it is left in place: its neighbours have ways out on opposite sides, which together
//! would tear it. For the same reason no spot opposes that of a neighbouring face, and a collider whose core
//! is deeper than flesh gives way pushes no further than it gives way.
//!
//! Points are tested in groups of neighbours (`near`): a collider out of reach of a group costs nothing.
//! Grouping does not change any bit of the result.
//!
//! Bodies of handles in a common step touch each other in the same way (`joint`), each through the deformed
//! rest shape of the others (`soft`).
//!
//! Vertices of domains with rotating frames use the same contact model; trees of bounding spheres find the
//! candidates (`model::tree`).
//!
//! Bodies in reduced coordinates touch with few points, each moved by all of the coordinates (`reduced`).
//! A displayed skin has dents of its own (`dents`).
//!
//! A collider that deforms is a set of patches of its surface ([`Shape::patches`]), each with a placement.
//!
//! Skin touches itself in the same way (`self_contact`): a point and the opposite place on the skin are one
//! contact point, their difference (`pairs`).
//!
//! Not included: restitution beyond that of the flesh.

mod columns;
mod compliance;
mod cuboid;
mod dents;
mod detection;
mod directions;
mod distance_grid;
mod faces;
mod inverse;
mod joint;
mod link;
mod links;
mod near;
mod pairs;
mod placement;
mod points;
mod reduced;
mod relaxation;
mod response;
mod self_contact;
mod shape;
mod soft;
mod spots;
mod state;
mod sweep;
mod system;
mod touch;

pub use dents::Dents;
pub use placement::check_placement;
pub use points::ContactSkin;
pub use shape::{Collider, Shape};
pub use touch::Touch;

pub(crate) use compliance::{Compliance, Mobility};
pub(crate) use directions::{Contact, End, HARD, HELD, LET_OUT, NEAR, SWALLOWED, Start};
pub(crate) use inverse::Inverse;
pub(crate) use joint::{JointContact, Member};
pub(crate) use near::{Bound, Course, Moved};
pub(crate) use placement::{Placement, ROWS};
pub(crate) use points::{ContactPoints, Corners, VertexRows};
pub(crate) use reduced::{ReducedBody, ReducedContact};
pub(crate) use response::{entered, mind, respond};
pub(crate) use soft::SoftShape;
pub(crate) use state::{Anchor, ContactState};

pub(crate) use sweep::meet;

use near::PointGroups;
use self_contact::SelfContact;
