//! `cargo x measure`: the pages of `docs/evidence.md`, measured anew.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bench;
use crate::measured::{PAGE, rows};
use crate::players;
use crate::process::{self, Result, command, heading, io_error, output};
use crate::project;
use crate::project::read;
use crate::sheets;

/// Makes the tables of a page, or writes the page itself.
type Maker = fn() -> Result<Option<PathBuf>>;

/// Measured pages below `docs`, in the order of their names.
const PAGES: [(&str, Maker); 9] = [
    ("addon/bakes.md", || script("examples/blender/bakes.py", &THREE).map(Some)),
    ("addon/exports.md", || script("tests/blender/exports.py", &THREE).map(Some)),
    ("addon/final_motion.md", || sheets::final_motion("").map(Some)),
    ("addon/mixamo.md", || script("tests/blender/mixamo.py", &[""]).map(Some)),
    ("addon/newcomer.md", || script("examples/blender/newcomer.py", &NEWCOMERS).map(Some)),
    ("addon/what_moves.md", || sheets::run("").map(Some)),
    ("benchmarks.md", || bench::run(true, false).map(|()| None)),
    ("gallery.md", || sheets::gallery("").map(Some)),
    ("players.md", || players::run_all().map(Some)),
];

/// Characters of the pages on bakes and exports.
const THREE: [&str; 3] =
    ["mixamo/xbot_samba.fbx", "open_creature/Frog.blend", "open_humanoid/ozz_arnaud.fbx"];
/// Characters of the page on the way from a file to a bake.
const NEWCOMERS: [&str; 6] = [
    "mixamo/xbot_samba.fbx",
    "mixamo/bigvegas_swing.blend",
    "open_creature/Fox.glb",
    "open_creature/Dragon.fbx",
    "open_humanoid/Smooth_Male_Suit.fbx",
    "open_humanoid/CesiumMan.gltf",
];

/// Measures the pages whose names contain `only`, and writes tables and rows of the list.
pub fn run(only: &str) -> Result<()> {
    let chosen: Vec<_> = PAGES.iter().filter(|(page, _)| page.contains(only)).collect();
    if chosen.is_empty() {
        let known = PAGES.map(|(page, _)| page).join(", ");
        return Err(format!("no measured page has a name with {only}; they are {known}"));
    }
    for (page, make) in chosen {
        heading(page);
        let path = project::root().join("docs").join(page);
        if let Some(made) = make()? {
            let tables = fs::read_to_string(&made).map_err(io_error(&made))?;
            let text = fs::read_to_string(&path).map_err(io_error(&path))?;
            let changed = with_tables(&text, &tables).map_err(|problem| format!("docs/{page}: {problem}"))?;
            fs::write(&path, changed).map_err(io_error(&path))?;
        }
        note(page)?;
        println!("docs/{page} has new tables; read the words around them");
    }
    Ok(())
}

/// Runs a script of Blender on files of the characters' folder, and returns the file with its tables.
fn script(name: &str, files: &[&str]) -> Result<PathBuf> {
    let (data, extension, blender) = sheets::ready()?;
    let table = project::out().join(Path::new(name).with_extension("md").file_name().unwrap_or_default());
    fs::create_dir_all(project::out()).map_err(io_error(&table))?;
    let mut python = blender.python();
    python.env("BLENDER_USER_RESOURCES", project::blender_resources("measure")?).arg(name);
    python.args(files.iter().map(|file| data.join(file))).arg("--extension").arg(extension);
    process::run(python.arg("--out").arg(&table))?;
    Ok(table)
}

/// Writes the row of a page measured just now.
fn note(page: &str) -> Result<()> {
    let commit = output(command("git").args(["log", "-1", "--format=`%h`, %cs"]))?;
    let text = read(Path::new(PAGE))?;
    let link = format!("]({page})");
    let row = rows(&text).into_iter().find(|row| row.page.ends_with(&link));
    let row = row.ok_or(format!("{PAGE} has no row for {page}"))?;
    let place = commit.trim().to_owned() + &processor();
    let (start, new) = (format!("| {} |", row.page), row.measured(&place)?);
    let lines = text.lines().map(|line| if line.starts_with(&start) { new.as_str() } else { line });
    let path = project::root().join(PAGE);
    fs::write(&path, lines.collect::<Vec<_>>().join("\n") + "\n").map_err(io_error(&path))
}

/// Name of the processor after a comma, where Linux tells one.
fn processor() -> String {
    let known = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = known.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map(|(_, name)| format!(", {name}")).unwrap_or_default()
}

/// A page whose tables have the rows of another text's tables, in their own columns. Each of the other
/// tables goes to the next one all of whose columns it has.
fn with_tables(page: &str, made: &str) -> Result<String> {
    let mut new = made.split('\n').collect::<Vec<_>>();
    new.push("");
    let mut tables = tables(&new).into_iter().map(|range| &new[range]).peekable();
    let lines: Vec<_> = page.split('\n').collect();
    let (mut kept, mut done) = (Vec::new(), 0);
    for range in self::tables(&lines) {
        let columns = cells(lines[range.start]);
        let Some(places) = tables.peek().and_then(|table| places(&columns, &cells(table[0]))) else {
            continue;
        };
        kept.extend(lines[done..range.start + 2].iter().map(|line| (*line).to_owned()));
        for row in tables.next().unwrap_or_default().iter().skip(2) {
            let row = cells(row);
            let chosen: Vec<_> = places.iter().map(|&place| row.get(place).copied().unwrap_or("")).collect();
            kept.push(format!("| {} |", chosen.join(" | ")));
        }
        done = range.end;
    }
    if let Some(left) = tables.next() {
        return Err(format!("no table of the page has the columns {}", left[0]));
    }
    kept.extend(lines[done..].iter().map(|line| (*line).to_owned()));
    Ok(kept.join("\n"))
}

/// Lines of each table of Markdown.
fn tables(lines: &[&str]) -> Vec<std::ops::Range<usize>> {
    let is_row = |line: &usize| lines.get(*line).is_some_and(|text| text.starts_with('|'));
    let starts = (0..lines.len()).filter(|line| is_row(line) && (*line == 0 || !is_row(&(line - 1))));
    starts.map(|start| start..(start..=lines.len()).find(|line| !is_row(line)).unwrap_or(start)).collect()
}

/// Cells of a row.
fn cells(row: &str) -> Vec<&str> {
    let inside = row.trim().strip_prefix('|').and_then(|rest| rest.strip_suffix('|')).unwrap_or(row);
    inside.split('|').map(str::trim).collect()
}

/// Places of columns among others, if all of them are there.
fn places(columns: &[&str], others: &[&str]) -> Option<Vec<usize>> {
    columns.iter().map(|column| others.iter().position(|other| other == column)).collect()
}

#[cfg(test)]
mod tests {
    use super::{PAGES, with_tables};
    use crate::measured::{PAGE, rows};
    use crate::project::read;

    #[test]
    fn every_row_of_the_list_can_be_measured() {
        let text = read(std::path::Path::new(PAGE)).unwrap();
        let mut listed: Vec<_> = rows(&text)
            .iter()
            .filter_map(|row| {
                row.page.split_once("](").map(|(_, link)| link.trim_end_matches(')').to_owned())
            })
            .collect();
        listed.sort();
        assert_eq!(listed, PAGES.map(|(page, _)| page));
    }

    #[test]
    fn tables_get_new_rows_and_keep_columns_and_words() {
        let page = "# A\n\n| x | z |\n| --- | --- |\n| 1 | 2 |\n\nWords.\n\n\
                    | other |\n| --- |\n| 5 |\n\n| w |\n| --- |\n| 0 |\n";
        let made =
            "| x | y | z |\n| --- | --- | --- |\n| 3 | 4 |  |\n| 6 | 7 | 8 |\n\n| w |\n| --- |\n| 9 |\n";
        let expected = "# A\n\n| x | z |\n| --- | --- |\n| 3 |  |\n| 6 | 8 |\n\nWords.\n\n\
                        | other |\n| --- |\n| 5 |\n\n| w |\n| --- |\n| 9 |\n";
        assert_eq!(with_tables(page, made).unwrap(), expected);
        assert!(with_tables("# A\n", made).unwrap_err().contains("| x | y | z |"));
    }
}
