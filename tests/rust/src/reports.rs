//! Progress that counts its reports, and cancels at one of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jounce::Progress;

/// Progress that cancels its computation at a report, counted from 0.
pub fn cancelling(report: usize) -> Progress {
    let heard = AtomicUsize::new(0);
    Progress::asking(move || heard.fetch_add(1, Ordering::Relaxed) == report)
}

/// Result of some work, and its number of reports.
pub fn counted<T>(work: impl FnOnce(&Progress) -> T) -> (T, usize) {
    let heard = Arc::new(AtomicUsize::new(0));
    let count = heard.clone();
    let progress = Progress::asking(move || {
        count.fetch_add(1, Ordering::Relaxed);
        false
    });
    (work(&progress), heard.load(Ordering::Relaxed))
}
