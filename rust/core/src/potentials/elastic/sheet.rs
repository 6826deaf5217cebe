//! Triangles without volume, a surface or the skin of tets: membrane and bending energy, evaluated at their
//! vertices.

use faer::sparse::Triplet;
use pulp::{Arch, Simd, WithSimd};

use crate::kinematics::handles::HandleCoordinates;
use crate::kinematics::nearby::side_by_side;
use crate::material::{Material, StrainLimit};
use crate::math::Sparse;
use crate::math::grouped::{Grouped, GroupedRows, share_registers};
use crate::math::rows::Rows;
use crate::mesh::SurfaceMesh;
use crate::operators::{Bending, Membrane};
use crate::subspace::Handles;
use crate::{Error, Result, check, mesh::bounds};

/// Fabric properties of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fabric {
    /// Thickness, metres.
    pub thickness: f64,
    /// Bending stiffness relative to a plate of this thickness, >= 0.
    pub bending: f64,
}

/// Energy of a surface at its vertices `x = X + U y`, relative to the centre of each part: a translation,
/// at any distance, has no energy and costs no precision.
///
/// Each triangle has an isometry of its own. A shared isometry of several triangles would resist bending
/// like a plate as thick as their width.
pub(crate) struct Sheet {
    membrane: Membrane,
    bending: Bending,
    /// Vertices with a triangle relative to the centres of their parts, metres.
    places: Vec<[f64; 3]>,
    /// Coordinates of each of them without translations of whole parts, with neighbours adjacent, and their
    /// order.
    rows: Grouped<1>,
    order: Vec<u32>,
    scale: f64,
}

/// Scratch for coordinates and their gradient, for vertex positions, normals and forces.
pub(crate) struct SheetScratch {
    y: GroupedRows,
    sums: GroupedRows,
    places: Vec<[f64; 3]>,
    normals: Vec<[f64; 3]>,
    forces: Vec<[f64; 3]>,
}

/// The membrane and the bending of triangles between vertices of a body.
pub(crate) struct Layers {
    membrane: Membrane,
    bending: Bending,
    /// Vertices with a triangle, ascending; the layers' points.
    vertices: Vec<u32>,
}

impl Layers {
    /// Layers of the triangles of a surface, whose points are the vertices of the body.
    pub(crate) fn new(surface: &SurfaceMesh, material: &Material, fabric: Fabric) -> Result<Self> {
        let Fabric { thickness, bending } = fabric;
        check::range("bending", "a number >= 0", bending, bending.is_finite() && bending >= 0.0)?;
        let mut vertices = surface.triangles().as_flattened().to_vec();
        vertices.sort_unstable();
        vertices.dedup();
        let number = |v: u32| vertices.partition_point(|&other| other < v) as u32;
        let points = vertices.iter().map(|&v| surface.points()[v as usize]).collect();
        let triangles = surface.triangles().iter().map(|triangle| triangle.map(number)).collect();
        let used = SurfaceMesh::new(points, triangles)?;
        let membrane = Membrane::new(&used, material, thickness)?;
        let bending = Bending::new(&used, &membrane, thickness, bending);
        Ok(Self { membrane, bending, vertices })
    }

    /// Adds the mass of the triangles to that of the vertices, n, kg.
    pub(crate) fn add_mass(&self, mass: &mut [f64]) {
        for (&vertex, own) in self.vertices.iter().zip(self.membrane.lumped_mass()) {
            mass[vertex as usize] += own;
        }
    }

    /// Stiffness along one axis with fixed projections, n x n, N/m.
    pub(crate) fn stiffness(&self, n: usize) -> Result<Sparse> {
        let vertex = |point: u32| self.vertices[point as usize];
        let own = self.membrane.stiffness().chain(self.bending.stiffness());
        let entries: Vec<_> =
            own.map(|Triplet { row, col, val }| Triplet::new(vertex(row), vertex(col), val)).collect();
        Sparse::try_new_from_triplets(n, n, &entries)
            .map_err(|error| Error::Numerical { what: "stiffness", why: format!("{error:?}") })
    }
}

impl Sheet {
    pub(crate) fn new(layers: Layers, handles: &Handles, coordinates: &HandleCoordinates) -> Self {
        let Layers { membrane, bending, vertices } = layers;
        let part = |vertex: u32| handles.parts_of_vertices()[vertex as usize];
        let at = |&vertex: &u32| handles.places()[vertex as usize];
        let place = |vertex: &u32| -> [f64; 3] {
            let center = coordinates.parts[part(*vertex) as usize].center;
            std::array::from_fn(|c| at(vertex)[c] - center[c])
        };
        let places: Vec<[f64; 3]> = vertices.iter().map(place).collect();
        let mut order = side_by_side(&vertices.iter().map(at).collect::<Vec<_>>());
        share_registers(&mut order);
        let row = |&point: &usize| {
            let vertex = vertices[point];
            let row = coordinates.row(handles, vertex as usize);
            let own = row.filter(|&(column, value)| value != 0.0 && column != 4 * part(vertex) + 3);
            own.map(|(column, value)| (column, [value])).collect()
        };
        let rows: Vec<Vec<(u32, [f64; 1])>> = order.iter().map(row).collect();
        let (low, high) = bounds(&places);
        let size = low.iter().chain(&high).fold(0.0, |most: f64, x| most.max(x.abs()));
        let scale = membrane.scale(size) + bending.scale();
        let (rows, order) =
            (Grouped::new(&coordinates.slots, &rows), order.into_iter().map(|point| point as u32).collect());
        Self { membrane, bending, places, rows, order, scale }
    }

    /// Sets a limit of the principal stretches of triangles.
    pub(super) fn limit(&mut self, limit: StrainLimit) {
        self.membrane.limit(limit);
    }

    /// Numbers of triangles with and without area.
    pub(super) fn triangle_counts(&self) -> [usize; 2] {
        [self.membrane.len(), self.membrane.skipped()]
    }

    /// Magnitude of the terms that cancel in the energy, J.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    pub(super) fn scratch(&self) -> SheetScratch {
        let zeros = || vec![[0.0; 3]; self.places.len()];
        let slots = self.rows.slots();
        let (y, sums) = (slots.scratch(), slots.scratch());
        SheetScratch { y, sums, places: zeros(), normals: zeros(), forces: zeros() }
    }

    /// Energy of the surface; adds `factor` times the gradient.
    pub(super) fn evaluate(
        &self,
        y: &Rows,
        factor: f64,
        gradient: &mut Rows,
        scratch: &mut SheetScratch,
    ) -> f64 {
        scratch.y.enter(self.rows.slots(), y);
        Arch::new().dispatch(Move { sheet: self, scratch });
        let SheetScratch { places, normals, forces, .. } = scratch;
        forces.fill([0.0; 3]);
        self.membrane.normals(places, normals);
        let stretching = self.membrane.evaluate(places, forces);
        let energy = stretching + self.bending.evaluate(places, normals, forces);
        if factor != 0.0 {
            Arch::new().dispatch(Gather { sheet: self, scratch });
            scratch.sums.add_to(self.rows.slots(), factor, gradient);
        }
        energy
    }
}

/// Vertex positions from coordinates.
struct Move<'a> {
    sheet: &'a Sheet,
    scratch: &'a mut SheetScratch,
}

impl WithSimd for Move<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (Sheet { rows, order, places: rest, .. }, lanes) = (self.sheet, S::F64_LANES);
        let SheetScratch { y, places, .. } = self.scratch;
        let y = y.registers::<S>();
        for (block, vertices) in order.chunks(lanes).enumerate() {
            let moved = rows.product::<S, 3>(simd, block, y);
            let moved = pulp::bytemuck::cast_slice::<S::f64s, f64>(&moved);
            for (lane, &vertex) in vertices.iter().enumerate() {
                let (place, rest) = (&mut places[vertex as usize], &rest[vertex as usize]);
                for c in 0..3 {
                    place[c] = rest[c] + moved[c * lanes + lane];
                }
            }
        }
    }
}

/// Forces on coordinates from forces on vertices.
struct Gather<'a> {
    sheet: &'a Sheet,
    scratch: &'a mut SheetScratch,
}

impl WithSimd for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (Sheet { rows, order, .. }, lanes) = (self.sheet, S::F64_LANES);
        let SheetScratch { sums, forces, .. } = self.scratch;
        let sums = sums.zeros(simd);
        for (block, vertices) in order.chunks(lanes).enumerate() {
            let mut own = [simd.splat_f64s(0.0); 3];
            let packed = pulp::bytemuck::cast_slice_mut::<S::f64s, f64>(&mut own);
            for (lane, &vertex) in vertices.iter().enumerate() {
                for c in 0..3 {
                    packed[c * lanes + lane] = forces[vertex as usize][c];
                }
            }
            rows.add_adjoint(simd, block, &own, sums);
        }
    }
}
