//! An index in a file: what was inserted, with a version and a checksum.
//!
//! ```text
//!   magic "COPSEIDX" │ version │ payload bytes │ xxh3 of the payload │ payload
//!   payload   attributes: count, (type, name)…
//!             entries: count, (id, score, start, end, group, version, tree)…
//!             muted groups: count, group…
//! ```
//!
//! Loading inserts the trees again, which takes a few microseconds each; it parses no text, asks
//! no database, and gives the same answers whatever the version of the engine behind it.

use super::index::Index;
use super::slots::Beside;
use crate::language::Type;
use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"COPSEIDX";
const VERSION: u32 = 2;
const HEADER: usize = 8 + 4 + 8 + 8;

/// Why a snapshot could not be written or read.
#[derive(Debug)]
pub enum SnapshotError {
    Io(std::io::Error),
    Foreign,
    Version(u32),
    Truncated { expected: u64, got: u64 },
    Damaged,
    Schema(String),
    NotEmpty,
    TreesNotKept,
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
            SnapshotError::Schema(what) => {
                write!(f, "the snapshot was made with another schema: {what}")
            }
            SnapshotError::NotEmpty => f.write_str("a snapshot is loaded into an empty index"),
            SnapshotError::TreesNotKept => {
                f.write_str("an index that does not keep its trees cannot be saved")
            }
        }
    }
}

impl From<std::io::Error> for SnapshotError {
    fn from(error: std::io::Error) -> Self {
        SnapshotError::Io(error)
    }
}

/// Write an index to a file, beside it first and then in its place: a crash leaves the old one.
///
/// # Errors
/// If the file cannot be written, or the trees were not kept.
pub fn save(index: &Index, path: &Path) -> Result<(), SnapshotError> {
    let payload = index.snapshot().ok_or(SnapshotError::TreesNotKept)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.writing", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = write_file(&beside, &payload).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        // What was begun is of no use; that it cannot be removed is no further news.
        let _ = std::fs::remove_file(&beside);
    }
    Ok(written?)
}

fn write_file(path: &Path, payload: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(MAGIC)?;
    file.write_all(&VERSION.to_le_bytes())?;
    file.write_all(&(payload.len() as u64).to_le_bytes())?;
    file.write_all(&xxh3_64(payload).to_le_bytes())?;
    file.write_all(payload)?;
    file.sync_all()
}

/// Read into an empty index what `save` wrote.
///
/// # Errors
/// If the file is not whole and ours, or its attributes are not the index's.
pub fn load(index: &Index, path: &Path) -> Result<(), SnapshotError> {
    if !index.read(|core| core.slots.is_empty()) {
        return Err(SnapshotError::NotEmpty);
    }
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    if bytes.len() < 8 || &bytes[..8] != MAGIC {
        return Err(SnapshotError::Foreign);
    }
    let cut = |expected: usize| SnapshotError::Truncated {
        expected: expected as u64,
        got: bytes.len() as u64,
    };
    if bytes.len() < HEADER {
        return Err(cut(HEADER));
    }
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or([0; 8]));
    let version = number(8) as u32;
    if version != VERSION {
        return Err(SnapshotError::Version(version));
    }
    let expected = HEADER as u64 + number(12);
    if bytes.len() as u64 != expected {
        return Err(cut(expected as usize));
    }
    let payload = &bytes[HEADER..];
    if xxh3_64(payload) != number(20) {
        return Err(SnapshotError::Damaged);
    }
    restore(index, payload)
}

fn restore(index: &Index, payload: &[u8]) -> Result<(), SnapshotError> {
    let mut reader = Reader { rest: payload };
    for _ in 0..reader.u32()? {
        let kind = reader.bytes()?;
        let name = reader.bytes()?;
        let (kind, name) = (text(kind)?, text(name)?);
        let known = index.read(|core| core.schema.attr(name).map(|a| core.types[a as usize]));
        if known != Type::from_name(kind) || known.is_none() {
            let here = known.map_or("not declared", Type::name);
            return Err(SnapshotError::Schema(format!(
                "{name} was {kind}, here it is {here}"
            )));
        }
    }
    let count = reader.u64()?;
    let mut items = Vec::new();
    for _ in 0..count {
        let id = reader.u64()?;
        let score = reader.u64()? as i64;
        let (start, end) = (f64::from_bits(reader.u64()?), f64::from_bits(reader.u64()?));
        let window = (start.is_finite() || end.is_finite()).then_some((start, end));
        let beside = Beside {
            score,
            window,
            group: reader.u64()?,
            version: reader.u32()?,
        };
        items.push((id, reader.bytes()?, beside));
    }
    let muted = (0..reader.u64()?)
        .map(|_| reader.u64())
        .collect::<Result<Vec<u64>, _>>()?;
    // All are checked first: an index that is loaded in part is worse than none.
    for (_, tree, _) in &items {
        let checked = index.check(tree);
        checked.map_err(|error| SnapshotError::Schema(error.to_string()))?;
    }
    // Muted before there is anything that could match.
    for group in muted {
        index.mute(group);
    }
    index
        .insert_many(items.into_iter())
        .map(|_| ())
        .map_err(|(_, error)| SnapshotError::Schema(error.to_string()))
}

fn text(bytes: &[u8]) -> Result<&str, SnapshotError> {
    std::str::from_utf8(bytes).map_err(|_| SnapshotError::Damaged)
}

/// Reads a payload; its checksum was right, so running out of it means another writer's bug.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], SnapshotError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(SnapshotError::Damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, SnapshotError> {
        Ok(u32::from_le_bytes(
            self.take(4)?.try_into().unwrap_or([0; 4]),
        ))
    }

    fn u64(&mut self) -> Result<u64, SnapshotError> {
        Ok(u64::from_le_bytes(
            self.take(8)?.try_into().unwrap_or([0; 8]),
        ))
    }

    fn bytes(&mut self) -> Result<&'a [u8], SnapshotError> {
        let len = self.u32()? as usize;
        self.take(len)
    }
}

/// Append an entry.
pub fn write_entry(payload: &mut Vec<u8>, id: u64, beside: Beside, tree: &[u8]) {
    let endless = (f64::NEG_INFINITY, f64::INFINITY);
    let (start, end) = beside.window.unwrap_or(endless);
    payload.extend_from_slice(&id.to_le_bytes());
    payload.extend_from_slice(&beside.score.to_le_bytes());
    payload.extend_from_slice(&start.to_le_bytes());
    payload.extend_from_slice(&end.to_le_bytes());
    payload.extend_from_slice(&beside.group.to_le_bytes());
    payload.extend_from_slice(&beside.version.to_le_bytes());
    write_bytes(payload, tree);
}

/// Append the muted groups.
pub fn write_muted(payload: &mut Vec<u8>, groups: &[u64]) {
    payload.extend_from_slice(&(groups.len() as u64).to_le_bytes());
    for group in groups {
        payload.extend_from_slice(&group.to_le_bytes());
    }
}

/// Append bytes with their length in front.
pub fn write_bytes(payload: &mut Vec<u8>, bytes: &[u8]) {
    payload.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    payload.extend_from_slice(bytes);
}
