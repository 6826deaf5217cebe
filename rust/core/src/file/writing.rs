//! Atomic writing of files: a file is either complete or unchanged.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Maximum number of symbolic links followed in a row.
const MOST_LINKS: usize = 40;

/// Writes a file through links, keeping its mode and its owner.
///
/// A new file replaces the old one atomically. A file with several names (hard links), or whose owner
/// cannot be given to a new file, is written in place: if that fails, its old bytes are put back.
///
/// # Errors
/// [`Error::File`] for an existing path that is no regular file, and if the disk refuses; everything then
/// is as before.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let refuse = |why: &str| Error::File(format!("cannot write {}: {why}", path.display()));
    let target = followed(path).ok_or_else(|| refuse("its links lead nowhere; name another file"))?;
    let old = match fs::metadata(&target) {
        Ok(old) if old.is_dir() => return Err(refuse("it is a folder; name a file in it")),
        Ok(old) if !old.is_file() => return Err(refuse("it is a pipe or a device; name a file")),
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(refuse(&error.to_string())),
    };
    let written = match &old {
        Some(old) if has_other_names(old) => overwrite(&target, bytes),
        _ => replace(&target, bytes, old.as_ref()),
    };
    written.map_err(|error| refuse(&error.to_string()))
}

/// Target of symbolic links, existing or not; `None` for a cycle.
fn followed(path: &Path) -> Option<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let Ok(link) = fs::read_link(&place) else { return Some(place) };
        place = place.parent().unwrap_or(Path::new("")).join(link);
    }
    None
}

/// Writes a new file beside the old one and moves it into place.
fn replace(path: &Path, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    if old.is_some() {
        // A read-only file must not be replaced.
        OpenOptions::new().write(true).open(path)?;
    }
    let (part, mut file) = beside(path, old.is_some())?;
    let written = match old {
        Some(old) if !takes_owner(&file, old) => {
            drop(file);
            return fs::remove_file(&part).and_then(|()| overwrite(path, bytes));
        }
        Some(old) => file.set_permissions(old.permissions()),
        None => Ok(()),
    };
    let written = written.and_then(|()| file.write_all(bytes)).and_then(|()| file.sync_all());
    drop(file);
    written.and_then(|()| fs::rename(&part, path)).inspect_err(|_| {
        // Cleanup on a best-effort basis: a failure here does not matter.
        let _ = fs::remove_file(&part);
    })
}

/// Writes a file in place. The part beyond its old end comes first, because it may fail for lack of space.
fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let old = fs::read(path)?;
    let mut file = OpenOptions::new().write(true).open(path)?;
    let middle = old.len().min(bytes.len());
    let written = put(&mut file, middle, &bytes[middle..])
        .and_then(|()| put(&mut file, 0, &bytes[..middle]))
        .and_then(|()| file.set_len(bytes.len() as u64))
        .and_then(|()| file.sync_all());
    written.or_else(|error| {
        put(&mut file, 0, &old).and_then(|()| file.set_len(old.len() as u64))?;
        Err(error)
    })
}

fn put(file: &mut File, from: usize, bytes: &[u8]) -> io::Result<()> {
    file.seek(io::SeekFrom::Start(from as u64))?;
    file.write_all(bytes)
}

/// Creates a hidden file of unique name in the same folder, readable by the owner alone if `secret`.
fn beside(path: &Path, secret: bool) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::other("this names no file"))?;
    let mut number = 0;
    loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{number}.part", std::process::id()));
        let part = path.with_file_name(hidden);
        match created(&part, secret) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            file => return file.map(|file| (part, file)),
        }
    }
}

#[cfg(unix)]
fn created(path: &Path, secret: bool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mode = if secret { 0o600 } else { 0o666 };
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

#[cfg(not(unix))]
fn created(path: &Path, _secret: bool) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

#[cfg(unix)]
fn has_other_names(file: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(file) > 1
}

#[cfg(not(unix))]
fn has_other_names(_file: &Metadata) -> bool {
    false
}

/// `true` if a new file has, or can be given, the old file's owner.
#[cfg(unix)]
fn takes_owner(file: &File, old: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, fchown};
    let belongs = |new: Metadata| (new.uid(), new.gid()) == (old.uid(), old.gid());
    file.metadata().is_ok_and(belongs) || fchown(file, Some(old.uid()), Some(old.gid())).is_ok()
}

#[cfg(not(unix))]
fn takes_owner(_file: &File, _old: &Metadata) -> bool {
    true
}
