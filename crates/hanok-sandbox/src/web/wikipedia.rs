//! Wikipedia as a tool.

use std::time::Duration;

use hanok_core::{Call, Effect};
use hanok_model::{InvalidSpec, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::Arguments;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use url::form_urlencoded::Serializer;

use super::{
    service::{Service, asked},
    text::{language, line, paragraphs},
};
use hanok_egress::{Egress, Fetch};

const ENDPOINT: &str = "https://{language}.wikipedia.org/w/api.php";

/// How many pages are looked for, of which the best is shown.
const PAGES: &str = "4";

/// How much of a page is asked for, in characters; the service has no more to give.
const EXTRACT: &str = "1200";

/// How much of it is shown.
const SHOWN: usize = 1500;

/// The tool `search_wikipedia`: the beginning of the page that fits a query best, with its address, and the titles of others.
///
/// It changes nothing and needs no key. The language is that of the query's letters unless the model names one. Wikipedia
/// asks programs to say who runs them: give an [`Egress`] with a [`user_agent`](hanok_egress::EgressBuilder::user_agent) that does.
///
/// ```
/// use hanok_model::Tool;
/// use hanok_sandbox::SearchWikipedia;
///
/// let wikipedia = SearchWikipedia::new()?;
/// assert_eq!(wikipedia.spec().name(), "search_wikipedia");
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[derive(Debug, Clone)]
pub struct SearchWikipedia {
    spec: ToolSpec,
    service: Service,
}

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
struct Wanted {
    /// What to look for.
    query: String,
    /// The language code of the pages, e.g. `ko`, `en`; by default that of the query.
    #[serde(default)]
    language: Option<String>,
}

/// What the service says, as far as it is told on. Where nothing is found there is no query.
#[derive(Debug, Deserialize)]
struct Said {
    #[serde(default)]
    query: Option<Found>,
    #[serde(default)]
    error: Option<Refusal>,
}

#[derive(Debug, Deserialize)]
struct Found {
    #[serde(default)]
    pages: Vec<Page>,
}

#[derive(Debug, Deserialize)]
struct Page {
    title: String,
    /// Its rank; the pages come in no order.
    #[serde(default)]
    index: u64,
    #[serde(default)]
    extract: String,
    #[serde(default)]
    fullurl: String,
}

#[derive(Debug, Deserialize)]
struct Refusal {
    #[serde(default)]
    code: String,
}

impl SearchWikipedia {
    /// The tool.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: its name and arguments are fixed.
    pub fn new() -> Result<Self, InvalidSpec> {
        let description = "Searches Wikipedia and shows the beginning of the best page.";
        let spec = ToolSpec::of::<Wanted>("search_wikipedia", description)?;
        Ok(Self { spec, service: Service::new("Wikipedia", ENDPOINT, None) })
    }

    /// Where the service is, `{language}` for the code of the language. Default: Wikipedia's own address.
    #[must_use]
    pub fn endpoint(self, url: impl Into<String>) -> Self {
        Self { service: self.service.endpoint(url.into()), ..self }
    }

    /// The way to it. Default: one that reaches this service's hosts and no other.
    #[must_use]
    pub fn egress(self, egress: Egress) -> Self {
        Self { service: self.service.egress(egress), ..self }
    }

    fn url(&self, query: &str, language: &str) -> String {
        let mut pairs = Serializer::new(String::new());
        pairs.extend_pairs([
            ("action", "query"),
            ("format", "json"),
            ("formatversion", "2"),
            ("generator", "search"),
            ("gsrsearch", query),
            ("gsrlimit", PAGES),
            ("prop", "extracts|info"),
            ("exintro", "1"),
            ("explaintext", "1"),
            ("exlimit", "max"),
            ("exchars", EXTRACT),
            ("inprop", "url"),
            ("redirects", "1"),
        ]);
        let endpoint = self.service.endpoint.replace("{language}", language);
        format!("{endpoint}?{}", pairs.finish())
    }
}

impl Tool for SearchWikipedia {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    /// 20 s.
    fn timeout(&self) -> Duration {
        Duration::from_secs(20)
    }

    /// Searches.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] for a query or a language that is none; [`ToolError::Failed`] when Wikipedia cannot be
    /// reached. That nothing was found is an answer.
    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        let wanted: Wanted = arguments.decode().map_err(ToolError::arguments)?;
        let query = asked("query", &wanted.query)?;
        let language = match wanted.language.as_deref().map(str::trim) {
            None | Some("") => language(query),
            Some(language) => code(language)?,
        };
        let said: Said = self.service.json(Fetch::get(self.url(query, language)), call).await?;
        if let Some(refusal) = said.error {
            let code = line(&refusal.code, 60);
            return Err(ToolError::failed(format!("Wikipedia refused the search: {code}")));
        }
        let mut pages = said.query.map(|found| found.pages).unwrap_or_default();
        pages.sort_by_key(|page| page.index);
        Ok(told(query, language, &pages))
    }
}

/// `language` if it can be the name of a Wikipedia: it becomes a part of a host.
fn code(language: &str) -> Result<&str, ToolError> {
    let is_code = (2..=16).contains(&language.len())
        && language
            .split('-')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase()));
    if is_code {
        return Ok(language);
    }
    Err(ToolError::arguments(format!(
        "`{}` is no code of a language; write one such as `ko` or `en`",
        line(language, 20)
    )))
}

fn told(query: &str, language: &str, pages: &[Page]) -> ToolOutput {
    // A page that only leads to others has no text of its own.
    let best = pages.iter().find(|page| !page.extract.trim().is_empty()).or(pages.first());
    let Some(best) = best else {
        let text = format!("Wikipedia ({language}) has nothing about `{}`", line(query, 100));
        return ToolOutput::new(text).data(json!({"found": false}));
    };
    let (title, url) = (line(&best.title, 120), line(&best.fullurl, 300));
    let extract = paragraphs(&best.extract, SHOWN);
    let others: Vec<_> = pages
        .iter()
        .filter(|page| page.title != best.title)
        .map(|page| line(&page.title, 120))
        .collect();
    let mut text = format!("{title}\n{url}\n\n{extract}");
    if !others.is_empty() {
        text.push_str(&format!("\n\nOther pages: {}", others.join("; ")));
    }
    let data =
        json!({"found": true, "title": title, "url": url, "language": language, "others": others});
    ToolOutput::new(text).data(data)
}
