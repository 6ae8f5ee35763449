//! All data of the program.

use std::{
    fs::File,
    io::{ErrorKind, Read},
    path::Path,
    sync::Arc,
};

use super::{DataError, Law, Limits, Listings, LoanProducts, Market, Policies, RiskTable};

/// The largest file, in bytes.
const LARGEST: u64 = 32 * 1024 * 1024;

/// All data of the program. A tool takes the part that it reads.
#[derive(Debug, Clone)]
pub struct Data {
    /// The limits of law and of lending: `limits.toml`.
    pub limits: Arc<Limits>,
    /// What the law says, as a summary: `law.jsonl`.
    pub law: Arc<Law>,
    /// The prices of districts: `market.csv`.
    pub market: Arc<Market>,
    /// The words for what a market says: `market_risk.toml`.
    pub risk: Arc<RiskTable>,
    /// The homes that are offered: `listings.jsonl`.
    pub listings: Arc<Listings>,
    /// The loans that banks offer: `loans.jsonl`.
    pub loans: Arc<LoanProducts>,
    /// What the state offers: `policies.json`.
    pub policies: Arc<Policies>,
}

impl Data {
    /// The data that ship with the program.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: the files are part of the program, and its tests read them.
    pub fn bundled() -> Result<Self, DataError> {
        Ok(Self {
            limits: Arc::new(Limits::shipped()?),
            law: Arc::new(Law::shipped()?),
            market: Arc::new(Market::shipped()?),
            risk: Arc::new(RiskTable::shipped()?),
            listings: Arc::new(Listings::shipped()?),
            loans: Arc::new(LoanProducts::shipped()?),
            policies: Arc::new(Policies::shipped()?),
        })
    }

    /// The data of a folder: each file from there where it is there, else the one that ships with the program.
    ///
    /// # Errors
    ///
    /// [`DataError`] for a folder that is none, and for a file that cannot be read, is larger than 32 MiB, or is wrong.
    pub fn open(folder: &Path) -> Result<Self, DataError> {
        if !folder.is_dir() {
            let reason = "this is no folder; name the one with `market.csv` and the other files";
            return Err(DataError::of(&folder.to_string_lossy(), reason));
        }
        Ok(Self {
            limits: part(folder, "limits.toml", Limits::parse, Limits::shipped)?,
            law: part(folder, "law.jsonl", Law::parse, Law::shipped)?,
            market: part(folder, "market.csv", Market::parse, Market::shipped)?,
            risk: part(folder, "market_risk.toml", RiskTable::parse, RiskTable::shipped)?,
            listings: part(folder, "listings.jsonl", Listings::parse, Listings::shipped)?,
            loans: part(folder, "loans.jsonl", LoanProducts::parse, LoanProducts::shipped)?,
            policies: part(folder, "policies.json", Policies::parse, Policies::shipped)?,
        })
    }
}

/// A part of the data from its file in the folder, else the one that ships.
fn part<T>(
    folder: &Path,
    name: &str,
    parse: impl FnOnce(&str, &str) -> Result<T, DataError>,
    shipped: impl FnOnce() -> Result<T, DataError>,
) -> Result<Arc<T>, DataError> {
    let path = folder.join(name);
    let file = path.to_string_lossy();
    let fault = |reason: String| DataError::of(&file, reason);
    let opened = match File::open(&path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Arc::new(shipped()?)),
        Err(error) => return Err(fault(format!("the file cannot be opened: {error}"))),
    };
    let mut bytes = Vec::new();
    let read = opened.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| fault(format!("the file cannot be read: {error}")))?;
    if bytes.len() > usize::try_from(LARGEST).unwrap_or(usize::MAX) {
        return Err(fault(format!("the file is larger than {LARGEST} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..valid).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        DataError::at(&file, line, "the file is not in UTF-8; save it so")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(Arc::new(parse(&file, text)?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_of_the_folder_counts_and_the_others_are_bundled() {
        let folder = tempfile::tempdir().unwrap();
        let text = "\u{feff}# as_of: 2026-07-01\n# source: 시험\n\
                    district,month,sale,jeonse,monthly_deposit,monthly_rent\n종로구,2026-06,90000,50000,10000,120\n";
        fs::write(folder.path().join("market.csv"), text).unwrap();
        let data = Data::open(folder.path()).unwrap();
        assert_eq!(data.market.names(), ["종로구"]);
        assert_eq!(data.market.origin.source, "시험");
        assert_eq!(data.loans, Data::bundled().unwrap().loans);
    }

    #[test]
    fn what_cannot_be_read_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let none = folder.path().join("none");
        assert!(Data::open(&none).unwrap_err().to_string().contains("this is no folder"));
        fs::write(folder.path().join("policies.json"), b"{\n\xff").unwrap();
        let error = Data::open(folder.path()).unwrap_err();
        assert_eq!((error.line, error.file), (Some(2), folder.path().join("policies.json")));
        fs::remove_file(folder.path().join("policies.json")).unwrap();
        fs::create_dir(folder.path().join("loans.jsonl")).unwrap();
        let error = Data::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("loans.jsonl: the file cannot be"), "{error}");
    }
}
