//! `cargo x`: sets up, builds, checks, tests and demonstrates the whole project.

mod addon;
mod bench;
mod bits;
mod check;
mod cost;
mod demo;
mod deny;
mod docs;
mod folders;
mod foreign;
mod fuzz;
mod godot;
mod gui;
mod leftovers;
mod measure;
mod measured;
mod memory;
mod nightly;
mod notebooks;
mod notices;
mod page;
mod pictures;
mod platform;
mod players;
mod prerequisites;
mod process;
mod project;
mod release;
mod repository;
mod result;
mod sheets;
mod suites;
mod tally;
mod test;
mod venv;
mod wasm;
mod wheel;
mod words;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use process::Result;

const USAGE: &str = "\
usage: cargo x <command>

  demo [character]      bake secondary motion onto a character (FBX, GLB, .blend; by default our own creature)
                        in Blender; the results go to out/
  test [suite...]       every test, or only these suites: rust, python, addon, docs, blender, farm, characters
       [--long]         with their long runs: every button in every state, whole grids, many seeds
       [--bpy VERSION]  the blender suite on another Blender: 4.2 to 5.3, or all
       --target NAME    the Python tests, and a comparison of motion, on x64-avx2, x64-baseline, linux-arm64
                        (by QEMU) or windows-x64 (by Wine; the blender suite as well)
  gui [test...]         the tests in Blender's window, on a virtual screen; pictures go to out/gui/
      [--blender PATH]  in this Blender instead of Debian's own, fetched below target/ (1.4 GB, root)
  check [name...]       every check, or only these: rustfmt, clippy, rustdoc, ruff, ruff-format, mypy, stubs,
                        repository
  docs                  the documentation site with the references of Python and Rust, links and formulas
                        checked, to out/site
  notebooks [name...]   every notebook of the documentation, or only these, executed anew, in docs/notebooks/
  stubs                 the docstrings of the Python module, into its stub
  deny                  licences, sources and known faults of the compiled crates; faults need a network
  wheel                 the Python module, to dist/
  wasm [--measure]      the player and the builder of bodies for browsers, to out/wasm/; with --measure a
                        table of their sizes, times, and agreement with the native player
  page [character...]   the player's page, one file without a server, to out/page/; needs Node, and Chromium
                        to compare the page with the player, and to drop these GLB characters on it
  godot                 the player as an addon of Godot 4, to out/godot/addons/jounce/; needs Godot 4.4 or
                        newer (JOUNCE_GODOT, the PATH, or Debian's in the chroot of `gui`)
  players               one character in Rust, C, JavaScript, Python and Godot beside its preview, and a
                        stadium: sizes, times and agreement, to out/players.md
  stadium [BODIES [THREADS]]
                        a thousand characters of 16 modes on two threads
  addon                 the Blender extension, to dist/
  release [platform...] wheels, zips, sources and checksums for every platform, or only these, built on Linux
                        and checked, to dist/release/; `release pack` uses existing wheels
  sheets [character]    motion of body parts on every character at the defaults: out/body_parts.md and a
                        contact sheet of each in out/sheets/
  films [character]     every character posed, with flesh and as heat, at true speed, as webp and mp4, and a
                        strip of six frames: out/films.md and out/films/
  gallery [picture]     the loops of README and gallery, to docs/images/gallery/, and a table: out/gallery.md
  trailer               a minute of what Jounce does, to docs/images/trailer.mp4; rendered shots stay in
                        out/trailer/
  measure [page]        every measured page of docs/evidence.md, or only this, with new tables; all take hours
  final [character]     the final motion of every character beside its draft and modes:
                        out/final_motion.md and a contact sheet of each in out/final/
  full-space [character]
                        difference of every character's motion from the full space: out/full_space.md
  honest [character]    volume and lowest frequency of every character's body at five resolutions:
                        out/honest_body.md
  pictures              the pictures of the documentation, made in Blender, to docs/images/
  bench [--docs] [--long]
                        the benchmarks, to out/bench.txt; with --docs to docs/benchmarks.md as well, with
                        --long the slow rows of other programs too
  bits COMMIT           comparison of the bits of motions, models and states with those at a commit
  bench rivals [--docs] the full space beside VBD of newton and Newton's method with SciPy, to
                        out/rivals.txt; with --docs to docs/benchmarks.md as well
  fuzz [--seconds N] [target...]
                        hostile input for N seconds (60) per target: model_file, player, body, motion,
                        contact, from the inputs of earlier runs in out/fuzz/; needs nightly Rust and
                        cargo-fuzz
  memory [name...]      native tests under memory checkers: miri (some of them), address (all, under a
                        sanitizer); needs nightly Rust
  nightly               all checks and suites with their long runs, every Blender and window, 200 kills of
                        each writer, memory, and 30 minutes of fuzz per target
  setup                 the Python environments of the other commands, below target/";

fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["help" | "-h" | "--help"] => {
            show(USAGE);
            Ok(())
        }
        [name, options @ ..] if options.iter().any(|option| ["-h", "--help"].contains(option)) => {
            show(&usage_of(name).ok_or(USAGE)?);
            Ok(())
        }
        ["demo"] => demo::run(None),
        ["demo", character] => demo::run(Some(character)),
        ["test", "--target", name] => foreign::run_tests(name),
        ["test", options @ ..] => test::run(options),
        ["gui", options @ ..] => gui::run_tests(options),
        ["check", names @ ..] => check::run(names),
        ["docs"] => docs::build(),
        ["notebooks", names @ ..] => notebooks::execute(names),
        ["stubs"] => check::write_stubs(),
        ["deny"] => deny::check(),
        ["wheel"] => wheel::build_to_pass_on(),
        ["addon"] => addon::build().map(drop),
        ["release", names @ ..] => release::run_all(names),
        ["wasm"] => wasm::build().map(drop),
        ["wasm", "--measure"] => wasm::measure(),
        ["page", characters @ ..] => page::build(characters),
        ["godot"] => godot::build(),
        ["players"] => players::run_all().map(drop),
        ["stadium", numbers @ ..] => players::stadium(numbers),
        ["pictures"] => pictures::run(),
        ["sheets"] => sheets::run("").map(drop),
        ["sheets", only] => sheets::run(only).map(drop),
        ["films"] => sheets::films("").map(drop),
        ["films", only] => sheets::films(only).map(drop),
        ["gallery"] => sheets::gallery("").map(drop),
        ["gallery", only] => sheets::gallery(only).map(drop),
        ["trailer"] => sheets::trailer(),
        ["measure"] => measure::run(""),
        ["measure", only] => measure::run(only),
        ["final"] => sheets::final_motion("").map(drop),
        ["final", only] => sheets::final_motion(only).map(drop),
        ["full-space"] => sheets::full_space("").map(drop),
        ["full-space", only] => sheets::full_space(only).map(drop),
        ["honest"] => sheets::honest(""),
        ["honest", only] => sheets::honest(only),
        ["bench", "rivals"] => bench::run_rivals(false),
        ["bench", "rivals", "--docs"] => bench::run_rivals(true),
        ["bench", options @ ..] if options.iter().all(|option| ["--docs", "--long"].contains(option)) => {
            bench::run(options.contains(&"--docs"), options.contains(&"--long"))
        }
        ["bits", base] => bits::compare(base),
        ["fuzz", options @ ..] => fuzz::run(options),
        ["memory", names @ ..] => memory::run_tests(names),
        ["nightly"] => nightly::run_all(),
        ["setup"] => {
            let start = Instant::now();
            venv::set_up_all()?;
            cost::report("setup", start)
        }
        _ => Err(USAGE.to_owned()),
    }
}

/// Prints text, as far as the reader wants it: `cargo x help | head` closes the pipe early.
fn show(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}

/// Lines of the usage about a command.
fn usage_of(name: &str) -> Option<String> {
    let is_start = |line: &str| line.starts_with("  ") && !line.starts_with("   ");
    let mut kept = Vec::new();
    let mut inside = false;
    for line in USAGE.lines() {
        if is_start(line) {
            inside = line.split_whitespace().next() == Some(name);
        }
        kept.extend(inside.then_some(line));
    }
    (!kept.is_empty()).then(|| kept.join("\n"))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{USAGE, run, usage_of};

    #[test]
    fn every_command_explains_itself_instead_of_running() {
        let names = USAGE.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        for name in names.filter_map(|line| line.split_whitespace().next()) {
            assert!(usage_of(name).unwrap().contains(name));
            run(&[name, "--help"]).unwrap();
        }
        let test = usage_of("test").unwrap();
        assert!(
            test.contains("--long")
                && test.contains("--bpy")
                && test.contains("windows-x64")
                && !test.contains("gui")
        );
        assert_eq!(usage_of("bench").unwrap().matches("  bench").count(), 2);
        assert!(run(&["nonsense", "--help"]).is_err());
    }
}
