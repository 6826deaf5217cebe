//! Rigs: rejected input, and invariants of merging bones.

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
    assert!(matches!(three_bones().merged(&[1, 0, 2]), Err(Error::Range { what: "merge_into", .. })));
    assert!(matches!(three_bones().merged(&[0, 1, 3]), Err(Error::Index { element: 2, .. })));
    assert!(matches!(three_bones().merged(&[0]), Err(Error::Shape { .. })));
}

#[test]
fn small_ends_of_chains_are_small_and_links_are_not() {
    // A chain 0 - 1 - 2 - 3 and a root 4; bones 1, 3 and 4 move a thousandth of the mass each.
    let mass = [500.0, 1.0, 496.0, 1.0, 1.0];
    let weights: Vec<f64> = (0..25).map(|at| if at % 6 == 0 { 1.0 } else { 0.0 }).collect();
    let rig = Rig::new(5, 5, &weights).unwrap();
    let parents = [None, Some(0), Some(1), Some(2), None];
    assert_eq!(rig.small_bones(&mass, &parents).unwrap(), [0, 1, 2, 2, 4]);
    assert_eq!(rig.small_bones(&[1.0; 5], &parents).unwrap(), [0, 1, 2, 3, 4]);
    let into = rig.small_bones(&[997.0, 1.0, 1.0, 0.5, 0.5], &parents).unwrap();
    assert_eq!(into, [0, 0, 1, 2, 4]);
    assert_eq!(rig.merged(&into).unwrap().bone(0).len(), 4);
}

#[test]
fn parents_that_cannot_be_are_refused() {
    let rig = three_bones();
    let ask = |parents: &[Option<u32>]| rig.small_bones(&[1.0, 1.0], parents).unwrap_err();
    assert!(matches!(ask(&[Some(1), Some(0), None]), Error::Range { what: "bone_parents", .. }));
    assert!(matches!(ask(&[None, None, Some(3)]), Error::Index { element: 2, .. }));
    assert!(matches!(ask(&[None]), Error::Shape { what: "bone_parents", .. }));
    assert!(matches!(rig.small_bones(&[1.0], &[None; 3]), Err(Error::Shape { what: "mass", .. })));
}

#[test]
fn weights_must_sum_to_one() {
    assert_eq!(Rig::new(1, 2, &[0.5, 0.4]).unwrap_err(), Error::WeightSum { vertex: 0, sum: 0.9 });
    assert!(matches!(Rig::new(1, 1, &[f64::NAN]), Err(Error::NotFinite { .. })));
    assert!(matches!(Rig::new(2, 1, &[1.0]), Err(Error::Shape { .. })));
}
