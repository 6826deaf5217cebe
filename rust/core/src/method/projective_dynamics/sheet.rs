//! A surface without volume: its membrane and its bending, found at its vertices.

use pulp::{Arch, Simd, WithSimd};

use super::coordinates::HandleCoordinates;
use crate::Result;
use crate::material::Material;
use crate::math::Sparse;
use crate::math::grouped::{Grouped, GroupedRows};
use crate::math::rows::Rows;
use crate::mesh::SurfaceMesh;
use crate::operators::{Bending, Membrane};
use crate::subspace::Handles;
use crate::{Error, mesh::bounds};

/// What a surface is like across.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fabric {
    /// Metres.
    pub thickness: f64,
    /// How many times as stiff against bending as a plate of that thickness, >= 0.
    pub bending: f64,
}

/// The energy of a surface at its vertices `x = X + U y`, each about the centre of its part: a translation, however far, has
/// no energy and takes no digits.
///
/// Each triangle has an isometry of its own. One for several would resist bending as a plate does that is as thick as they are
/// wide.
pub(super) struct Sheet {
    membrane: Membrane,
    bending: Bending,
    /// Vertices about the centres of their parts, n, metres.
    places: Vec<[f64; 3]>,
    /// Coordinates of each vertex but translations of whole parts.
    rows: Grouped<1>,
    scale: f64,
}

/// Memory for coordinates and their gradient, for places of vertices, their normals and the forces on them.
pub(super) struct SheetRoom {
    y: GroupedRows,
    sums: GroupedRows,
    places: Vec<[f64; 3]>,
    normals: Vec<[f64; 3]>,
    forces: Vec<[f64; 3]>,
}

/// The membrane and the bending of a surface.
pub(super) struct Layers {
    pub(super) membrane: Membrane,
    bending: Bending,
}

impl Layers {
    pub(super) fn new(surface: &SurfaceMesh, material: &Material, fabric: Fabric) -> Result<Self> {
        let Fabric { thickness, bending } = fabric;
        if !(bending.is_finite() && bending >= 0.0) {
            let expected = "a number >= 0";
            return Err(Error::Range { what: "bending", expected, got: bending });
        }
        let membrane = Membrane::new(surface, material, thickness)?;
        let bending = Bending::new(surface, &membrane, thickness, bending);
        Ok(Self { membrane, bending })
    }

    /// With all projections held, along one axis, n x n, N/m.
    pub(super) fn stiffness(&self, n: usize) -> Result<Sparse> {
        let entries: Vec<_> = self.membrane.stiffness().chain(self.bending.stiffness()).collect();
        Sparse::try_new_from_triplets(n, n, &entries)
            .map_err(|error| Error::Numerical { what: "stiffness", why: format!("{error:?}") })
    }
}

impl Sheet {
    pub(super) fn new(layers: Layers, handles: &Handles, coordinates: &HandleCoordinates) -> Self {
        let Layers { membrane, bending } = layers;
        let (mut rows, mut places) = (Vec::new(), Vec::new());
        for (vertex, place) in handles.places().iter().enumerate() {
            let part = handles.parts_of_vertices()[vertex];
            let center = coordinates.parts[part as usize].center;
            places.push(std::array::from_fn(|c| place[c] - center[c]));
            let row = coordinates.row(handles, vertex);
            let own = row.filter(|&(column, value)| value != 0.0 && column != 4 * part + 3);
            rows.push(own.map(|(column, value)| (column, [value])).collect());
        }
        let (low, high) = bounds(&places);
        let size = low.iter().chain(&high).fold(0.0, |most: f64, x| most.max(x.abs()));
        let scale = membrane.scale(size) + bending.scale();
        Self { membrane, bending, places, rows: Grouped::new(&coordinates.slots, &rows), scale }
    }

    /// Number of triangles that have an area, and of those that have none.
    pub(super) fn triangle_counts(&self) -> [usize; 2] {
        [self.membrane.len(), self.membrane.skipped()]
    }

    /// The size of the numbers of which the energy is a difference, J.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    pub(super) fn room(&self) -> SheetRoom {
        let zeros = || vec![[0.0; 3]; self.places.len()];
        let slots = self.rows.slots();
        let (y, sums) = (slots.room(), slots.room());
        SheetRoom { y, sums, places: zeros(), normals: zeros(), forces: zeros() }
    }

    /// Its energy; adds `factor` times the derivative.
    pub(super) fn evaluate(&self, y: &Rows, factor: f64, gradient: &mut Rows, room: &mut SheetRoom) -> f64 {
        room.y.enter(self.rows.slots(), y);
        Arch::new().dispatch(Move { sheet: self, room });
        let SheetRoom { places, normals, forces, .. } = room;
        forces.fill([0.0; 3]);
        self.membrane.normals(places, normals);
        let stretching = self.membrane.evaluate(places, forces);
        let energy = stretching + self.bending.evaluate(places, normals, forces);
        if factor != 0.0 {
            Arch::new().dispatch(Gather { sheet: self, room });
            room.sums.add_to(self.rows.slots(), factor, gradient);
        }
        energy
    }
}

/// Places of vertices from coordinates.
struct Move<'a> {
    sheet: &'a Sheet,
    room: &'a mut SheetRoom,
}

impl WithSimd for Move<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let SheetRoom { y, places, .. } = self.room;
        let y = y.registers::<S>();
        for (vertex, (place, rest)) in places.iter_mut().zip(&self.sheet.places).enumerate() {
            let moved = self.sheet.rows.product::<S, 3>(simd, vertex, y);
            for c in 0..3 {
                place[c] = rest[c] + simd.reduce_sum_f64s(moved[c]);
            }
        }
    }
}

/// Forces on coordinates from those on vertices.
struct Gather<'a> {
    sheet: &'a Sheet,
    room: &'a mut SheetRoom,
}

impl WithSimd for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let SheetRoom { sums, forces, .. } = self.room;
        let sums = sums.zeros(simd);
        for (vertex, force) in forces.iter().enumerate() {
            let force = [simd.splat_f64s(force[0]), simd.splat_f64s(force[1]), simd.splat_f64s(force[2])];
            self.sheet.rows.add_adjoint(simd, vertex, &force, sums);
        }
    }
}
