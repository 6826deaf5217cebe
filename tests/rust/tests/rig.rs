//! Rigs: what is refused, and what merging bones keeps.

use jounce::Error;
use jounce::rig::Rig;

fn three_bones() -> Rig {
    Rig::new(2, 3, &[0.5, 0.3, 0.2, 0.0, 0.0, 1.0]).unwrap()
}

#[test]
fn merged_bones_add_their_weights() {
    let merged = three_bones().merged(&[0, 0, 1]).unwrap();
    assert_eq!(merged.bone_count(), 1);
    assert_eq!(merged.bone(0), &[(0, 1.0), (1, 1.0)]);
    let merged = three_bones().merged(&[0, 1, 1]).unwrap();
    assert_eq!(merged.bone(1), &[(0, 0.5), (1, 1.0)]);
}

#[test]
fn a_chain_without_end_is_refused() {
    assert!(matches!(three_bones().merged(&[1, 0, 2]), Err(Error::Range { what: "into", .. })));
    assert!(matches!(three_bones().merged(&[0, 1, 3]), Err(Error::Index { element: 2, .. })));
    assert!(matches!(three_bones().merged(&[0]), Err(Error::Shape { .. })));
}

#[test]
fn weights_must_sum_to_one() {
    assert_eq!(Rig::new(1, 2, &[0.5, 0.4]).unwrap_err(), Error::WeightSum { vertex: 0, sum: 0.9 });
    assert!(matches!(Rig::new(1, 1, &[f64::NAN]), Err(Error::NotFinite { .. })));
    assert!(matches!(Rig::new(2, 1, &[1.0]), Err(Error::Shape { .. })));
}
