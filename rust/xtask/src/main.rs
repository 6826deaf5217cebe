//! `cargo x`: sets up, builds, checks, tests and demonstrates the whole project.

mod addon;
mod bench;
mod check;
mod demo;
mod deny;
mod docs;
mod folders;
mod foreign;
mod fuzz;
mod gui;
mod measured;
mod memory;
mod nightly;
mod notebooks;
mod notices;
mod page;
mod pictures;
mod platform;
mod prerequisites;
mod process;
mod project;
mod release;
mod repository;
mod sheets;
mod tally;
mod test;
mod venv;
mod wasm;
mod wheel;

use std::process::ExitCode;

use process::Result;

const USAGE: &str = "\
usage: cargo x <command>

  demo [character]      bake secondary motion onto a character (FBX, GLB, .blend; without one, onto our own
                        creature) in Blender; the results go to out/
  test [suite...]       every test, or only the suites named: rust, python, addon, docs, blender, farm,
                        characters
       [--bpy VERSION]  the blender suite on another Blender: 4.2 to 5.3, or all
       --target NAME    the Python tests, and whether motion is the same, on x64-avx2, x64-baseline, linux-arm64 (by
                        QEMU) or windows-x64 (by Wine; the blender suite as well)
  gui [test...]         the tests in Blender's window, on a virtual screen; pictures go to out/gui/
      [--blender PATH]  in this Blender instead of Debian's own, which is fetched below target/ (1.4 GB, root)
  check [name...]       every check, or only those named: rustfmt, clippy, rustdoc, ruff, ruff-format, mypy, stubs,
                        repository
  docs                  the documentation site with the references of Python and Rust, links and formulas checked,
                        to out/site
  notebooks [name...]   every notebook of the documentation, or those named, executed anew, in docs/notebooks/
  stubs                 the docstrings of the Python module, into its stub
  deny                  licences, sources and known faults of the crates that are compiled in; the last needs a network
  wheel                 the Python module, to dist/
  wasm [--measure]      the player and the builder of bodies for browsers, to out/wasm/; with --measure a table of
                        their sizes, times, and agreement with the native player
  page [character.glb...]
                        the player's page, one file that needs no server, to out/page/; it needs Node, and Chromium
                        to show that the page moves as the player does, and what becomes of these characters in it
  addon                 the Blender extension, to dist/
  release [platform...] what is published for every platform, or for those named, built on Linux: wheels, zips, sources,
                        checksums, all checked, to dist/release/; `release pack` takes the wheels that are there
  sheets [character]    what moves where on every character at the defaults: out/body_parts.md and a contact
                        sheet of each in out/sheets/
  films [character]     each of them posed | flesh | heat at true speed, as webp and mp4, and a strip of six frames:
                        out/films.md and out/films/
  gallery [picture]     the loops of README and gallery, to docs/images/gallery/, and their table: out/gallery.md
  final [character]     the final motion of every character beside its draft: out/final_motion.md and a contact sheet
                        of each in out/final/
  full-space [character]
                        how far every character's motion is from the full space: out/full_space.md
  honest [character]    volume and lowest frequency of every character's body at five resolutions: out/honest_body.md
  pictures              the pictures of the documentation, made in Blender, to docs/images/
  bench [--docs] [--long]
                        the benchmarks, to out/bench.txt; with --docs to docs/benchmarks.md as well, with
                        --long the slow rows of other programs too
  fuzz [--seconds N] [target...]
                        hostile input for N seconds (60) a target: model_file, body, motion, contact, on from what
                        out/fuzz/ keeps of earlier runs; needs nightly Rust and cargo-fuzz
  memory [name...]      native tests where wrong uses of memory are seen: miri (some of them), address (all, under a
                        sanitizer); needs nightly Rust
  nightly               all checks and suites, every Blender and window, 200 kills of each writer, memory, and 30
                        minutes of fuzz a target
  setup                 the Python environments that the other commands use, below target/";

fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
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
        ["pictures"] => pictures::run(),
        ["sheets"] => sheets::run(""),
        ["sheets", only] => sheets::run(only),
        ["films"] => sheets::films(""),
        ["films", only] => sheets::films(only),
        ["gallery"] => sheets::gallery(""),
        ["gallery", only] => sheets::gallery(only),
        ["final"] => sheets::final_motion(""),
        ["final", only] => sheets::final_motion(only),
        ["full-space"] => sheets::full_space(""),
        ["full-space", only] => sheets::full_space(only),
        ["honest"] => sheets::honest(""),
        ["honest", only] => sheets::honest(only),
        ["bench", options @ ..] if options.iter().all(|option| ["--docs", "--long"].contains(option)) => {
            bench::run(options.contains(&"--docs"), options.contains(&"--long"))
        }
        ["fuzz", options @ ..] => fuzz::run(options),
        ["memory", names @ ..] => memory::run_tests(names),
        ["nightly"] => nightly::run_all(),
        ["setup"] => venv::set_up_all(),
        ["help" | "-h" | "--help"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(USAGE.to_owned()),
    }
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
