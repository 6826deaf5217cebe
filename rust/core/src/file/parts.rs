//! Serialisation of the parts of a model: mesh, rig, stitches and fibres, each on its own.

use super::full_space::{
    read_fibres, read_mesh, read_rig, read_springs, read_stitches, write_fibres, write_groups, write_mesh,
    write_rig, write_stitches,
};
use super::{FIBRES, MESH, RIG, STITCHES};
use crate::Result;
use crate::material::Fibres;
use crate::mesh::TetMesh;
use crate::operators::Stitches;
use crate::rig::Rig;

/// Bytes of a mesh with its cells, from which [`decode_mesh`] restores it bit for bit.
pub fn encode_mesh(mesh: &TetMesh) -> Vec<u8> {
    MESH.seal(|out| write_mesh(out, mesh))
}

/// Decodes a mesh.
///
/// # Errors
/// [`Error::File`](crate::Error::File) for anything other than the output of [`encode_mesh`] in this version,
/// and as [`TetMesh::new`].
pub fn decode_mesh(bytes: &[u8]) -> Result<TetMesh> {
    MESH.open(bytes, read_mesh)
}

/// Bytes of a rig with its shapes, from which [`decode_rig`] restores it bit for bit.
pub fn encode_rig(rig: &Rig) -> Vec<u8> {
    RIG.seal(|out| {
        out.count(rig.vertex_count());
        write_rig(out, rig);
        out.count(rig.shapes().len());
        for shape in rig.shapes() {
            out.indices("moved", shape.iter().map(|entry| entry.0));
            out.numbers("moves", &shape.iter().flat_map(|entry| entry.1).collect::<Vec<_>>());
        }
    })
}

/// Decodes a rig.
///
/// # Errors
/// As [`decode_mesh`].
pub fn decode_rig(bytes: &[u8]) -> Result<Rig> {
    RIG.open(bytes, |input| {
        let n = usize::try_from(input.count()?).unwrap_or(usize::MAX);
        // Each vertex has a weight, which takes bytes.
        if n > input.bytes.len() {
            return Err(input.wrong("weights"));
        }
        let mut rig = read_rig(input, n)?;
        // Each shape takes bytes, so the count cannot exceed the input's length.
        for _ in 0..input.count()? {
            let (vertices, moves) = (input.indices_of("moved")?, input.rows_of("moves")?);
            let mut shape = vec![[0.0; 3]; n];
            for (&vertex, row) in vertices.iter().zip(&moves) {
                *shape.get_mut(vertex as usize).ok_or_else(|| input.wrong("moved"))? = *row;
            }
            rig = rig.with_shapes(shape.as_flattened())?;
        }
        Ok(rig)
    })
}

/// Bytes of stitches, from which [`decode_stitches`] restores them bit for bit.
pub fn encode_stitches(stitches: &Stitches) -> Vec<u8> {
    STITCHES.seal(|out| {
        out.count(stitches.vertex_count());
        if !stitches.is_empty() {
            write_stitches(out, stitches);
            write_groups(out, stitches);
        }
    })
}

/// Decodes stitches.
///
/// # Errors
/// As [`decode_mesh`].
pub fn decode_stitches(bytes: &[u8]) -> Result<Stitches> {
    STITCHES.open(bytes, |input| {
        let n = usize::try_from(input.count()?).unwrap_or(usize::MAX);
        if input.bytes.is_empty() {
            return Stitches::from_stitches(n, Vec::new());
        }
        let springs = read_springs(input)?;
        read_stitches(input, n, springs)
    })
}

/// Bytes of fibres, from which [`decode_fibres`] restores them bit for bit.
pub fn encode_fibres(fibres: &Fibres) -> Vec<u8> {
    FIBRES.seal(|out| {
        out.count(fibres.tet_count());
        write_fibres(out, fibres);
    })
}

/// Decodes fibres.
///
/// # Errors
/// As [`decode_mesh`].
pub fn decode_fibres(bytes: &[u8]) -> Result<Fibres> {
    FIBRES.open(bytes, |input| {
        let tets = usize::try_from(input.count()?).unwrap_or(usize::MAX);
        read_fibres(input, tets)
    })
}
