//! The protocol's side: lists tools, resources and prompts and has them called. Decides nothing.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, ListPromptsResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, Prompt, PromptArgument, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, Role, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use super::refused::Refused;
use super::site::{Call, Site};
use super::tool::{Entry, ToolEffect};
use super::{orient, resources, tools};
use crate::gate::Cancel;

const INSTRUCTIONS: &str = "flyball guards long agent loops. Orient yourself with plan_next and \
    context_list. For a loop of your own use iteration_start, iteration_validate, iteration_next \
    and iteration_complete. Record what you tried with attempt_record and look for loops with \
    loop_check. Work is done when gate_run is green. What only a human can decide goes to \
    ask_human.";

/// How often a call at work is told of.
const BEAT: Duration = Duration::from_secs(2);

/// The server. Clones share everything.
#[derive(Clone, Debug)]
pub(super) struct Server {
    site: Arc<Site>,
    running: Running,
}

/// Calls at work, so that they end with the server.
#[derive(Clone, Debug, Default)]
pub(super) struct Running(Arc<Calls>);

#[derive(Debug, Default)]
struct Calls {
    number: AtomicU64,
    cancels: Mutex<BTreeMap<u64, Cancel>>,
}

impl Running {
    fn begin(&self) -> (u64, Cancel) {
        let number = self.0.number.fetch_add(1, Ordering::Relaxed);
        let cancel = Cancel::new();
        self.cancels().insert(number, cancel.clone());
        (number, cancel)
    }

    fn end(&self, number: u64) {
        self.cancels().remove(&number);
    }

    /// Ends every call: the client is gone.
    pub(super) fn cancel_all(&self) {
        for cancel in self.cancels().values() {
            cancel.cancel();
        }
    }

    fn cancels(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Cancel>> {
        self.0.cancels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    pub(super) fn new(site: Arc<Site>) -> Self {
        Self { site, running: Running::default() }
    }

    pub(super) fn running(&self) -> Running {
        self.running.clone()
    }

    /// Does something that may take its time in a thread of its own; a cancelled request ends it.
    async fn work<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(Call<'_>) -> Result<T, Refused> + Send + 'static,
    ) -> Result<T, Refused> {
        let (number, cancel) = self.running.begin();
        let (site, token) = (Arc::clone(&self.site), context.ct.clone());
        let switch = cancel.clone();
        let watch = tokio::spawn(async move {
            token.cancelled().await;
            switch.cancel();
        });
        let beat = tokio::spawn(beats(context.clone()));
        let done =
            tokio::task::spawn_blocking(move || work(Call { site: &site, cancel: &cancel })).await;
        watch.abort();
        beat.abort();
        self.running.end(number);
        done.unwrap_or_else(|_| Err(Refused::new("flyball failed; this is a fault in flyball")))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts();
        ServerConfig::new(capabilities.build())
            .with_server_info(
                Implementation::new("flyball", env!("CARGO_PKG_VERSION")).with_title("flyball"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all().iter().map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = tools::named(&request.name) else {
            let known: Vec<&str> = tools::all().iter().map(|entry| entry.name).collect();
            let why =
                format!("there is no tool `{}`; there are {}", request.name, known.join(", "));
            return Err(ErrorData::invalid_params(why, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let done = self.work(&context, move |call| entry.call(call, arguments)).await;
        Ok(match done {
            Ok(value) => CallToolResult::structured(value),
            Err(refused) => CallToolResult::error(vec![ContentBlock::text(refused.to_string())]),
        }
        .into())
    }

    /// A request nobody knows, or one of the protocol's whose parameters are not what it needs.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let needs = match method.as_str() {
            "tools/call" => "`name` (string), and `arguments` as an object",
            "resources/read" => "`uri` (string)",
            "prompts/get" => "`name` (string), and `arguments` as an object of strings",
            "initialize" => "`protocolVersion`, `capabilities` and `clientInfo`",
            _ => {
                let why = format!("there is no method `{method}` here");
                return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why, None));
            }
        };
        let why = format!("the parameters of `{method}` are wrong; it needs {needs}");
        Err(ErrorData::invalid_params(why, None))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = resources::ALL.iter().map(|one| {
            Resource::new(one.uri, one.name)
                .with_title(one.title)
                .with_description(one.description)
                .with_mime_type("application/json")
        });
        Ok(ListResourcesResult::with_all_items(listed.collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(resource) = resources::named(&request.uri) else {
            let known: Vec<&str> = resources::ALL.iter().map(|one| one.uri).collect();
            let why =
                format!("there is no resource `{}`; there are {}", request.uri, known.join(", "));
            return Err(ErrorData::resource_not_found(why, None));
        };
        let value: Value = self
            .work(&context, move |call| resource.read(call))
            .await
            .map_err(|refused| ErrorData::internal_error(refused.to_string(), None))?;
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        let contents =
            ResourceContents::text(text, resource.uri).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let task = PromptArgument::new("task")
            .with_description("The task to begin with; the planned one when left out")
            .with_required(false);
        let orient = Prompt::new(orient::NAME, Some(orient::DESCRIPTION), Some(vec![task]));
        Ok(ListPromptsResult::with_all_items(vec![orient]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != orient::NAME {
            let why = format!("there is no prompt `{}`; there is `orient`", request.name);
            return Err(ErrorData::invalid_params(why, None));
        }
        let task = request
            .arguments
            .as_ref()
            .and_then(|arguments| arguments.get("task"))
            .and_then(Value::as_str)
            .map(str::to_owned);
        let text = self
            .work(&context, move |call| Ok(orient::text(call, task.as_deref())))
            .await
            .map_err(|refused| ErrorData::internal_error(refused.to_string(), None))?;
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).into())
    }
}

/// Tells a client that asked for it that a call is still at work, so that it goes on waiting.
async fn beats(context: RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else { return };
    let mut progress = 0.0;
    loop {
        tokio::time::sleep(BEAT).await;
        progress += BEAT.as_secs_f64();
        let beat = ProgressNotificationParam::new(token.clone(), progress);
        if context.peer.notify_progress(beat).await.is_err() {
            return;
        }
    }
}

fn described(entry: &Entry) -> Tool {
    let annotations = match entry.effect {
        ToolEffect::Reads => ToolAnnotations::new().read_only(true),
        ToolEffect::Writes => ToolAnnotations::new().read_only(false).destructive(false),
        ToolEffect::Runs => {
            ToolAnnotations::new().read_only(false).destructive(false).open_world(true)
        }
    };
    Tool::new(entry.name, entry.description, Arc::new(entry.input.clone()))
        .with_raw_output_schema(Arc::new(entry.output.clone()))
        .with_annotations(annotations)
}
