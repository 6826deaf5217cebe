//! Processes that outlive the command that started them.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::process::{MARK, Result};

/// Time for processes to end by themselves, of pools and clusters among them.
const PATIENCE: Duration = Duration::from_secs(20);

/// Refuses processes that this command or one of its children has left behind; on Linux only.
pub fn check() -> Result<()> {
    let start = Instant::now();
    loop {
        let left = marked(std::process::id());
        if left.is_empty() {
            return Ok(());
        }
        if start.elapsed() > PATIENCE {
            return Err(format!("processes are left behind:\n{}", left.join("\n")));
        }
        sleep(Duration::from_millis(100));
    }
}

/// Number and words of every process with the mark of a command.
fn marked(number: u32) -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let mark = format!("{MARK}={number}");
    let has_mark = |path: &Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|entry| entry == mark.as_bytes())
    };
    let words = |path: &Path| {
        let line =
            String::from_utf8_lossy(&fs::read(path.join("cmdline")).unwrap_or_default()).replace('\0', " ");
        format!("  {} {}", path.file_name().unwrap_or_default().to_string_lossy(), line.trim_end())
    };
    let paths = processes.flatten().map(|entry| entry.path());
    paths.filter(|path| has_mark(path)).map(|path| words(&path)).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Stdio;
    use std::time::Instant;

    use super::{PATIENCE, marked};
    use crate::process::{MARK, command};

    #[test]
    fn a_process_that_its_parent_left_is_found() {
        let number = std::process::id() + 1_000_000_000;
        let script = "sleep 60 >/dev/null 2>&1 & echo $!";
        let mut shell = command("sh");
        let shell = shell.args(["-c", script]).env(MARK, number.to_string()).stdout(Stdio::piped());
        let left = String::from_utf8(shell.output().unwrap().stdout).unwrap();
        let expected = format!("  {} sleep 60", left.trim());
        let start = Instant::now();
        // A process has no environment to read for a moment, between its fork and the start of `sleep`.
        while marked(number) != [expected.clone()] && start.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
        assert_eq!(marked(number), [expected]);
        assert!(command("kill").arg(left.trim()).status().unwrap().success());
        while !marked(number).is_empty() {
            std::thread::yield_now();
        }
    }
}
