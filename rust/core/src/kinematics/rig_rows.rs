//! Poses and offsets as rows in a body's coordinates, and the rig's linear map from rows to vertices.

use super::coordinates::Coordinates;
use crate::rig::{Pose, Rig};
use crate::{Error, Result, check};

/// Largest accepted entry of a pose; for translations in metres or half diagonals, whichever are longer.
const LARGEST_TRANSFORM: f64 = 1e12;

/// Rows of J, the rig's linear map, at places: handles and their four entries.
pub(crate) type RigRows = Vec<Vec<(u32, [f64; 4])>>;

/// A bone in its bind pose.
pub(crate) const BIND: [[f64; 4]; 3] = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

/// Converts a pose of some bones into 4 rows a handle; without bones one handle stays at rest.
pub(crate) fn set_pose(
    coordinates: &Coordinates,
    bones: usize,
    pose: Option<&Pose>,
    rows: &mut [[f64; 3]],
) -> Result<()> {
    let pose = match pose {
        None if bones == 0 => &[BIND],
        Some(pose) if bones > 0 && pose.len() == bones => {
            check_pose(coordinates, pose)?;
            pose
        }
        pose => return Err(wrong_pose(pose, bones)),
    };
    for (rows, transform) in rows.as_chunks_mut::<4>().0.iter_mut().zip(pose) {
        *rows = coordinates.enter(transform);
    }
    Ok(())
}

fn check_pose(coordinates: &Coordinates, pose: &Pose) -> Result<()> {
    for (element, &value) in pose.as_flattened().as_flattened().iter().enumerate() {
        let unit = if element % 4 == 3 { coordinates.size.max(1.0) } else { 1.0 };
        if !value.is_finite() || value.abs() > LARGEST_TRANSFORM * unit {
            return Err(Error::Pose { bone: element / 12, value });
        }
    }
    Ok(())
}

fn wrong_pose(pose: Option<&Pose>, bones: usize) -> Error {
    Error::Shape {
        what: "pose",
        expected: if bones == 0 {
            "none, as the model has no rig".into()
        } else {
            format!("({bones}, 3, 4)")
        },
        got: pose.map_or("none".into(), |pose| format!("({}, 3, 4)", pose.len())),
    }
}

/// Checks offsets: refuses values that are not finite or too large.
pub(crate) fn check_offsets(coordinates: &Coordinates, offsets: &[f64]) -> Result<()> {
    let what = "offsets";
    let limit = LARGEST_TRANSFORM * coordinates.size.max(1.0);
    for (element, &value) in offsets.iter().enumerate() {
        if !value.is_finite() {
            return Err(Error::NotFinite { what, element: element / 3, value });
        }
        if value.abs() > limit {
            return Err(Error::Range { what, expected: "numbers below 1e12", got: value });
        }
    }
    Ok(())
}

/// Checks one factor >= 0 on the rig's acceleration for each of n vertices.
pub(crate) fn check_strength(n: usize, strength: Option<&[f64]>) -> Result<()> {
    let what = "strength";
    let Some(strength) = strength else { return Ok(()) };
    check::length(what, n, strength.len())?;
    check::each(what, "numbers >= 0", strength, |s| s >= 0.0)
}

/// Rows of J at vertices. Without a rig one handle moves all vertices.
pub(crate) fn rig_rows(coordinates: &Coordinates, places: &[[f64; 3]], rig: Option<&Rig>) -> RigRows {
    let (starts, weights) = handles_of_vertices(places.len(), rig);
    let row = |(ends, place): (&[usize], &[f64; 3])| {
        let place = coordinates.homogeneous(place);
        weights[ends[0]..ends[1]].iter().map(|&(bone, w)| (bone, place.map(|x| w * x))).collect()
    };
    starts.windows(2).zip(places).map(row).collect()
}

/// Handles of each vertex in ascending order; without a rig one handle moves all vertices.
pub(crate) fn handles_of_vertices(n: usize, rig: Option<&Rig>) -> (Vec<usize>, Vec<(u32, f64)>) {
    let Some(rig) = rig else {
        return ((0..=n).collect(), vec![(0, 1.0); n]);
    };
    let mut starts = vec![0; n + 1];
    for bone in 0..rig.bone_count() {
        rig.bone(bone).iter().for_each(|&(v, _)| starts[v as usize + 1] += 1);
    }
    (0..n).for_each(|v| starts[v + 1] += starts[v]);
    let mut next = starts.clone();
    let mut entries = vec![(0, 0.0); starts[n]];
    for bone in 0..rig.bone_count() {
        for &(v, w) in rig.bone(bone) {
            entries[next[v as usize]] = (bone as u32, w);
            next[v as usize] += 1;
        }
    }
    (starts, entries)
}
