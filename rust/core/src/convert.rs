//! Conversions of points and of transforms from and to the types of glam and mint, with the features of
//! their names.
//!
//! The library itself has a point as `[x, y, z]` in metres and a transform, such as that of a bone, as three
//! rows of four: rotation, scale and shear, then the translation.
#![cfg_attr(
    feature = "glam",
    doc = r"
```
use glam::{DAffine3, DVec3};
use jounce::convert::Transform;

let raised = DAffine3::from_translation(DVec3::new(0.0, 0.0, 0.5));
let bone = raised.to_rows();
assert_eq!(bone[2], [0.0, 0.0, 1.0, 0.5]);
assert_eq!(DAffine3::of_rows(&bone), raised);
```
"
)]

/// A point or a vector as three numbers.
pub trait Point: Sized {
    /// Coordinates of the point, metres.
    fn to_array(&self) -> [f64; 3];

    /// The point of given coordinates.
    fn of_array(coordinates: [f64; 3]) -> Self;
}

/// An affine transform as three rows of four numbers.
pub trait Transform: Sized {
    /// The rows, as in poses.
    fn to_rows(&self) -> [[f64; 4]; 3];

    /// The transform of given rows.
    fn of_rows(rows: &[[f64; 4]; 3]) -> Self;
}

/// Points of any type, as meshes take them.
pub fn points<P: Point>(points: impl IntoIterator<Item = P>) -> Vec<[f64; 3]> {
    points.into_iter().map(|point| point.to_array()).collect()
}

/// Transforms of bones of any type, as a step takes them.
pub fn pose<T: Transform>(bones: impl IntoIterator<Item = T>) -> Vec<[[f64; 4]; 3]> {
    bones.into_iter().map(|bone| bone.to_rows()).collect()
}

#[cfg(feature = "glam")]
mod of_glam {
    use super::{Point, Transform};
    use glam::{Affine3A, DAffine3, DMat3, DMat4, DVec3, Mat4, Vec3, Vec3A};

    impl Point for DVec3 {
        fn to_array(&self) -> [f64; 3] {
            DVec3::to_array(self)
        }

        fn of_array(coordinates: [f64; 3]) -> Self {
            Self::from_array(coordinates)
        }
    }

    impl Point for Vec3 {
        fn to_array(&self) -> [f64; 3] {
            self.as_dvec3().to_array()
        }

        fn of_array(coordinates: [f64; 3]) -> Self {
            DVec3::from_array(coordinates).as_vec3()
        }
    }

    impl Point for Vec3A {
        fn to_array(&self) -> [f64; 3] {
            self.as_dvec3().to_array()
        }

        fn of_array(coordinates: [f64; 3]) -> Self {
            DVec3::from_array(coordinates).as_vec3a()
        }
    }

    impl Transform for DAffine3 {
        fn to_rows(&self) -> [[f64; 4]; 3] {
            let (m, t) = (self.matrix3.transpose().to_cols_array_2d(), self.translation.to_array());
            std::array::from_fn(|i| [m[i][0], m[i][1], m[i][2], t[i]])
        }

        fn of_rows(rows: &[[f64; 4]; 3]) -> Self {
            let columns: [[f64; 3]; 4] = std::array::from_fn(|c| rows.map(|row| row[c]));
            let [x, y, z, translation] = columns.map(DVec3::from_array);
            Self { matrix3: DMat3::from_cols(x, y, z), translation }
        }
    }

    impl Transform for DMat4 {
        fn to_rows(&self) -> [[f64; 4]; 3] {
            DAffine3::from_mat4(*self).to_rows()
        }

        fn of_rows(rows: &[[f64; 4]; 3]) -> Self {
            DAffine3::of_rows(rows).into()
        }
    }

    impl Transform for Mat4 {
        fn to_rows(&self) -> [[f64; 4]; 3] {
            self.as_dmat4().to_rows()
        }

        fn of_rows(rows: &[[f64; 4]; 3]) -> Self {
            DMat4::of_rows(rows).as_mat4()
        }
    }

    impl Transform for Affine3A {
        fn to_rows(&self) -> [[f64; 4]; 3] {
            Mat4::from(*self).to_rows()
        }

        fn of_rows(rows: &[[f64; 4]; 3]) -> Self {
            Self::from_mat4(Mat4::of_rows(rows))
        }
    }
}

#[cfg(feature = "mint")]
mod of_mint {
    use super::{Point, Transform};
    use mint::{ColumnMatrix4, Point3, RowMatrix3x4, RowMatrix4, Vector3, Vector4};

    impl Point for Point3<f64> {
        fn to_array(&self) -> [f64; 3] {
            (*self).into()
        }

        fn of_array(coordinates: [f64; 3]) -> Self {
            coordinates.into()
        }
    }

    impl Point for Vector3<f64> {
        fn to_array(&self) -> [f64; 3] {
            (*self).into()
        }

        fn of_array(coordinates: [f64; 3]) -> Self {
            coordinates.into()
        }
    }

    impl Transform for RowMatrix3x4<f64> {
        fn to_rows(&self) -> [[f64; 4]; 3] {
            [self.x, self.y, self.z].map(<[f64; 4]>::from)
        }

        fn of_rows(&[x, y, z]: &[[f64; 4]; 3]) -> Self {
            Self { x: x.into(), y: y.into(), z: z.into() }
        }
    }

    impl Transform for RowMatrix4<f64> {
        fn to_rows(&self) -> [[f64; 4]; 3] {
            [self.x, self.y, self.z].map(<[f64; 4]>::from)
        }

        fn of_rows(&[x, y, z]: &[[f64; 4]; 3]) -> Self {
            Self { x: x.into(), y: y.into(), z: z.into(), w: Vector4::from([0.0, 0.0, 0.0, 1.0]) }
        }
    }

    impl Transform for ColumnMatrix4<f64> {
        fn to_rows(&self) -> [[f64; 4]; 3] {
            let columns = [self.x, self.y, self.z, self.w].map(<[f64; 4]>::from);
            std::array::from_fn(|i| columns.map(|column| column[i]))
        }

        fn of_rows(rows: &[[f64; 4]; 3]) -> Self {
            let column = |c: usize, last: f64| {
                let [x, y, z] = rows.map(|row| row[c]);
                Vector4::from([x, y, z, last])
            };
            Self { x: column(0, 0.0), y: column(1, 0.0), z: column(2, 0.0), w: column(3, 1.0) }
        }
    }
}

#[cfg(all(test, feature = "glam", feature = "mint"))]
mod tests {
    use glam::{Affine3A, DAffine3, DMat4, DQuat, DVec3, EulerRot, Mat4, Vec3};

    use super::{Point, Transform, points, pose};

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
        let ([x, y, z], rows) = (points([point])[0], pose([bone])[0]);
        let posed = rows.map(|row| row[0] * x + row[1] * y + row[2] * z + row[3]);
        assert!((DVec3::of_array(posed) - bone.transform_point3(point)).length() < 1e-14);
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
        assert_eq!(square.w, [rows[0][3], rows[1][3], rows[2][3], 1.0].into());
        assert_eq!(square.to_rows(), rows);
        assert_eq!(mint::RowMatrix4::of_rows(&rows).to_rows(), rows);
    }

    #[test]
    fn points_come_back() {
        let exact = [0.25, -1.5, 3.0];
        assert_eq!(Vec3::of_array(exact).to_array(), exact.map(|x| x as f32));
        assert_eq!(points([Vec3::of_array(exact)]), [exact]);
        assert_eq!(points([mint::Point3::of_array(exact)]), [exact]);
        assert_eq!(points([mint::Vector3::of_array(exact)]), [exact]);
    }
}
