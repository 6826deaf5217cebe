//! Features of the crate: conversions of glam and mint, and settings as text.

use glam::{Affine3A, DAffine3, DMat4, DQuat, DVec3, EulerRot, Mat4, Vec3};
use jounce::convert::{self, Point, Transform};
use jounce::inputs::{Integrator, Minimiser, SimulationParams};
use jounce::material::Law;
use jounce::rig::Rig;

/// A transform with rotation, scale, shear and translation.
fn transform() -> DAffine3 {
    let turned = DAffine3::from_rotation_translation(
        DQuat::from_euler(EulerRot::XYZ, 0.3, -0.7, 1.1),
        DVec3::new(0.5, -2.0, 3.0),
    );
    turned * DAffine3::from_scale(DVec3::new(1.0, 2.0, 0.5)) * DAffine3::from_rotation_y(0.4)
}

#[test]
fn a_bone_moves_points_as_glam_does() {
    let (bone, point) = (transform(), DVec3::new(0.2, 0.7, -1.3));
    let rig = Rig::single(1).unwrap();
    let posed = rig.posed(&convert::points([point]), &convert::pose([bone])).unwrap();
    assert!((DVec3::of_array(posed[0]) - bone.transform_point3(point)).length() < 1e-14);
}

#[test]
fn transforms_come_back() {
    let (bone, rows) = (transform(), transform().to_rows());
    assert_eq!(DAffine3::of_rows(&rows), bone);
    assert_eq!(DMat4::from(bone).to_rows(), rows);
    assert_eq!(DMat4::of_rows(&rows), DMat4::from(bone));
    let single = Mat4::of_rows(&rows);
    assert!(single.abs_diff_eq(DMat4::from(bone).as_mat4(), 0.0));
    assert_eq!(Affine3A::of_rows(&single.to_rows()), Affine3A::from_mat4(single));
    let mint: mint::RowMatrix3x4<f64> = Transform::of_rows(&rows);
    assert_eq!((mint.y.w, mint.to_rows()), (rows[1][3], rows));
    let square: mint::ColumnMatrix4<f64> = Transform::of_rows(&rows);
    assert_eq!(DMat4::from(square), DMat4::from(bone));
    assert_eq!(square.to_rows(), rows);
    assert_eq!(mint::RowMatrix4::of_rows(&rows).to_rows(), rows);
}

#[test]
fn points_come_back() {
    let exact = [0.25, -1.5, 3.0];
    assert_eq!(Vec3::of_array(exact).to_array(), exact.map(|x| x as f32));
    assert_eq!(convert::points([Vec3::of_array(exact)]), [exact]);
    assert_eq!(convert::points([mint::Point3::of_array(exact)]), [exact]);
    assert_eq!(convert::points([mint::Vector3::of_array(exact)]), [exact]);
}

#[test]
fn settings_are_text_and_back() {
    let settings = SimulationParams {
        integrator: Integrator::Bdf2,
        limit: Some(0.25),
        contraction: 0.5.into(),
        minimiser: Minimiser::QuasiNewton { pairs: 8 },
        ..SimulationParams::default()
    };
    let text = serde_json::to_string(&settings).unwrap();
    assert!(text.contains(r#""integrator":"bdf2""#), "{text}");
    assert_eq!(serde_json::from_str::<SimulationParams>(&text).unwrap(), settings);
    let few: SimulationParams = serde_json::from_str(r#"{"damping": 0.5}"#).unwrap();
    assert_eq!(few, SimulationParams { damping: 0.5, ..SimulationParams::default() });
    assert!(serde_json::from_str::<SimulationParams>(r#"{"dampnig": 0.5}"#).is_err());
    assert_eq!(serde_json::to_string(&Law::NeoHookean).unwrap(), r#""neo_hookean""#);
}
