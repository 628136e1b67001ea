use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

pub async fn serve() {
    let pairs = Pairs::default();
    let service = StreamableHttpService::new(
        move || Ok(pairs.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let router = axum::Router::new().nest_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    axum::serve(listener, router).await.unwrap();
}

#[derive(Clone, Default)]
struct Pairs {
    cancellations: Arc<AtomicUsize>,
}

const TOOLS: [&str; 7] = ["add", "ask", "sample", "count", "wait", "cancellations", "later"];

impl ServerHandler for Pairs {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("rust", "1.0.0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } } });
        let tool = |name| Tool::new(name, name, Arc::new(schema.as_object().unwrap().clone()));
        Ok(ListToolsResult::with_all_items(TOOLS.map(tool).to_vec()))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new("note://one", "one")]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(ReadResourceResult::new(vec![ResourceContents::text("one", request.uri)]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new("greet", Some("Greets"), None)]))
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, "Hello")]).into())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let values = Value::Object(request.arguments.clone().unwrap_or_default());
        let text = match request.name.as_ref() {
            "add" => (values["a"].as_i64().unwrap_or(0) + values["b"].as_i64().unwrap_or(0)).to_string(),
            "ask" => match self.answer(&request, &context, name_question()).await? {
                Some(answer) => format!("hello {}", answer["content"]["name"].as_str().unwrap_or("?")),
                None => return Ok(input_required(name_question())),
            },
            "sample" => match self.answer(&request, &context, model_question()).await? {
                Some(answer) => format!("model said {}", first_text(&answer["content"])),
                None => return Ok(input_required(model_question())),
            },
            "count" => {
                for step in 1..=3 {
                    if let Some(token) = context.meta.get_progress_token() {
                        let progress = ProgressNotificationParam::new(token, f64::from(step)).with_total(3.0);
                        context.peer.notify_progress(progress).await.ok();
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                "counted".into()
            }
            "wait" => {
                tokio::select! {
                    () = context.ct.cancelled() => { self.cancellations.fetch_add(1, Ordering::SeqCst); }
                    () = tokio::time::sleep(Duration::from_secs(10)) => {}
                }
                "waited".into()
            }
            "cancellations" => self.cancellations.load(Ordering::SeqCst).to_string(),
            // The SDK does not let tools close their stream.
            "later" => {
                tokio::time::sleep(Duration::from_millis(300)).await;
                "resumed".into()
            }
            other => return Err(ErrorData::invalid_params(format!("unknown tool {other}"), None)),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

impl Pairs {
    /// The answer to a question: asked at once where the revision has requests to clients, else what came with the call.
    async fn answer(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        question: InputRequest,
    ) -> Result<Option<Value>, ErrorData> {
        let is_modern = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if is_modern {
            return Ok(request.input_responses.as_ref().and_then(|answers| answers.get("answer")).cloned().map(Into::into));
        }
        let failed = |error: rmcp::ServiceError| ErrorData::internal_error(error.to_string(), None);
        let answer = match question {
            InputRequest::Elicitation(question) => {
                json!(context.peer.create_elicitation(question.params).await.map_err(failed)?)
            }
            InputRequest::CreateMessage(question) => {
                json!(context.peer.create_message(question.params).await.map_err(failed)?)
            }
            _ => Value::Null,
        };
        Ok(Some(answer))
    }
}

fn input_required(question: InputRequest) -> CallToolResponse {
    let mut questions = InputRequests::new();
    questions.insert("answer".to_string(), question);
    InputRequiredResult::new(Some(questions), None).into()
}

fn name_question() -> InputRequest {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    InputRequest::Elicitation(ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "What is your name?".into(),
        requested_schema: serde_json::from_value(schema).unwrap(),
    }))
}

fn model_question() -> InputRequest {
    let messages = vec![SamplingMessage::user_text("Say something")];
    InputRequest::CreateMessage(CreateMessageRequest::new(CreateMessageRequestParams::new(messages, 10)))
}

fn first_text(content: &Value) -> &str {
    let first = content.get(0).unwrap_or(content);
    first["text"].as_str().unwrap_or("?")
}
