//! Files that somebody names: regular ones alone, of which no more is read than a bound.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// The file at `path`, opened to be read. Anything but a regular one is refused: it may have no end, or keep waiting.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    // Before it is opened: a pipe waits for whoever writes to it.
    regular(&fs::metadata(path)?)?;
    let file = File::open(path)?;
    // Another may stand there by now.
    regular(&file.metadata()?)?;
    Ok(file)
}

fn regular(file: &fs::Metadata) -> io::Result<()> {
    match file.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_regular_file_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        assert_eq!(open_regular(&file).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::write(&file, "{}").unwrap();
        assert!(open_regular(&file).is_ok());
        assert_eq!(open_regular(folder.path()).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        if cfg!(unix) {
            let endless = open_regular(Path::new("/dev/zero")).unwrap_err();
            assert_eq!(endless.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
