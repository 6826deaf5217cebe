//! Results of commands, whose errors are messages.

use std::path::Path;

/// Result of a command of `cargo x`: an error is only a message.
pub type Result<T> = std::result::Result<T, String>;

/// Message for a failed file operation.
pub fn io_error(path: &Path) -> impl Fn(std::io::Error) -> String + '_ {
    move |error| format!("{}: {error}", path.display())
}
