import { NO_COUNTER } from '#exchange/token-counter.ts'
import type { PlanItem } from '#plan/item.ts'

/** Explains requests to every kind of backend without Node, like a page in a browser; `browser.test.ts` runs it. */
for (const name of ['Buffer', 'process', 'setImmediate', 'global']) Reflect.deleteProperty(globalThis, name)

const { explainRequest } = await import('#engine/explain/explain.ts')
const { LivePlan } = await import('#engine/plan/live-plan.ts')
const { Exchange } = await import('#exchange/exchange.ts')
const { wholeBody } = await import('#exchange/known-body.ts')
const { NO_BODIES } = await import('#exchange/no-bodies.ts')
const { Head } = await import('#net/http/head.ts')
const { RemoteKeySets } = await import('#policies/shared/authentication/remote-key-set.ts')
const { CloudCredentials } = await import('#policies/shared/clouds/cloud-credential.ts')
const { createSlotMemory, SlotDirectory } = await import('#state/slots.ts')

const BACKENDS = {
  static: { host: 'web.test', port: 80 },
  ai: { provider: { providerOne: {} } },
  mcp: { targets: [{ name: 't', entry: 't', host: '127.0.0.1', port: 9 }], sessionRouting: 'Stateful' },
  a2a: { host: 'agent.test', port: 80 },
  aws: { agentRuntime: { agentRuntimeArn: 'arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/a' } },
}

for (const [type, spec] of Object.entries(BACKENDS)) {
  const memory = createSlotMemory(64, false)
  const slots = new SlotDirectory(memory)
  const importKey = () => undefined
  const keySets = new RemoteKeySets(importKey)
  const slotOf = (key: string) => slots.assign(key)
  const valuesOf = (key: string) => slots.valuesOf(key)
  const sealer = { seal: () => '', open: () => undefined }
  const clouds = {
    hashing: { sha256: () => '', hmacSha256: () => new Uint8Array(0) },
    region: undefined,
    credentials: new CloudCredentials(),
  }
  const passwords = { check: () => 'wrong' as const }
  const plan = new LivePlan({
    memory,
    slotOf,
    valuesOf,
    importKey,
    passwords,
    tokenCounter: NO_COUNTER,
    sealer,
    clouds,
    keySets,
  })
  plan.update({ set: itemsFor(type, spec), removed: [] })
  const socket = plan.sockets.get('127.0.0.1:8080')!
  const { outcome, upstream, protocol } = await explainRequest({ plan, socket, nowMs: 0 }, newExchange())
  const host = upstream?.split('\r\n').find((line) => line.startsWith('host:'))
  console.log([type, outcome?.kind ?? 'passes', host, ...(protocol?.lines.slice(0, 1) ?? [])].join(', '))
}

function itemsFor(type: string, spec: object): PlanItem[] {
  const name = { namespace: 'default', name: 'x' }
  const items = [
    {
      kind: 'listener',
      key: 'Listener/default/x/http',
      gateway: name,
      name: 'http',
      address: '127.0.0.1',
      port: 8080,
      protocol: 'HTTP',
      hostname: '',
      certificates: [],
      origin: { kind: 'Gateway', ...name },
    },
    {
      kind: 'route',
      key: 'HTTPRoute/default/x/0',
      route: { kind: 'HTTPRoute', ...name },
      rule: 0,
      created: '',
      attachments: [{ listener: 'Listener/default/x/http', hostnames: [] }],
      matches: [{ path: { type: 'PathPrefix', value: '/' }, headers: [], queryParams: [] }],
      backends: [{ backend: 'ProxyBackend/default/x', weight: 1, path: '' }],
      origin: { kind: 'HTTPRoute', ...name },
    },
    {
      kind: 'backend',
      key: 'ProxyBackend/default/x',
      ...name,
      type,
      spec,
      origin: { kind: 'ProxyBackend', ...name },
    },
  ]
  return items as readonly object[] as PlanItem[]
}

function newExchange() {
  const body = new TextEncoder().encode(
    JSON.stringify({ model: 'm', jsonrpc: '2.0', id: 1, method: 'tools/list', messages: [] }),
  )
  const head = Head.request('POST', '/v1/chat/completions')
  for (const [field, value] of [
    ['host', 'localhost'],
    ['content-type', 'application/json'],
    ['content-length', `${body.length}`],
  ] as const) {
    head.set(field, value)
  }
  const exchange = new Exchange(head, {
    remoteAddress: '127.0.0.1',
    remotePort: 1,
    rawAddress: '127.0.0.1',
    rawPort: 1,
    localAddress: '127.0.0.1',
    localPort: 8080,
    secure: false,
    serverName: undefined,
    certificate: undefined,
  })
  exchange.originalMethod = head.method
  exchange.originalAuthority = head.authority
  exchange.originalTarget = head.target
  exchange.requestBody = wholeBody(body)
  exchange.bodies = NO_BODIES
  return exchange
}
