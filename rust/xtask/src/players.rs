//! `cargo x players`: one character in every player beside the preview, and a stadium: `out/players.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::addon;
use crate::godot::{self, Godot, size};
use crate::process::{Result, cargo, command, heading, io_error, output, run};
use crate::project;
use crate::venv::{Venv, default_blender};
use crate::wasm;

/// Recorded frames.
const FRAMES: usize = 300;
/// Largest difference from the preview, as a share of the size.
const APART: f64 = 1e-5;
/// Recordings: folder, *Maximum Stretch* in percent or 0 for none, and `true` if players are judged by it.
const RECORDINGS: [(&str, &str, bool); 2] = [("free", "0", true), ("limited", "40", false)];

/// A recorded character.
struct Recording {
    folder: PathBuf,
    size: f64,
    seconds: f64,
    start: f64,
    /// Counts of points, bones and modes, and times of the Python player, by the recording.
    told: String,
}

/// Plays a recording into a file: microseconds of a step and of the displacements.
type Play<'a> = Box<dyn Fn(&Recording, &Path) -> Result<[String; 2]> + 'a>;

/// A player with its compiled file.
struct Player<'a> {
    name: &'static str,
    compiled: PathBuf,
    play: Play<'a>,
}

/// Measures all players, writes the table, and refuses one that is far from the preview.
pub fn run_all() -> Result<PathBuf> {
    let godot = Godot::find()?;
    let extension = addon::build()?;
    let recordings = RECORDINGS.map(|(name, stretch, _)| record(name, stretch, &extension));
    let recordings = recordings.into_iter().collect::<Result<Vec<_>>>()?;
    let players = players(&godot)?;
    let mut rows = vec![
        "| player | compiled, kB | step, us | displacements, us | apart | apart at the limit of stretch |"
            .to_owned(),
        "| --- | --- | --- | --- | --- | --- |".to_owned(),
    ];
    let mut far = Vec::new();
    for player in &players {
        heading(player.name);
        let mut cells = vec![player.name.to_owned(), (size(&player.compiled) / 1000).to_string()];
        for (recording, (name, _, is_judged)) in recordings.iter().zip(RECORDINGS) {
            let target = recording.folder.join(player.name.split(' ').next().unwrap_or_default());
            let times = (player.play)(recording, &target)?;
            let apart = apart(&recording.folder.join("preview"), &target, recording.size)?;
            println!("{name}: {apart:.1e} of the size from the preview");
            if is_judged {
                cells.extend(times);
                far.extend(
                    (apart > APART).then(|| format!("{} is {apart:.1e} from the preview", player.name)),
                );
            }
            cells.push(format!("{apart:.1e}"));
        }
        rows.push(format!("| {} |", cells.join(" | ")));
    }
    let table = project::out().join("players.md");
    let text = format!("{}\n\n{}\n", rows.join("\n"), crowd(&[])?);
    fs::write(&table, &text).map_err(io_error(&table))?;
    println!("\n{text}\n{}\nThe table is {}", recordings[0].told, table.display());
    if far.is_empty() { Ok(table) } else { Err(far.join("\n")) }
}

/// Runs the stadium and prints its table.
pub fn stadium(numbers: &[&str]) -> Result<()> {
    println!("{}", crowd(numbers)?);
    Ok(())
}

fn crowd(numbers: &[&str]) -> Result<String> {
    heading("stadium");
    output(example("stadium").args(numbers))
}

/// A compiled example of the player.
fn example(name: &str) -> Command {
    let mut call = cargo();
    call.args([
        "run",
        "--quiet",
        "--profile",
        "player",
        "--package",
        "jounce-player",
        "--example",
        name,
        "--",
    ]);
    call
}

/// Records the creature in Blender: `out/players/NAME`.
fn record(name: &str, stretch: &str, extension: &Path) -> Result<Recording> {
    let folder = project::out().join("players").join(name);
    project::empty_directory(&folder)?;
    heading(&format!("recording: {name}"));
    let mut script = Venv::blender(default_blender())?.python();
    script.env("BLENDER_USER_RESOURCES", project::blender_resources("players")?);
    script.arg("tests/blender/players.py").arg(&folder).arg("--extension").arg(extension);
    let said = output(script.args(["--stretch", stretch, "--frames", &FRAMES.to_string()]))?;
    let told = said.lines().rfind(|line| line.starts_with('{')).unwrap_or_default().to_owned();
    let number = |name| number(&told, name);
    Ok(Recording {
        size: number("size")?,
        seconds: number("seconds")?,
        start: number("start")?,
        folder,
        told,
    })
}

/// A number of a JSON object.
fn number(object: &str, name: &str) -> Result<f64> {
    let after = object.split(&format!("\"{name}\":")).nth(1).unwrap_or_default();
    let digits = after.trim_start().split([',', '}']).next().unwrap_or_default();
    digits.parse().map_err(|_| format!("no number {name} was said in {object}"))
}

/// Microseconds with the unit's precision.
fn micros(number: f64) -> String {
    format!("{number:.0}")
}

/// Two numbers of a program's output.
fn two(said: &str) -> Result<[String; 2]> {
    let numbers: Vec<f64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [step, displace] = numbers[..] else { return Err(format!("no times were said: {said}")) };
    Ok([micros(step), micros(displace)])
}

fn players(godot: &Godot) -> Result<Vec<Player<'_>>> {
    run(cargo().args(["build", "--quiet", "--profile", "player", "--package", "jounce-player", "--lib"]))?;
    let compiled = project::target().join("player");
    let library = compiled.join("libjounce_player.so");
    let c = compile_c(&compiled)?;
    let module = wasm::build()?.player;
    let addon = godot::addon(godot)?;
    let wheel = project::files_with_extension(&project::dist(), "whl")?.pop().unwrap_or_default();
    let script = |recording: &Recording, target: &Path, mut call: Command| {
        two(&output(call.arg(&recording.folder).arg(recording.seconds.to_string()).arg(target))?)
    };
    Ok(vec![
        Player {
            name: "Rust",
            compiled: library.clone(),
            play: Box::new(move |recording, target| script(recording, target, example("recorded"))),
        },
        Player {
            name: "C",
            compiled: library,
            play: Box::new(move |recording, target| {
                let mut program = command(&c);
                program.env("LD_LIBRARY_PATH", project::target().join("player"));
                script(recording, target, program)
            }),
        },
        Player {
            name: "JavaScript, WebAssembly in Node",
            compiled: module.clone(),
            play: Box::new(move |recording, target| {
                let mut node = command("node");
                node.arg("rust/player/js/play.mjs").arg(&module).arg(recording.folder.join("hero.glb"));
                two(&output(node.args([FRAMES.to_string(), recording.seconds.to_string()]).arg(target))?)
            }),
        },
        Player {
            name: "Python",
            compiled: wheel,
            play: Box::new(|recording, target| {
                let made = recording.folder.join("python");
                fs::rename(&made, target).map_err(io_error(&made))?;
                Ok([micros(number(&recording.told, "step")?), micros(number(&recording.told, "displace")?)])
            }),
        },
        Player {
            name: "Godot 4",
            compiled: addon.join("bin/libjounce_godot.linux.x86_64.so"),
            play: Box::new(move |recording, target| {
                let clock = [recording.seconds, recording.start];
                let said = godot::play(godot, &recording.folder.join("hero.glb"), FRAMES, clock, target)?;
                println!("{said}");
                Ok([micros(number(&said, "step")?), micros(number(&said, "shape")?)])
            }),
        },
    ])
}

/// Compiles the player in C that plays recordings.
fn compile_c(libraries: &Path) -> Result<PathBuf> {
    let program = libraries.join("recorded_c");
    let mut compiler = command(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    compiler.args(["rust/player/examples/recorded.c", "-I", "rust/player/include", "-L"]).arg(libraries);
    run(compiler.args(["-ljounce_player", "-lm", "-o"]).arg(&program))?;
    Ok(program)
}

/// Largest difference of two files of 32-bit floats, as a share of a size.
fn apart(one: &Path, other: &Path, size: f64) -> Result<f64> {
    let read = |path: &Path| -> Result<Vec<f32>> {
        let bytes = fs::read(path).map_err(io_error(path))?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    };
    let (one, other) = (read(one)?, read(other)?);
    if one.len() != other.len() || one.is_empty() {
        return Err(format!("{} numbers were written instead of {}", other.len(), one.len()));
    }
    let gap = |most: f64, (a, b): (&f32, &f32)| most.max(f64::from((a - b).abs()));
    Ok(one.iter().zip(&other).fold(0.0, gap) / size)
}

#[cfg(test)]
mod tests {
    use super::{number, two};

    #[test]
    fn numbers_are_found_in_what_programs_say() {
        assert_eq!(number("{\"step\": 12.5, \"size\":2}", "size"), Ok(2.0));
        assert!(number("{}", "size").is_err());
        assert_eq!(two("12.4 7.9\n"), Ok(["12".to_owned(), "8".to_owned()]));
        assert!(two("none").is_err());
    }
}
