use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, PeerRequestOptions, RequestContext, RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Map, Value, json};

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Outcome = Result<(), Failure>;

const SCENARIOS: [&str; 7] = ["list", "call", "elicitation", "sampling", "progress", "cancel", "resume"];

pub async fn meet(url: &str, mode: &str, target: &str) {
    let mut outcomes = Map::new();
    for scenario in SCENARIOS {
        let run = Meeting::run(url, mode, target, scenario);
        let outcome = match tokio::time::timeout(Duration::from_secs(25), run).await {
            Ok(Ok(())) => "ok".to_string(),
            Ok(Err(error)) => error.to_string().lines().next().unwrap_or_default().to_string(),
            Err(_) => "no end within 25 s".to_string(),
        };
        outcomes.insert(scenario.to_string(), Value::String(outcome));
    }
    println!("{}", Value::Object(outcomes));
}

/// Answers what servers ask, and notes the progress that they tell.
#[derive(Clone, Default)]
struct Answers {
    progress: Arc<Mutex<Vec<f64>>>,
}

impl ClientHandler for Answers {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.capabilities = ClientCapabilities::builder().enable_sampling().enable_elicitation().build();
        info
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "name": "Ada" })))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text("hi"), "test".into()))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push(params.progress);
    }
}

struct Meeting {
    service: RunningService<RoleClient, Answers>,
    answers: Answers,
    target: String,
}

impl Meeting {
    async fn run(url: &str, mode: &str, target: &str, scenario: &str) -> Outcome {
        let transport =
            StreamableHttpClientTransport::from_config(StreamableHttpClientTransportConfig::with_uri(url.to_string()));
        let answers = Answers::default();
        let lifecycle = match mode {
            "auto" => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: None,
            },
            _ => ClientLifecycleMode::Initialize,
        };
        let service = answers.clone().serve_with_lifecycle(transport, lifecycle).await?;
        let meeting = Meeting { service, answers, target: target.to_string() };
        let outcome = match scenario {
            "list" => meeting.list().await,
            "call" => meeting.says("add", json!({ "a": 2, "b": 3 }), "5").await,
            "elicitation" => meeting.says("ask", json!({}), "hello Ada").await,
            "sampling" => meeting.says("sample", json!({}), "model said hi").await,
            "progress" => meeting.progress().await,
            "cancel" => meeting.cancel().await,
            _ => meeting.says("later", json!({}), "resumed").await,
        };
        meeting.service.cancel().await.ok();
        outcome
    }

    async fn list(&self) -> Outcome {
        let tools: Vec<String> = self.service.list_all_tools().await?.into_iter().map(|one| one.name.into()).collect();
        let resources: Vec<String> = self.service.list_all_resources().await?.into_iter().map(|one| one.uri).collect();
        let prompts: Vec<String> = self.service.list_all_prompts().await?.into_iter().map(|one| one.name).collect();
        for (items, item) in
            [(&tools, self.name("add")), (&resources, self.uri("note://one")), (&prompts, self.name("greet"))]
        {
            if !items.contains(&item) {
                return Err(format!("no {item} among {items:?}").into());
            }
        }
        let read = self.service.read_resource(ReadResourceRequestParams::new(self.uri("note://one"))).await?;
        equals(json!(read)["contents"][0]["text"].as_str(), "one")?;
        let prompt = self.service.get_prompt(GetPromptRequestParams::new(self.name("greet"))).await?;
        equals(json!(prompt)["messages"][0]["content"]["text"].as_str(), "Hello")
    }

    async fn says(&self, tool: &str, values: Value, expected: &str) -> Outcome {
        equals(Some(&self.call(tool, values).await?), expected)
    }

    async fn progress(&self) -> Outcome {
        self.says("count", json!({}), "counted").await?;
        // The SDK handles each notification in a task of its own, in any order.
        let mut seen = self.answers.progress.lock().unwrap().clone();
        seen.sort_by(f64::total_cmp);
        equals(Some(&format!("{seen:?}")), "[1.0, 2.0, 3.0]")
    }

    async fn cancel(&self) -> Outcome {
        let before = self.cancellations().await?;
        // On a busy machine the call may be cancelled before it has begun.
        for delay_ms in [300, 1_000, 3_000] {
            let request = CallToolRequest::new(CallToolRequestParams::new(self.name("wait")));
            let options = PeerRequestOptions::no_options();
            let handle = self.service.send_cancellable_request(ClientRequest::CallToolRequest(request), options).await?;
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            handle.cancel(None).await?;
            for _ in 0..20 {
                if self.cancellations().await? > before {
                    return Ok(());
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        Err("the server was not told".into())
    }

    async fn cancellations(&self) -> Result<usize, Failure> {
        Ok(self.call("cancellations", json!({})).await?.parse()?)
    }

    async fn call(&self, tool: &str, values: Value) -> Result<String, Failure> {
        let arguments = values.as_object().cloned().unwrap_or_default();
        let params = CallToolRequestParams::new(self.name(tool)).with_arguments(arguments);
        let result = self.service.call_tool(params).await?;
        Ok(json!(result)["content"][0]["text"].as_str().unwrap_or("no text").to_string())
    }

    fn name(&self, name: &str) -> String {
        if self.target.is_empty() { name.to_string() } else { format!("{}_{name}", self.target) }
    }

    fn uri(&self, uri: &str) -> String {
        if self.target.is_empty() { uri.to_string() } else { format!("{}+{uri}", self.target) }
    }
}

fn equals(seen: Option<&str>, expected: &str) -> Outcome {
    if seen == Some(expected) { Ok(()) } else { Err(format!("{seen:?} instead of {expected:?}").into()) }
}
