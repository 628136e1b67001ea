import { expect, test } from 'vitest'
import type { BackendItem, EndpointsItem, PlanItem } from '#plan/item.ts'
import { RecordedLookups } from '../lookups/lookups.ts'
import { backendItem, indexOf } from '../testing.ts'
import { bindProtocol } from './bind-protocol.ts'

function found(item: BackendItem, ...others: readonly PlanItem[]) {
  return bindProtocol(item).addresses(new RecordedLookups(indexOf(item, ...others)))
}

const at = (host: string, port: number, hostname: string | undefined, more: object = {}) => ({
  host,
  port,
  hostname,
  unixPath: undefined,
  section: undefined,
  tls: false,
  ...more,
})

test.each([
  ['a name', { host: 'b.test', port: 80 }, at('b.test', 80, 'b.test')],
  ['an absolute name', { host: 'b.test.', port: 80 }, at('b.test.', 80, 'b.test')],
  ['an IPv4 address', { host: '10.0.0.1', port: 80 }, at('10.0.0.1', 80, undefined)],
  ['an IPv6 address', { host: '::1', port: 80 }, at('::1', 80, undefined)],
  ['an IPv6 address in brackets', { host: '[2001:db8::1]', port: 80 }, at('2001:db8::1', 80, undefined)],
  ['a socket', { unixPath: '/run/b' }, at('', 0, undefined, { unixPath: '/run/b' })],
])('static: %s', (_, spec, address) => {
  expect(found(backendItem('b', { spec }))).toEqual([[address]])
})

test('any destination: the host is that of the request', () => {
  const item = backendItem('b', { type: 'dynamicForwardProxy', spec: {} })
  expect(found(item)).toEqual([[at('', 0, undefined, { chosenByClient: true })]])
})

test('an agent', () => {
  const item = backendItem('b', { type: 'a2a', spec: { host: 'agent.test', port: 81 } })
  expect(found(item)).toEqual([[at('agent.test', 81, 'agent.test')]])
})

const SERVICE = backendItem('s', {
  key: 'Service/default/s/80',
  type: 'service',
  spec: { hostname: 's.default.svc', port: 80 },
})

function endpointsOf(service: string, port: number, ...addresses: EndpointsItem['addresses']): EndpointsItem {
  return {
    kind: 'endpoints',
    key: `Endpoints/default/${service}/${port}`,
    addresses,
    origin: { kind: 'Service', namespace: 'default', name: service },
  }
}

test('a Service has its ready endpoints, each with the hostname of the Service', () => {
  const two = endpointsOf('s', 80, { host: '10.0.0.1', port: 8080 }, { host: '10.0.0.2', port: 8080 })
  expect(found(SERVICE, two)).toEqual([[at('10.0.0.1', 8080, 's.default.svc'), at('10.0.0.2', 8080, 's.default.svc')]])
})

test.each([
  ['an external name', 'db.example.', 'db.example'],
  ['an external address', '192.0.2.1', undefined],
])('a Service with %s has its hostname without the final dot', (_, host, hostname) => {
  const external = { ...SERVICE, spec: { hostname: host, port: 80 } } as BackendItem
  expect(found(external, endpointsOf('s', 80, { host, port: 80 }))).toEqual([[at(host, 80, hostname)]])
})

test('a Service without endpoints has no address', () => {
  expect(found(SERVICE)).toEqual([[]])
  expect(found(SERVICE, endpointsOf('s', 81, { host: '10.0.0.1', port: 1 }))).toEqual([[]])
})

test('providers: by priority, each in its own section, over TLS unless a custom host is configured', () => {
  const groups = [
    {
      providers: [
        { name: 'one', providerOne: {} },
        { name: 'four', providerFour: {}, host: 'llm.test', port: 8443 },
      ],
    },
    { providers: [{ name: 'last', providerOne: {}, host: '127.0.0.1', port: 9 }] },
  ]
  const result = found(backendItem('b', { type: 'ai', spec: { groups } }))
  expect(result).toMatchObject([
    [
      { section: 'one', tls: true, port: 443 },
      { section: 'four', host: 'llm.test', port: 8443 },
    ],
    [{ section: 'last', host: '127.0.0.1', port: 9, hostname: undefined }],
  ])
})

test('a single provider is section `backend`', () => {
  const item = backendItem('b', { type: 'ai', spec: { provider: { providerOne: {}, host: 'llm.test', port: 80 } } })
  expect(found(item)).toMatchObject([[{ section: 'backend', host: 'llm.test' }]])
})

test('MCP targets: the host, or all endpoints of a Service; no address for broken targets and empty Services', () => {
  const targets = [
    { name: 'host', entry: 'host', host: 'mcp.test', port: 1 },
    { name: 'svc', entry: 'svc', backend: 'Service/default/s/80', port: 80 },
    { name: 'empty', entry: 'empty', backend: 'Service/default/none/80', port: 80 },
    { name: 'broken', entry: 'broken', host: 'gone.test', port: 1, broken: 'why' },
  ]
  const item = backendItem('b', { type: 'mcp', spec: { targets, sessionRouting: 'Stateful' } })
  const two = endpointsOf('s', 80, { host: '10.0.0.1', port: 8080 }, { host: '10.0.0.2', port: 8080 })
  expect(found(item, two)).toEqual([
    [
      at('mcp.test', 1, 'mcp.test', { section: 'host' }),
      at('10.0.0.1', 8080, undefined, { section: 'svc', isReplica: true }),
      at('10.0.0.2', 8080, undefined, { section: 'svc', isReplica: true }),
    ],
  ])
})

test('an agent runtime', () => {
  const agentRuntimeArn = 'arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/a-1'
  const item = backendItem('b', { type: 'aws', spec: { agentRuntime: { agentRuntimeArn } } })
  const host = 'bedrock-agentcore.us-east-1.amazonaws.com'
  const target = '/runtimes/arn%3Aaws%3Abedrock-agentcore%3Aus-east-1%3A123456789012%3Aruntime%2Fa-1/invocations'
  const signing = { service: 'bedrock-agentcore', region: 'us-east-1', only: true }
  expect(found(item)).toEqual([[at(host, 443, host, { tls: true, ambient: 'cloudOne', signing, target })]])
})
