import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientSseClientTransport;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncPromptSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncResourceSpecification;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.HttpServletSseServerTransportProvider;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema.*;
import jakarta.servlet.http.HttpServlet;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.apache.catalina.startup.Tomcat;

/**
 * The pairs in Java: `Pair server` prints its port; `Pair client URL MODE TARGET` prints the outcomes as JSON. MODE is `legacy` or `sse`.
 */
public final class Pair {
  public static void main(String[] words) throws Exception {
    if (words[0].equals("server")) serve();
    else meet(words[1], words[2], words[3]);
  }

  // The server

  static void serve() throws Exception {
    var streamable = HttpServletStreamableServerTransportProvider.builder().mcpEndpoint("/mcp").build();
    var stream = HttpServletSseServerTransportProvider.builder().sseEndpoint("/sse").messageEndpoint("/messages").build();
    build(McpServer.sync(streamable)).build();
    build(McpServer.sync(stream)).build();

    System.setProperty("org.apache.juli.logging.UserDataHelper.CONFIG", "NONE");
    java.util.logging.LogManager.getLogManager().reset();
    var tomcat = new Tomcat();
    tomcat.setBaseDir(java.nio.file.Files.createTempDirectory("pair").toString());
    tomcat.setPort(0);
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    var context = tomcat.addContext("", null);
    add(tomcat, context, "mcp", streamable, "/mcp");
    add(tomcat, context, "sse", stream, "/sse", "/messages");
    tomcat.start();
    System.out.println(tomcat.getConnector().getLocalPort());
    tomcat.getServer().await();
  }

  static void add(Tomcat tomcat, org.apache.catalina.Context context, String name, HttpServlet servlet, String... paths) {
    Tomcat.addServlet(context, name, servlet).setAsyncSupported(true);
    for (var path : paths) context.addServletMappingDecoded(path, name);
  }

  static McpServer.SyncSpecification<?> build(McpServer.SyncSpecification<?> server) {
    server.serverInfo("java", "1.0.0").capabilities(ServerCapabilities.builder().tools(false).resources(false, false).prompts(false).build());
    tool(server, "add", (exchange, values) -> String.valueOf(number(values, "a") + number(values, "b")));
    tool(server, "ask", (exchange, values) -> {
      Map<String, Object> schema = Map.of("type", "object", "properties", Map.of("name", Map.of("type", "string")), "required", List.of("name"));
      return "hello " + exchange.createElicitation(ElicitFormRequest.builder("What is your name?", schema).build()).content().get("name");
    });
    tool(server, "sample", (exchange, values) -> {
      var messages = List.of(new SamplingMessage(Role.USER, new TextContent("Say something")));
      var answer = exchange.createMessage(CreateMessageRequest.builder(messages, 10).build());
      return "model said " + ((TextContent) answer.content()).text();
    });
    server.toolCall(described("count"), (exchange, request) -> {
      for (var progress = 1; progress <= 3; progress++) {
        if (request.progressToken() != null) {
          exchange.progressNotification(new ProgressNotification(request.progressToken(), progress, 3.0, null));
        }
        pause(20);
      }
      return says("counted");
    });
    // The SDK has no cancellation.
    tool(server, "wait", (exchange, values) -> "waited");
    tool(server, "cancellations", (exchange, values) -> "0");
    // The SDK does not let tools close their stream.
    tool(server, "later", (exchange, values) -> {
      pause(300);
      return "resumed";
    });
    server.resources(new SyncResourceSpecification(
        Resource.builder("note://one", "one").build(),
        (exchange, request) -> new ReadResourceResult(List.of(new TextResourceContents(request.uri(), "text/plain", "one")))));
    server.prompts(new SyncPromptSpecification(
        Prompt.builder("greet").build(),
        (exchange, request) -> new GetPromptResult(null, List.of(new PromptMessage(Role.USER, new TextContent("Hello"))))));
    return server;
  }

  static void tool(McpServer.SyncSpecification<?> server, String name, BiFunction<McpSyncServerExchange, Map<String, Object>, String> run) {
    server.toolCall(described(name), (exchange, request) -> says(run.apply(exchange, request.arguments())));
  }

  static Tool described(String name) {
    var integer = Map.of("type", "integer");
    return Tool.builder(name, Map.of("type", "object", "properties", Map.of("a", integer, "b", integer))).description(name).build();
  }

  static CallToolResult says(String text) {
    return CallToolResult.builder().addTextContent(text).build();
  }

  static long number(Map<String, Object> values, String name) {
    return ((Number) values.get(name)).longValue();
  }

  static void pause(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  // The client

  interface Check {
    void run(Meeting meeting) throws Exception;
  }

  record Scenario(String name, Check check) {}

  static final List<Scenario> SCENARIOS = List.of(
      new Scenario("list", Meeting::list),
      new Scenario("call", meeting -> meeting.says("add", Map.of("a", 2, "b", 3), "5")),
      new Scenario("elicitation", meeting -> meeting.says("ask", Map.of(), "hello Ada")),
      new Scenario("sampling", meeting -> meeting.says("sample", Map.of(), "model said hi")),
      new Scenario("progress", Meeting::progress),
      new Scenario("cancel", null),
      new Scenario("resume", meeting -> meeting.says("later", Map.of(), "resumed")));

  static void meet(String url, String mode, String target) {
    var outcomes = SCENARIOS.stream()
        .map(scenario -> quoted(scenario.name) + ":" + quoted(outcome(url, mode, target, scenario)))
        .collect(Collectors.joining(",", "{", "}"));
    System.out.println(outcomes);
    System.exit(0);
  }

  static String outcome(String url, String mode, String target, Scenario scenario) {
    if (scenario.check == null) return "- the client cannot cancel";
    if (scenario.name.equals("resume") && mode.equals("sse")) return "- HTTP with SSE has no resumption";
    var run = CompletableFuture.runAsync(() -> {
      var meeting = new Meeting(url, mode, target);
      try {
        scenario.check.run(meeting);
      } catch (Exception e) {
        throw new IllegalStateException(e);
      } finally {
        meeting.client.close();
      }
    });
    try {
      run.get(25, TimeUnit.SECONDS);
      return "ok";
    } catch (TimeoutException e) {
      return "no end within 25 s";
    } catch (Exception e) {
      Throwable cause = e;
      while (cause.getCause() != null) cause = cause.getCause();
      return String.valueOf(cause.getMessage()).split("\n")[0];
    }
  }

  static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  static final class Meeting {
    final McpSyncClient client;
    final String target;
    final List<Double> progress = Collections.synchronizedList(new ArrayList<>());

    Meeting(String url, String mode, String target) {
      this.target = target;
      var at = URI.create(url);
      var origin = at.getScheme() + "://" + at.getAuthority();
      McpClientTransport transport = mode.equals("sse")
          ? HttpClientSseClientTransport.builder(origin).sseEndpoint(at.getPath()).build()
          : HttpClientStreamableHttpTransport.builder(origin).endpoint(at.getPath()).resumableStreams(true).build();
      client = McpClient.sync(transport)
          .initializationTimeout(Duration.ofSeconds(10))
          .requestTimeout(Duration.ofSeconds(20))
          .capabilities(ClientCapabilities.builder().elicitation().sampling().build())
          .elicitation(request -> new ElicitResult(ElicitResult.Action.ACCEPT, Map.of("name", "Ada")))
          .sampling(request -> CreateMessageResult.builder(Role.ASSISTANT, "hi", "test").build())
          .progressConsumer(notification -> progress.add(notification.progress()))
          .build();
      client.initialize();
    }

    void list() {
      var tools = client.listTools().tools().stream().map(Tool::name).toList();
      var resources = client.listResources().resources().stream().map(Resource::uri).toList();
      var prompts = client.listPrompts().prompts().stream().map(Prompt::name).toList();
      if (!tools.contains(name("add")) || !resources.contains(uri("note://one")) || !prompts.contains(name("greet"))) {
        throw new IllegalStateException("items are missing among " + tools + ", " + resources + ", " + prompts);
      }
      var read = client.readResource(new ReadResourceRequest(uri("note://one"))).contents().get(0);
      equal(((TextResourceContents) read).text(), "one");
      var prompt = client.getPrompt(new GetPromptRequest(name("greet"), Map.of())).messages().get(0);
      equal(((TextContent) prompt.content()).text(), "Hello");
    }

    void says(String tool, Map<String, Object> values, String expected) {
      equal(call(new CallToolRequest(name(tool), values)), expected);
    }

    void progress() {
      equal(call(CallToolRequest.builder(name("count")).arguments(Map.of()).progressToken("token").build()), "counted");
      for (var tries = 0; tries < 50 && progress.size() < 3; tries++) pause(20);
      // The SDK handles notifications on several threads, in any order.
      equal(progress.stream().sorted().toList().toString(), "[1.0, 2.0, 3.0]");
    }

    String call(CallToolRequest request) {
      return ((TextContent) client.callTool(request).content().get(0)).text();
    }

    String name(String name) {
      return target.isEmpty() ? name : target + "_" + name;
    }

    String uri(String uri) {
      return target.isEmpty() ? uri : target + "+" + uri;
    }

    static void equal(String seen, String expected) {
      if (!expected.equals(seen)) throw new IllegalStateException("'" + seen + "' instead of '" + expected + "'");
    }
  }
}
