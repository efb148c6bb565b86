//! An index in a file: a copy of its memory, with a version, a layout and a checksum.
//!
//! ```text
//!   magic "COPSEIDX" │ version │ payload bytes │ xxh3 of the payload │ payload
//!   payload   about: layout, guards, whether there are trees, attributes (type, name)…
//!             parts: portions, (bytes, portion)…        see `restore.rs` for which, in which order
//!             trees: portions, (bytes, (id, tree)…)…    if they are kept
//! ```
//!
//! Loading copies memory, rebuilds the tables and checks every reference once. It plans nothing, so
//! it takes a fraction of the time of building. It needs no more memory than the index and one
//! portion. In return only the build that wrote a snapshot can read it (`layout.rs`), so keep its
//! source.
//!
//! A snapshot is as trusted as the program itself. The checksum detects damage and is not a
//! signature. A forged file with a right checksum is refused where it would lead out of bounds, but
//! it may give wrong answers.

pub mod layout;
pub mod restore;
pub mod sections;

use crate::engine::index::{Index, Source};
use crate::engine::snapshot::layout::LAYOUT;
use crate::engine::snapshot::sections::Malformed;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

const MAGIC: &[u8; 8] = b"COPSEIDX";
const VERSION: u32 = 3;
const HEADER: u64 = 8 + 4 + 8 + 8;
/// The bytes that are read at once for the checksum.
const STEP: usize = 1 << 18;

/// Why a snapshot could not be written or read.
#[derive(Debug)]
pub enum SnapshotError {
    Io(io::Error),
    Foreign,
    Version(u32),
    Truncated { expected: u64, got: u64 },
    Damaged,
    Layout(u64),
    Malformed(Malformed),
    Schema(String),
    NotEmpty,
    NoTrees,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            SnapshotError::Io(error) => write!(f, "the snapshot cannot be accessed: {error}"),
            SnapshotError::Foreign => f.write_str("this is not a snapshot of an index"),
            SnapshotError::Version(got) => {
                write!(f, "the snapshot has version {got}, expected {VERSION}")
            }
            SnapshotError::Truncated { expected, got } => {
                write!(f, "the snapshot is cut short: {got} bytes of {expected}")
            }
            SnapshotError::Damaged => f.write_str("the snapshot is damaged: its checksum is wrong"),
            SnapshotError::Layout(got) => write!(
                f,
                "the snapshot was made by another build: its layout is {got:016x}, expected \
                 {LAYOUT:016x}"
            ),
            SnapshotError::Malformed(what) => write!(f, "the snapshot is malformed: {what}"),
            SnapshotError::Schema(what) => {
                write!(f, "the snapshot was made with another schema: {what}")
            }
            SnapshotError::NotEmpty => f.write_str("a snapshot is loaded into an empty index"),
            SnapshotError::NoTrees => {
                f.write_str("the snapshot has no trees, which this index keeps")
            }
        }
    }
}

impl From<io::Error> for SnapshotError {
    fn from(error: io::Error) -> Self {
        SnapshotError::Io(error)
    }
}

impl From<Malformed> for SnapshotError {
    fn from(malformed: Malformed) -> Self {
        SnapshotError::Malformed(malformed)
    }
}

/// Write an index to a temporary file and rename it, so that a crash leaves the old file. Updates
/// wait until everything is written; matching goes on.
///
/// # Errors
/// If the file cannot be written.
pub fn save(index: &Index, path: &Path) -> Result<(), SnapshotError> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.writing", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = write_file(&temporary, index).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // The error to report is the first one.
        let _ = std::fs::remove_file(&temporary);
    }
    Ok(written?)
}

fn write_file(path: &Path, index: &Index) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(&[0; HEADER as usize])?;
    let (mut hash, mut len) = (Xxh3::new(), 0u64);
    index.store(|bytes| {
        hash.update(bytes);
        len += bytes.len() as u64;
        file.write_all(bytes)
    })?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(MAGIC)?;
    file.write_all(&VERSION.to_le_bytes())?;
    file.write_all(&len.to_le_bytes())?;
    file.write_all(&hash.digest().to_le_bytes())?;
    file.sync_all()
}

/// Load what `save` wrote into an empty index.
///
/// # Errors
/// If the file is damaged or from another build, or the index lacks one of its attributes.
pub fn load(index: &Index, path: &Path) -> Result<(), SnapshotError> {
    let mut file = File::open(path)?;
    let mut header = Vec::new();
    (&mut file).take(HEADER).read_to_end(&mut header)?;
    if header.len() < 8 || &header[..8] != MAGIC {
        return Err(SnapshotError::Foreign);
    }
    let got = file.metadata()?.len();
    let cut = |expected: u64| Err(SnapshotError::Truncated { expected, got });
    if header.len() < HEADER as usize {
        return cut(HEADER);
    }
    let number = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap_or([0; 8]));
    let version = number(8) as u32;
    if version != VERSION {
        return Err(SnapshotError::Version(version));
    }
    let expected = HEADER.saturating_add(number(12));
    if got != expected {
        return cut(expected);
    }
    if checksum(&mut file)? != number(20) {
        return Err(SnapshotError::Damaged);
    }
    file.seek(SeekFrom::Start(HEADER))?;
    let mut pieces = Pieces {
        file,
        left: number(12),
        buffer: Vec::new(),
    };
    index.restore(&mut pieces)
}

fn checksum(file: &mut File) -> io::Result<u64> {
    let mut hash = Xxh3::new();
    let mut buffer = vec![0; STEP];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hash.digest());
        }
        hash.update(&buffer[..read]);
    }
}

/// Reads a payload piece by piece.
struct Pieces {
    file: File,
    left: u64,
    buffer: Vec<u8>,
}

impl Source for Pieces {
    fn next(&mut self, len: u64) -> io::Result<&[u8]> {
        if len > self.left {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= len;
        self.buffer.resize(len as usize, 0);
        self.file.read_exact(&mut self.buffer)?;
        Ok(&self.buffer)
    }

    fn is_done(&self) -> bool {
        self.left == 0
    }
}

#[cfg(test)]
mod tests;
