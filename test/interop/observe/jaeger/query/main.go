// Jaeger's storage in memory and its query API, and a receiver for OTLP over HTTP before them. Its own programs have backends of many databases, which
// would have to be built, too.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	"github.com/gorilla/mux"
	"github.com/jaegertracing/jaeger/cmd/query/app/apiv3"
	"github.com/jaegertracing/jaeger/cmd/query/app/querysvc/v2/querysvc"
	"github.com/jaegertracing/jaeger/internal/storage/v1/memory"
	store "github.com/jaegertracing/jaeger/internal/storage/v2/memory"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
)

func receive(traces *store.Store) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		export := ptraceotlp.NewExportRequest()
		if err == nil {
			err = export.UnmarshalProto(body)
		}
		if err == nil {
			err = traces.WriteTraces(request.Context(), export.Traces())
		}
		if err != nil {
			http.Error(response, err.Error(), http.StatusBadRequest)
			return
		}
		response.Header().Set("content-type", "application/x-protobuf")
	}
}

func main() {
	traces, err := store.NewStore(memory.Configuration{MaxTraces: 1000})
	if err != nil {
		log.Fatal(err)
	}
	gateway := apiv3.HTTPGateway{
		QueryService: querysvc.NewQueryService(traces, traces, querysvc.QueryServiceOptions{}),
		Logger:       zap.NewNop(),
		Tracer:       noop.NewTracerProvider(),
	}
	router := mux.NewRouter()
	router.HandleFunc("/v1/traces", receive(traces)).Methods(http.MethodPost)
	gateway.RegisterRoutes(router)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, router))
}
