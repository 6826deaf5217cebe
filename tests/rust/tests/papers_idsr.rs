//! Results of [IDSR], each test named after its figure.

use faer::Mat;
use jounce::Progress;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::model::Model;
use jounce::model::skinning_modes::{Extras, SkinningModel};
use jounce::operators::{Stitches, lumped_mass};
use jounce::simulation::Simulation;
use jounce::subspace::{ModesProblem, Restraint, SkinningModes, cluster_tets};
use jounce_tests::bodies::bar;
use jounce_tests::boxes::row_of;

/// A handle fixed at its left end, and a head beside it that only stitches across the gap hold.
struct Fork {
    mesh: TetMesh,
    material: Material,
    held: Vec<bool>,
    stitches: Stitches,
}

impl Fork {
    fn new() -> Self {
        let mesh = row_of(&bar([6, 2, 2], 0.1), 2, 0.6);
        let (vertices, half) = (mesh.vertices(), mesh.vertices().len() / 2);
        let near = |v: &[f64; 3]| (v[0] - 0.6).abs() < 1e-9;
        let pairs: Vec<[u32; 2]> = (0..half)
            .filter(|&a| near(&vertices[a]))
            .filter_map(|a| {
                let apart = |b: &usize| (0..3).map(|c| (vertices[*b][c] - vertices[a][c]).abs()).sum::<f64>();
                let b = (half..vertices.len()).find(|b| apart(b) < 1e-9)?;
                Some([a as u32, b as u32])
            })
            .collect();
        assert_eq!(pairs.len(), 9);
        let stitches = Stitches::between_vertices(&mesh, &pairs, &[1e7; 9], &[0.0; 9]).unwrap();
        let held = vertices.iter().map(|v| v[0] < 0.01).collect();
        let young = Field::Uniform(1e6);
        let material = Material::new(Law::Arap, young, Field::Uniform(0.0), Field::Uniform(1000.0)).unwrap();
        Self { mesh, material, held, stitches }
    }

    /// The same with the whole handle fixed.
    fn with_held_handle() -> Self {
        let mut fork = Self::new();
        let half = fork.held.len() / 2;
        fork.held[..half].fill(true);
        fork
    }

    fn problem(&self, stitches: &Stitches) -> ModesProblem {
        let restraint = Restraint { pinned: Some(&self.held), ..Restraint::default() };
        ModesProblem::new(&self.mesh, &self.material, &restraint, stitches, &Progress::default()).unwrap()
    }

    fn modes(&self, stitches: &Stitches, count: usize) -> SkinningModes {
        self.problem(stitches).lowest(count, &Progress::default()).unwrap()
    }

    fn plain(&self, count: usize) -> SkinningModes {
        self.modes(&Stitches::none(&self.mesh), count)
    }

    fn updated(&self, count: usize) -> SkinningModes {
        let problem = self.problem(&Stitches::none(&self.mesh));
        let old = problem.lowest(count + 8, &Progress::default()).unwrap();
        problem.update(&old, &self.stitches, count).unwrap().modes
    }

    /// Equilibrium positions of the stitched body under gravity.
    fn hang(&self, modes: &SkinningModes) -> Vec<[f64; 3]> {
        let labels = cluster_tets(&self.mesh, modes, 60, 0, &Progress::default()).unwrap();
        let extras = Extras { stitches: Some(&self.stitches), ..Extras::default() };
        let model =
            SkinningModel::with_extras(&self.mesh, &self.material, modes, &labels, None, &extras).unwrap();
        let model = Model::Skinning(model.into());
        let projector = model.projector(None).unwrap();
        let params =
            SimulationParams { pose_rest: 0.0, gravity: [0.0, 0.0, -9.81], ..SimulationParams::default() };
        let mut sim = Simulation::new(model, params).unwrap();
        sim.settle(&StepInput::default(), 5000, &Progress::default()).unwrap();
        let mut u = vec![0.0; 3 * self.mesh.vertices().len()];
        projector.displacement(sim.coefficients(), &mut u).unwrap();
        let moved = |(x, u): (&[f64; 3], &[f32; 3])| std::array::from_fn(|c| x[c] + f64::from(u[c]));
        self.mesh.vertices().iter().zip(u.as_chunks::<3>().0).map(moved).collect()
    }

    /// Sag of the head's end.
    fn sag(&self, shape: &[[f64; 3]]) -> f64 {
        let last = |i: &usize| self.mesh.vertices()[*i][0] > 1.19;
        let end: Vec<usize> = (0..shape.len()).filter(last).collect();
        end.iter().map(|&i| self.mesh.vertices()[i][2] - shape[i][2]).sum::<f64>() / end.len() as f64
    }
}

/// Each of our modes carries a whole affine motion and thus locks less than the paper's: with only two, the
/// old modes do as well as the updated ones. The locking shows with a single mode, which leaves the handle
/// where it is: it sags less than with all modes of a held handle, the updated one more. The update costs
/// less than the truncation to as many exact modes.
#[test]
fn figure_1_without_the_update_stitched_parts_lock() {
    let fork = Fork::new();
    let sag = |modes: &SkinningModes| fork.sag(&fork.hang(modes));
    let exact = sag(&fork.modes(&fork.stitches, 40));
    let old = fork.plain(1);
    let handle = old.weights.subrows(0, fork.held.len() / 2).norm_max();
    assert!(handle < 1e-9 * old.weights.norm_max(), "the handle moves by {handle}");
    let locked = sag(&Fork::with_held_handle().modes(&fork.stitches, 40));
    let without = sag(&old);
    let counts = [1, 2, 4, 8, 16];
    let found = counts.map(|count| [fork.updated(count), fork.modes(&fork.stitches, count)].map(|x| sag(&x)));
    println!(
        "sag of the end, metres: old mode {without:.4}, held handle {locked:.4}, exact {exact:.5}; \
         {counts:?} modes, updated and exact: {found:.5?}"
    );
    assert!(without < locked && locked < found[0][0], "{without} {locked} {found:?}");
    for [updated, own] in found {
        assert!((updated - own).abs() < exact - own, "{updated} {own} {exact}");
    }
    assert!(found.is_sorted_by(|few, more| few[0] < more[0]) && found[4][0] < exact, "{found:?} {exact}");
}

#[test]
fn figure_7_the_free_part_turns_with_the_other() {
    let fork = Fork::new();
    let shape = fork.hang(&fork.updated(6));
    let slope = |from: f64, to: f64| {
        let at = |x: f64| {
            let near = |i: &usize| (fork.mesh.vertices()[*i][0] - x).abs() < 1e-6;
            let all: Vec<usize> = (0..shape.len()).filter(near).collect();
            let mean = |c: usize| all.iter().map(|&i| shape[i][c]).sum::<f64>() / all.len() as f64;
            [mean(0), mean(2)]
        };
        let (a, b) = (at(from), at(to));
        (b[1] - a[1]).atan2(b[0] - a[0])
    };
    let (handle, head) = (slope(0.4, 0.5), slope(0.7, 0.8));
    assert!(handle < -0.02 && head <= handle, "{handle} {head}");
    // Each vertex stays with its counterpart.
    let pairs = fork.stitches.differences().to_dense();
    let moved = Mat::from_fn(shape.len(), 3, |i, c| shape[i][c]);
    assert!((pairs.transpose() * moved).norm_max() < 0.02);
}

#[test]
fn figure_3_the_updated_basis_covers_the_exact_modes() {
    let fork = Fork::new();
    let mass = lumped_mass(&fork.mesh, &fork.material);
    let exact = fork.modes(&fork.stitches, 6);
    let uncovered = |found: &SkinningModes| {
        let heavy = Mat::from_fn(mass.len(), 6, |i, k| mass[i] * exact.weights[(i, k)]);
        let covered = heavy.transpose() * &found.weights;
        (0..6).map(|k| 1.0 - covered.row(k).squared_norm_l2()).fold(0.0, f64::max)
    };
    let (without, with) = (uncovered(&fork.plain(6)), uncovered(&fork.updated(6)));
    println!("share of the exact modes not covered: old {without:.4}, updated {with:.6}");
    assert!(with < 1e-2 && with < 0.1 * without, "{with} {without}");
}
