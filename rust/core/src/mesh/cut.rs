//! Cuts between the tets of a mesh.

use super::flesh_cell::FleshCell;
use super::tet_mesh::TetMesh;
use crate::math::Sets;
use crate::{Error, Result, check};

impl TetMesh {
    /// The same mesh, open along every triangle between a tet of side -1 and a tet of side 1; tets of side 0
    /// keep their neighbours.
    ///
    /// Vertices on the cut are doubled where it separates the tets around them, and new ones come last: the
    /// end of a slit inside of the mesh stays closed. Tets keep their order and cells their tets, so a cut
    /// runs between cells.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is a side for each tet, [`Error::Range`] for another number,
    /// [`Error::Unsupported`] for a cut that opens nothing or goes through a cell.
    ///
    /// ```
    /// use jounce::Progress;
    /// use jounce::mesh::{SurfaceMesh, lattice};
    ///
    /// let mesh = lattice(&SurfaceMesh::cuboid([2.0, 1.0, 1.0])?, 4, &Progress::default())?;
    /// let centre = |t: usize| mesh.corners(t).iter().map(|corner| corner[0]).sum::<f64>();
    /// let (low, high) = (0..mesh.tets().len()).fold((f64::MAX, f64::MIN), |(low, high), t| {
    ///     (low.min(centre(t)), high.max(centre(t)))
    /// });
    /// let sides: Vec<i32> =
    ///     (0..mesh.tets().len()).map(|t| if centre(t) < 0.5 * (low + high) { -1 } else { 1 }).collect();
    /// let cut = mesh.cut(&sides)?;
    /// assert!(cut.vertices().len() > mesh.vertices().len());
    /// # Ok::<(), jounce::Error>(())
    /// ```
    pub fn cut(&self, sides: &[i32]) -> Result<Self> {
        check::length("sides", self.tets().len(), sides.len())?;
        if let Some(side) = sides.iter().find(|side| !(-1..=1).contains(*side)) {
            let (what, expected) = ("sides", "-1 or 1 beside the cut, 0 elsewhere");
            return Err(Error::Range { what, expected, got: (*side).into() });
        }
        let (mut whole, mut open, is_cut) = self.fans(sides)?;
        let (mut place, mut doubled) = (vec![u32::MAX; 4 * self.tets().len()], Vec::new());
        // The first fan of those that the cut separates keeps the vertex.
        let mut first = vec![u32::MAX; place.len()];
        let mut tets = self.tets().to_vec();
        for corner in 0..place.len() as u32 {
            let vertex = self.tets()[corner as usize / 4][corner as usize % 4];
            if !is_cut[vertex as usize] {
                continue;
            }
            let fan = open.root(corner);
            let keeps = &mut first[whole.root(corner) as usize];
            if *keeps == u32::MAX {
                *keeps = fan;
            }
            let place = &mut place[fan as usize];
            if *keeps != fan && *place == u32::MAX {
                *place = (self.vertices().len() + doubled.len()) as u32;
                doubled.push(self.vertices()[vertex as usize]);
            }
            if *place != u32::MAX {
                tets[corner as usize / 4][corner as usize % 4] = *place;
            }
        }
        if doubled.is_empty() {
            let why = "no vertex comes apart; give the tets on both sides of a surface that reaches outside";
            return Err(Error::Unsupported { what: "sides", why });
        }
        let cells = self.cells().iter().enumerate().map(|(c, cell)| self.renamed(c, cell, &tets)).collect();
        let vertices = self.vertices().iter().copied().chain(doubled).collect();
        Ok(Self::new(vertices, tets)?.with_solid(self.solid())?.with_cells(cells))
    }

    /// Corners of tets joined at their vertices through triangles, of the whole mesh and of the open one,
    /// and the vertices on the cut.
    fn fans(&self, sides: &[i32]) -> Result<(Sets, Sets, Vec<bool>)> {
        let count = 4 * self.tets().len();
        let (mut whole, mut open) = (Sets::new(count), Sets::new(count));
        let mut is_cut = vec![false; self.vertices().len()];
        let corner = |tet: u32, vertex: u32| {
            let at = self.tets()[tet as usize].iter().position(|&v| v == vertex);
            4 * tet + at.expect("a triangle's corners are its tet's") as u32
        };
        let triangles = self.sides();
        for pair in triangles.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let [a, b] = [pair[0].1[0], pair[1].1[0]];
            let opens = sides[a as usize] * sides[b as usize] == -1;
            let same_cell = !self.cells().is_empty()
                && a as usize / self.tets_per_cell() == b as usize / self.tets_per_cell();
            if opens && same_cell {
                let why = "a cut runs between cells; give all tets of a cell the same side";
                return Err(Error::Unsupported { what: "sides", why });
            }
            for vertex in pair[0].0 {
                whole.unite(corner(a, vertex), corner(b, vertex));
                if opens {
                    is_cut[vertex as usize] = true;
                } else {
                    open.unite(corner(a, vertex), corner(b, vertex));
                }
            }
        }
        Ok((whole, open, is_cut))
    }

    /// A cell with the vertices of its tets after a cut.
    fn renamed(&self, number: usize, cell: &FleshCell, tets: &[[u32; 4]]) -> FleshCell {
        let own = number * self.tets_per_cell()..(number + 1) * self.tets_per_cell();
        let before = self.tets()[own.clone()].as_flattened();
        let after = tets[own].as_flattened();
        let name = |corner: u32| before.iter().position(|&v| v == corner).map_or(corner, |at| after[at]);
        FleshCell { corners: cell.corners.map(name), ..cell.clone() }
    }
}
