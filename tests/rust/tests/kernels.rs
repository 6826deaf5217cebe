//! Kernels are compiled as a whole, for the instruction set on which they run.

use jounce::Progress;
use jounce::inputs::SimulationParams;
use jounce::simulation::Simulation;
use jounce::subspace::skinning_modes;
use jounce_tests::bodies::{Body, REST};
use object::{Object, ObjectSymbol};

/// An intrinsic that is not inlined is called from a part of a kernel that the compiler kept as a separate
/// function (`array::from_fn`, a closure, an iterator), and is several times as slow.
#[test]
#[cfg(target_arch = "x86_64")]
fn no_instruction_is_a_function() {
    let body = Body::bar();
    let mut simulation = Simulation::new(body.model(), SimulationParams::default()).unwrap();
    simulation.step(Some(&[REST; 2])).unwrap();
    skinning_modes(&body.mesh, &body.material, 3, Some(&body.rig), None, &Progress::default()).unwrap();

    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let program = object::File::parse(&*program).unwrap();
    let names: Vec<&str> = program.symbols().filter_map(|symbol| symbol.name().ok()).collect();
    assert!(names.iter().any(|name| name.contains("vectorize")), "the program has its symbols");
    let left: Vec<_> =
        names.iter().filter(|name| name.contains("core_arch") && name.contains("_mm")).collect();
    assert!(left.is_empty(), "{left:?}");
}
