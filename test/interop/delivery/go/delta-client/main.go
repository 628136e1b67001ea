// A client of incremental xDS that does what standard input says, one JSON object per line: it opens a stream, sends a request, or reads.
//
// Standard output has one JSON object for each response, and for the end of each stream.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Command is a line of standard input: exactly one of its members.
type Command struct {
	Open  *Open    `json:"open"`
	Ask   *Request `json:"ask"`
	Read  bool     `json:"read"`
	Close bool     `json:"close"`
}

// Open opens a stream, which replaces the one before.
type Open struct {
	Token       string `json:"token"`
	DeadlineMs  int    `json:"deadlineMs"`
	MaxBytes    int    `json:"maxBytes"`
	Compressed  bool   `json:"compressed"`
	Unread      bool   `json:"unread"`
	HeaderBytes int    `json:"headerBytes"`
}

// Request is a DeltaDiscoveryRequest.
type Request struct {
	Type        string            `json:"type"`
	Subscribe   []string          `json:"subscribe"`
	Unsubscribe []string          `json:"unsubscribe"`
	Versions    map[string]string `json:"versions"`
	Nonce       string            `json:"nonce"`
	Error       string            `json:"error"`
}

// Event is a line of standard output.
type Event struct {
	Stream    int               `json:"stream"`
	Type      string            `json:"type,omitempty"`
	Nonce     string            `json:"nonce,omitempty"`
	Resources map[string]string `json:"resources,omitempty"`
	Removed   []string          `json:"removed,omitempty"`
	// Resources whose version is not the SHA-256 of their bytes.
	Wrong []string `json:"wrong,omitempty"`
	Bytes int      `json:"bytes,omitempty"`
	// The end of the stream: name of the status and message.
	End string `json:"end,omitempty"`
}

type stream = discovery.AggregatedDiscoveryService_DeltaAggregatedResourcesClient

func main() {
	address := flag.String("address", "", "host and port of the server")
	authority := flag.String("authority", "", "PEM file; without it there is no TLS")
	pings := flag.Duration("pings", 0, "interval of PINGs; the library has at least 10 s")
	flag.Parse()
	options := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	if *authority != "" {
		tls, err := credentials.NewClientTLSFromFile(*authority, "")
		check(err)
		options[0] = grpc.WithTransportCredentials(tls)
	}
	if *pings > 0 {
		options = append(options, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: *pings}))
	}
	connection, err := grpc.NewClient(*address, options...)
	check(err)
	client := discovery.NewAggregatedDiscoveryServiceClient(connection)

	var current stream
	number := 0
	for decoder := json.NewDecoder(os.Stdin); ; {
		var command Command
		if decoder.Decode(&command) != nil {
			return
		}
		switch {
		case command.Open != nil:
			number++
			current, err = open(client, *command.Open)
			if err != nil {
				print(Event{Stream: number, End: describe(err)})
			} else if !command.Open.Unread {
				go read(number, current)
			}
		case current == nil:
			// It could not be opened.
		case command.Ask != nil:
			// The reader tells why a stream has ended.
			_ = current.Send(message(*command.Ask))
		case command.Read:
			go read(number, current)
		case command.Close:
			check(current.CloseSend())
		}
	}
}

func open(client discovery.AggregatedDiscoveryServiceClient, how Open) (stream, error) {
	ctx := context.Background()
	if how.DeadlineMs > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(how.DeadlineMs)*time.Millisecond)
		// The stream outlives this function.
		_ = cancel
	}
	if how.Token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+how.Token)
	}
	if how.HeaderBytes > 0 {
		ctx = metadata.AppendToOutgoingContext(ctx, "x-large", strings.Repeat("x", how.HeaderBytes))
	}
	options := []grpc.CallOption{}
	if how.MaxBytes > 0 {
		options = append(options, grpc.MaxCallRecvMsgSize(how.MaxBytes))
	}
	if how.Compressed {
		options = append(options, grpc.UseCompressor(gzip.Name))
	}
	return client.DeltaAggregatedResources(ctx, options...)
}

func message(ask Request) *discovery.DeltaDiscoveryRequest {
	request := &discovery.DeltaDiscoveryRequest{
		Node:    &core.Node{Id: "go"},
		TypeUrl: ask.Type, ResourceNamesSubscribe: ask.Subscribe, ResourceNamesUnsubscribe: ask.Unsubscribe,
		InitialResourceVersions: ask.Versions, ResponseNonce: ask.Nonce,
	}
	if ask.Error != "" {
		request.ErrorDetail = &rpc.Status{Code: 3, Message: ask.Error}
	}
	return request
}

func read(number int, from stream) {
	for {
		response, err := from.Recv()
		if err != nil {
			print(Event{Stream: number, End: describe(err)})
			return
		}
		event := Event{
			Stream: number, Type: response.GetTypeUrl(), Nonce: response.GetNonce(),
			Resources: map[string]string{}, Removed: response.GetRemovedResources(),
		}
		for _, resource := range response.GetResources() {
			value := resource.GetResource().GetValue()
			digest := sha256.Sum256(value)
			event.Resources[resource.GetName()] = resource.GetVersion()
			event.Bytes += len(value)
			if hex.EncodeToString(digest[:]) != resource.GetVersion() || resource.GetResource().GetTypeUrl() != event.Type {
				event.Wrong = append(event.Wrong, resource.GetName())
			}
		}
		print(event)
	}
}

func describe(err error) string {
	if errors.Is(err, io.EOF) {
		return "OK"
	}
	return fmt.Sprintf("%s: %s", status.Code(err), status.Convert(err).Message())
}

var output sync.Mutex

func print(event Event) {
	output.Lock()
	defer output.Unlock()
	line, err := json.Marshal(event)
	check(err)
	fmt.Println(string(line))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
