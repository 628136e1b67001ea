// Command mcp-pair is a server and a client of the pairs: `mcp-pair server` prints its port; `mcp-pair client URL MODE TARGET` prints the outcomes
// as JSON. MODE is legacy, auto or sse.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if os.Args[1] == "server" {
		serve()
		return
	}
	outcomes := map[string]string{}
	for _, scenario := range scenarios {
		outcomes[scenario.name] = outcome(os.Args[2], os.Args[3], os.Args[4], scenario)
	}
	json.NewEncoder(os.Stdout).Encode(outcomes)
}

var cancellations atomic.Int64

type none struct{}

type numbers struct {
	A int `json:"a"`
	B int `json:"b"`
}

func serve() {
	server := mcp.NewServer(&mcp.Implementation{Name: "go", Version: "1.0.0"}, nil)
	addTools(server)
	server.AddResource(&mcp.Resource{Name: "one", URI: "note://one"}, func(_ context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: request.Params.URI, Text: "one"}}}, nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "greet"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Hello"}}}}, nil
	})

	get := func(*http.Request) *mcp.Server { return server }
	handler := http.NewServeMux()
	handler.Handle("/mcp", mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}))
	handler.Handle("/sse", mcp.NewSSEHandler(get, nil))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, handler))
}

func addTools(server *mcp.Server) {
	mcp.AddTool(server, &mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.CallToolRequest, in numbers) (*mcp.CallToolResult, any, error) {
		return says(strconv.Itoa(in.A + in.B))
	})
	mcp.AddTool(server, &mcp.Tool{Name: "ask"}, func(_ context.Context, request *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		if answer, ok := request.Params.InputResponses["name"].(*mcp.ElicitResult); ok {
			return says(fmt.Sprint("hello ", answer.Content["name"]))
		}
		schema := map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}, "required": []string{"name"}}
		question := &mcp.ElicitParams{Mode: "form", Message: "What is your name?", RequestedSchema: schema}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"name": question}}, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "sample"}, func(_ context.Context, request *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		switch answer := request.Params.InputResponses["words"].(type) {
		case *mcp.CreateMessageResult:
			return says("model said " + answer.Content.(*mcp.TextContent).Text)
		case *mcp.CreateMessageWithToolsResult:
			return says("model said " + answer.Content[0].(*mcp.TextContent).Text)
		}
		messages := []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Say something"}}}
		question := &mcp.CreateMessageParams{Messages: messages, MaxTokens: 10}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"words": question}}, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "count"}, func(ctx context.Context, request *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		for progress := 1.0; progress <= 3; progress++ {
			token := request.Params.GetProgressToken()
			request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: progress, Total: 3})
			time.Sleep(20 * time.Millisecond)
		}
		return says("counted")
	})
	mcp.AddTool(server, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		select {
		case <-ctx.Done():
			cancellations.Add(1)
		case <-time.After(10 * time.Second):
		}
		return says("waited")
	})
	mcp.AddTool(server, &mcp.Tool{Name: "cancellations"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		return says(strconv.FormatInt(cancellations.Load(), 10))
	})
	mcp.AddTool(server, &mcp.Tool{Name: "later"}, func(_ context.Context, request *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		if extra := request.Extra; extra != nil && extra.CloseSSEStream != nil {
			extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 100 * time.Millisecond})
		}
		time.Sleep(300 * time.Millisecond)
		return says("resumed")
	})
}

func says(text string) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

type scenario struct {
	name string
	run  func(context.Context, *meeting) error
}

// A meeting is a connection, and what the client was told on it.
type meeting struct {
	session  *mcp.ClientSession
	target   string
	mutex    sync.Mutex
	progress []float64
}

func outcome(url, mode, target string, scenario scenario) string {
	if mode == "sse" && scenario.name == "resume" {
		return "- HTTP with SSE has no resumption"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	if err := meet(ctx, url, mode, target, scenario); err != nil {
		return strings.SplitN(err.Error(), "\n", 2)[0]
	}
	return "ok"
}

func meet(ctx context.Context, url, mode, target string, scenario scenario) error {
	meeting := &meeting{target: target}
	client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "test", Content: &mcp.TextContent{Text: "hi"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
			meeting.mutex.Lock()
			defer meeting.mutex.Unlock()
			meeting.progress = append(meeting.progress, request.Params.Progress)
		},
	})
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: url}
	if mode == "sse" {
		transport = &mcp.SSEClientTransport{Endpoint: url}
	}
	options := &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}
	if mode == "auto" {
		options = nil
	}
	session, err := client.Connect(ctx, transport, options)
	if err != nil {
		return err
	}
	defer session.Close()
	meeting.session = session
	return scenario.run(ctx, meeting)
}

var scenarios = []scenario{
	{"list", checkLists},
	{"call", checkText("add", map[string]any{"a": 2, "b": 3}, "5")},
	{"elicitation", checkText("ask", noArguments, "hello Ada")},
	{"sampling", checkText("sample", noArguments, "model said hi")},
	{"progress", checkProgress},
	{"cancel", checkCancel},
	{"resume", checkText("later", noArguments, "resumed")},
}

func checkLists(ctx context.Context, m *meeting) error {
	var tools, resources, prompts []string
	for tool, err := range m.session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		tools = append(tools, tool.Name)
	}
	for resource, err := range m.session.Resources(ctx, nil) {
		if err != nil {
			return err
		}
		resources = append(resources, resource.URI)
	}
	for prompt, err := range m.session.Prompts(ctx, nil) {
		if err != nil {
			return err
		}
		prompts = append(prompts, prompt.Name)
	}
	if !slices.Contains(tools, m.name("add")) || !slices.Contains(resources, m.uri("note://one")) || !slices.Contains(prompts, m.name("greet")) {
		return fmt.Errorf("items are missing among %v, %v, %v", tools, resources, prompts)
	}
	read, err := m.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: m.uri("note://one")})
	if err != nil {
		return err
	}
	prompt, err := m.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: m.name("greet")})
	if err != nil {
		return err
	}
	greeting := prompt.Messages[0].Content.(*mcp.TextContent).Text
	return errors.Join(equals(read.Contents[0].Text, "one"), equals(greeting, "Hello"))
}

// Without arguments the SDK sends null, which some servers refuse.
var noArguments = map[string]any{}

func checkText(tool string, arguments map[string]any, expected string) func(context.Context, *meeting) error {
	return func(ctx context.Context, m *meeting) error {
		text, err := m.call(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		return errors.Join(err, equals(text, expected))
	}
}

func checkProgress(ctx context.Context, m *meeting) error {
	params := &mcp.CallToolParams{Name: "count", Arguments: noArguments}
	params.SetProgressToken("token")
	text, err := m.call(ctx, params)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return errors.Join(err, equals(text, "counted"), equals(fmt.Sprint(m.progress), "[1 2 3]"))
}

func checkCancel(ctx context.Context, m *meeting) error {
	count := func() (int, error) {
		text, err := m.call(ctx, &mcp.CallToolParams{Name: "cancellations", Arguments: noArguments})
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(text)
	}
	before, err := count()
	if err != nil {
		return err
	}
	// On a busy machine the call may be cancelled before it has begun.
	for _, delay := range []time.Duration{300 * time.Millisecond, time.Second, 3 * time.Second} {
		soon, cancel := context.WithTimeout(ctx, delay)
		_, err := m.call(soon, &mcp.CallToolParams{Name: "wait", Arguments: noArguments})
		cancel()
		if err == nil {
			return errors.New("the call ended before it was cancelled")
		}
		for range 20 {
			after, err := count()
			if err != nil || after > before {
				return err
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return errors.New("the server was not told")
}

func (m *meeting) call(ctx context.Context, params *mcp.CallToolParams) (string, error) {
	params.Name = m.name(params.Name)
	result, err := m.session.CallTool(ctx, params)
	if err != nil {
		return "", err
	}
	if len(result.Content) == 0 {
		return "", errors.New("no content")
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return "", errors.New("no text")
	}
	return text.Text, nil
}

func (m *meeting) name(name string) string {
	if m.target == "" {
		return name
	}
	return m.target + "_" + name
}

func (m *meeting) uri(uri string) string {
	if m.target == "" {
		return uri
	}
	return m.target + "+" + uri
}

func equals(seen, expected string) error {
	if seen == expected {
		return nil
	}
	return fmt.Errorf("%q instead of %q", seen, expected)
}
