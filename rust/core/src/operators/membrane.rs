//! Stretch and shear of a surface without volume, corotated in each triangle.

use faer::sparse::Triplet;
use nalgebra::Vector3;
use pulp::{Arch, Simd, WithSimd};

use crate::material::{Law, Material, StrainLimit};
use crate::math::polar::dot3;
use crate::math::rows::Rows;
use crate::mesh::SurfaceMesh;
use crate::{Error, Result};

/// Smallest height of a triangle, relative to the longest side; a lower triangle is degenerate.
const SLIVER: f64 = 1e-4;
/// Squared area vector, relative to the product of the squared sides, below which a triangle has no
/// direction.
const FLAT: f64 = 1e-30;

/// A 3 x 2 matrix by columns: images of two perpendicular unit vectors in a triangle.
pub type Tangents = [[f64; 3]; 2];

/// Elastic energy of triangles in their planes, with V area times thickness and n Poisson's ratio:
/// ```text
/// sum_t mu_t V_t (|F_t - P_t|^2 + n_t / (1 - n_t) (F_t . P_t - 2)^2),  P_t = p(F_t)
/// ```
/// This is plane stress: a sheet stretched along one axis resists by Young's modulus, and contracts across
/// by n.
///
/// `F_t`, 3 x 2, is the deformation gradient along two perpendicular unit vectors of the triangle at rest,
/// and p the nearest [isometry](nearest_isometry), the visible part of a rotation; for a triangle collapsed
/// to a point, the rest isometry. Triangles without area have no energy. `[PD section 5.1]`
#[derive(Debug, Clone)]
pub struct Membrane {
    vertex_count: usize,
    pieces: Vec<Piece>,
    skipped: usize,
    limit: Option<StrainLimit>,
}

/// A triangle with area.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) corners: [u32; 3],
    /// `F = sum_i (x_i - x_0) g_i'` of corners 1 and 2, 1/m.
    gradients: [[f64; 2]; 2],
    /// The two perpendicular unit vectors.
    tangents: Tangents,
    /// `2 mu`, Pa.
    pub(super) modulus: f64,
    /// `n / (1 - n)` of Poisson's ratio n: resistance to change of area, as a share of `2 mu`.
    pub(super) aside: f64,
    /// Area, square metres.
    pub(super) area: f64,
    /// Mass, kg.
    mass: f64,
    /// `2 mu V`, J.
    weight: f64,
}

impl Membrane {
    /// Membrane of a surface with a thickness, metres, and a material of law [`Law::Arap`], uniform or one
    /// value a triangle.
    ///
    /// # Errors
    /// [`Error::Range`] or [`Error::NotFinite`] for the thickness, [`Error::Unsupported`] for another law,
    /// [`Error::Shape`] for a material of another surface, [`Error::Empty`] for a surface without area.
    pub fn new(surface: &SurfaceMesh, material: &Material, thickness: f64) -> Result<Self> {
        if !thickness.is_finite() {
            return Err(Error::NotFinite { what: "thickness", element: 0, value: thickness });
        }
        if thickness <= 0.0 {
            let expected = "a positive number of metres";
            return Err(Error::Range { what: "thickness", expected, got: thickness });
        }
        if material.law() != Law::Arap {
            let why = "a surface without volume is as rigid as possible in its plane; take arap";
            return Err(Error::Unsupported { what: "law", why });
        }
        material.check_tet_count(surface.triangles().len())?;
        let piece = |(t, corners): (usize, &[u32; 3])| {
            let (area, gradients, tangents) = flattened(corners.map(|v| surface.points()[v as usize]))?;
            let (modulus, volume) = (2.0 * material.mu(t), area * thickness);
            let (mass, weight) = (material.density(t) * volume, modulus * volume);
            let aside = material.lambda(t) / (material.lambda(t) + modulus);
            Some(Piece { corners: *corners, gradients, tangents, modulus, aside, area, mass, weight })
        };
        let pieces: Vec<Piece> = surface.triangles().iter().enumerate().filter_map(piece).collect();
        if pieces.is_empty() {
            return Err(Error::Empty { what: "triangles with an area" });
        }
        let skipped = surface.triangles().len() - pieces.len();
        Ok(Self { vertex_count: surface.points().len(), pieces, skipped, limit: None })
    }

    /// Sets a limit of the principal stretches of triangles.
    pub(crate) fn limit(&mut self, limit: StrainLimit) {
        self.limit = Some(limit);
    }

    /// Number of triangles with area.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// `true` if there are none; never, since such a surface is refused.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Number of triangles with a height below a ten thousandth of their longest side.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Mass lumped to the vertices, n, kg: a third of each triangle for each corner.
    pub fn lumped_mass(&self) -> Vec<f64> {
        let mut mass = vec![0.0; self.vertex_count];
        for piece in &self.pieces {
            piece.corners.iter().for_each(|&v| mass[v as usize] += piece.mass / 3.0);
        }
        mass
    }

    /// `sum_t E_t / (1 - n_t^2) V_t g_t g_t'`, n x n, N/m: the stiffness along each axis, for a stretch
    /// without lateral contraction.
    pub(crate) fn stiffness(&self) -> impl Iterator<Item = Triplet<u32, u32, f64>> {
        self.pieces.iter().flat_map(|piece| {
            let [a, b] = piece.gradients;
            let all = [[-a[0] - b[0], -a[1] - b[1]], a, b];
            (0..9).map(move |e| {
                let (i, j) = (e / 3, e % 3);
                let product = all[i][0] * all[j][0] + all[i][1] * all[j][1];
                Triplet::new(piece.corners[i], piece.corners[j], piece.weight * (1.0 + piece.aside) * product)
            })
        })
    }

    /// Corners of each triangle, `2 mu V`, J, and the linear maps from small displacements of the corners to
    /// the strains `e_11`, `e_22`, `sqrt 2 e_12` and `sqrt(n / (1 - n)) (e_11 + e_22)` in its plane, 1/m. The
    /// energy near rest is `mu V |e|^2`.
    pub(super) fn strains(&self) -> impl Iterator<Item = ([u32; 3], f64, [[Vector3<f64>; 3]; 4])> {
        self.pieces.iter().map(|piece| {
            let [t, s] = piece.tangents.map(Vector3::from);
            let [a, b] = piece.gradients;
            let of = |[along, across]: [f64; 2]| {
                let shear = (t * across + s * along) * std::f64::consts::FRAC_1_SQRT_2;
                [t * along, s * across, shear, (t * along + s * across) * piece.aside.sqrt()]
            };
            let corners = [of([-a[0] - b[0], -a[1] - b[1]]), of(a), of(b)];
            (piece.corners, piece.weight, [0, 1, 2, 3].map(|e| corners.map(|corner| corner[e])))
        })
    }

    /// Area, m^2, and integral of `1 / 2 mu` over the area, m^2/Pa.
    pub(crate) fn area_and_compliance(&self) -> (f64, f64) {
        let sum = |(area, compliance): (f64, f64), piece: &Piece| {
            (area + piece.area, compliance + piece.area / piece.modulus)
        };
        self.pieces.iter().fold((0.0, 0.0), sum)
    }

    /// Sum of `E / (1 - n^2) V (|x| |g|)^2` over corners: magnitude of the terms that cancel in the energy,
    /// J.
    pub(crate) fn scale(&self, size: f64) -> f64 {
        let square = |piece: &Piece| piece.gradients.as_flattened().iter().map(|g| g * g).sum::<f64>();
        let of = |piece: &Piece| piece.weight * (1.0 + piece.aside) * (1.0 + size * size * square(piece));
        self.pieces.iter().map(of).sum()
    }

    /// Energy of positions, n x 3, with that of a limit; adds the gradient.
    pub fn evaluate(&self, x: &Rows, gradient: &mut Rows) -> f64 {
        Arch::new().dispatch(Stretching { pieces: &self.pieces, limit: self.limit.as_ref(), x, gradient })
    }

    /// Sums of twice the area vectors of the triangles at each vertex, n x 3, along the normal.
    pub fn normals(&self, x: &Rows, out: &mut Rows) {
        out.fill([0.0; 3]);
        for piece in &self.pieces {
            let [x0, x1, x2] = piece.corners.map(|v| Vector3::from(x[v as usize]));
            let normal = (x1 - x0).cross(&(x2 - x0));
            for v in piece.corners {
                (0..3).for_each(|c| out[v as usize][c] += normal[c]);
            }
        }
    }
}

/// Energy and gradient of triangles, one per SIMD lane.
struct Stretching<'a> {
    pieces: &'a [Piece],
    limit: Option<&'a StrainLimit>,
    x: &'a Rows,
    gradient: &'a mut Rows,
}

impl WithSimd for Stretching<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let mut energy = simd.splat_f64s(0.0);
        for pieces in self.pieces.chunks(S::F64_LANES) {
            let ([first, second], [ga, gb], [weight, aside]) = gathered(simd, pieces, self.x);
            let mut f = [first; 2];
            for (d, column) in f.iter_mut().enumerate() {
                for c in 0..3 {
                    let along = simd.mul_f64s(second[c], gb[d]);
                    column[c] = simd.mul_add_e_f64s(first[c], ga[d], along);
                }
            }
            let near = isometries(simd, pieces, &f);
            let mut apart = f;
            let (mut squares, mut grown) = (simd.splat_f64s(0.0), simd.splat_f64s(0.0));
            for d in 0..2 {
                for c in 0..3 {
                    apart[d][c] = simd.sub_f64s(f[d][c], near[d][c]);
                    squares = simd.mul_add_e_f64s(apart[d][c], apart[d][c], squares);
                    grown = simd.mul_add_e_f64s(apart[d][c], near[d][c], grown);
                }
            }
            if let Some(limit) = self.limit {
                squares = add_beyond(simd, (&f, &near), squares, limit, &mut apart);
            }
            let resists = simd.mul_f64s(aside, grown);
            squares = simd.mul_add_e_f64s(resists, grown, squares);
            energy = simd.mul_add_e_f64s(weight, squares, energy);
            for d in 0..2 {
                for c in 0..3 {
                    apart[d][c] = simd.mul_add_e_f64s(resists, near[d][c], apart[d][c]);
                }
            }
            let mut pulls = f;
            for (pull, g) in pulls.iter_mut().zip([ga, gb]) {
                for c in 0..3 {
                    let across = simd.mul_f64s(apart[1][c], g[1]);
                    let both = simd.mul_add_e_f64s(apart[0][c], g[0], across);
                    pull[c] = simd.mul_f64s(weight, both);
                }
            }
            add_pulls(simd, pieces, &pulls, self.gradient);
        }
        0.5 * simd.reduce_sum_f64s(energy)
    }
}

/// Adds `firmness (F - p(F))` of a limit to forces, with `F - p(F) = P (b I + c S)` of the stretch S = P'F in
/// the plane; returns the squares `|F - P|^2` with `firmness |F - p(F)|^2`.
#[inline(always)]
fn add_beyond<S: Simd>(
    simd: S,
    (f, near): (&Columns<S>, &Columns<S>),
    squares: S::f64s,
    limit: &StrainLimit,
    forces: &mut Columns<S>,
) -> S::f64s {
    let splat = |x: f64| simd.splat_f64s(x);
    if simd.reduce_max_f64s(simd.sub_f64s(squares, splat(limit.inside()))) <= 0.0 {
        return squares;
    }
    let (first, last) = (dot3(simd, near[0], f[0]), dot3(simd, near[1], f[1]));
    let beside = dot3(simd, near[0], f[1]);
    let mean = simd.mul_f64s(splat(0.5), simd.add_f64s(first, last));
    let half = simd.mul_f64s(splat(0.5), simd.sub_f64s(first, last));
    let round = simd.mul_add_e_f64s(half, half, simd.mul_f64s(beside, beside));
    let radius = simd.max_f64s(simd.sqrt_f64s(round), splat(f64::MIN_POSITIVE));
    let mut sum = squares;
    let mut ends = [simd.add_f64s(mean, radius), simd.sub_f64s(mean, radius)];
    for end in &mut ends {
        let nearest = simd.min_f64s(simd.max_f64s(*end, splat(limit.least)), splat(limit.most));
        let apart = simd.sub_f64s(*end, nearest);
        *end = simd.mul_f64s(splat(limit.firmness), apart);
        sum = simd.mul_add_e_f64s(*end, apart, sum);
    }
    let middle = simd.mul_f64s(splat(0.5), simd.add_f64s(ends[0], ends[1]));
    let slope = simd.div_f64s(simd.mul_f64s(splat(0.5), simd.sub_f64s(ends[0], ends[1])), radius);
    let (along, across) = (simd.mul_f64s(slope, half), simd.mul_f64s(slope, beside));
    let rows = [[simd.add_f64s(middle, along), across], [across, simd.sub_f64s(middle, along)]];
    for d in 0..2 {
        for c in 0..3 {
            let other = simd.mul_add_e_f64s(near[1][c], rows[d][1], forces[d][c]);
            forces[d][c] = simd.mul_add_e_f64s(near[0][c], rows[d][0], other);
        }
    }
    sum
}

/// Sides, gradients `g_i`, `2 mu V` and `n / (1 - n)` of one register of triangles. Unused lanes repeat the
/// last triangle without weight.
#[inline(always)]
fn gathered<S: Simd>(simd: S, pieces: &[Piece], x: &Rows) -> Gathered<S> {
    let (zero, lanes) = (simd.splat_f64s(0.0), S::F64_LANES);
    let mut own = [zero; 12];
    let packed = pulp::bytemuck::cast_slice_mut::<S::f64s, f64>(&mut own);
    for lane in 0..lanes {
        let piece = &pieces[lane.min(pieces.len() - 1)];
        let [x0, x1, x2] = piece.corners;
        let [x0, x1, x2] = [x[x0 as usize], x[x1 as usize], x[x2 as usize]];
        for c in 0..3 {
            packed[c * lanes + lane] = x1[c] - x0[c];
            packed[(3 + c) * lanes + lane] = x2[c] - x0[c];
        }
        for (e, g) in piece.gradients.as_flattened().iter().enumerate() {
            packed[(6 + e) * lanes + lane] = *g;
        }
        packed[10 * lanes + lane] = if lane < pieces.len() { piece.weight } else { 0.0 };
        packed[11 * lanes + lane] = piece.aside;
    }
    let [a, b, c, d, e, f, g, h, i, j, weight, aside] = own;
    ([[a, b, c], [d, e, f]], [[g, h], [i, j]], [weight, aside])
}

/// Adds the forces of triangles to corners 1 and 2, and the opposite to corner 0.
#[inline(always)]
fn add_pulls<S: Simd>(_: S, pieces: &[Piece], pulls: &Columns<S>, gradient: &mut Rows) {
    let (pulls, lanes) = (pulp::bytemuck::cast_slice::<S::f64s, f64>(pulls.as_flattened()), S::F64_LANES);
    for (lane, piece) in pieces.iter().enumerate() {
        let [v0, v1, v2] = piece.corners;
        for c in 0..3 {
            let (one, other) = (pulls[c * lanes + lane], pulls[(3 + c) * lanes + lane]);
            gradient[v0 as usize][c] -= one + other;
            gradient[v1 as usize][c] += one;
            gradient[v2 as usize][c] += other;
        }
    }
}

/// Two columns of each triangle.
type Columns<S> = [[<S as Simd>::f64s; 3]; 2];
/// Two sides, two gradients, and `2 mu V` with the resistance to change of area of each triangle.
type Gathered<S> = (Columns<S>, [[<S as Simd>::f64s; 2]; 2], [<S as Simd>::f64s; 2]);

/// Nearest [isometry](nearest_isometry) of each triangle's F, or the rest isometry.
#[inline(always)]
fn isometries<S: Simd>(simd: S, pieces: &[Piece], f: &Columns<S>) -> Columns<S> {
    let [a, b] = *f;
    let normal = cross(simd, a, b);
    let (square, size) = (dot3(simd, normal, normal), simd.add_f64s(dot3(simd, a, a), dot3(simd, b, b)));
    let least = simd.mul_f64s(simd.splat_f64s(FLAT), simd.mul_f64s(size, size));
    let (one, zero) = (simd.splat_f64s(1.0), simd.splat_f64s(0.0));
    let told = simd.select_f64s(simd.less_than_f64s(least, square), one, zero);
    let inverse = simd.div_f64s(one, simd.sqrt_f64s(square));
    let mut unit = normal;
    for c in 0..3 {
        unit[c] = simd.mul_f64s(normal[c], inverse);
    }
    let mut near = [cross(simd, b, unit), cross(simd, unit, a)];
    for d in 0..2 {
        for c in 0..3 {
            near[d][c] = simd.add_f64s(f[d][c], near[d][c]);
        }
    }
    let squares = simd.add_f64s(dot3(simd, near[0], near[0]), dot3(simd, near[1], near[1]));
    let inverse = simd.div_f64s(one, simd.sqrt_f64s(simd.mul_f64s(simd.splat_f64s(0.5), squares)));
    for d in 0..2 {
        for c in 0..3 {
            near[d][c] = simd.mul_f64s(near[d][c], inverse);
        }
    }
    if simd.reduce_min_f64s(told) < 1.0 {
        repair::<S>(pieces, f, told, &mut near);
    }
    near
}

/// Replaces the isometries of matrices with parallel columns.
#[cold]
#[inline(never)]
fn repair<S: Simd>(pieces: &[Piece], f: &Columns<S>, told: S::f64s, near: &mut Columns<S>) {
    let lanes = S::F64_LANES;
    let told = [told];
    let told = pulp::bytemuck::cast_slice::<S::f64s, f64>(&told);
    let f = pulp::bytemuck::cast_slice::<S::f64s, f64>(f.as_flattened());
    let near = pulp::bytemuck::cast_slice_mut::<S::f64s, f64>(near.as_flattened_mut());
    for lane in (0..lanes).filter(|&lane| told[lane] < 1.0) {
        let piece = &pieces[lane.min(pieces.len() - 1)];
        let own = std::array::from_fn(|d| std::array::from_fn(|c| f[(3 * d + c) * lanes + lane]));
        let found = nearest_isometry(&own).unwrap_or(piece.tangents);
        found.as_flattened().iter().enumerate().for_each(|(e, &x)| near[e * lanes + lane] = x);
    }
}

#[inline(always)]
fn cross<S: Simd>(simd: S, a: [S::f64s; 3], b: [S::f64s; 3]) -> [S::f64s; 3] {
    let mut out = a;
    for c in 0..3 {
        let (i, j) = ((c + 1) % 3, (c + 2) % 3);
        out[c] = simd.negate_mul_add_e_f64s(a[j], b[i], simd.mul_f64s(a[i], b[j]));
    }
    out
}

/// A triangle in its plane: area, `g_1` and `g_2`, and unit vectors of the plane; `None` for a degenerate
/// triangle.
fn flattened(corners: [[f64; 3]; 3]) -> Option<(f64, [[f64; 2]; 2], Tangents)> {
    let [x0, x1, x2] = corners.map(Vector3::from);
    let (first, second) = (x1 - x0, x2 - x0);
    let doubled = first.cross(&second).norm();
    let longest = first.norm().max(second.norm()).max((x2 - x1).norm());
    if doubled <= SLIVER * longest * longest {
        return None;
    }
    let length = first.norm();
    let (along, across) = (second.dot(&first) / length, doubled / length);
    let unit = first / length;
    let tangents = [unit, (second - unit * along) / across].map(Into::into);
    Some((0.5 * doubled, [[1.0 / length, -along / (length * across)], [0.0, 1.0 / across]], tangents))
}

/// Corners, area, m^2, and in-plane gradients of the corners' shape functions, 1/m, for each triangle with
/// area.
pub(crate) fn surface_gradients(
    surface: &SurfaceMesh,
) -> impl Iterator<Item = ([u32; 3], f64, [Vector3<f64>; 3])> {
    surface.triangles().iter().filter_map(|corners| {
        let (area, [a, b], tangents) = flattened(corners.map(|v| surface.points()[v as usize]))?;
        let [t, s] = tangents.map(Vector3::from);
        let [first, second] = [a, b].map(|g| t * g[0] + s * g[1]);
        Some((*corners, area, [-first - second, first, second]))
    })
}

/// Isometry P, `P'P = I`, nearest to F, both 3 x 2: the polar part `U V'` of `F = U S V'`.
///
/// With m the normal of F's columns `P = (F + [f_2 x m, m x f_1]) / (s_1 + s_2)`. For parallel columns m is
/// one of their normals, always the same for the same F. `None` for zero, which is equally near to all.
pub fn nearest_isometry(f: &Tangents) -> Option<Tangents> {
    let [a, b] = f.map(Vector3::from);
    let (cross, squares) = (a.cross(&b), [a.norm_squared(), b.norm_squared()]);
    let normal = if cross.norm_squared() > FLAT * (squares[0] + squares[1]).powi(2) {
        cross.normalize()
    } else {
        let longer = if squares[0] >= squares[1] { a } else { b };
        let axis = Vector3::ith(longer.iamin(), 1.0);
        longer.cross(&axis).try_normalize(0.0).unwrap_or_else(Vector3::z)
    };
    let sum = [a + b.cross(&normal), b + normal.cross(&a)];
    let length = (0.5 * (sum[0].norm_squared() + sum[1].norm_squared())).sqrt();
    (length > 0.0).then(|| sum.map(|column| (column / length).into()))
}
