import { isIn } from './areas.ts'

/**
 * Scenarios (`test/scenarios/<name>.test.ts`) that a mutant meets when the other tests do not notice it, by the path below `src/` of its file.
 * The first entry with the path counts. Few each: a survivor meets all of them.
 */
export const SCENARIOS: readonly (readonly [area: string, names: readonly string[]])[] = [
  ['proxy/choose-tls.ts', ['frontend-tls', 'client-certificates', 'tls', 'connection-metrics', 'relay']],
  ['engine/script', ['gateway-as-explained', 'llm-unfit-providers', 'retries', 'body-memory']],
  [
    'proxy/forward.ts',
    [
      'forwarding',
      'retries',
      'faults',
      'expressions',
      'llm-realtime',
      'llm-failover',
      'llm-unfit-providers',
      'own-bounds',
    ],
  ],
  [
    'proxy/receive.ts',
    [
      'health',
      'broken-llm-backend',
      'limits-by-caller',
      'forwarding',
      'http2',
      'own-bounds',
      'ext-proc',
      'ext-proc-faults',
    ],
  ],
  ['proxy/serve-request.ts', ['body-memory', 'payloads', 'mcp-gateway', 'large-heads', 'drain']],
  ['proxy/grpc-trailers.ts', ['grpc', 'trailers']],
  ['proxy/in-flight.ts', ['drain', 'ports', 'relay', 'http2']],
  ['proxy/incoming-connection.ts', ['connection-metrics', 'relay', 'http2']],
  ['proxy/relay.ts', ['relay', 'own-bounds', 'health', 'network-authorization']],
  ['proxy/relay-in-flight.ts', ['relay', 'own-bounds', 'drain']],
  ['proxy/server.ts', ['forwarding', 'connection-metrics', 'frontend-tls', 'http2', 'proxy-protocol', 'drain']],
  ['proxy/message-body.ts', ['ext-proc', 'filtered-answers', 'recorded-bodies', 'body-memory', 'trailers', 'retries']],
  ['proxy/request-body.ts', ['ext-proc', 'filtered-answers', 'recorded-bodies', 'body-memory', 'trailers', 'retries']],
  ['proxy/response-body.ts', ['ext-proc', 'filtered-answers', 'recorded-bodies', 'body-memory', 'trailers', 'retries']],
  ['net/body/pumped-body.ts', ['body-memory', 'mcp-gateway', 'forwarding']],
  ['proxy/respond-upstream.ts', ['llm-failover-faults', 'expressions', 'forwarding', 'filtered-answers', 'grpc']],
  ['proxy', ['forwarding', 'faults', 'retries', 'filtered-answers', 'grpc', 'own-bounds']],
  ['calls', ['mcp-gateway', 'remote-key-sets', 'body-memory']],
  ['protocols/mcp', ['mcp-gateway', 'payloads', 'body-memory']],
  ['protocols/a2a', ['a2a-cards', 'filtered-answers']],
  ['protocols/llm/answer', ['hostile-llm-provider', 'llm-failover-faults', 'filtered-answers', 'recorded-bodies']],
  ['protocols/llm/translation', ['hostile-llm-provider', 'llm-failover-faults', 'llm-failover', 'llm-converse']],
  ['protocols/llm', ['filtered-answers', 'recorded-bodies', 'hostile-llm-provider']],
  ['policies/traffic/ext-proc', ['ext-proc', 'ext-proc-faults', 'ext-proc-traffic']],
  ['engine/request', ['ext-auth', 'ext-proc', 'forwarding', 'explain-output']],
  ['engine/backend', ['retries', 'health', 'own-bounds']],
  ['workers/passwords', ['passwords']],
  ['workers/proxy-worker.ts', ['process-settings', 'workers']],
  ['workers', ['workers', 'reload', 'drain']],
  ['instance', ['ports', 'reload', 'workers', 'drain', 'metric-bounds', 'profiles']],
  ['cli/doctor', ['mcp-doctor']],
  ['cli/explain', ['explain-output', 'explain-json', 'guard-explain']],
  ['cli/decisions', ['decision-commands']],
  ['cli', ['explain-output', 'command-line', 'log']],
]

/** @returns paths of tests, relative to `src/` as in `covering-tests.ts` */
export function scenarioTests(path: string, most: number): string[] {
  const [, names] = SCENARIOS.find(([area]) => isIn([area], path)) ?? ['', []]
  return names.slice(0, most).map((name) => `../test/scenarios/${name}.test.ts`)
}
