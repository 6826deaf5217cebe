//! Bodies made from others of the same surface: parts that maps leave unchanged are reused.

use std::sync::Arc;

use jounce::Progress;
use jounce::body::{Body, BodyParams, Painted, PointStitches};
use jounce::file::encode;
use jounce::mesh::SurfaceMesh;
use jounce_tests::surfaces::cube;

fn surface() -> SurfaceMesh {
    cube(6).placed([1.0, 0.4, 0.3], [0.0; 3]).surface()
}

fn params() -> BodyParams {
    BodyParams { resolution: 12, modes: 6, clusters: 8, cubature: 0, ..BodyParams::default() }
}

fn build(params: &BodyParams, like: Option<&Body>) -> Body {
    let surface = surface();
    let low = surface.points().iter().fold(f64::INFINITY, |low, p| low.min(p[0]));
    let high = surface.points().iter().fold(f64::NEG_INFINITY, |high, p| high.max(p[0]));
    let share = |p: &[f64; 3]| (p[0] - low) / (high - low);
    let weights: Vec<f64> = surface.points().iter().flat_map(|p| [1.0 - share(p), share(p)]).collect();
    Body::new_like(like, &surface, &weights, 2, params, &Progress::default()).unwrap()
}

/// A value at each point from its position along the body, about 0 to 1.
fn along(value: impl Fn(f64) -> f64) -> Vec<f64> {
    surface().points().iter().map(|p| value(p[0].abs().min(1.0))).collect()
}

#[test]
fn maps_that_need_no_update_give_the_body_of_a_build() {
    let plain = build(&params(), None);
    let pinned = along(|x| x).iter().map(|&x| x < 0.1).collect();
    let changes = [
        BodyParams { strength: Some(along(|x| x)), ..params() },
        BodyParams { leak: Some(along(|x| 1.0 - 0.5 * x)), ..params() },
        BodyParams { pinned: Some(pinned), ..params() },
        BodyParams { young: Painted::Points(along(|x| 1e4 * (1.0 + x))), ..params() },
        BodyParams { clusters: 5, ..params() },
        BodyParams { modes: 4, ..params() },
        BodyParams { resolution: 10, ..params() },
    ];
    for (index, change) in changes.iter().enumerate() {
        let (quick, whole) = (build(change, Some(&plain)), build(change, None));
        assert!(encode(&quick.model) == encode(&whole.model), "{index}");
        assert_eq!(quick.residual, 0.0);
        assert_eq!(Arc::ptr_eq(&quick.mesh, &plain.mesh), index < 6, "{index}");
        let keeps_modes = index == 0 || index == 4;
        assert_eq!(Arc::ptr_eq(&quick.modes, &plain.modes), keeps_modes, "{index}");
    }
}

#[test]
fn stiffness_and_stitches_take_the_short_way_where_it_is_good_enough() {
    let editable = |stiffer: f64| {
        let young = along(|x| if x > 0.5 { 1e4 * stiffer } else { 1e4 });
        BodyParams { editable: true, young: Painted::Points(young), ..params() }
    };
    let plain = build(&editable(1.5), None);
    let stitches = PointStitches {
        pairs: vec![[0, 7]],
        stiffness: vec![100.0],
        gaps: vec![1.0],
        ..PointStitches::default()
    };
    let stitched = BodyParams { stitches, ..editable(2.0) };
    for change in [editable(3.0), stitched] {
        let (quick, whole) = (build(&change, Some(&plain)), build(&change, None));
        assert!(quick.residual > 0.0 && quick.residual <= 0.01, "{}", quick.residual);
        assert!(quick.labels == plain.labels);
        for (found, exact) in quick.modes.eigenvalues.iter().zip(&whole.modes.eigenvalues) {
            assert!((found / exact - 1.0).abs() < 0.03, "{found} {exact}");
        }
    }
    let far = build(&editable(1e4), Some(&plain));
    assert_eq!(far.residual, 0.0);
    assert!(encode(&far.model) == encode(&build(&editable(1e4), None).model));
}

#[test]
fn a_body_of_another_surface_is_of_no_harm() {
    let other = cube(3).surface();
    let weights = vec![1.0; other.points().len()];
    let other = Body::new(&other, &weights, 1, &params(), &Progress::default()).unwrap();
    assert!(encode(&build(&params(), Some(&other)).model) == encode(&build(&params(), None).model));
}
