import { TOKEN } from './objects/token.ts'
import { type Door, projectFile } from './settings.ts'

/** A type of traffic. */
export interface Suite {
  readonly name: string
  /** The subject of the table, in one sentence. */
  readonly about: string
  readonly path: string
  readonly door: Door
  /** The counted unit. */
  readonly unit: 'request' | 'event'
  readonly headers: Readonly<Record<string, string>>
  /** POST this body; GET when unset. */
  readonly body?: string
  /** A wrk script that sends the body. */
  readonly script?: string
  /** Requests belong to an MCP session, which is opened with each candidate before. */
  readonly inSession?: true
  /** Requests per second, for latencies without queueing; default: as many as possible. */
  readonly pace?: number
  /** Text that every response must contain, so that error pages are detected. */
  readonly expect: string
  /** Print the share of the slow endpoint (`balance/`). */
  readonly hasEndpoints?: boolean
  /** Candidates that cannot do this. */
  readonly without?: readonly string[]
}

const CHAT = JSON.stringify({
  model: 'fast',
  messages: [
    { role: 'system', content: 'You answer in one short paragraph, in plain words, without lists.' },
    { role: 'user', content: 'What is a reverse proxy, and what is it good for? About one hundred words will do.' },
  ],
  temperature: 0.2,
  max_completion_tokens: 256,
})

/** Typical browser headers, one kilobyte per request. */
const BROWSER = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  accept: 'application/json, text/plain, */*',
  'accept-language': 'en-GB,en;q=0.9,de;q=0.8',
  'accept-encoding': 'gzip, deflate, br, zstd',
  referer: 'https://shop.example.com/catalogue/items?page=3&sort=price',
  origin: 'https://shop.example.com',
  'sec-ch-ua': '"Chromium";v="141", "Not?A_Brand";v="8"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Linux"',
  'sec-fetch-dest': 'empty',
  'sec-fetch-mode': 'cors',
  'sec-fetch-site': 'same-origin',
  'cache-control': 'no-cache',
  pragma: 'no-cache',
  'x-request-id': '0d9f3a3e-6b1c-4e7a-9b67-6a1f0c2e4d55',
  cookie:
    'session=q8Zr0cVZtXk3o2Jm1Yw7uQpLh5NfE9aB.7dKfT2mVxPz4RjWcY8sGhLqNbE6uAoI3; theme=dark; visitor=1234567890.1700000000; consent=eyJhbmFseXRpY3MiOnRydWUsIm1hcmtldGluZyI6ZmFsc2V9; basket=0f8b6d52-9c1e-4f0a-8a57-3d2e6b1c4a99',
}

/** Suites that ask another server about each request. */
const ASKED = {
  door: 'bare',
  unit: 'request',
  headers: { authorization: `Bearer ${TOKEN}` },
  expect: 'thirty-two bytes',
  // Only with a script or an agent of its own.
  without: ['haproxy'],
} as const

const JSON_BODY = { 'content-type': 'application/json' }

const MCP_HEADERS = {
  ...JSON_BODY,
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
}

/** The same as in `servers/a2a-call.lua`. */
const A2A_CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 'call-1',
  method: 'message/send',
  params: {
    message: {
      kind: 'message',
      messageId: 'm-0001',
      role: 'user',
      parts: [{ kind: 'text', text: 'What is the weather in Oslo during the next three days?' }],
    },
  },
})

/** The same as in `servers/mcp-call.lua`. */
const MCP_CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'forecast', arguments: { city: 'Oslo', days: 3, units: 'metric' }, _meta: { progressToken: 7 } },
})

export const SUITES: readonly Suite[] = [
  {
    name: 'small',
    about: 'GET of 32 bytes, passed through.',
    path: '/small',
    door: 'bare',
    unit: 'request',
    headers: {},
    expect: 'thirty-two bytes',
  },
  {
    name: '10k',
    about: 'GET of 10 KB, passed through.',
    path: '/10k',
    door: 'bare',
    unit: 'request',
    headers: {},
    expect: '0123456789',
  },
  {
    name: 'browser',
    about: 'GET of 32 bytes with the kilobyte of fields that a browser sends, passed through.',
    path: '/small',
    door: 'bare',
    unit: 'request',
    headers: BROWSER,
    expect: 'thirty-two bytes',
  },
  {
    name: 'browser-10k',
    about: 'GET of 10 KB with the kilobyte of fields that a browser sends, passed through.',
    path: '/10k',
    door: 'bare',
    unit: 'request',
    headers: BROWSER,
    expect: '0123456789',
  },
  {
    name: 'paced',
    about: 'The same as small at 9,600 requests a second, about half of what fills a core: compare p99.',
    path: '/small',
    door: 'bare',
    unit: 'request',
    headers: {},
    pace: 9600,
    expect: 'thirty-two bytes',
  },
  {
    name: 'h2',
    about: 'GET of 32 bytes over HTTP/2 in plain text, 8 connections with 8 streams each; to the server HTTP/1.1.',
    path: '/small',
    door: 'h2',
    unit: 'request',
    headers: {},
    expect: 'thirty-two bytes',
  },
  {
    name: 'tls',
    about: 'GET of 32 bytes over TLS 1.3, 64 connections that stay open; to the server plain HTTP/1.1.',
    path: '/small',
    door: 'tls',
    unit: 'request',
    headers: {},
    expect: 'thirty-two bytes',
  },
  {
    name: 'policies',
    about:
      'GET of 32 bytes; the gateway checks a JWT and a CEL rule, counts a local rate limit, changes headers, writes an access log and metrics, and traces one request of a hundred, the others do nothing.',
    path: '/small',
    door: 'full',
    unit: 'request',
    headers: { authorization: `Bearer ${TOKEN}` },
    expect: 'thirty-two bytes',
  },
  {
    name: 'tracing',
    about:
      'GET of 32 bytes, passed through; the gateway exports two spans for each request over gRPC, the others do nothing.',
    path: '/small',
    door: 'traced',
    unit: 'request',
    headers: {},
    expect: 'thirty-two bytes',
  },
  {
    name: 'tracing-lost',
    about: 'The same, but nothing receives the spans: they are dropped.',
    path: '/small',
    door: 'lost',
    unit: 'request',
    headers: {},
    expect: 'thirty-two bytes',
  },
  {
    name: 'ext-authz',
    about:
      'GET of 32 bytes; the gateway asks an authorization server over gRPC about each request, nginx asks with auth_request over HTTP/1.1.',
    path: '/asked',
    ...ASKED,
  },
  {
    name: 'ext-authz-cached',
    about: 'The same, but the gateway caches the verdict; nginx does not.',
    path: '/asked-once',
    ...ASKED,
  },
  {
    name: 'rate-limit-global',
    about: 'The same, but the gateway asks a rate limit service over gRPC.',
    path: '/counted',
    ...ASKED,
  },
  {
    name: 'balance',
    about:
      'GET of 32 bytes at 2,000 requests a second to 50 endpoints that take 2 ms; one takes 20 ms, and one responds 503 at once, which is retried. The gateway balances as always, haproxy with leastconn.',
    path: '/balanced',
    door: 'bare',
    unit: 'request',
    headers: {},
    pace: 2000,
    expect: 'thirty-two bytes',
    hasEndpoints: true,
    // The reference is haproxy.
    without: ['nginx'],
  },
  {
    name: 'llm',
    about:
      'Chat completion, 300 B up and 1 KB down; the gateway replaces the model by its alias and counts tokens, the others pass bytes.',
    path: '/v1/chat/completions',
    door: 'bare',
    unit: 'request',
    headers: JSON_BODY,
    body: CHAT,
    script: projectFile('bench/servers/chat.lua'),
    expect: '"total_tokens"',
  },
  {
    name: 'llm-translate',
    about: 'The same, but the provider speaks the messages API: the gateway translates request and response.',
    path: '/translated',
    door: 'bare',
    unit: 'request',
    headers: JSON_BODY,
    body: CHAT,
    script: projectFile('bench/servers/chat.lua'),
    expect: '"total_tokens"',
  },
  {
    name: 'llm-converse',
    about: 'The same, to a provider of the converse API, with a bearer token.',
    path: '/conversed',
    door: 'bare',
    unit: 'request',
    headers: JSON_BODY,
    body: CHAT,
    script: projectFile('bench/servers/chat.lua'),
    expect: '"total_tokens"',
  },
  {
    name: 'mcp-call',
    about: 'One call of a tool in an open MCP session, 150 B up and 600 B down, one target; the others pass bytes.',
    path: '/mcp',
    door: 'bare',
    unit: 'request',
    headers: MCP_HEADERS,
    body: MCP_CALL,
    script: projectFile('bench/servers/mcp-call.lua'),
    inSession: true,
    expect: 'Light rain',
  },
  {
    name: 'mcp-list',
    about:
      'A list of tools in an open MCP session: 8 targets with 100 tools each, of which a rule hides most; the others pass the list of one target.',
    path: '/mcp-list',
    door: 'bare',
    unit: 'request',
    headers: MCP_HEADERS,
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}',
    script: projectFile('bench/servers/mcp-list.lua'),
    inSession: true,
    expect: 'tool-50',
  },
  {
    name: 'a2a-call',
    about:
      'One call of an A2A agent, 210 B up and 600 B down; the gateway reads method, task and outcome, the others pass bytes.',
    path: '/a2a',
    door: 'bare',
    unit: 'request',
    headers: JSON_BODY,
    body: A2A_CALL,
    script: projectFile('bench/servers/a2a-call.lua'),
    expect: 'completed',
  },
  {
    name: 'sse',
    about:
      'Event streams, passed through: 32 at once, an event every 10 ms on each. Latency is from the server to the client.',
    path: '/events',
    door: 'bare',
    unit: 'event',
    headers: {},
    expect: 'data: ',
  },
  {
    name: 'llm-sse',
    about: 'The same as chat completions; the gateway counts tokens, the others pass bytes.',
    path: '/events/chat',
    door: 'bare',
    unit: 'event',
    headers: JSON_BODY,
    body: CHAT.replace('"model":"fast"', '"model":"mock-small","stream":true'),
    expect: 'data: ',
  },
]
