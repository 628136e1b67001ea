//! The pairs in Rust: `mcp-pair server` prints its port; `mcp-pair client URL MODE TARGET` prints the outcomes as JSON. MODE is `legacy` or `auto`.
#![allow(deprecated)] // The revision 2026-07-28 deprecates sampling.

mod client;
mod server;

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server"] => server::serve().await,
        ["client", url, mode, target] => client::meet(url, mode, target).await,
        _ => panic!("usage: mcp-pair server | mcp-pair client URL MODE TARGET"),
    }
}
