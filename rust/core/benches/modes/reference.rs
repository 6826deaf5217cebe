//! Runs `reference.py` on an eigenproblem.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jounce::mesh::TetMesh;

/// Time limit without `JOUNCE_LONG`.
const PATIENCE: Duration = Duration::from_secs(60);

/// Input of the reference, for a conductivity and a density of one.
pub struct Problem<'a> {
    pub mesh: &'a TetMesh,
    pub leak: &'a [f64],
    /// Rig weights, n x b in C order.
    pub weights: Option<&'a [f64]>,
    /// Pairs of vertices joined by springs, and each spring's stiffness k; it adds `k a a'` to the Hessian.
    pub springs: &'a [([u32; 2], f64)],
}

/// Output of the reference.
pub struct Reference {
    pub seconds: f64,
    pub solver: String,
    /// Eigenvalues, ascending, for a conductivity and density of one.
    pub eigenvalues: Vec<f64>,
}

/// The lowest modes by the method `schur` or `kkt`; `None` if it cannot run or exceeds the time limit.
pub fn ask(python: &Path, problem: &Problem<'_>, modes: usize, method: &str) -> Option<Reference> {
    let folder = std::env::temp_dir().join(format!("jounce-modes-{}", std::process::id()));
    let answer = write(&folder, problem).and_then(|()| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/modes/reference.py");
        printed(Command::new(python).arg(script).arg(&folder).args([&modes.to_string(), method]))
    });
    // The folder is temporary, so failing to remove it does no harm.
    std::fs::remove_dir_all(&folder).ok();
    let text = answer.ok()?;
    let mut words = text.split_whitespace();
    let (seconds, solver) = (words.next()?.parse().ok()?, words.next()?.to_owned());
    let eigenvalues: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    (eigenvalues.len() == modes).then_some(Reference { seconds, solver, eigenvalues })
}

/// Output of a program; empty if it exceeds the time limit.
fn printed(command: &mut Command) -> std::io::Result<String> {
    let start = Instant::now();
    let long = std::env::var_os("JOUNCE_LONG").is_some();
    let mut program = command.stdout(Stdio::piped()).spawn()?;
    while program.try_wait()?.is_none() {
        if !long && start.elapsed() > PATIENCE {
            program.kill()?;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    program.stdout.map_or(Ok(String::new()), std::io::read_to_string)
}

fn write(folder: &Path, problem: &Problem<'_>) -> std::io::Result<()> {
    let bytes =
        |numbers: &mut dyn Iterator<Item = f64>| numbers.flat_map(f64::to_le_bytes).collect::<Vec<u8>>();
    std::fs::create_dir_all(folder)?;
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(folder.join(name), bytes);
    write("vertices", bytes(&mut problem.mesh.vertices().iter().flatten().copied()))?;
    write("tets", problem.mesh.tets().iter().flatten().flat_map(|v| v.to_le_bytes()).collect())?;
    write("leak", bytes(&mut problem.leak.iter().copied()))?;
    if let Some(weights) = problem.weights {
        write("weights", bytes(&mut weights.iter().copied()))?;
    }
    let springs = problem.springs.iter();
    write("springs", bytes(&mut springs.flat_map(|&([a, b], k)| [f64::from(a), f64::from(b), k])))
}
