//! Memory use of the benchmarks.

/// Resets the peak memory of this process (Linux), because building a mesh takes much.
pub fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").ok();
}

/// Peak memory of this process since the reset, MiB, or a dash if unknown.
pub fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.map_or("-".to_owned(), |kib| format!("{:.0}", kib / 1024.0))
}
