//! Serialisation of full-space models, with a name for each part.

use std::sync::Arc;

use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use nalgebra::Vector3;

use super::bytes::{Reader, Writer};
use crate::material::lanes::PARAMETERS;
use crate::material::{FibreAtRest, Fibres, PrincipalStretch, StressCurve, StressCurves};
use crate::math::{Selection, Sparse};
use crate::mesh::{FleshCell, TetMesh};
use crate::model::full_space::data::FullSpaceData;
use crate::operators::{Anchor, Stitch, Stitches};
use crate::rig::Rig;
use crate::{Error, Result};

/// Laws by their number in a file; higher numbers are laws drawn as curves.
const LAWS: [PrincipalStretch; 5] = [
    PrincipalStretch::Corotated { mu: 0.0, lambda: 0.0 },
    PrincipalStretch::StVenantKirchhoff { mu: 0.0, lambda: 0.0 },
    PrincipalStretch::NeoHookean { mu: 0.0, lambda: 0.0 },
    PrincipalStretch::MooneyRivlin { c1: 0.0, c2: 0.0, lambda: 0.0 },
    PrincipalStretch::Polynomial { mu: 0.0 },
];
/// Upper bound for the entries of the constraint; its columns have a length of at most one.
const LONGEST: f64 = 2.0;
/// Numbers per cell beside its corners.
const CELL: usize = 7;

pub(super) fn write(out: &mut Writer, data: &FullSpaceData) {
    write_mesh(out, &data.mesh);
    out.numbers("mass", &data.mass);
    write_laws(out, &data.laws);
    let pinned = (0..data.moving.total() as u32).filter(|&v| !data.moving.contains(v as usize));
    out.indices("pinned", pinned);
    out.optional("constraint", data.constraint.as_ref(), write_constraint);
    out.optional("rig", data.rig.as_ref(), write_rig);
    out.optional("strength", data.strength.as_ref(), |out, strength| out.numbers("shares", strength));
    out.optional("stitches", data.stitches.as_ref(), write_stitches);
    out.optional("fibres", data.fibres.as_ref(), write_fibres);
    if let Some(stitches) = data.stitches.as_ref().filter(|stitches| !is_plain(stitches)) {
        write_groups(out, stitches);
    }
}

pub(super) fn read(input: &mut Reader<'_>) -> Result<FullSpaceData> {
    let mesh = read_mesh(input)?;
    let (n, tets) = (mesh.vertices().len(), mesh.tets().len());
    let mass = input.numbers_of("mass")?;
    let laws = read_laws(input)?;
    let pinned = input.indices_of("pinned")?;
    if !pinned.is_sorted_by(|a, b| a < b) || pinned.last().is_some_and(|&vertex| vertex as usize >= n) {
        return Err(input.wrong("pinned"));
    }
    let moving = Selection::new(n, |vertex| pinned.binary_search(&(vertex as u32)).is_err());
    let rows = moving.rows().len();
    let constraint = input.optional("constraint", |input| read_constraint(input, rows))?;
    let rig = input.optional("rig", |input| read_rig(input, n))?;
    let strength = input.optional("strength", |input| input.numbers_of("shares"))?;
    let springs = input.optional("stitches", read_springs)?;
    let fibres = input.optional("fibres", |input| read_fibres(input, tets))?;
    let stitches = springs.map(|springs| read_stitches(input, n, springs)).transpose()?;
    Ok(FullSpaceData { mesh, mass, laws, moving, constraint, rig, strength, stitches, fibres })
}

pub(super) fn write_mesh(out: &mut Writer, mesh: &TetMesh) {
    out.numbers("vertices", mesh.vertices().as_flattened());
    out.indices("tets", mesh.tets().as_flattened().iter().copied());
    out.numbers("solid", mesh.solid());
    out.indices("cells", mesh.cells().iter().flat_map(|cell| cell.corners));
    let flesh = |cell: &FleshCell| [vec![cell.side], cell.centre.to_vec(), cell.spread.to_vec()].concat();
    out.numbers("flesh", &mesh.cells().iter().flat_map(flesh).collect::<Vec<_>>());
}

pub(super) fn read_mesh(input: &mut Reader<'_>) -> Result<TetMesh> {
    let vertices = input.rows_of("vertices")?;
    let tets = input.indices_of("tets")?;
    let (tets, []) = tets.as_chunks::<4>() else { return Err(input.wrong("tets")) };
    let mesh = TetMesh::new(vertices, tets.to_vec())?.with_solid(&input.numbers_of("solid")?)?;
    let corners = input.indices_of("cells")?;
    let (corners, []) = corners.as_chunks::<8>() else { return Err(input.wrong("cells")) };
    let flesh = input.numbers_of("flesh")?;
    let (flesh, []) = flesh.as_chunks::<CELL>() else { return Err(input.wrong("flesh")) };
    if flesh.len() != corners.len() {
        return Err(input.wrong("flesh"));
    }
    let cell = |(&corners, &[side, x, y, z, a, b, c]): (&[u32; 8], &[f64; CELL])| FleshCell {
        corners,
        side,
        centre: [x, y, z],
        spread: [a, b, c],
    };
    mesh.with_cells_checked(corners.iter().zip(flesh).map(cell).collect())
}

fn write_laws(out: &mut Writer, laws: &[PrincipalStretch]) {
    let mut known = LAWS.to_vec();
    let mut numbers = Vec::with_capacity(laws.len());
    for law in laws {
        let number = known.iter().position(|known| known.shares_lanes(law));
        numbers.push(number.unwrap_or(known.len()) as u32);
        if number.is_none() {
            known.push(law.clone());
        }
    }
    out.indices("laws", numbers.into_iter());
    out.numbers("parameters", &laws.iter().flat_map(|law| law.in_lanes().1).collect::<Vec<_>>());
    out.name("curves");
    out.count(known.len() - LAWS.len());
    for law in &known[LAWS.len()..] {
        if let PrincipalStretch::Spline { curves, .. } = law {
            curves.curves().iter().for_each(|curve| out.numbers("knots", curve.knots().as_flattened()));
        }
    }
}

fn read_laws(input: &mut Reader<'_>) -> Result<Vec<PrincipalStretch>> {
    let numbers = input.indices_of("laws")?;
    let parameters = input.numbers_of("parameters")?;
    let (parameters, []) = parameters.as_chunks::<PARAMETERS>() else {
        return Err(input.wrong("parameters"));
    };
    input.name("curves")?;
    let mut known = LAWS.to_vec();
    // Each curve takes bytes, so the count cannot exceed the input's length.
    for _ in 0..input.count()? {
        let [length, area, volume] = [read_curve(input)?, read_curve(input)?, read_curve(input)?];
        let curves = Arc::new(StressCurves::new(length, area, volume)?);
        known.push(PrincipalStretch::Spline { curves, scale: 1.0 });
    }
    // Each law follows the drawn laws before it, in the order of writing.
    let mut met = LAWS.len();
    for &number in &numbers {
        met += usize::from(number as usize == met);
    }
    if met != known.len() || parameters.len() != numbers.len() {
        return Err(input.wrong("laws"));
    }
    let law = |(&number, parameters): (&u32, &[f64; PARAMETERS])| {
        let law = known.get(number as usize).ok_or_else(|| input.wrong("laws"))?;
        let law = law.with_parameters(*parameters);
        let same = law.in_lanes().1.map(f64::to_bits) == parameters.map(f64::to_bits);
        if same { Ok(law) } else { Err(input.wrong("parameters")) }
    };
    numbers.iter().zip(parameters).map(law).collect()
}

fn read_curve(input: &mut Reader<'_>) -> Result<StressCurve> {
    let knots = input.numbers_of("knots")?;
    match knots.as_chunks::<2>() {
        ([], []) => Ok(StressCurve::zero()),
        (knots, []) => StressCurve::new(knots),
        _ => Err(input.wrong("knots")),
    }
}

fn write_constraint(out: &mut Writer, constraint: &Sparse) {
    out.indices("ends", constraint.col_ptr()[1..].iter().copied());
    out.indices("rows", constraint.row_idx().iter().copied());
    out.numbers("values", constraint.val());
}

fn read_constraint(input: &mut Reader<'_>, height: usize) -> Result<Sparse> {
    let mut ends = vec![0];
    ends.extend(input.indices_of("ends")?);
    let (rows, values) = (input.indices_of("rows")?, input.numbers_of("values")?);
    // An empty column would be linearly dependent, and a factor has a dense block of all columns.
    let ascends = |column: &[u32]| {
        let rows = rows.get(column[0] as usize..column[1] as usize);
        rows.is_some_and(|rows| {
            !rows.is_empty()
                && rows.is_sorted_by(|a, b| a < b)
                && rows.iter().all(|&row| (row as usize) < height)
        })
    };
    let is_whole = ends.last().is_some_and(|&end| end as usize == rows.len()) && rows.len() == values.len();
    let is_narrow = ends.len() - 1 <= height;
    if !is_whole
        || !is_narrow
        || !ends.windows(2).all(ascends)
        || !values.iter().all(|value| value.abs() <= LONGEST)
    {
        return Err(input.wrong("constraint"));
    }
    let shape = SymbolicSparseColMat::new_checked(height, ends.len() - 1, ends, None, rows);
    Ok(SparseColMat::new(shape, values))
}

pub(super) fn write_rig(out: &mut Writer, rig: &Rig) {
    let bones = || (0..rig.bone_count()).map(|bone| rig.bone(bone));
    out.indices("bones", bones().map(|bone| bone.len() as u32));
    out.indices("moved", bones().flatten().map(|entry| entry.0));
    out.numbers("weights", &bones().flatten().map(|entry| entry.1).collect::<Vec<_>>());
}

pub(super) fn read_rig(input: &mut Reader<'_>, n: usize) -> Result<Rig> {
    let counts = input.indices_of("bones")?;
    let (vertices, weights) = (input.indices_of("moved")?, input.numbers_of("weights")?);
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if total != vertices.len() as u64 || vertices.len() != weights.len() {
        return Err(input.wrong("weights"));
    }
    let mut entries = vertices.into_iter().zip(weights);
    let bones = counts.iter().map(|&count| entries.by_ref().take(count as usize).collect()).collect();
    Rig::from_bones(n, bones)
}

fn ends(stitches: &Stitches) -> impl Iterator<Item = &Anchor> {
    stitches.stitches().iter().flat_map(|stitch| &stitch.ends)
}

/// `true` if all stitches are in one group, join single points and have no gap, as in files of earlier
/// releases; no further data follow then.
fn is_plain(stitches: &Stitches) -> bool {
    let is_shut = stitches.stitches().iter().all(|stitch| stitch.gap == 0.0);
    is_shut && stitches.group_count() == 1 && ends(stitches).all(|end| end.vertices.len() == 4)
}

pub(super) fn write_stitches(out: &mut Writer, stitches: &Stitches) {
    out.indices("between", ends(stitches).flat_map(|end| end.vertices.iter().copied()));
    out.numbers("shares", &ends(stitches).flat_map(|end| end.shares.iter().copied()).collect::<Vec<_>>());
    out.numbers("stiffness", &stitches.stiffness().collect::<Vec<_>>());
}

pub(super) fn write_groups(out: &mut Writer, stitches: &Stitches) {
    out.indices("groups", stitches.groups());
    out.indices("ends", ends(stitches).map(|end| end.vertices.len() as u32));
    out.numbers("gaps", &stitches.stitches().iter().map(|stitch| stitch.gap).collect::<Vec<_>>());
}

/// Vertices and shares of the springs' ends, and stiffness.
pub(super) type Springs = (Vec<u32>, Vec<f64>, Vec<f64>);

pub(super) fn read_springs(input: &mut Reader<'_>) -> Result<Springs> {
    Ok((input.indices_of("between")?, input.numbers_of("shares")?, input.numbers_of("stiffness")?))
}

/// Springs with the data at the end of the file: groups, number of vertices of each end, and gaps.
pub(super) fn read_stitches(
    input: &mut Reader<'_>,
    n: usize,
    (between, shares, stiffness): Springs,
) -> Result<Stitches> {
    let count = stiffness.len();
    let (groups, sizes, gaps) = match input.bytes.is_empty() {
        true => (vec![0; count], vec![4; count.saturating_mul(2)], vec![0.0; count]),
        false => (input.indices_of("groups")?, input.indices_of("ends")?, input.numbers_of("gaps")?),
    };
    let total: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
    let lengths = [between.len(), shares.len()];
    let counts = [sizes.len() == count.saturating_mul(2), gaps.len() == count, count > 0];
    if counts.contains(&false) || lengths.iter().any(|&l| l as u64 != total) {
        return Err(input.wrong("stitches"));
    }
    let mut entries = between.into_iter().zip(shares);
    let mut end = |size: u32| {
        let (vertices, shares) = entries.by_ref().take(size as usize).unzip();
        Anchor { vertices, shares }
    };
    let ends: Vec<[Anchor; 2]> = sizes.as_chunks::<2>().0.iter().map(|pair| pair.map(&mut end)).collect();
    let numbers = stiffness.into_iter().zip(gaps);
    let stitch = |(ends, (stiffness, gap))| Stitch { ends, stiffness, gap, group: 0 };
    Stitches::from_stitches(n, ends.into_iter().zip(numbers).map(stitch).collect())?.in_groups(&groups)
}

pub(super) fn write_fibres(out: &mut Writer, fibres: &Fibres) {
    out.count(fibres.muscle_count());
    out.indices("fibre tets", fibres.strands().iter().map(|strand| strand.tet as u32));
    out.indices("muscles", fibres.strands().iter().map(|strand| strand.muscle.into()));
    out.numbers("stiffness", &fibres.strands().iter().map(|strand| strand.stiffness).collect::<Vec<_>>());
    let directions = fibres.strands().iter().flat_map(|strand| <[f64; 3]>::from(strand.direction));
    out.numbers("directions", &directions.collect::<Vec<_>>());
}

pub(super) fn read_fibres(input: &mut Reader<'_>, tets: usize) -> Result<Fibres> {
    let count = input.count()?;
    let (places, muscles) = (input.indices_of("fibre tets")?, input.indices_of("muscles")?);
    let (stiffness, directions) = (input.numbers_of("stiffness")?, input.rows_of("directions")?);
    if [muscles.len(), stiffness.len(), directions.len()] != [places.len(); 3] {
        return Err(input.wrong("fibres"));
    }
    let strand = |(i, &tet): (usize, &u32)| {
        let muscle = u8::try_from(muscles[i]).map_err(|_| input.wrong("muscles"))?;
        let direction = Vector3::from(directions[i]);
        Ok(FibreAtRest { tet: tet as usize, muscle, stiffness: stiffness[i], direction })
    };
    let strands = places.iter().enumerate().map(strand).collect::<Result<_>>()?;
    Fibres::from_strands(tets, usize::try_from(count).unwrap_or(usize::MAX), strands)
}

impl Writer {
    fn name(&mut self, name: &str) {
        self.array(name.as_bytes(), u8::to_le_bytes);
    }

    pub(super) fn numbers(&mut self, name: &str, numbers: &[f64]) {
        self.name(name);
        self.array(numbers, f64::to_le_bytes);
    }

    pub(super) fn indices(&mut self, name: &str, indices: impl Iterator<Item = u32>) {
        self.name(name);
        self.array(&indices.collect::<Vec<_>>(), u32::to_le_bytes);
    }

    fn optional<T>(&mut self, name: &str, part: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.name(name);
        self.count(usize::from(part.is_some()));
        if let Some(part) = part {
            write(self, part);
        }
    }
}

impl Reader<'_> {
    /// Checks that the next part has this name.
    fn name(&mut self, name: &'static str) -> Result<()> {
        if self.array(u8::from_le_bytes)? == name.as_bytes() { Ok(()) } else { Err(self.wrong(name)) }
    }

    pub(super) fn count(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    pub(super) fn numbers_of(&mut self, name: &'static str) -> Result<Vec<f64>> {
        self.name(name)?;
        self.array(f64::from_le_bytes)
    }

    pub(super) fn indices_of(&mut self, name: &'static str) -> Result<Vec<u32>> {
        self.name(name)?;
        self.array(u32::from_le_bytes)
    }

    pub(super) fn rows_of(&mut self, name: &'static str) -> Result<Vec<[f64; 3]>> {
        let numbers = self.numbers_of(name)?;
        let (rows, []) = numbers.as_chunks::<3>() else { return Err(self.wrong(name)) };
        Ok(rows.to_vec())
    }

    fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Option<T>> {
        self.name(name)?;
        match self.count()? {
            0 => Ok(None),
            1 => read(self).map(Some),
            _ => Err(self.wrong(name)),
        }
    }

    pub(super) fn wrong(&self, name: &str) -> Error {
        Error::File(format!(
            "the {}'s {name} are not what they should be; {}",
            self.kind.noun, self.kind.remedy
        ))
    }
}
