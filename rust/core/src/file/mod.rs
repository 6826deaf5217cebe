//! Serialisation of models and states: versioned, validated, and rejected on any inconsistency.
//!
//! Little endian throughout: 8 bytes `JOUNCE\0\0`, the version (u32), the kind (u32), the length of the
//! body (u64), the body, and the FNV-1a hash of everything before it (u64). Arrays are a count (u64) and
//! their numbers; matrices are rows and columns (u64) and their numbers by columns. In full-space models
//! each part follows its name, an array of bytes.

mod bytes;
mod full_space;
mod parts;
mod state;
mod writing;

pub use parts::{
    decode_fibres, decode_mesh, decode_rig, decode_stitches, encode_fibres, encode_mesh, encode_rig,
    encode_stitches,
};
pub use state::{decode_state, encode_state};

use bytes::{Kind, Reader, Writer};
use std::fs;
use std::path::Path;

use crate::mesh::TetMesh;
use crate::model::Model;
use crate::model::full_space::FullSpaceModel;
use crate::model::skinning_modes::stitches::{ReducedSprings, ReducedStitches};
use crate::model::skinning_modes::stretch_places::StretchPlaces;
use crate::model::skinning_modes::{SkinningData, SkinningModel};
use crate::{Error, Progress, Result};

const MAGIC: [u8; 8] = *b"JOUNCE\0\0";
/// Format version, incremented with every change of the layout; only files of the same version are read.
const VERSION: u32 = 8;
/// Kinds of content: number, noun, and remedy for an unreadable file.
const SKINNING: Kind = Kind { number: 1, noun: "model", remedy: "build it anew" };
const STATE: Kind = Kind { number: 2, noun: "state", remedy: "simulate anew" };
const FULL_SPACE: Kind = Kind { number: 3, ..SKINNING };
const MESH: Kind = Kind { number: 4, noun: "mesh", remedy: "make it anew" };
const RIG: Kind = Kind { number: 5, noun: "rig", ..MESH };
const STITCHES: Kind = Kind { number: 6, noun: "stitch", ..MESH };
const FIBRES: Kind = Kind { number: 7, noun: "fibre", ..MESH };
/// Offset of the kind's number.
const KIND: usize = 12;
/// Length of the header in bytes.
const HEADER: usize = 24;
/// Length of the hash in bytes.
const HASH: usize = 8;
/// Upper bound of the number of bones, which keeps sizes from overflowing.
const MOST_BONES: u64 = 1 << 24;

/// Writes a model atomically: the file is either complete or unchanged.
///
/// Links are followed, and an existing file keeps its mode, its owner and its other names.
///
/// # Errors
/// [`Error::File`] for a folder, a pipe or a device, and if the disk refuses.
pub fn save(model: &Model, path: &Path) -> Result<()> {
    writing::write(path, &encode(model)?)
}

/// Reads a model written by [`save`], bit for bit.
///
/// # Errors
/// [`Error::File`] if the file cannot be read, is no model, of another version, incomplete or damaged; any
/// error of the parts if the contents contradict each other.
pub fn load(path: &Path) -> Result<Model> {
    let bytes =
        fs::read(path).map_err(|error| Error::File(format!("cannot read {}: {error}", path.display())))?;
    decode(&bytes)
}

/// Serialises a model to the bytes of its file.
///
/// # Errors
/// [`Error::Unsupported`] for reduced models and those of handles.
pub fn encode(model: &Model) -> Result<Vec<u8>> {
    match model {
        Model::Skinning(model) => Ok(SKINNING.seal(|out| write_skinning(out, model.data()))),
        Model::FullSpace(model) => Ok(FULL_SPACE.seal(|out| full_space::write(out, model.data()))),
        Model::Reduced(_) | Model::Projective(_) => {
            let why = "models of skinning modes and of the full space have files; make this one anew";
            Err(Error::Unsupported { what: "save", why })
        }
    }
}

/// Deserialises a model from the bytes of a file.
///
/// # Errors
/// As [`load`].
pub fn decode(bytes: &[u8]) -> Result<Model> {
    if bytes.get(KIND..).and_then(<[u8]>::first_chunk) == Some(&FULL_SPACE.number.to_le_bytes()) {
        let data = FULL_SPACE.open(bytes, full_space::read)?;
        return Ok(Model::FullSpace(FullSpaceModel::from_data(data, &Progress::default())?.into()));
    }
    Ok(Model::Skinning(decode_skinning(bytes)?.into()))
}

/// Deserialises a model of skinning modes from the bytes of a file.
///
/// # Errors
/// As [`load`], and for a model of another method.
pub fn decode_skinning(bytes: &[u8]) -> Result<SkinningModel> {
    SkinningModel::from_data(SKINNING.open(bytes, read_skinning)?)
}

impl Kind {
    /// Bytes of a body with header and hash.
    fn seal(&self, write: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let mut out = Writer(Vec::new());
        out.0.extend(MAGIC);
        out.0.extend(VERSION.to_le_bytes());
        out.0.extend(self.number.to_le_bytes());
        out.count(0);
        write(&mut out);
        let length = (out.0.len() - HEADER) as u64;
        out.0[HEADER - 8..HEADER].copy_from_slice(&length.to_le_bytes());
        let hash = fnv1a(&out.0);
        out.0.extend(hash.to_le_bytes());
        out.0
    }

    /// Result of `read` on the body, which must consume all of it.
    fn open<T>(&self, bytes: &[u8], read: impl FnOnce(&mut Reader<'_>) -> Result<T>) -> Result<T> {
        let Self { number, noun, remedy } = self;
        let refuse = |why: &str| Error::File(format!("the {noun} {why}; {remedy}"));
        if bytes.len() < MAGIC.len() || bytes[..MAGIC.len()] != MAGIC {
            return Err(Error::File(format!("this is not a Jounce {noun}")));
        }
        let mut header = Reader { bytes: &bytes[MAGIC.len()..], kind: self };
        let version = u32::from_le_bytes(header.take()?);
        if version != VERSION {
            return Err(refuse(&format!("has version {version}, this program reads version {VERSION}")));
        }
        let found = u32::from_le_bytes(header.take()?);
        let length = u64::from_le_bytes(header.take()?);
        if length != (header.bytes.len() as u64).saturating_sub(HASH as u64) || header.bytes.len() < HASH {
            return Err(refuse("is incomplete or has been added to"));
        }
        let (content, hash) = bytes.split_at(bytes.len() - HASH);
        if u64::from_le_bytes(Reader { bytes: hash, kind: self }.take()?) != fnv1a(content) {
            return Err(refuse("is damaged"));
        }
        if found != *number {
            return Err(refuse("is of a kind that is not read here"));
        }
        let mut body = Reader { bytes: &content[HEADER..], kind: self };
        let made = read(&mut body)?;
        if body.bytes.is_empty() { Ok(made) } else { Err(refuse("holds more than it should")) }
    }
}

/// FNV-1a hash; changing any single byte changes it.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn write_skinning(out: &mut Writer, data: &SkinningData) {
    out.array(data.mesh.vertices().as_flattened(), f64::to_le_bytes);
    out.array(data.mesh.tets().as_flattened(), u32::to_le_bytes);
    // The cells are not written: their energy is in the reduced terms.
    out.array(data.mesh.solid(), f64::to_le_bytes);
    out.array(&data.weights, f64::to_le_bytes);
    out.array(&data.eigenvalues, f64::to_le_bytes);
    out.count(data.bones);
    out.0.extend(data.mass.to_le_bytes());
    out.array(&data.spectrum, f64::to_le_bytes);
    out.array(&data.damping, f64::to_le_bytes);
    out.array(&data.cluster_weights, f64::to_le_bytes);
    out.array(&data.cluster_volumes, f64::to_le_bytes);
    out.array(&data.cluster_masses, f64::to_le_bytes);
    out.array(&data.cubature_tets, u32::to_le_bytes);
    out.array(&data.center_masses, f64::to_le_bytes);
    out.array(&data.uniform, f64::to_le_bytes);
    data.matrices().into_iter().for_each(|(_, matrix)| out.matrix(matrix));
    out.array(&data.stretch.tets, u32::to_le_bytes);
    out.array(&data.stretch.stiffness, f64::to_le_bytes);
    out.matrix(&data.stretch.basis);
    out.matrix(&data.stretch.rig);
    out.count(usize::from(data.stitches.is_some()));
    if let Some(stitches) = &data.stitches {
        out.matrix(&stitches.rig);
        out.matrix(&stitches.spread);
        if let Some(ReducedSprings { modes, rig, stiffness, groups }) = &stitches.springs {
            out.matrix(modes);
            out.matrix(rig);
            out.array(stiffness, f64::to_le_bytes);
            out.array(groups, u32::to_le_bytes);
        }
    }
}

fn read_skinning(input: &mut Reader<'_>) -> Result<SkinningData> {
    let vertices = input.array(f64::from_le_bytes)?;
    let tets = input.array(u32::from_le_bytes)?;
    let (vertices, rest) = vertices.as_chunks::<3>();
    let (tets, left) = tets.as_chunks::<4>();
    if !rest.is_empty() || !left.is_empty() {
        return Err(Error::File("the model's mesh has half a vertex or tet; build it anew".into()));
    }
    let solid = input.array(f64::from_le_bytes)?;
    let mesh = TetMesh::new(vertices.to_vec(), tets.to_vec())?.with_solid(&solid)?;
    let weights = input.array(f64::from_le_bytes)?;
    let eigenvalues = input.array(f64::from_le_bytes)?;
    let bones = u64::from_le_bytes(input.take()?);
    if bones > MOST_BONES {
        return Err(Error::Range { what: "bones", expected: "fewer than 16 million", got: bones as f64 });
    }
    Ok(SkinningData {
        mesh,
        weights,
        eigenvalues,
        bones: bones as usize,
        mass: f64::from_le_bytes(input.take()?),
        spectrum: input.array(f64::from_le_bytes)?,
        damping: input.array(f64::from_le_bytes)?,
        cluster_weights: input.array(f64::from_le_bytes)?,
        cluster_volumes: input.array(f64::from_le_bytes)?,
        cluster_masses: input.array(f64::from_le_bytes)?,
        cubature_tets: input.array(u32::from_le_bytes)?,
        center_masses: input.array(f64::from_le_bytes)?,
        uniform: input.array(f64::from_le_bytes)?,
        basis: input.matrix()?,
        reduction: input.matrix()?,
        rig_mass: input.matrix()?,
        rig_stiffness: input.matrix()?,
        rig_spread: input.matrix()?,
        cluster_basis: input.matrix()?,
        cluster_rig: input.matrix()?,
        center_basis: input.matrix()?,
        center_rig: input.matrix()?,
        stretch: read_stretch(input)?,
        stitches: read_stitches(input)?,
    })
}

fn read_stretch(input: &mut Reader<'_>) -> Result<StretchPlaces> {
    let (tets, stiffness) = (input.array(u32::from_le_bytes)?, input.array(f64::from_le_bytes)?);
    Ok(StretchPlaces { tets, stiffness, basis: input.matrix()?, rig: input.matrix()? })
}

fn read_stitches(input: &mut Reader<'_>) -> Result<Option<ReducedStitches>> {
    match u64::from_le_bytes(input.take()?) {
        0 => Ok(None),
        1 => {
            let (rig, spread) = (input.matrix()?, input.matrix()?);
            // Files of releases before opening stitches end here.
            let springs = if input.bytes.is_empty() { None } else { Some(read_springs(input)?) };
            Ok(Some(ReducedStitches { rig, spread, springs }))
        }
        _ => Err(input.too_short()),
    }
}

fn read_springs(input: &mut Reader<'_>) -> Result<ReducedSprings> {
    let (modes, rig) = (input.matrix()?, input.matrix()?);
    Ok(ReducedSprings {
        modes,
        rig,
        stiffness: input.array(f64::from_le_bytes)?,
        groups: input.array(u32::from_le_bytes)?,
    })
}
