//! Serves threads on `127.0.0.1:3000`, or on the address that it is given:
//!
//! - `curl -N http://127.0.0.1:3000/threads/mine` follows a thread;
//! - `curl -N -X POST 'http://127.0.0.1:3000/threads/mine?say=hello'` begins a turn of it;
//! - `curl -N -X POST 'http://127.0.0.1:3000/threads/mine/answer?say=tea'` answers what it asks, after `?say=tea%3F`.

use hanok::{BoxError, graph::Runtime};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let listener =
        TcpListener::bind(&address).await.map_err(|error| format!("{address}: {error}"))?;
    println!("http://{}/threads/mine", listener.local_addr()?);
    axum::serve(listener, sse::router(sse::app(Runtime::default())?)).await?;
    Ok(())
}
