// A processing server of Envoy's protocol. It counts the bytes of bodies, changes headers and bodies, and answers some requests itself.
//
// Paths decide: /stop is answered here, /upper has its bodies in upper case, and below /streamed bodies are streams. Prints the
// port when it listens.
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"strings"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	proc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	kind "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/grpc"
)

type server struct {
	proc.UnimplementedExternalProcessorServer
}

func (s *server) Process(stream proc.ExternalProcessor_ProcessServer) error {
	path := ""
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		answer := &proc.ProcessingResponse{}
		switch part := request.Request.(type) {
		case *proc.ProcessingRequest_RequestHeaders:
			path = header(part.RequestHeaders, ":path")
			if strings.Contains(path, "/stop") {
				answer.Response = stop()
				break
			}
			answer.Response = &proc.ProcessingResponse_RequestHeaders{RequestHeaders: changed(
				"x-processed", header(part.RequestHeaders, ":method")+" "+path, "x-secret")}
		case *proc.ProcessingRequest_ResponseHeaders:
			answer.Response = &proc.ProcessingResponse_ResponseHeaders{ResponseHeaders: changed(
				"x-seen-status", header(part.ResponseHeaders, ":status"), "x-served-by")}
		case *proc.ProcessingRequest_RequestBody:
			answer.Response = &proc.ProcessingResponse_RequestBody{RequestBody: body(path, part.RequestBody)}
		case *proc.ProcessingRequest_ResponseBody:
			answer.Response = &proc.ProcessingResponse_ResponseBody{ResponseBody: body(path, part.ResponseBody)}
		case *proc.ProcessingRequest_RequestTrailers:
			answer.Response = &proc.ProcessingResponse_RequestTrailers{RequestTrailers: &proc.TrailersResponse{}}
		case *proc.ProcessingRequest_ResponseTrailers:
			answer.Response = &proc.ProcessingResponse_ResponseTrailers{ResponseTrailers: &proc.TrailersResponse{}}
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
}

func header(headers *proc.HttpHeaders, name string) string {
	for _, one := range headers.GetHeaders().GetHeaders() {
		if one.Key == name {
			return one.Value + string(one.RawValue)
		}
	}
	return ""
}

func changed(name, value, removed string) *proc.HeadersResponse {
	set := &core.HeaderValueOption{
		Header:       &core.HeaderValue{Key: name, RawValue: []byte(value)},
		AppendAction: core.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
	}
	mutation := &proc.HeaderMutation{SetHeaders: []*core.HeaderValueOption{set}, RemoveHeaders: []string{removed}}
	return &proc.HeadersResponse{Response: &proc.CommonResponse{HeaderMutation: mutation}}
}

// body answers a whole body, or one piece of a stream.
func body(path string, part *proc.HttpBody) *proc.BodyResponse {
	text := part.Body
	if strings.Contains(path, "/upper") {
		text = bytes.ToUpper(text)
	}
	mutation := &proc.BodyMutation{Mutation: &proc.BodyMutation_Body{Body: text}}
	if strings.HasPrefix(path, "/streamed") {
		streamed := &proc.StreamedBodyResponse{Body: text, EndOfStream: part.EndOfStream}
		mutation = &proc.BodyMutation{Mutation: &proc.BodyMutation_StreamedResponse{StreamedResponse: streamed}}
	}
	return &proc.BodyResponse{Response: &proc.CommonResponse{BodyMutation: mutation}}
}

func stop() *proc.ProcessingResponse_ImmediateResponse {
	return &proc.ProcessingResponse_ImmediateResponse{ImmediateResponse: &proc.ImmediateResponse{
		Status:  &kind.HttpStatus{Code: 418},
		Body:    []byte("stopped here\n"),
		Details: "stopped",
		Headers: &proc.HeaderMutation{SetHeaders: []*core.HeaderValueOption{
			{Header: &core.HeaderValue{Key: "x-why", RawValue: []byte("teapot")}},
		}},
	}}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	answering := grpc.NewServer()
	proc.RegisterExternalProcessorServer(answering, &server{})
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(answering.Serve(listener))
}
