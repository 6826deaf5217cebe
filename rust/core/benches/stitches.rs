//! Cost and accuracy of updating modes after stitches, against a rebuild.
//!
//! The body is two ellipsoids, one on top of the other, whose length is divided among their bones; stitches
//! join them where they are closest. Times are the shortest of a few runs on one machine; ratios compare
//! the same run. With a Python in `JOUNCE_REFERENCE`, `reference.py` also rebuilds the same stitched
//! problems. The same bodies, with the lower one fixed at its bottom, then vibrate in linear modes, with
//! bases of modal derivatives.

#[allow(dead_code)]
mod ellipsoid;
#[path = "../../../tests/rust/src/low_rank.rs"]
mod low_rank;
#[path = "modes/reference.rs"]
#[allow(dead_code)]
mod reference;

use std::path::{Path, PathBuf};
use std::time::Instant;

use ellipsoid::{RADII, chain, surface};
use faer::Mat;
use jounce::material::{Field, Law, Material};
use jounce::mesh::{TetMesh, lattice};
use jounce::operators::{Stitches, constraint, lumped_mass, momentum_leak};
use jounce::rig::Rig;
use jounce::subspace::{LinearProblem, ModesProblem, Restraint, SkinningModes};
use jounce::{Progress, Result};
use low_rank::low_rank_update;
use reference::{Problem, ask};

const BONES: usize = 14;
const MODES: usize = 16;
/// Number of extra modes kept for updates.
const SPARE: usize = 8;
const REPEATS: usize = 3;
/// Number of linear modes, and of extra ones kept for updates.
const SWINGS: [usize; 2] = [20, 12];
/// Number of displacements in the basis of modal derivatives, then number of stitches of its body.
const BENT: usize = 90;
const SEAM: usize = 10;
/// Stiffness of a stitch, N/m: about that of the surrounding flesh.
const STIFFNESS: f64 = 1e4;

fn main() -> Result<()> {
    println!("{MODES} modes, {BONES} bones; errors of eigenvalues and uncovered parts of modes in percent");
    let python = std::env::var_os("JOUNCE_REFERENCE").map(PathBuf::from);
    for resolution in [35, 51] {
        let body = Body::new(resolution)?;
        let restraint = Restraint { rig: Some(&body.rig), leak: Some(&body.leak), pinned: None };
        let build = |stitches: &Stitches, count| {
            let problem =
                ModesProblem::new(&body.mesh, &body.material, &restraint, stitches, &Progress::default())?;
            let modes = problem.lowest(count, &Progress::default())?;
            Ok((problem, modes))
        };
        let (problem, modes) = build(&Stitches::none(&body.mesh), MODES + SPARE)?;
        let mass = lumped_mass(&body.mesh, &body.material);
        let border = constraint(&body.mesh, &mass, &body.rig, &body.leak)?.to_dense();
        let of = (&mass[..], &border);
        let (vertices, megabytes) = (body.mesh.vertices().len(), problem.bytes() as f64 / 1e6);
        println!("\n{vertices} vertices; the factor that is kept takes {megabytes:.0} MB");
        println!(
            "stitches  update s  rebuild s  times  reference s  times  median  worst  residual  uncovered  \
             paper's median  uncovered"
        );
        for count in [1, 10, 30, 100] {
            let stitches = body.stitches(count)?;
            let ((_, exact), rebuild) = least(|| build(&stitches, MODES))?;
            let (found, update) = least(|| problem.update(&modes, &stitches, MODES))?;
            let paper = low_rank_update(of, |_| true, &modes, &stitches, MODES);
            let errors = errors(&found.modes.eigenvalues, &exact.eigenvalues);
            let [reference, ratio] = match body.reference(python.as_deref(), &stitches, &exact) {
                Some(seconds) => [format!("{seconds:.2}"), format!("{:.1}", seconds / update)],
                None => ["-".to_owned(), "-".to_owned()],
            };
            print!("{count:>8}{update:>10.3}{rebuild:>11.3}{:>7.1}", rebuild / update);
            print!("{reference:>13}{ratio:>7}{:>8.3}{:>7.3}", errors[MODES / 2], errors[MODES - 1]);
            println!(
                "{:>10.3}{:>11.3}{:>16.1}{:>11.1}",
                100.0 * found.worst(),
                body.uncovered(&found.modes, &exact),
                self::errors(&paper.eigenvalues, &exact.eigenvalues)[MODES / 2],
                body.uncovered(&paper, &exact),
            );
        }
        body.swing()?;
    }
    Ok(())
}

fn once<T>(work: impl Fn() -> Result<T>) -> Result<(T, f64)> {
    let start = Instant::now();
    let made = work()?;
    Ok((made, start.elapsed().as_secs_f64()))
}

/// Shortest time of a few runs, because noise only adds.
fn least<T>(work: impl Fn() -> Result<T>) -> Result<(T, f64)> {
    let mut best = f64::INFINITY;
    let mut made = None;
    for _ in 0..REPEATS {
        let start = Instant::now();
        made = Some(work()?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok((made.expect("at least one run"), best))
}

/// Relative errors of the eigenvalues, ascending, percent.
fn errors(found: &[f64], exact: &[f64]) -> Vec<f64> {
    let pairs = found.iter().zip(exact);
    let mut errors: Vec<f64> = pairs.map(|(found, exact)| 100.0 * (found / exact - 1.0).abs()).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

struct Body {
    mesh: TetMesh,
    material: Material,
    rig: Rig,
    leak: Vec<f64>,
    /// Number of vertices of the lower part.
    lower: usize,
}

impl Body {
    fn new(resolution: usize) -> Result<Self> {
        let part = lattice(&surface(48)?, resolution, &Progress::default())?;
        let lower = part.vertices().len();
        let height = 2.0 * RADII[2] + 2.0 * RADII[0] / resolution as f64;
        let raised = part.vertices().iter().map(|v| [v[0], v[1], v[2] + height]);
        let vertices = part.vertices().iter().copied().chain(raised).collect();
        let tets = part.tets().iter().copied();
        let tets = tets.chain(part.tets().iter().map(|tet| tet.map(|v| v + lower as u32))).collect();
        let mesh = TetMesh::new(vertices, tets)?;
        let material =
            Material::new(Law::Arap, Field::Uniform(1e4), Field::Uniform(0.0), Field::Uniform(1000.0))?;
        Ok(Self { rig: chain(&mesh, BONES)?, leak: momentum_leak(&mesh)?, material, lower, mesh })
    }

    /// Seconds of the reference for the stitched problem, if it finds the same eigenvalues.
    fn reference(&self, python: Option<&Path>, stitches: &Stitches, exact: &SkinningModes) -> Option<f64> {
        let n = self.mesh.vertices().len();
        let mut weights = vec![0.0; n * BONES];
        for bone in 0..BONES {
            self.rig.bone(bone).iter().for_each(|&(v, weight)| weights[v as usize * BONES + bone] = weight);
        }
        let differences = stitches.differences();
        let ends = |s: usize| differences.row_idx_of_col(s).map(|v| v as u32).collect::<Vec<_>>();
        // In the weight space a spring counts three times, and the reference's conductivity is one.
        let stiffness = 3.0 * STIFFNESS / (4.0 * self.material.mu(0));
        let springs: Vec<_> = (0..stitches.len()).map(|s| ([ends(s)[0], ends(s)[1]], stiffness)).collect();
        let problem =
            Problem { mesh: &self.mesh, leak: &self.leak, weights: Some(&weights), springs: &springs };
        let answer = ask(python?, &problem, MODES, "schur")?;
        let scale = 4.0 * self.material.mu(0) / self.material.density(0);
        let mut pairs = answer.eigenvalues.iter().zip(&exact.eigenvalues);
        // Nearly dependent columns of the constraint may count for one solver and not for the other.
        pairs.all(|(theirs, ours)| (scale * theirs / ours - 1.0).abs() < 1e-5).then_some(answer.seconds)
    }

    /// Stitches between the top of the lower part and the bottom of the upper one, spread over their
    /// closest region.
    fn stitches(&self, count: usize) -> Result<Stitches> {
        let (lower, upper) = self.mesh.vertices().split_at(self.lower);
        let nearest = |vertices: &[[f64; 3]], place: [f64; 3]| {
            let distance2 = |v: &[f64; 3]| (0..3).map(|c| (v[c] - place[c]).powi(2)).sum::<f64>();
            (0..vertices.len()).min_by(|&i, &j| distance2(&vertices[i]).total_cmp(&distance2(&vertices[j])))
        };
        // A spiral from the point where the parts are closest.
        let pair = |i: usize| {
            let (sin, cos) = (2.4 * i as f64).sin_cos();
            let radius = 0.5 * ((i as f64 + 0.5) / count as f64).sqrt();
            let place = [RADII[0] * radius * cos, RADII[1] * radius * sin, RADII[2]];
            let (a, b) = (nearest(lower, place)?, nearest(upper, place)?);
            Some([a as u32, (self.lower + b) as u32])
        };
        let pairs: Vec<[u32; 2]> = (0..count).filter_map(pair).collect();
        Stitches::between_vertices(&self.mesh, &pairs, &vec![STIFFNESS; count], &vec![1.0; count])
    }

    /// Linear modes with stitches, and the basis of modes and modal derivatives: updated, and recomputed.
    fn swing(&self) -> Result<()> {
        let progress = Progress::default();
        let bottom = self.mesh.vertices().iter().map(|v| v[2]).fold(f64::INFINITY, f64::min);
        let pinned: Vec<bool> = self.mesh.vertices().iter().map(|v| v[2] < bottom + 0.3 * RADII[2]).collect();
        let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
        let build = |stitches: &Stitches, count| {
            let problem = LinearProblem::new(&self.mesh, &self.material, &restraint, stitches, &progress)?;
            let modes = problem.lowest(count, &progress)?;
            Ok((problem, modes))
        };
        let (problem, modes) = build(&Stitches::none(&self.mesh), SWINGS[0] + SWINGS[1])?;
        println!("\n{} linear modes; the factor takes {:.0} MB", SWINGS[0], problem.bytes() as f64 / 1e6);
        println!("stitches  update s  rebuild s  times  median  worst");
        for count in [1, 10, 30, 100, 160] {
            let stitches = self.stitches(count)?;
            let ((_, exact), rebuild) = once(|| build(&stitches, SWINGS[0]))?;
            let (made, update) = least(|| problem.stitched(&modes, &stitches, SWINGS[0]))?;
            // Rotations about one point have no eigenvalue to be relative to.
            let still =
                exact.eigenvalues.partition_point(|value| *value < 1e-6 * exact.eigenvalues[SWINGS[0] - 1]);
            let errors = errors(&made.modes.eigenvalues[still..], &exact.eigenvalues[still..]);
            print!("{count:>8}{update:>10.3}{rebuild:>11.3}{:>7.1}", rebuild / update);
            println!("{:>8.3}{:>7.3}", errors[errors.len() / 2], errors[errors.len() - 1]);
        }
        let (stitches, before) = (self.stitches(SEAM)?, problem.derivatives(&modes, &Progress::default())?);
        let (fresh, exact) = build(&stitches, SWINGS[0])?;
        let made = problem.stitched(&modes, &stitches, SWINGS[0])?;
        let (_, carried) =
            once(|| made.problem.carried_basis(&made.modes, before.as_ref(), BENT, &progress))?;
        let (_, anew) = once(|| fresh.bent_basis(&exact, BENT, &progress))?;
        println!("basis of {SEAM} stitches: {carried:.2} s from derivatives before, {anew:.2} s anew");
        Ok(())
    }

    /// Root mean square share of the exact modes outside the span of the found ones, percent
    /// `[IDSR fig. 3]`.
    fn uncovered(&self, found: &SkinningModes, exact: &SkinningModes) -> f64 {
        let mass = lumped_mass(&self.mesh, &self.material);
        let heavy = Mat::from_fn(mass.len(), MODES, |i, k| mass[i] * exact.weights[(i, k)]);
        let covered = (heavy.transpose() * &found.weights).squared_norm_l2() / MODES as f64;
        100.0 * (1.0 - covered).max(0.0).sqrt()
    }
}
