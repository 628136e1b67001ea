// A delta server of go-control-plane with a linear cache for each type, whose resources are opaque.
//
// Standard input has commands, one JSON object per line: `set` and `removed` change resources of `type` in one step. Its end stops the server.
// Standard output has one JSON object for the port, each stream that opens or closes, each request and each response.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Command is a line of standard input.
type Command struct {
	Type    string            `json:"type"`
	Set     map[string][]byte `json:"set"`
	Removed []string          `json:"removed"`
}

// Event is a line of standard output.
type Event struct {
	Port     int               `json:"port,omitempty"`
	Stream   int64             `json:"stream,omitempty"`
	State    string            `json:"state"`
	Type     string            `json:"type,omitempty"`
	Nonce    string            `json:"nonce,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
	Names    []string          `json:"names,omitempty"`
	Removed  []string          `json:"removed,omitempty"`
	Bytes    int               `json:"bytes,omitempty"`
	Error    string            `json:"error,omitempty"`
	Node     string            `json:"node,omitempty"`
	Metadata any               `json:"metadata,omitempty"`
}

var output sync.Mutex

func print(event Event) {
	output.Lock()
	defer output.Unlock()
	line, err := json.Marshal(event)
	check(err)
	fmt.Println(string(line))
}

func main() {
	port := flag.Int("port", 0, "0: any free port")
	typeURLs := flag.String("types", "", "type URLs of resources, separated by commas")
	token := flag.String("token", "", "the bearer token that requests need")
	certificate := flag.String("certificate", "", "PEM file; without it the port has no TLS")
	key := flag.String("key", "", "PEM file")
	age := flag.Duration("age", 0, "how long a connection lasts before GOAWAY; as long again until it closes")
	pings := flag.Duration("pings", 0, "interval of PINGs")
	flag.Parse()

	caches := map[string]cache.Cache{}
	for _, typeURL := range strings.Split(*typeURLs, ",") {
		caches[typeURL] = cache.NewLinearCache(typeURL)
	}
	mux := &cache.MuxCache{
		ClassifyDelta: func(request *cache.DeltaRequest) string { return request.GetTypeUrl() },
		Caches:        caches,
	}
	options := []grpc.ServerOption{}
	if *age > 0 || *pings > 0 {
		options = append(options, grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionAge: *age, MaxConnectionAgeGrace: *age, Time: *pings, Timeout: 5 * time.Second,
		}))
	}
	if *certificate != "" {
		tls, err := credentials.NewServerTLSFromFile(*certificate, *key)
		check(err)
		options = append(options, grpc.Creds(tls))
	}
	grpcServer := grpc.NewServer(options...)
	discovery.RegisterAggregatedDiscoveryServiceServer(grpcServer,
		server.NewServer(context.Background(), mux, callbacks(*token)))
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	check(err)
	print(Event{State: "listening", Port: listener.Addr().(*net.TCPAddr).Port})
	go obey(caches)
	check(grpcServer.Serve(listener))
}

func callbacks(token string) server.CallbackFuncs {
	return server.CallbackFuncs{
		DeltaStreamOpenFunc: func(ctx context.Context, stream int64, _ string) error {
			fields, _ := metadata.FromIncomingContext(ctx)
			if token != "" && strings.Join(fields.Get("authorization"), "") != "Bearer "+token {
				print(Event{Stream: stream, State: "refused"})
				return status.Error(codes.Unauthenticated, "the token is wrong")
			}
			print(Event{Stream: stream, State: "open"})
			return nil
		},
		DeltaStreamClosedFunc: func(stream int64, _ *core.Node) { print(Event{Stream: stream, State: "closed"}) },
		StreamDeltaRequestFunc: func(stream int64, request *discovery.DeltaDiscoveryRequest) error {
			event := Event{
				Stream: stream, State: "request", Type: request.GetTypeUrl(), Nonce: request.GetResponseNonce(),
				Versions: request.GetInitialResourceVersions(), Error: request.GetErrorDetail().GetMessage(),
				Node: request.GetNode().GetId(),
			}
			if fields := request.GetNode().GetMetadata(); fields != nil {
				event.Metadata = fields.AsMap()
			}
			print(event)
			return nil
		},
		StreamDeltaResponseFunc: func(stream int64, _ *discovery.DeltaDiscoveryRequest, response *discovery.DeltaDiscoveryResponse) {
			event := Event{
				Stream: stream, State: "response", Type: response.GetTypeUrl(), Nonce: response.GetNonce(),
				Removed: response.GetRemovedResources(), Bytes: proto.Size(response),
			}
			for _, resource := range response.GetResources() {
				event.Names = append(event.Names, resource.GetName())
			}
			print(event)
		},
	}
}

func obey(caches map[string]cache.Cache) {
	for decoder := json.NewDecoder(os.Stdin); ; {
		var command Command
		if decoder.Decode(&command) != nil {
			os.Exit(0)
		}
		changed := map[string]types.Resource{}
		for name, value := range command.Set {
			changed[name] = opaque(value)
		}
		check(caches[command.Type].(*cache.LinearCache).UpdateResources(changed, command.Removed))
	}
}

// A message of a type that this program does not know, which is sent as these bytes.
func opaque(value []byte) proto.Message {
	message := &emptypb.Empty{}
	check(proto.Unmarshal(value, message))
	return message
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
