//! Tetrahedral meshes, validated at construction.

use super::FleshCell;
use crate::parallel::*;
use crate::{Error, Result, check};

/// Volume of a tet, relative to its longest edge cubed, below which it counts as flat.
const FLAT: f64 = 1e-12;

/// A tetrahedral mesh whose tets all have positive volume.
///
/// Vertices in metres, n x 3; tets as four vertex indices, t x 4, with
/// `det[x1 - x0, x2 - x0, x3 - x0] / 6 > 0`. Each tet is full of flesh, or of the share from
/// [`TetMesh::with_solid`].
///
/// ```
/// use jounce::mesh::TetMesh;
///
/// let corners = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let mesh = TetMesh::new(corners.clone(), vec![[0, 1, 2, 3]])?;
/// assert!((mesh.volumes()[0] - 1.0 / 6.0).abs() < 1e-15);
/// // Two corners exchanged turn the tet inside out.
/// assert!(TetMesh::new(corners, vec![[1, 0, 2, 3]]).is_err());
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TetMesh {
    vertices: Vec<[f64; 3]>,
    tets: Vec<[u32; 4]>,
    volumes: Vec<f64>,
    solid: Vec<f64>,
    cells: Vec<FleshCell>,
    diagonal: f64,
}

impl TetMesh {
    /// Mesh with checked input.
    ///
    /// # Errors
    /// Names the first vertex that is not finite, tet that is out of range, flat or inverted, or vertex
    /// without a tet.
    pub fn new(vertices: Vec<[f64; 3]>, tets: Vec<[u32; 4]>) -> Result<Self> {
        check_points("vertices", &vertices)?;
        if tets.is_empty() {
            return Err(Error::Empty { what: "tets" });
        }
        let mut used = vec![false; vertices.len()];
        let mut volumes = Vec::with_capacity(tets.len());
        for (t, tet) in tets.iter().enumerate() {
            for &v in tet {
                *used.get_mut(v as usize).ok_or(Error::Index {
                    what: "tets",
                    element: t,
                    index: v.into(),
                    count: vertices.len(),
                })? = true;
            }
            volumes.push(checked_volume(t, tet.map(|v| vertices[v as usize]))?);
        }
        if let Some(vertex) = used.iter().position(|&u| !u) {
            return Err(Error::LooseVertex { vertex });
        }
        let solid = vec![1.0; tets.len()];
        let diagonal = extent(&vertices);
        Ok(Self { vertices, tets, volumes, solid, cells: Vec::new(), diagonal })
    }

    /// The same mesh with flesh in only a share of each tet, t, in (0, 1]. The shares multiply its volumes,
    /// and with them mass, stiffness and all other volume integrals.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotFinite`], [`Error::Range`].
    pub fn with_solid(mut self, shares: &[f64]) -> Result<Self> {
        let what = "solid";
        check::length(what, self.tets.len(), shares.len())?;
        check::each(what, "shares in (0, 1]", shares, |share| share > 0.0 && share <= 1.0)?;
        for (t, &share) in shares.iter().enumerate() {
            // Computed from the tet itself: the bits do not depend on earlier shares.
            self.volumes[t] = share * checked_volume(t, self.corners(t))?;
        }
        self.solid = shares.to_vec();
        Ok(self)
    }

    /// Vertex positions, n x 3, metres.
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.vertices
    }

    /// Vertex indices of each tet, t x 4.
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// The same mesh with the elastic energy of cells; each cell has an equal number of consecutive tets.
    pub(super) fn with_cells(mut self, cells: Vec<FleshCell>) -> Self {
        self.cells = cells;
        self
    }

    /// As [`TetMesh::with_cells`], for unchecked cells.
    ///
    /// # Errors
    /// [`Error::Shape`] for a number of cells that does not divide the tets, [`Error::Index`] or
    /// [`Error::Range`] for a cell that is no cube, has flesh elsewhere, or does not contain its tets.
    pub(crate) fn with_cells_checked(self, cells: Vec<FleshCell>) -> Result<Self> {
        let what = "cells";
        if cells.is_empty() {
            return Ok(self);
        }
        if !self.tets.len().is_multiple_of(cells.len()) {
            let expected = format!("a number of cells that divides {}", self.tets.len());
            return Err(Error::Shape { what, expected, got: cells.len().to_string() });
        }
        let each = self.tets.len() / cells.len();
        for (element, (cell, tets)) in cells.iter().zip(self.tets.chunks_exact(each)).enumerate() {
            cell.check(element, &self.vertices)?;
            if !tets.as_flattened().iter().all(|vertex| cell.corners.contains(vertex)) {
                let expected = "cells with tets between their corners";
                return Err(Error::Range { what, expected, got: element as f64 });
            }
        }
        Ok(self.with_cells(cells))
    }

    /// Cells with a single elastic energy, in the order of their tets; empty if each tet has an energy of
    /// its own.
    pub fn cells(&self) -> &[FleshCell] {
        &self.cells
    }

    /// Number of tets of each cell.
    pub fn tets_per_cell(&self) -> usize {
        self.tets.len() / self.cells.len().max(1)
    }

    /// Share of flesh in each tet, t, in (0, 1].
    pub fn solid(&self) -> &[f64] {
        &self.solid
    }

    /// Volume of the flesh in each tet, t, cubic metres.
    pub fn volumes(&self) -> &[f64] {
        &self.volumes
    }

    /// The four corner positions of a tet.
    pub fn corners(&self, tet: usize) -> [[f64; 3]; 4] {
        self.tets[tet].map(|v| self.vertices[v as usize])
    }

    /// Triangles of a single tet, oriented outwards, in the order of their tets.
    pub fn boundary(&self) -> Vec<[u32; 3]> {
        let sides = self.sides();
        let mut outer: Vec<[u32; 2]> =
            sides.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1).map(|same| same[0].1).collect();
        outer.sort_unstable();
        let oriented = |[tet, opposite]: [u32; 2]| {
            let [a, b, c, d] = self.tets[tet as usize];
            [[b, c, d], [a, d, c], [a, b, d], [a, c, b]][opposite as usize]
        };
        outer.into_iter().map(oriented).collect()
    }

    /// The four sides of every tet as sorted corners, tet and opposite corner (0 to 3), with equal
    /// triangles adjacent.
    pub(crate) fn sides(&self) -> Vec<([u32; 3], [u32; 2])> {
        let of_tet = |(tet, corners): (usize, &[u32; 4])| {
            let corners = *corners;
            (0..4).map(move |opposite| {
                let mut side = [1, 2, 3].map(|k| corners[(opposite + k) % 4]);
                side.sort_unstable();
                (side, [tet as u32, opposite as u32])
            })
        };
        let mut sides: Vec<_> = self.tets.par_iter().enumerate().flat_map_iter(of_tet).collect();
        sides.par_sort_unstable();
        sides
    }

    /// Sorted indices of the vertices on the boundary.
    pub fn boundary_vertices(&self) -> Vec<u32> {
        let mut vertices: Vec<u32> = self.boundary().into_iter().flatten().collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    }

    /// Mesh of the cells, or without cells of the tets, that touch some vertices, and the vertex of this mesh
    /// for each of its own.
    pub(crate) fn around(&self, touches: impl Fn(u32) -> bool) -> Result<(Self, Vec<u32>)> {
        let each = if self.cells.is_empty() { 1 } else { self.tets_per_cell() };
        let is_kept =
            |&first: &usize| self.tets[first..first + each].as_flattened().iter().any(|&v| touches(v));
        let firsts: Vec<usize> = (0..self.tets.len()).step_by(each).filter(is_kept).collect();
        let tets = || firsts.iter().flat_map(move |&first| first..first + each);
        let mut place = vec![u32::MAX; self.vertices.len()];
        tets().for_each(|tet| self.tets[tet].iter().for_each(|&vertex| place[vertex as usize] = 0));
        let kept: Vec<u32> = (0..place.len() as u32).filter(|&v| place[v as usize] == 0).collect();
        (0..).zip(&kept).for_each(|(new, &vertex)| place[vertex as usize] = new);
        let at = |vertex: u32| place[vertex as usize];
        let vertices = kept.iter().map(|&vertex| self.vertices[vertex as usize]).collect();
        let solid: Vec<f64> = tets().map(|tet| self.solid[tet]).collect();
        let cells: &[usize] = if self.cells.is_empty() { &[] } else { &firsts };
        let cell = |first: &usize| {
            let cell = self.cells[first / each].clone();
            FleshCell { corners: cell.corners.map(at), ..cell }
        };
        let made = Self::new(vertices, tets().map(|tet| self.tets[tet].map(at)).collect())?;
        Ok((made.with_solid(&solid)?.with_cells(cells.iter().map(cell).collect()), kept))
    }

    /// Length of the bounding box's diagonal, metres.
    pub fn diagonal(&self) -> f64 {
        self.diagonal
    }
}

/// Lowest and highest corner of the axis-aligned box around points.
pub fn bounds(points: &[[f64; 3]]) -> ([f64; 3], [f64; 3]) {
    let empty = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    points.iter().fold(empty, |(low, high), p| {
        (std::array::from_fn(|c| low[c].min(p[c])), std::array::from_fn(|c| high[c].max(p[c])))
    })
}

/// Length of the bounding box's diagonal.
pub(crate) fn extent(points: &[[f64; 3]]) -> f64 {
    let (low, high) = bounds(points);
    (0..3).map(|c| (high[c] - low[c]).powi(2)).sum::<f64>().sqrt()
}

/// Checks for at least one point and finite coordinates.
pub(crate) fn check_points(what: &'static str, points: &[[f64; 3]]) -> Result<()> {
    if points.is_empty() {
        return Err(Error::Empty { what });
    }
    check::finite(what, points.as_flattened(), 3)
}

fn checked_volume(tet: usize, corners: [[f64; 3]; 4]) -> Result<f64> {
    let points = corners.map(nalgebra::Vector3::from);
    let edges = [points[1] - points[0], points[2] - points[0], points[3] - points[0]];
    let volume = nalgebra::Matrix3::from_columns(&edges).determinant() / 6.0;
    let longest = (0..4)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| (points[i] - points[j]).norm())
        .fold(0.0, f64::max);
    if volume.abs() <= FLAT * longest.powi(3) {
        Err(Error::FlatTet { tet, volume })
    } else if volume < 0.0 {
        Err(Error::InvertedTet { tet, volume })
    } else {
        Ok(volume)
    }
}
