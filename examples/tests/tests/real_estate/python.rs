//! Python with `python-docx`, put into the folder of tests' files.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// What is installed from PyPI.
const PACKAGE: &str = "python-docx==1.2.0";

/// How long a download that failed is not tried again.
const PATIENCE: Duration = Duration::from_secs(600);

/// Prints the style and the text of each paragraph of each document, as lines of JSON.
const PROGRAM: &str = "
import docx, json, sys
for path in sys.argv[1:]:
    print(json.dumps([[p.style.name, p.text] for p in docx.Document(path).paragraphs]))
";

/// The paragraphs of documents, each with the name of its style, as `python-docx` reads them; or why there is none.
pub(crate) fn paragraphs(files: &[PathBuf]) -> Result<Vec<Vec<(String, String)>>, String> {
    let packages = packages()?;
    // Another Python may have installed them.
    let mut import = Command::new("python3");
    let import = import.args(["-c", "import docx"]).env("PYTHONPATH", &packages).output();
    let import = import.map_err(|error| error.to_string())?;
    if !import.status.success() {
        return Err(String::from_utf8_lossy(&import.stderr).into_owned());
    }
    let mut python = Command::new("python3");
    python.args(["-c", PROGRAM]).args(files).env("PYTHONPATH", packages);
    let output = python.output().map_err(|error| error.to_string())?;
    // From here on it is no matter of what is installed.
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    Ok(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn packages() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (home, failed) = (folder.join(PACKAGE), folder.join("python-docx.failed"));
    if home.exists() {
        return Ok(home);
    }
    let age = fs::metadata(&failed).and_then(|note| note.modified()).ok();
    let age = age.and_then(|written| written.elapsed().ok());
    if age.is_some_and(|age| age < PATIENCE) {
        return fs::read_to_string(&failed).map_or_else(|error| Err(error.to_string()), Err);
    }
    let part = tempfile::tempdir_in(folder).map_err(|error| error.to_string())?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]);
    let output = pip.arg(part.path()).arg(PACKAGE).output();
    let why = match output {
        Ok(output) if output.status.success() => {
            // Another test process may have been faster.
            let done = fs::rename(part.keep(), &home).is_ok() || home.exists();
            return if done { Ok(home) } else { Err("the packages cannot be moved".to_owned()) };
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    // Without the note the next test only tries again.
    drop(fs::write(failed, &why));
    Err(why)
}
