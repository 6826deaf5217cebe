//! Parts of models as bytes: they come back bit for bit, and damaged ones are refused.

use jounce::file::{
    decode_fibres, decode_mesh, decode_rig, decode_stitches, encode_fibres, encode_mesh, encode_rig,
    encode_stitches,
};
use jounce::material::{Fibres, Field};
use jounce::mesh::{SurfaceMesh, TetMesh, solid_lattice};
use jounce::operators::Stitches;
use jounce::rig::Rig;
use jounce::{Progress, Result};

fn mesh() -> TetMesh {
    let surface = SurfaceMesh::cuboid([1.0, 0.7, 0.45]).unwrap();
    solid_lattice(&surface, 4, &Progress::default()).unwrap()
}

fn rig(n: usize) -> Rig {
    let weights: Vec<f64> = (0..n).flat_map(|i| [i as f64 / n as f64, 1.0 - i as f64 / n as f64]).collect();
    let shape: Vec<f64> = (0..3 * n).map(|i| if i % 5 == 0 { 0.0 } else { (i as f64).sin() }).collect();
    Rig::new(n, 2, &weights).unwrap().with_shapes(&shape).unwrap()
}

/// Refuses each change of a byte, each truncation and an addition, and takes no time over hostile sizes.
fn refuses<T>(bytes: &[u8], decode: impl Fn(&[u8]) -> Result<T>) {
    for at in (0..bytes.len()).step_by(7) {
        let mut other = bytes.to_vec();
        other[at] ^= 0x41;
        assert!(decode(&other).is_err(), "byte {at}");
        assert!(decode(&bytes[..at]).is_err(), "the first {at} bytes");
    }
    assert!(decode(&[bytes, &[0]].concat()).is_err());
    // The first number of the body is a size.
    let mut hostile = bytes.to_vec();
    hostile[24..32].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
    let end = hostile.len() - 8;
    let hash = hostile[..end].iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hostile[end..].copy_from_slice(&hash.to_le_bytes());
    assert!(decode(&hostile).is_err());
}

#[test]
fn meshes_come_back_with_their_cells() {
    let mesh = mesh();
    let bytes = encode_mesh(&mesh);
    let again = decode_mesh(&bytes).unwrap();
    assert!(!mesh.cells().is_empty());
    assert_eq!(encode_mesh(&again), bytes);
    assert_eq!((again.vertices(), again.solid()), (mesh.vertices(), mesh.solid()));
    refuses(&bytes, decode_mesh);
}

#[test]
fn rigs_come_back_with_their_shapes() {
    let rig = rig(30);
    let bytes = encode_rig(&rig);
    assert_eq!(decode_rig(&bytes).unwrap(), rig);
    refuses(&bytes, decode_rig);
}

#[test]
fn stitches_come_back_with_groups_and_balls() {
    let mesh = mesh();
    let stitches = Stitches::between_vertices(&mesh, &[[0, 9], [3, 20]], &[5.0, 7.0], &[0.0, 1.0]).unwrap();
    for made in [
        stitches.clone(),
        stitches.in_groups(&[0, 1]).unwrap().spread(&mesh, &[0.0, 0.2]).unwrap(),
        Stitches::none(&mesh),
    ] {
        assert_eq!(decode_stitches(&encode_stitches(&made)).unwrap(), made);
    }
    let bytes = encode_stitches(&Stitches::between_vertices(&mesh, &[[0, 9]], &[5.0], &[0.5]).unwrap());
    for at in (0..bytes.len()).step_by(7) {
        assert!(decode_stitches(&bytes[..at]).is_err());
    }
}

#[test]
fn fibres_come_back() {
    let directions: Vec<[f64; 3]> = (0..12).map(|i| [1.0, f64::from(i), 0.5]).collect();
    let one = Fibres::new(Field::PerTet((0..12).map(f64::from).collect()), &directions).unwrap();
    let both = Fibres::joined([&one, &one]).unwrap();
    assert_eq!(decode_fibres(&encode_fibres(&both)).unwrap(), both);
    for at in (0..encode_fibres(&both).len()).step_by(7) {
        assert!(decode_fibres(&encode_fibres(&both)[..at]).is_err());
    }
}
