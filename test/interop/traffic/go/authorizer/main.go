// An authorization server of Envoy's protocol. The rules are Rego and see the CheckRequest as `input`; the library of Open Policy Agent
// evaluates them.
//
//	authorizer RULES
//
// RULES is a file with the package `gateway`, whose `decision` is an object with `allow`, and optionally `status`, `body`, `headers`,
// `remove`, `response_headers` and `metadata`. Prints the port when it listens.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"os"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	kind "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"github.com/open-policy-agent/opa/v1/rego"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

type decision struct {
	Allow           bool              `json:"allow"`
	Status          int32             `json:"status"`
	Body            string            `json:"body"`
	Headers         map[string]string `json:"headers"`
	Remove          []string          `json:"remove"`
	ResponseHeaders map[string]string `json:"response_headers"`
	Metadata        map[string]any    `json:"metadata"`
}

type server struct {
	auth.UnimplementedAuthorizationServer
	rules rego.PreparedEvalQuery
}

func (s *server) Check(ctx context.Context, request *auth.CheckRequest) (*auth.CheckResponse, error) {
	decided, err := s.decide(ctx, request)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	if !decided.Allow {
		return &auth.CheckResponse{
			Status: &rpc.Status{Code: int32(codes.PermissionDenied)},
			HttpResponse: &auth.CheckResponse_DeniedResponse{DeniedResponse: &auth.DeniedHttpResponse{
				Status:  &kind.HttpStatus{Code: kind.StatusCode(decided.Status)},
				Headers: options(decided.Headers),
				Body:    decided.Body,
			}},
		}, nil
	}
	metadata, err := structpb.NewStruct(decided.Metadata)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &auth.CheckResponse{
		Status: &rpc.Status{Code: int32(codes.OK)},
		HttpResponse: &auth.CheckResponse_OkResponse{OkResponse: &auth.OkHttpResponse{
			Headers:              options(decided.Headers),
			HeadersToRemove:      decided.Remove,
			ResponseHeadersToAdd: options(decided.ResponseHeaders),
		}},
		DynamicMetadata: metadata,
	}, nil
}

func (s *server) decide(ctx context.Context, request *auth.CheckRequest) (*decision, error) {
	text, err := protojson.Marshal(request)
	if err != nil {
		return nil, err
	}
	var input any
	if err := json.Unmarshal(text, &input); err != nil {
		return nil, err
	}
	results, err := s.rules.Eval(ctx, rego.EvalInput(input))
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("the rules decide nothing")
	}
	value, err := json.Marshal(results[0].Expressions[0].Value)
	if err != nil {
		return nil, err
	}
	decided := &decision{}
	return decided, json.Unmarshal(value, decided)
}

func options(headers map[string]string) []*core.HeaderValueOption {
	var list []*core.HeaderValueOption
	for key, value := range headers {
		list = append(list, &core.HeaderValueOption{Header: &core.HeaderValue{Key: key, Value: value}})
	}
	return list
}

func main() {
	ctx := context.Background()
	rules, err := rego.New(rego.Query("data.gateway.decision"), rego.Load(os.Args[1:2], nil)).PrepareForEval(ctx)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	answering := grpc.NewServer()
	auth.RegisterAuthorizationServer(answering, &server{rules: rules})
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(answering.Serve(listener))
}
