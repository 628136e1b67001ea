/** How values of a panel are shown. The names are those of Grafana. */
export type Unit = 'reqps' | 'percentunit' | 's' | 'Bps' | 'bytes' | 'short' | 'ops' | 'currencyUSD'

export interface Query {
  /** PromQL. `$route` and `$backend` are regular expressions that the reader chooses. */
  readonly expr: string
  /** Name of a series, with its labels in braces. */
  readonly legend: string
  /** Traced requests are shown as points that lead to their traces. */
  readonly exemplar?: true
}

export interface Panel {
  readonly title: string
  /** What it tells, for a tooltip. */
  readonly about: string
  readonly unit: Unit
  readonly queries: readonly Query[]
}

export interface PanelRow {
  readonly title: string
  readonly panels: readonly Panel[]
}

const ROUTES = '{route=~"$route",backend=~"$backend"}'
const RATE = '[$__rate_interval]'

function quantile(share: number, metric: string, labels: string, by: readonly string[] = []): string {
  const buckets = `sum by (${['le', ...by].join(', ')}) (rate(gatewright_${metric}_bucket${labels}${RATE}))`
  return `histogram_quantile(${share}, ${buckets})`
}

function rate(metric: string, labels = '', by: readonly string[] = []): string {
  const sum = by.length === 0 ? 'sum' : `sum by (${by.join(', ')})`
  return `${sum} (rate(gatewright_${metric}${labels}${RATE}))`
}

/** The dashboard, from what every reader needs to what few need. */
export const ROWS: readonly PanelRow[] = [
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests by status',
        about: 'Completed requests for each second. Status 0: no response was sent.',
        unit: 'reqps',
        queries: [{ expr: rate('requests_total', ROUTES, ['status']), legend: '{{status}}' }],
      },
      {
        title: 'Share of server errors',
        about: 'Requests with a status from 500, or without a response.',
        unit: 'percentunit',
        queries: [
          {
            expr: `${rate('requests_total', '{route=~"$route",backend=~"$backend",status=~"5..|0"}')} / ${rate('requests_total', ROUTES)}`,
            legend: 'errors',
          },
        ],
      },
      {
        title: 'Duration',
        about: 'From the request head to the last byte of the response.',
        unit: 's',
        queries: [0.5, 0.95, 0.99].map((share) => ({
          expr: quantile(share, 'request_duration_seconds', ROUTES),
          ...(share === 0.99 && { exemplar: true }),
          legend: `p${share * 100}`,
        })),
      },
      {
        title: 'Time of the gateway itself',
        about:
          'Before a request is sent to its backend, and between the response head of the backend and that for the client.',
        unit: 's',
        queries: ['request', 'response'].map((half) => ({
          expr: quantile(0.99, `${half}_processing_seconds`, ROUTES),
          legend: `p99 ${half}`,
        })),
      },
      {
        title: 'Requests by route',
        about: 'The ten routes with the most requests.',
        unit: 'reqps',
        queries: [{ expr: `topk(10, ${rate('requests_total', ROUTES, ['route'])})`, legend: '{{route}}' }],
      },
      {
        title: 'Refusals by reason',
        about: 'Requests that the gateway itself ended, by the reason of the access log.',
        unit: 'reqps',
        queries: [
          {
            expr: rate('requests_total', '{route=~"$route",backend=~"$backend",reason!="Upstream"}', ['reason']),
            legend: '{{reason}}',
          },
        ],
      },
      {
        title: 'Requests in flight',
        about: 'Requests that have begun and not ended, without relayed connections.',
        unit: 'short',
        queries: [{ expr: 'sum (gatewright_requests_in_flight)', legend: 'in flight' }],
      },
    ],
  },
  {
    title: 'Backends',
    panels: [
      {
        title: 'Failed attempts by backend',
        about: 'Attempts without a response, by the kind of failure.',
        unit: 'reqps',
        queries: [
          {
            expr: rate('upstream_failures_total', ROUTES, ['backend', 'failure']),
            legend: '{{backend}} {{failure}}',
          },
        ],
      },
      {
        title: 'Retries',
        about: 'Attempts after the first one.',
        unit: 'reqps',
        queries: [{ expr: rate('retries_total', ROUTES, ['route']), legend: '{{route}}' }],
      },
      {
        title: 'Endpoints',
        about: 'Endpoints in service and evicted, of all backends.',
        unit: 'short',
        queries: [{ expr: 'sum by (state) (gatewright_endpoints)', legend: '{{state}}' }],
      },
      {
        title: 'Least healthy endpoints',
        about: 'Health from 0 to 1: a moving average of the outcomes.',
        unit: 'percentunit',
        queries: [
          {
            expr: 'bottomk(10, min by (backend, endpoint) (gatewright_endpoint_health))',
            legend: '{{backend}} {{endpoint}}',
          },
        ],
      },
      {
        title: 'Calls of the gateway itself',
        about:
          'Duration of calls to authorization servers, rate limit services, guards, identity providers and MCP servers.',
        unit: 's',
        queries: [{ expr: quantile(0.95, 'call_duration_seconds', '', ['purpose']), legend: 'p95 {{purpose}}' }],
      },
      {
        title: 'Upstream calls',
        about: 'Attempts to forward requests (Primary), calls of policies, and copies (Mirror), to the last byte.',
        unit: 's',
        queries: [
          {
            expr: quantile(0.95, 'upstream_call_duration_seconds', '', ['kind', 'subtype']),
            legend: 'p95 {{kind}} {{subtype}}',
          },
        ],
      },
      {
        title: 'New connections to servers',
        about: 'Many of them: backends close connections, or do not keep them.',
        unit: 'ops',
        queries: [
          { expr: rate('upstream_connect_duration_seconds_count', '', ['transport']), legend: '{{transport}}' },
        ],
      },
      {
        title: 'Decisions of servers that policies ask',
        about: 'failed: the server gave no decision, and the failure mode of the policy decided.',
        unit: 'ops',
        queries: [{ expr: rate('callouts_total', '', ['policy', 'verdict']), legend: '{{policy}} {{verdict}}' }],
      },
    ],
  },
  {
    title: 'LLM',
    panels: [
      {
        title: 'Tokens',
        about: 'Tokens for each second, by model and type.',
        unit: 'short',
        queries: [
          {
            expr: rate('gen_ai_client_token_usage_sum', '{route=~"$route"}', [
              'gen_ai_request_model',
              'gen_ai_token_type',
            ]),
            legend: '{{gen_ai_request_model}} {{gen_ai_token_type}}',
          },
        ],
      },
      {
        title: 'Cost of an hour',
        about: 'Dollars for an hour at the present rate, of requests whose price is known.',
        unit: 'currencyUSD',
        queries: [
          {
            expr: `3600 * ${rate('gen_ai_client_cost_usd_total', '{route=~"$route"}', ['gen_ai_request_model'])}`,
            legend: '{{gen_ai_request_model}}',
          },
        ],
      },
      {
        title: 'Lookups of prices',
        about: 'unknown: the model has no price, so its cost is missing in the other panel.',
        unit: 'ops',
        queries: [
          { expr: rate('cost_catalog_lookups_total', '{route=~"$route"}', ['outcome']), legend: '{{outcome}}' },
        ],
      },
      {
        title: 'Time to the first token',
        about: 'Of streamed responses.',
        unit: 's',
        queries: [
          {
            expr: quantile(0.95, 'gen_ai_server_time_to_first_token', '{route=~"$route"}', ['gen_ai_request_model']),
            exemplar: true,
            legend: 'p95 {{gen_ai_request_model}}',
          },
        ],
      },
      {
        title: 'Time of each further token',
        about: 'Of streamed responses.',
        unit: 's',
        queries: [
          {
            expr: quantile(0.95, 'gen_ai_server_time_per_output_token', '{route=~"$route"}', ['gen_ai_request_model']),
            legend: 'p95 {{gen_ai_request_model}}',
          },
        ],
      },
      {
        title: 'Broken streams',
        about: 'Streamed responses that failed after their head.',
        unit: 'ops',
        queries: [
          {
            expr: rate('gen_ai_server_stream_errors_total', ROUTES, ['gen_ai_system', 'error_type']),
            legend: '{{gen_ai_system}} {{error_type}}',
          },
        ],
      },
      {
        title: 'Checks of prompt guards',
        about: 'Fail: the guard could not run, so the request was refused.',
        unit: 'ops',
        queries: [{ expr: rate('guardrail_checks_total', '', ['kind', 'action']), legend: '{{kind}} {{action}}' }],
      },
    ],
  },
  {
    title: 'MCP and A2A',
    panels: [
      {
        title: 'MCP messages',
        about: 'By method.',
        unit: 'reqps',
        queries: [{ expr: rate('mcp_requests_total', '{route=~"$route"}', ['method']), legend: '{{method}}' }],
      },
      {
        title: 'Duration at MCP servers',
        about: 'From sending a message to its complete response.',
        unit: 's',
        queries: [
          {
            expr: quantile(0.95, 'mcp_target_duration_seconds', '{route=~"$route"}', ['server']),
            exemplar: true,
            legend: 'p95 {{server}}',
          },
        ],
      },
      {
        title: 'A2A requests',
        about: 'By method and outcome.',
        unit: 'reqps',
        queries: [
          {
            expr: rate('a2a_requests_total', '{route=~"$route"}', ['method', 'outcome']),
            legend: '{{method}} {{outcome}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Gateway',
    panels: [
      {
        title: 'Busy event loops',
        about: 'Share of time that the event loop of each thread was busy. From 0.9 requests wait.',
        unit: 'percentunit',
        queries: [{ expr: rate('event_loop_busy_seconds_total', '', ['worker']), legend: '{{worker}}' }],
      },
      {
        title: 'Delay of event loops',
        about: 'How late the event loop of each thread is: as late are answers.',
        unit: 's',
        queries: [{ expr: quantile(0.99, 'event_loop_delay_seconds', '', ['worker']), legend: 'p99 {{worker}}' }],
      },
      {
        title: 'Collection of garbage',
        about: 'Share of time in which each thread does nothing else.',
        unit: 'percentunit',
        queries: [{ expr: rate('gc_duration_seconds_sum', '', ['worker', 'kind']), legend: '{{worker}} {{kind}}' }],
      },
      {
        title: 'Heap',
        about: 'Memory of the objects of each thread, and what they keep outside of the heap.',
        unit: 'bytes',
        queries: [
          { expr: 'sum by (worker) (gatewright_heap_used_bytes)', legend: '{{worker}}' },
          { expr: 'sum by (worker) (gatewright_external_memory_bytes)', legend: '{{worker}} external' },
        ],
      },
      {
        title: 'Processor time',
        about: 'Cores in use.',
        unit: 'short',
        queries: [{ expr: `sum (rate(process_cpu_seconds_total{job="gatewright"}${RATE}))`, legend: 'cores' }],
      },
      {
        title: 'Memory',
        about: 'Resident memory of the process.',
        unit: 'bytes',
        queries: [{ expr: 'sum (process_resident_memory_bytes{job="gatewright"})', legend: 'resident' }],
      },
      {
        title: 'Findings',
        about: 'Problems of the configuration in force.',
        unit: 'short',
        queries: [{ expr: 'sum by (severity) (gatewright_config_findings)', legend: '{{severity}}' }],
      },
      {
        title: 'Age of the configuration',
        about: 'Time since the objects were last read without errors in files.',
        unit: 's',
        queries: [
          {
            expr: 'max (time() - gatewright_config_last_reload_success_timestamp_seconds)',
            legend: 'last good reload',
          },
        ],
      },
      {
        title: 'Workers behind',
        about: 'Plans that a worker has still to take over; 0 but for moments after a change.',
        unit: 'short',
        queries: [
          {
            expr: 'max by (worker) (gatewright_plan_version - on (instance) group_right gatewright_worker_plan_version)',
            legend: '{{worker}}',
          },
        ],
      },
      {
        title: 'Traffic of connections',
        about: 'Counted when a connection closes.',
        unit: 'Bps',
        queries: [
          { expr: rate('downstream_received_bytes_total'), legend: 'received' },
          { expr: rate('downstream_sent_bytes_total'), legend: 'sent' },
        ],
      },
      {
        title: 'Messages that never became requests',
        about: 'Refused by the HTTP parser.',
        unit: 'ops',
        queries: [{ expr: rate('wire_refusals_total', '', ['code']), legend: '{{code}}' }],
      },
    ],
  },
]
