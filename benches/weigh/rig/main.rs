//! A question to an OpenAI-compatible server, with rig.

use rig_core::{completion::CompletionRequest, providers::openai::{self, OpenAI}};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = OpenAI::from_env()?.completion(openai::GPT_5_2);
    println!("{}", model.call(CompletionRequest::new("Hello")).await?.text());
    Ok(())
}
