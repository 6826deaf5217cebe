//! Trees of domains whose root jumps or sets off.

use std::sync::Arc;

use jounce::Progress;
use jounce::inputs::SimulationParams;
use jounce::material::Law;
use jounce::model::tree::{Domain, DomainTree, Member, TreeInput};
use jounce_tests::bodies::{REST, Transform};
use jounce_tests::trees::{along, attached, chain, exact, linear, soft, stepped, stick};

/// Number of cells along a half of a bar.
const HALF: usize = 8;

fn silent() -> Progress {
    Progress::default()
}

fn led(root: &Transform) -> TreeInput<'_> {
    TreeInput { root: Some(root), ..TreeInput::default() }
}

fn tree(members: &[Member], free: bool, params: SimulationParams) -> DomainTree {
    DomainTree::new(members, free, params).unwrap()
}

/// Two halves in a chain.
fn halves(domain: &Arc<Domain>) -> Vec<Member> {
    chain(&[domain.clone(), domain.clone()], HALF)
}

#[test]
fn a_tree_that_is_cut_keeps_its_shape_and_feels_no_jump() {
    let material = soft(Law::Corotated, 0.3);
    let members = halves(&attached(&stick(HALF), &material, 3));
    let params = SimulationParams { dt: 1.0 / 30.0, gravity: [0.0, 0.0, -2.0], ..exact() };
    let mut moved = stepped(tree(&members, false, params), 5);
    let mut stayed = tree(&members, false, params);
    stayed.restore_state(&moved.save_state()).unwrap();
    let (far, before) = (along(40.0), moved.coordinates(1).unwrap().to_vec());
    moved.cut(&led(&far)).unwrap();
    stayed.cut(&led(&REST)).unwrap();
    assert_eq!(moved.coordinates(1).unwrap(), before);
    assert!(before.iter().any(|y| y.abs() > 1e-3));
    assert!((moved.frames()[1][0][3] - stayed.frames()[1][0][3] - 40.0).abs() < 1e-12);
    for _ in 0..5 {
        moved.step(&led(&far), &silent()).unwrap();
        stayed.step(&TreeInput::default(), &silent()).unwrap();
    }
    for (one, other) in moved.coordinates(1).unwrap().iter().zip(stayed.coordinates(1).unwrap()) {
        assert!((one - other).abs() < 1e-9, "{one} {other}");
    }
    let loose = chain(&[linear(&stick(HALF), &material, 6, false)], HALF);
    let mut free = stepped(tree(&loose, true, params), 5);
    let places = free.positions(0).unwrap();
    free.cut(&TreeInput::default()).unwrap();
    assert_eq!(free.positions(0).unwrap(), places);
}

#[test]
fn a_tree_that_coasts_feels_no_start() {
    let members = halves(&attached(&stick(HALF), &soft(Law::Corotated, 0.3), 3));
    let most = |coasts: bool, substeps: u32| {
        let params = SimulationParams { dt: 1.0 / 30.0, substeps, ..exact() };
        let mut tree = stepped(tree(&members, false, params), 1);
        if coasts {
            tree.coast(&led(&along(0.1))).unwrap();
        }
        for step in 1..6 {
            tree.step(&led(&along(0.1 * f64::from(step))), &silent()).unwrap();
        }
        (0..2).flat_map(|d| tree.coordinates(d).unwrap().to_vec()).fold(0.0, |most: f64, y| most.max(y.abs()))
    };
    for substeps in [1, 3] {
        let (jolted, smooth) = (most(false, substeps), most(true, substeps));
        assert!(jolted > 1e-3 && smooth < 1e-9, "{jolted} {smooth}");
    }
}
