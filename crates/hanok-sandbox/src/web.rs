//! Tools that ask services of the web, each by way of the [`Egress`](hanok_egress::Egress).

mod search;
mod service;
mod text;
mod weather;
mod wikipedia;

pub use search::WebSearch;
pub use weather::GetWeather;
pub use wikipedia::SearchWikipedia;
