import { CONTROLLER_METRICS } from './controller-metrics.ts'
import { GATEWAY_METRICS } from './gateway-metrics.ts'
import { labelled } from './labels.ts'
import type { Metric } from './metric.ts'

/** Durations of requests, seconds. */
const DURATION = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 80]
/** What the gateway itself takes, seconds. */
const PROCESSING_DURATION = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25]
/** For operations of a few round trips, seconds. */
const CONNECTION_DURATION = [0.0005, 0.0015, 0.0043, 0.0126, 0.0368, 0.108, 0.316, 0.924, 2.71, 8]
const TOKENS = Array.from({ length: 14 }, (_, i) => 4 ** i)
const LLM_DURATION = Array.from({ length: 14 }, (_, i) => Number((0.01 * 2 ** i).toFixed(2)))
const FIRST_TOKEN = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const PER_TOKEN = [0.001, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]

/** Fields for the place of a request in the configuration. */
export const PLACE_FIELDS = ['gateway', 'listener', 'route', 'route_rule'] as const
/** The place, and where the connection of the request was accepted: labels of all metrics of requests. */
export const ROUTE_FIELDS = ['bind', ...PLACE_FIELDS] as const
/** Fields of a completed request that are labels of its metrics (`fields.ts`). */
export const REQUEST_FIELDS = ['backend', 'protocol', 'http.method', 'http.status', 'reason', ...ROUTE_FIELDS] as const
export const PROCESSING_FIELDS = ['backend', ...ROUTE_FIELDS] as const
export const LLM_FIELDS = [
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  ...ROUTE_FIELDS,
] as const
export const LLM_ERROR_FIELDS = ['error.type', 'gen_ai.provider.name', 'backend', ...ROUTE_FIELDS] as const
export const A2A_FIELDS = ['a2a.method', 'a2a.response.outcome', 'a2a.task.state', ...ROUTE_FIELDS] as const

export const MCP_FIELDS = [
  'mcp.method.name',
  'mcp.resource.type',
  'mcp.target',
  'mcp.resource.name',
  ...ROUTE_FIELDS,
] as const

const CONNECTION = ['bind', 'gateway', 'listener', 'protocol'] as const

export const METRICS = {
  requests: {
    name: 'requests_total',
    help: 'Completed requests.',
    type: 'counter',
    ...labelled(REQUEST_FIELDS),
    hasCustomLabels: true,
  },
  duration: {
    name: 'request_duration_seconds',
    help: 'Time from the request head to the last byte of the response. For relayed connections, their duration.',
    type: 'histogram',
    ...labelled(REQUEST_FIELDS),
    hasCustomLabels: true,
    buckets: DURATION,
  },
  requestProcessing: {
    name: 'request_processing_seconds',
    help: 'Time from the request head until the request was first sent to a backend.',
    type: 'histogram',
    ...labelled(PROCESSING_FIELDS),
    hasCustomLabels: true,
    buckets: PROCESSING_DURATION,
  },
  responseProcessing: {
    name: 'response_processing_seconds',
    help: 'Time from the response head of the backend, or the failure of the last attempt, to the response head for the client.',
    type: 'histogram',
    ...labelled(PROCESSING_FIELDS),
    hasCustomLabels: true,
    buckets: PROCESSING_DURATION,
  },
  upstreamCalls: {
    name: 'upstream_call_duration_seconds',
    help: 'Duration of requests to upstream servers, to the last byte of the response: attempts to forward a request, and calls for it.',
    type: 'histogram',
    labels: ['kind', 'subtype'],
    hasCustomLabels: true,
    buckets: DURATION,
  },
  upstreamConnects: {
    name: 'upstream_connect_duration_seconds',
    help: 'Time to open a connection to an upstream server, with name resolution, proxy server and TLS handshake.',
    type: 'histogram',
    labels: ['transport'],
    buckets: CONNECTION_DURATION,
  },
  responseBytes: {
    name: 'response_bytes_total',
    help: 'Bytes of response bodies sent to clients.',
    type: 'counter',
    ...labelled(REQUEST_FIELDS),
    hasCustomLabels: true,
  },
  retries: {
    name: 'retries_total',
    help: 'Attempts after the first one.',
    type: 'counter',
    ...labelled(REQUEST_FIELDS),
    hasCustomLabels: true,
  },
  upstreamFailures: {
    name: 'upstream_failures_total',
    help: 'Attempts that received no response.',
    type: 'counter',
    labels: [...labelled(['backend']).labels, 'failure', ...labelled(ROUTE_FIELDS).labels],
    hasCustomLabels: true,
  },
  calls: {
    name: 'call_duration_seconds',
    help: 'Duration of requests that the gateway itself makes, from the call to the last byte of the response.',
    type: 'histogram',
    labels: ['purpose', 'backend', 'outcome'],
    hasCustomLabels: true,
    buckets: DURATION,
  },
  telemetryExported: {
    name: 'telemetry_exported_total',
    help: 'Log entries, spans and metrics that an OTLP server has accepted.',
    type: 'counter',
    labels: ['signal'],
  },
  telemetryDropped: {
    name: 'telemetry_dropped_total',
    help: 'Log entries, spans and metrics that were not delivered to their OTLP server.',
    type: 'counter',
    labels: ['signal', 'reason'],
  },
  recordsWritten: {
    name: 'records_written_total',
    help: 'Decision records written to the folder of records.',
    type: 'counter',
    labels: [],
  },
  recordsDropped: {
    name: 'records_dropped_total',
    help: 'Decision records missing in the folder of records.',
    type: 'counter',
    labels: ['reason'],
  },
  callouts: {
    name: 'callouts_total',
    help: 'Decisions of servers that policies asked; cached ones caused no request.',
    type: 'counter',
    labels: ['policy', 'backend', 'verdict', 'cached'],
    hasCustomLabels: true,
  },
  guardChecks: {
    name: 'guardrail_checks_total',
    help: 'Checks of prompt guards; those of which a verdict about the same texts was reused are not counted.',
    type: 'counter',
    labels: ['phase', 'kind', 'action'],
    hasCustomLabels: true,
  },
  guardDuration: {
    name: 'guardrail_duration_seconds',
    help: 'Duration of checks of prompt guards. Patterns check a stream from its beginning to its end.',
    type: 'histogram',
    labels: ['kind', 'phase'],
    hasCustomLabels: true,
    buckets: DURATION,
  },
  guardHeldBytes: {
    name: 'guardrail_held_bytes',
    help: 'Bytes of streamed events that prompt guards hold back.',
    type: 'gauge',
    labels: [],
  },
  guardWindows: {
    name: 'guardrail_windows_in_flight',
    help: 'Windows of streamed texts that services of prompt guards judge.',
    type: 'gauge',
    labels: [],
  },
  guardOpenCircuits: {
    name: 'guardrail_open_circuits',
    help: 'Prompt guards whose service failed 5 times in a row, so that it is asked once a second. At most 1000 services are shown, these first.',
    type: 'gauge',
    labels: ['phase', 'kind', 'backend'],
  },
  keySetFetches: {
    name: 'key_set_fetches_total',
    help: 'Attempts to fetch a key set. An attempt also fails if the fetched set cannot be used.',
    type: 'counter',
    labels: ['backend', 'path', 'outcome'],
  },
  keySetFetched: {
    name: 'key_set_fetched_timestamp_seconds',
    help: 'Time when the key set in use was fetched. 0 if there is none.',
    type: 'gauge',
    labels: ['backend', 'path'],
  },
  credentialFetches: {
    name: 'credential_fetches_total',
    help: 'Attempts to obtain a credential of a cloud for backends.',
    type: 'counter',
    labels: ['source', 'outcome'],
  },
  credentialExpiry: {
    name: 'credential_expiry_timestamp_seconds',
    help: 'Time when the credential in use expires. 0 if there is none, or if it does not expire.',
    type: 'gauge',
    labels: ['source'],
  },
  certificateExpiry: {
    name: 'certificate_expiry_timestamp_seconds',
    help: 'Time when a certificate that is used expires, or an authority. Of an entry with several, the first one. At most 1000 are shown, those that expire first.',
    type: 'gauge',
    labels: ['object', 'entry'],
  },
  meshCertificateFailures: {
    name: 'mesh_certificate_failures_total',
    help: 'Failed attempts to get a certificate from the CA of the service mesh; only of a proxy in a mesh.',
    type: 'counter',
    labels: ['reason'],
  },
  tokenExpiry: {
    name: 'token_expiry_timestamp_seconds',
    help: 'Time when a token (JWT) in a Secret that is used expires. At most 1000 are shown, those that expire first.',
    type: 'gauge',
    labels: ['object', 'entry'],
  },
  wireRefusals: {
    name: 'wire_refusals_total',
    help: 'Requests that the HTTP parser refused, and HTTP/2 connections that failed.',
    type: 'counter',
    labels: ['code'],
  },
  deniedConnections: {
    name: 'denied_connections_total',
    help: 'Connections that network authorization closed.',
    type: 'counter',
    labels: [],
  },
  refusedConnections: {
    name: 'refused_connections_total',
    help: 'Connections whose PROXY header or TLS handshake failed.',
    type: 'counter',
    labels: ['code'],
  },
  lostLines: {
    name: 'access_log_lost_lines_total',
    help: 'Access log lines that were dropped because they could not be written.',
    type: 'counter',
    labels: [],
  },
  workerStarts: {
    name: 'worker_starts_total',
    help: 'Started proxy workers, by the transport of connections without TLS.',
    type: 'counter',
    labels: ['transport'],
  },
  workerReplacements: {
    name: 'worker_replacements_total',
    help: 'Proxy workers that were replaced because they exited or their event loop was blocked.',
    type: 'counter',
    labels: ['cause'],
  },
  connections: {
    name: 'downstream_connections_total',
    help: 'Closed client connections, without those that were denied or refused.',
    type: 'counter',
    labels: CONNECTION,
  },
  receivedBytes: {
    name: 'downstream_received_bytes_total',
    help: 'Bytes received on closed client connections. With terminated TLS, the decrypted bytes.',
    type: 'counter',
    labels: CONNECTION,
  },
  sentBytes: {
    name: 'downstream_sent_bytes_total',
    help: 'Bytes sent on closed client connections. With terminated TLS, the bytes before encryption.',
    type: 'counter',
    labels: CONNECTION,
  },
  handshakes: {
    name: 'tls_handshake_duration_seconds',
    help: 'Duration of successful TLS handshakes, from the ClientHello.',
    type: 'histogram',
    labels: CONNECTION,
    buckets: CONNECTION_DURATION,
  },
  tokens: {
    name: 'gen_ai_client_token_usage',
    help: 'Tokens of LLM requests, as counted by the provider, or estimated where it reports none.',
    type: 'histogram',
    ...labelled(LLM_FIELDS, 'gen_ai_token_type'),
    hasCustomLabels: true,
    buckets: TOKENS,
  },
  cost: {
    name: 'gen_ai_client_cost_usd_total',
    help: 'Cost of LLM requests in dollars, of those whose prices and tokens are known.',
    type: 'counter',
    ...labelled(LLM_FIELDS),
    hasCustomLabels: true,
  },
  costLookups: {
    name: 'cost_catalog_lookups_total',
    help: 'Lookups of prices for LLM requests. incomplete: a price or a number of tokens is missing, so the cost is unknown.',
    type: 'counter',
    ...labelled(LLM_FIELDS, 'outcome'),
    hasCustomLabels: true,
  },
  llmDuration: {
    name: 'gen_ai_server_request_duration',
    help: 'Duration of LLM requests in seconds.',
    type: 'histogram',
    ...labelled(LLM_FIELDS),
    hasCustomLabels: true,
    buckets: LLM_DURATION,
  },
  firstToken: {
    name: 'gen_ai_server_time_to_first_token',
    help: 'Seconds to the first token of streamed LLM responses.',
    type: 'histogram',
    ...labelled(LLM_FIELDS),
    hasCustomLabels: true,
    buckets: FIRST_TOKEN,
  },
  perToken: {
    name: 'gen_ai_server_time_per_output_token',
    help: 'Seconds for each output token of streamed LLM responses after the first one.',
    type: 'histogram',
    ...labelled(LLM_FIELDS),
    hasCustomLabels: true,
    buckets: PER_TOKEN,
  },
  llmErrors: {
    name: 'gen_ai_server_stream_errors_total',
    help: 'LLM responses that failed after their head: they broke off, have an error of the provider, or cannot be read.',
    type: 'counter',
    ...labelled(LLM_ERROR_FIELDS),
    hasCustomLabels: true,
  },
  mcpRequests: {
    name: 'mcp_requests_total',
    help: 'MCP messages that have a method.',
    type: 'counter',
    ...labelled(MCP_FIELDS),
    hasCustomLabels: true,
  },
  a2aRequests: {
    name: 'a2a_requests_total',
    help: 'Requests to A2A agents: calls and agent cards.',
    type: 'counter',
    ...labelled(A2A_FIELDS),
    hasCustomLabels: true,
  },
  mcpTargetDuration: {
    name: 'mcp_target_duration_seconds',
    help: 'Time from sending a message to an MCP server to its complete response. For failed calls, and for messages without a response, to their end.',
    type: 'histogram',
    ...labelled(ROUTE_FIELDS, 'server'),
    hasCustomLabels: true,
    buckets: DURATION,
  },
  mcpStrayAnswers: {
    name: 'mcp_stray_answers_total',
    help: 'Unsolicited responses from MCP servers, which were dropped.',
    type: 'counter',
    ...labelled(ROUTE_FIELDS, 'server'),
    hasCustomLabels: true,
  },
  unsentDescriptors: {
    name: 'rate_limit_unsent_descriptors_total',
    help: 'Descriptors of global rate limits that were left out because an expression failed: they limit nothing.',
    type: 'counter',
    ...labelled(ROUTE_FIELDS),
    hasCustomLabels: true,
  },
  failedCosts: {
    name: 'rate_limit_failed_costs_total',
    help: 'Costs of tokens in global rate limits that failed: the tokens were counted instead.',
    type: 'counter',
    ...labelled(ROUTE_FIELDS),
    hasCustomLabels: true,
  },
  requestsInFlight: {
    name: 'requests_in_flight',
    help: 'Requests that have begun and not ended. Relayed connections are not counted.',
    type: 'gauge',
    labels: [],
  },
  mcpToolChanges: {
    name: 'mcp_tool_changes_total',
    help: 'Tools of MCP servers whose description, schemas or annotations have changed.',
    type: 'counter',
    labels: ['backend', 'server'],
  },
  ...GATEWAY_METRICS,
  ...CONTROLLER_METRICS,
  foldedValues: {
    name: 'folded_label_values_total',
    help: 'Label values counted as other because the label already has 200 values at its place.',
    type: 'counter',
    ...labelled(PLACE_FIELDS, 'label'),
  },
} as const satisfies Record<string, Metric>

export type MetricId = keyof typeof METRICS
