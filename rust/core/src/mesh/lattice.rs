//! Enclosing a surface in a lattice of cubes, each split into five tets.

use std::ops::RangeInclusive;

use super::solid::{Flesh, SAMPLES, flesh, sample};
use super::{FleshCell, SurfaceMesh, TetMesh, WindingNumber, cells::Cells, cells::Report, grid::Grid};
use crate::{Error, Progress, Result};

/// Accepted resolutions of [`lattice`].
pub const RESOLUTIONS: RangeInclusive<usize> = 2..=512;

/// Largest number of kept cells, to protect memory.
const MAX_KEPT: usize = 1 << 22;

/// Share of the remaining progress for one attempt at a resolution.
const ATTEMPT: f32 = 0.2;

/// Number of tets in a cell.
const SPLIT: usize = 5;

/// Encloses a surface in tets: cubic cells, `resolution` of them along the longest side of its box.
///
/// A cell is kept if the surface touches it, or if its centre is inside by [`WindingNumber`]. Every point
/// of the surface is therefore inside of the mesh, and thin parts are never empty. Two cells with a common
/// face are joined only if the surface touches this face or the face is inside: close parts stay separate
/// at sufficient resolution, and cells that meet only at an edge or corner are not joined there. Enclosed
/// empty regions of at most eight cells are filled, and so are cavities with a surface of their own.
///
/// Each cell is split into five tets, alternating to match faces. A corner plane passes through the centre
/// of the box: mirror images give mirror images. An odd resolution gives one cell more. The result is the
/// same for any number of threads.
///
/// ```
/// use jounce::Progress;
/// use jounce::mesh::{SurfaceMesh, lattice};
///
/// let mesh = lattice(&SurfaceMesh::cuboid([4.0, 1.0, 1.0])?, 8, &Progress::default())?;
/// let volume: f64 = mesh.volumes().iter().sum();
/// assert!((volume - 4.0).abs() < 1e-3);
/// # Ok::<(), jounce::Error>(())
/// ```
///
/// # Errors
/// [`Error::Range`] for a resolution outside [`RESOLUTIONS`], for more than 33 million cells in the box or
/// 4 million kept ones, and for a surface degenerate to a point; [`Error::Cancelled`].
pub fn lattice(surface: &SurfaceMesh, resolution: usize, progress: &Progress) -> Result<TetMesh> {
    let winding = WindingNumber::new(surface);
    let cells = classify(surface, &winding, resolution, &|share| progress.report(share))?;
    Ok(tetrahedralise(&cells, &cells.kept())?.0)
}

/// The tets of [`lattice`], with only the inside of the surface counted as flesh.
///
/// Cells touched by the surface reach beyond it: in full they would be too thick, too heavy and too stiff.
/// The flesh share of a tet is estimated from samples, 64 a cell. A sample is inside if at least three of
/// the six rays along the axes leave the surface more often than they enter. The share is at least 0.01, to
/// give sheets without an inside some mass. Elastic energies are those of [`TetMesh::cells`].
///
/// # Errors
/// As [`lattice`].
pub fn solid_lattice(surface: &SurfaceMesh, resolution: usize, progress: &Progress) -> Result<TetMesh> {
    let winding = WindingNumber::new(surface);
    let cells = classify(surface, &winding, resolution, &|share| progress.report(share))?;
    let kept = cells.kept();
    let tets_of_samples = [0, 1].map(tets_of_samples);
    let flesh = flesh::<SPLIT>(&cells, &kept, |position| tets_of_samples[parity(position)]);
    let (mesh, corners) = tetrahedralise(&cells, &kept)?;
    let shares: Vec<f64> = flesh.iter().flat_map(|flesh| flesh.shares).collect();
    let side = cells.grid.spacing;
    let cell = |(flesh, corners): (&Flesh<SPLIT>, [u32; 8])| {
        let (centre, spread) = (flesh.centre, flesh.spread);
        FleshCell { corners, side, centre, spread }
    };
    let cells = flesh.iter().zip(corners).map(cell).collect();
    Ok(mesh.with_solid(&shares)?.with_cells(cells))
}

/// Encloses a surface in the finest [`lattice`] of at most `count` tets that doubling and bisection find.
///
/// The coarsest lattice if even this one has more.
///
/// # Errors
/// [`Error::Range`] for more tets than a lattice can have; as [`lattice`].
pub fn lattice_with_tet_count(surface: &SurfaceMesh, count: usize, progress: &Progress) -> Result<TetMesh> {
    if count > SPLIT * MAX_KEPT {
        let expected = "no more than 20 million, as many as a lattice can have";
        return Err(Error::Range { what: "tet_count", expected, got: count as f64 });
    }
    let winding = WindingNumber::new(surface);
    let mut left = 1.0;
    // The number of attempts is unknown: each takes the same share of the rest.
    let mut attempt = |resolution: usize| {
        let before = left;
        left *= 1.0 - ATTEMPT;
        classify(surface, &winding, resolution, &|share| {
            progress.report(1.0 - before * (1.0 - ATTEMPT * share))
        })
    };
    let (mut low, mut high) = (*RESOLUTIONS.start(), *RESOLUTIONS.end() + 2);
    let mut best = attempt(low)?;
    while low + 2 < high {
        let guess = ((low + high) / 4 * 2).min(2 * low);
        match attempt(guess) {
            Ok(cells) if SPLIT * cells.kept().len() <= count => (low, best) = (guess, cells),
            // Beyond the limits there are too many tets in any case.
            Ok(_) | Err(Error::Range { what: "resolution", .. }) => high = guess,
            Err(error) => return Err(error),
        }
    }
    Ok(tetrahedralise(&best, &best.kept())?.0)
}

fn classify<'a>(
    surface: &SurfaceMesh,
    winding: &'a WindingNumber,
    resolution: usize,
    report: &Report,
) -> Result<Cells<'a>> {
    let outside = |expected| Error::Range { what: "resolution", expected, got: resolution as f64 };
    if !RESOLUTIONS.contains(&resolution) {
        return Err(outside("2 to 512 cells along the longest side"));
    }
    let grid = Grid::new(surface.points(), resolution)?;
    let cells = Cells::new(grid, &surface.pieces(), winding, report)?;
    if cells.kept().len() > MAX_KEPT {
        return Err(outside("no more than 4 million cells in the lattice"));
    }
    Ok(cells)
}

/// Splits the kept cells into tets, with corners shared only across joints; returns the vertices of each
/// cell too.
fn tetrahedralise(cells: &Cells, kept: &[usize]) -> Result<(TetMesh, Vec<[u32; 8]>)> {
    let corners = shared_corners(cells, kept);
    let mut numbers = vec![u32::MAX; corners.len()];
    let mut vertices = Vec::new();
    let mut tets = Vec::with_capacity(SPLIT * kept.len());
    let mut corners_of_cells = Vec::with_capacity(kept.len());
    for (slot, &cell) in kept.iter().enumerate() {
        let position = cells.grid.cell(cell);
        let vertex: [u32; 8] = std::array::from_fn(|corner| {
            let number = &mut numbers[corners[8 * slot + corner] as usize];
            if *number == u32::MAX {
                *number = vertices.len() as u32;
                let at = std::array::from_fn(|axis| (position[axis] + (corner >> axis & 1)) as f64);
                vertices.push(cells.grid.to_metres(at));
            }
            *number
        });
        tets.extend(split(parity(position)).map(|tet| tet.map(|corner| vertex[corner])));
        corners_of_cells.push(vertex);
    }
    Ok((TetMesh::new(vertices, tets)?, corners_of_cells))
}

/// For each corner of each kept cell the first corner at the same vertex.
///
/// Corner c of a cell is at its upper end along axis a if bit a of c is set.
fn shared_corners(cells: &Cells, kept: &[usize]) -> Vec<u32> {
    let mut slots = vec![u32::MAX; cells.grid.len()];
    kept.iter().zip(0..).for_each(|(&cell, slot)| slots[cell] = slot);
    let strides = cells.grid.strides();
    let mut parents: Vec<u32> = (0..8 * kept.len() as u32).collect();
    for (cell, axis) in cells.joints(kept) {
        let (upper, lower) = (slots[cell], slots[cell - strides[axis]]);
        for corner in (0..8).filter(|corner| corner >> axis & 1 == 0) {
            unite(&mut parents, 8 * upper + corner, 8 * lower + (corner | 1 << axis));
        }
    }
    (0..parents.len() as u32).map(|corner| root(&mut parents, corner)).collect()
}

fn root(parents: &mut [u32], mut i: u32) -> u32 {
    while parents[i as usize] != i {
        let grandparent = parents[parents[i as usize] as usize];
        parents[i as usize] = grandparent;
        i = grandparent;
    }
    i
}

fn unite(parents: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(parents, a), root(parents, b));
    parents[a.max(b) as usize] = a.min(b);
}

/// Parity of a cell, to select one of the two splits.
fn parity(position: [usize; 3]) -> usize {
    position.iter().sum::<usize>() % 2
}

/// Tet of each sample of a cell with given parity.
fn tets_of_samples(parity: usize) -> [u8; SAMPLES] {
    let corners = split(parity).map(|tet| tet[0]);
    // All tets except the middle one are corners of the cube, cut off along face diagonals.
    let cuts_off = |corner: usize, at: [f64; 3]| {
        (0..3).map(|axis| (at[axis] - (corner >> axis & 1) as f64).abs()).sum::<f64>() < 1.0
    };
    std::array::from_fn(|number| {
        let at = sample(number);
        (1..SPLIT).find(|&tet| cuts_off(corners[tet], at)).unwrap_or_default() as u8
    })
}

/// The five tets of a cell: one in the middle and one at each corner of the given parity.
fn split(parity: usize) -> [[usize; 4]; SPLIT] {
    // Inverting a cell about its centre (xor 7) inverts the tets; swapping two corners restores their
    // orientation.
    let invert = 7 * (1 - parity);
    let [a, b, c, d] = [0b111, 0b100, 0b010, 0b001].map(|corner| corner ^ invert);
    let middle = if parity == 1 { [a, b, c, d] } else { [a, b, d, c] };
    let at = |corner: usize| {
        let (x, y, z) = (corner ^ 1, corner ^ 2, corner ^ 4);
        if corner.count_ones().is_multiple_of(2) { [corner, x, y, z] } else { [corner, x, z, y] }
    };
    [middle, at(a ^ 7), at(b ^ 7), at(c ^ 7), at(d ^ 7)]
}
