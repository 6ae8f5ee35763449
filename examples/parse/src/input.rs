//! Where the text comes from.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    num::NonZeroUsize,
    path::Path,
};

use crate::failure::Failure;

/// The most that is read at once. What a pipe holds is read without waiting for more.
const MOST: usize = 64 * 1024;

/// The named file, or the standard input.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    reader: BufReader<Source>,
    path: Option<&'a Path>,
    piece: Vec<u8>,
}

#[derive(Debug)]
enum Source {
    File(File),
    Standard(io::Stdin),
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Standard(input) => input.read(buffer),
        }
    }
}

impl<'a> Input<'a> {
    /// Opens the file, or the standard input without one.
    pub(crate) fn open(path: Option<&'a Path>) -> Result<Self, Failure> {
        let source = match path {
            None => Source::Standard(io::stdin()),
            Some(path) => Source::File(File::open(path).map_err(|source| of(Some(path), source))?),
        };
        Ok(Self { reader: BufReader::with_capacity(MOST, source), path, piece: Vec::new() })
    }

    /// The next `size` bytes, fewer at the end; without a size whatever there is. Empty at the end.
    pub(crate) fn piece(&mut self, size: Option<NonZeroUsize>) -> Result<&[u8], Failure> {
        self.piece.clear();
        let read = match size {
            Some(size) => {
                (&mut self.reader).take(size.get() as u64).read_to_end(&mut self.piece).map(drop)
            }
            None => self.whatever(),
        };
        read.map_err(|source| of(self.path, source))?;
        Ok(&self.piece)
    }

    fn whatever(&mut self) -> io::Result<()> {
        loop {
            match self.reader.fill_buf() {
                Ok(bytes) => {
                    self.piece.extend_from_slice(bytes);
                    self.reader.consume(self.piece.len());
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The next line; empty at the end.
    pub(crate) fn line(&mut self) -> Result<&[u8], Failure> {
        self.piece.clear();
        let read = self.reader.read_until(b'\n', &mut self.piece);
        read.map_err(|source| of(self.path, source))?;
        Ok(&self.piece)
    }

    /// Whether the next line has to be waited for.
    pub(crate) fn is_drained(&self) -> bool {
        self.reader.buffer().is_empty()
    }
}

fn of(path: Option<&Path>, source: io::Error) -> Failure {
    match path {
        None => Failure::Input(source),
        Some(path) => Failure::File { path: path.to_owned(), source },
    }
}
