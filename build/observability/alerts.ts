interface Alert {
  readonly name: string
  /** PromQL: the series that it has are alerts. */
  readonly expr: string
  /** How long it must hold. */
  readonly for: string
  readonly severity: 'critical' | 'warning'
  readonly summary: string
  /** What to do. */
  readonly action: string
}

const ALERTS: readonly Alert[] = [
  {
    name: 'GatewrightDown',
    expr: 'up{job="gatewright"} == 0',
    for: '1m',
    severity: 'critical',
    summary: 'Prometheus cannot scrape the gateway {{ $labels.instance }}.',
    action: 'Check that the process runs and that its metrics port (15020) can be reached.',
  },
  {
    name: 'GatewrightServerErrors',
    expr: [
      'sum by (route) (rate(gatewright_requests_total{status=~"5..|0"}[5m]))',
      '/ sum by (route) (rate(gatewright_requests_total[5m])) > 0.05',
    ].join(' '),
    for: '5m',
    severity: 'critical',
    summary: '{{ $value | humanizePercentage }} of the requests of route {{ $labels.route }} fail.',
    action: 'gatewright tail --status 5xx shows them, and gatewright why ID says why one failed.',
  },
  {
    name: 'GatewrightBackendEvicted',
    expr: 'min by (backend) (gatewright_endpoint_evicted) == 1',
    for: '2m',
    severity: 'critical',
    summary: 'All endpoints of {{ $labels.backend }} are evicted.',
    action: 'gatewright status shows why; check the servers of the backend.',
  },
  {
    name: 'GatewrightObjectsBroken',
    expr: 'gatewright_config_last_reload_successful == 0',
    for: '5m',
    severity: 'warning',
    summary: 'Files of objects have errors: what was valid before stays in force.',
    action: 'gatewright lint shows the errors with their positions.',
  },
  {
    name: 'GatewrightFindings',
    expr: 'sum by (code) (gatewright_config_findings{severity="error"}) > 0',
    for: '10m',
    severity: 'warning',
    summary: 'The configuration has errors with the code {{ $labels.code }}.',
    action: 'gatewright lint shows where. docs/findings has a page for each code.',
  },
  {
    name: 'GatewrightWorkerReplaced',
    expr: 'increase(gatewright_worker_replacements_total[15m]) > 0',
    for: '0m',
    severity: 'warning',
    summary: 'A proxy worker was replaced ({{ $labels.cause }}); its connections were lost.',
    action: 'The log has the cause; report it with the log.',
  },
  {
    name: 'GatewrightSaturated',
    expr: 'rate(gatewright_event_loop_busy_seconds_total[5m]) > 0.9',
    for: '10m',
    severity: 'warning',
    summary: 'Thread {{ $labels.worker }} is busy {{ $value | humanizePercentage }} of the time: requests wait for it.',
    action: 'Start more workers or more gateways, or find expensive policies with a CPU profile.',
  },
  {
    name: 'GatewrightEventLoopDelayed',
    expr: [
      'histogram_quantile(0.99,',
      'sum by (le, worker) (rate(gatewright_event_loop_delay_seconds_bucket[5m]))) > 0.25',
    ].join(' '),
    for: '10m',
    severity: 'warning',
    summary:
      'The event loop of {{ $labels.worker }} is blocked for {{ $value | humanizeDuration }} at times: requests wait for it.',
    action:
      'Find what blocks it with gatewright profile cpu: a large configuration, large bodies, or collections of garbage.',
  },
  {
    name: 'GatewrightHeapFull',
    expr: 'gatewright_heap_used_bytes / gatewright_heap_limit_bytes > 0.9',
    for: '5m',
    severity: 'warning',
    summary: 'Thread {{ $labels.worker }} uses {{ $value | humanizePercentage }} of its heap: at the limit it ends.',
    action: 'Find what keeps memory with gatewright profile heap, and report it.',
  },
  {
    name: 'GatewrightFilesExhausted',
    expr: 'process_open_fds{job="gatewright"} / process_max_fds{job="gatewright"} > 0.8',
    for: '5m',
    severity: 'warning',
    summary:
      'The gateway uses {{ $value | humanizePercentage }} of its file descriptors: without free ones it accepts no connections.',
    action: 'Raise the limit (ulimit -n, LimitNOFILE), or start more gateways.',
  },
  {
    name: 'GatewrightPlanBehind',
    expr: 'max by (worker) (gatewright_plan_version - on (instance) group_right gatewright_worker_plan_version) > 0',
    for: '5m',
    severity: 'warning',
    summary: 'Worker {{ $labels.worker }} does not serve the newest configuration.',
    action: 'gatewright status shows the plan of each worker; the log has the cause.',
  },
  {
    name: 'GatewrightDecisionsFail',
    expr: 'sum by (policy, backend) (rate(gatewright_callouts_total{verdict="failed"}[5m])) > 0',
    for: '5m',
    severity: 'warning',
    summary:
      '{{ $labels.backend }} gives no decisions for {{ $labels.policy }}: the failure mode of the policy decides.',
    action: 'Check that server. gatewright tail shows the requests that it was asked about.',
  },
  {
    name: 'GatewrightGuardsFail',
    expr: 'sum by (kind) (rate(gatewright_guardrail_checks_total{action="Fail"}[5m])) > 0',
    for: '5m',
    severity: 'critical',
    summary: 'Prompt guards of the kind {{ $labels.kind }} fail: their requests are refused.',
    action:
      'gatewright tail --code prompt-guard-failed shows the requests; gatewright why ID names the guard, its server and the cause.',
  },
  {
    name: 'GatewrightGuardServiceDown',
    expr: 'max by (kind, backend) (gatewright_guardrail_open_circuits) > 0',
    for: '1m',
    severity: 'critical',
    summary:
      'The service {{ $labels.backend }} of prompt guards ({{ $labels.kind }}) fails: what it has to check is refused.',
    action:
      'Check that server. gatewright status names the guards that ask it; the log has the cause of the last failure. The next request asks it again.',
  },
  {
    name: 'GatewrightKeySetsFail',
    expr: 'sum by (backend, path) (increase(gatewright_key_set_fetches_total{outcome="failed"}[30m])) > 2',
    for: '10m',
    severity: 'warning',
    summary: 'The key set {{ $labels.path }} of {{ $labels.backend }} cannot be fetched.',
    action: 'Keys that were fetched before stay in use. Check the identity provider.',
  },
  {
    name: 'GatewrightCredentialExpires',
    expr: 'gatewright_credential_expiry_timestamp_seconds > 0 and gatewright_credential_expiry_timestamp_seconds - time() < 120',
    for: '1m',
    severity: 'critical',
    summary: 'The credential from {{ $labels.source }} ends within two minutes and was not renewed.',
    action: 'gatewright status says why it cannot be renewed.',
  },
  {
    name: 'GatewrightLogLost',
    expr: 'increase(gatewright_access_log_lost_lines_total[5m]) > 0',
    for: '0m',
    severity: 'warning',
    summary: 'Lines of the access log are lost: they cannot be written.',
    action: 'Check the disk, or what reads standard output.',
  },
  {
    name: 'GatewrightTelemetryDropped',
    expr: 'sum by (signal, reason) (increase(gatewright_telemetry_dropped_total[5m])) > 0',
    for: '5m',
    severity: 'warning',
    summary: 'The OTLP server does not take {{ $labels.signal }}: {{ $labels.reason }}.',
    action: 'Check the collector. Requests are not affected.',
  },
]

/** Alert rules of Prometheus. */
export function alertRules(): object {
  const rules = ALERTS.map(({ name, expr, for: holds, severity, summary, action }) => ({
    alert: name,
    expr,
    for: holds,
    labels: { severity },
    annotations: { summary, action },
  }))
  return { groups: [{ name: 'gatewright', rules }] }
}
