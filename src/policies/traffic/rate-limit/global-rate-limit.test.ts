import { expect, test } from 'vitest'
import { decodeMessage, encodeMessage } from '#base/protobuf/message.ts'
import { type Call, CallError, type CallRequest } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { NO_PRICES } from '#exchange/llm-prices.ts'
import type { Outcome } from '#exchange/outcome.ts'
import { frameMessage } from '#net/grpc/message-frame.ts'
import { verifies } from '#test/support/verifies.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { contextWith, exchangeWith, linesOf, runContext, sourceOf, specFrom } from '../../shared/testing.ts'
import { chargeTokens, rateLimit } from './index.ts'
import { type LimitResponse, RATE_LIMIT_REQUEST, RATE_LIMIT_RESPONSE } from './limit-messages.ts'
import { trafficRateLimit } from './schema.ts'

const WITHIN: LimitResponse = { overallCode: 1 }
const OVER: LimitResponse = { overallCode: 2 }
const CALLER = { entries: [{ name: 'caller', expression: 'request.headers["x-caller"]' }] }
const LIMIT = { backendRef: { name: 'limits', port: 8081 }, domain: 'shop', descriptors: [CALLER] }

/** What the service was asked: its backend, path, domain, and `key=value key=value hits` for each descriptor. */
interface Asked {
  readonly destination: string
  readonly path: string
  readonly domain: string | undefined
  readonly descriptors: readonly string[]
}

function askedBy(destination: string, { path, body }: CallRequest): Asked {
  const { domain, descriptors = [] } = decodeMessage(RATE_LIMIT_REQUEST, (body as Uint8Array).subarray(5))!
  const lines = descriptors.map(({ entries = [], hitsAddend }) => {
    const values = entries.map(({ key, value }) => `${key}=${value}`)
    return [...values, ...(hitsAddend === undefined ? [] : [hitsAddend.value])].join(' ')
  })
  return { destination, path, domain, descriptors: lines }
}

/** A service that answers every question alike, or does not. */
function serviceWith(answer: LimitResponse | CallError | string) {
  const asked: Asked[] = []
  const call: Call = async (destination, request) => {
    asked.push(askedBy(destination, request))
    if (answer instanceof CallError) throw answer
    const message = typeof answer === 'string' ? Buffer.from(answer) : encodeMessage(RATE_LIMIT_RESPONSE, answer)
    return {
      status: 200,
      headers: [],
      header: (name) => (name === 'content-type' ? 'application/grpc' : undefined),
      endpoint: '127.0.0.1:80',
      trailer: (name) => (name === 'grpc-status' ? '0' : undefined),
      body: (async function* () {
        yield frameMessage(message)
      })(),
    }
  }
  return { asked, call }
}

function policyOf(limit: object, answer: LimitResponse | CallError | string = WITHIN, local?: object) {
  const service = serviceWith(answer)
  const context = contextWith()
  const spec = specFrom(trafficRateLimit, { global: { ...LIMIT, ...limit }, ...(local && { local: [local] }) })
  const run = rateLimit.compile([sourceOf(spec)], context)!
  return {
    run,
    asked: service.asked,
    reports: context.reports,
    problems: context.problems,
    async send(headers: Readonly<Record<string, string>> = { 'x-caller': 'ann' }) {
      const exchange = exchangeWith({ headers })
      exchange.context = runContext({ call: service.call, callLater: service.call })
      const outcome = await run.request!(exchange)
      return { exchange, outcome, result: resultOf(outcome) }
    },
  }
}

function resultOf(outcome: Outcome): string {
  if (outcome?.kind !== 'refusal') return 'proceed'
  return outcome.detail === undefined ? outcome.code : `${outcome.code}: ${outcome.detail}`
}

const WHERE = 'ProxyPolicy default/test, spec.traffic.field.global'

verifies(
  [
    'traffic.rateLimit.global/external-service',
    'traffic.rateLimit.global/domain',
    'traffic.rateLimit.global.descriptors/entries',
    'traffic.rateLimit.global.descriptors/unit-default',
    'traffic.rateLimit.global.descriptors/cost-default-requests',
  ],
  'the service is asked about the values of the entries, without a cost, and decides',
  async () => {
    const policy = policyOf({})
    expect((await policy.send()).result).toBe('proceed')
    expect(policy.asked).toEqual([
      {
        destination: 'Service/default/limits/8081',
        path: '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
        domain: 'shop',
        descriptors: ['caller=ann'],
      },
    ])
    expect((await policyOf({}, OVER).send()).result).toBe(`rate-limited: ${WHERE}`)
  },
)

verifies(
  'traffic.rateLimit.global/backendRef-kinds',
  'the service is a Service or a ProxyBackend, also of another namespace',
  async () => {
    const group = 'gatewright.dev'
    const references: [reference: object, destination: string][] = [
      [{ name: 'limits', port: 8081 }, 'Service/default/limits/8081'],
      [{ name: 'limits', namespace: 'shared', port: 8081 }, 'Service/shared/limits/8081'],
      [{ group, kind: 'ProxyBackend', name: 'limits' }, 'ProxyBackend/default/limits'],
    ]
    for (const [backendRef, destination] of references) {
      const policy = policyOf({ backendRef })
      await policy.send()
      expect(policy.asked.map((asked) => asked.destination)).toEqual([destination])
    }
  },
)

verifies(
  ['traffic.rateLimit.global/descriptor-is-rule', 'traffic.rateLimit.global.descriptors/cost-requests-phase'],
  'one question has all descriptors, each with its own cost of the request',
  async () => {
    const policy = policyOf({
      descriptors: [
        CALLER,
        {
          entries: [
            { name: 'path', expression: 'request.path' },
            { name: 'secure', expression: 'request.scheme == "https"' },
            { name: 'size', expression: '2.5' },
          ],
          cost: 'size(request.path) + 1',
        },
      ],
    })
    await policy.send()
    expect(policy.asked.map(({ descriptors }) => descriptors)).toEqual([
      ['caller=ann', 'path=/ secure=false size=2.5 2'],
    ])
  },
)

const costs: [cost: string, hits: string | undefined][] = [
  ['0', '0'],
  ['2.1', '3'],
  ['2u', '2'],
  ['-1', undefined],
  ['-0.5', undefined],
  ['"2"', undefined],
  ['null', undefined],
  ['1.0 / 0.0', undefined],
  ['9007199254740991', '9007199254740991'],
  ['9007199254740993', undefined],
  ['request.headers["x-absent"] == "a" ? 1 : 2', undefined],
]
for (const [cost, hits] of costs) {
  verifies(
    'traffic.rateLimit.global.descriptors/cost',
    `cost ${cost}: ${hits ?? 'the descriptor is left out'}`,
    async () => {
      const policy = policyOf({ descriptors: [CALLER, { ...CALLER, cost }] })
      const { exchange } = await policy.send()
      expect(policy.asked[0]!.descriptors).toEqual([
        'caller=ann',
        ...(hits === undefined ? [] : [`caller=ann ${hits}`]),
      ])
      expect(exchange.unsentDescriptors).toBe(hits === undefined ? 1 : 0)
    },
  )
}

const values: [expression: string, sent: string | undefined][] = [
  ['"grün"', 'v=grün'],
  ['""', 'v='],
  ['7', 'v=7'],
  ['7u', 'v=7'],
  ['true', 'v=true'],
  ['null', undefined],
  ['[1]', undefined],
  ['{"a": 1}', undefined],
  ['jwt.sub', undefined],
]
for (const [expression, sent] of values) {
  test(`an entry ${expression}: ${sent ?? 'the descriptor is left out'}`, async () => {
    const policy = policyOf({ descriptors: [CALLER, { entries: [{ name: 'v', expression }] }] })
    const { exchange } = await policy.send()
    expect(policy.asked[0]!.descriptors).toEqual(['caller=ann', ...(sent === undefined ? [] : [sent])])
    expect(exchange.unsentDescriptors).toBe(sent === undefined ? 1 : 0)
  })
}

test('without a descriptor the service is not asked; lint warns of expressions that can fail', async () => {
  const policy = policyOf({}, OVER)
  const { exchange, result } = await policy.send({})
  expect({ result, asked: policy.asked, unsent: exchange.unsentDescriptors }).toEqual({
    result: 'proceed',
    asked: [],
    unsent: 1,
  })
  expect(policy.reports).toEqual([
    'limit-descriptor-can-fail spec.traffic.field.global.descriptors[0].entries[0].expression',
  ])
  expect(policy.problems.map(({ message }) => message.split('\n'))).toEqual([
    [
      'the descriptor does not limit requests for which this expression fails: request.headers["x-caller"] may be missing (column 1)',
      'request.headers["x-caller"]',
      '^',
    ],
  ])
  const certain = policyOf({ descriptors: [{ entries: [{ name: 'a', expression: 'source.address' }] }] })
  expect(certain.reports).toEqual([])
})

test('local limits are checked first, and a request above them asks nobody', async () => {
  const policy = policyOf({}, WITHIN, { requests: 1, unit: 'Hours' })
  expect([(await policy.send()).result, (await policy.send()).result.split(':')[0]]).toEqual([
    'proceed',
    'rate-limited',
  ])
  expect(policy.asked).toHaveLength(1)
})

// Failures of the service

const REFUSED = new CallError('connect-failed', 'ECONNREFUSED')
const failures: [failure: CallError | string, why: string][] = [
  [REFUSED, 'connect-failed: ECONNREFUSED'],
  [new CallError('timeout'), 'timeout'],
  [new CallError('no-endpoint'), 'no-endpoint'],
  ['not a message', 'response-invalid: the message is not a RateLimitResponse'],
]
for (const [failure, why] of failures) {
  verifies(
    [
      'traffic.rateLimit.global/fail-closed',
      'traffic.rateLimit.global/fail-open',
      'traffic.rateLimit.global/failureMode-default',
    ],
    `the service fails (${why}): refused, unless failureMode is FailOpen`,
    async () => {
      const refused = `rate-limit-failed: ${WHERE}: the service failed: ${why}`
      expect((await policyOf({}, failure).send()).result).toBe(refused)
      expect((await policyOf({ failureMode: 'FailClosed' }, failure).send()).result).toBe(refused)
      const { result, exchange } = await policyOf({ failureMode: 'FailOpen' }, failure).send()
      expect(result).toBe('proceed')
      expect(exchange.callouts).toMatchObject([
        { policy: 'rateLimit', backend: 'default/limits', verdict: 'failed', cached: false, detail: why },
      ])
    },
  )
}

test('an answer without a code refuses', async () => {
  expect((await policyOf({}, {}).send()).result).toBe(`rate-limited: ${WHERE}`)
})

// What the service sends

const HEADERS = [
  { key: 'X-Plan', value: 'gold' },
  { key: 'x-bytes', value: 'ignored', rawValue: Buffer.from('raw') },
]
/** Headers that no service may set: they are ours, or would split the message. */
const HOSTILE = [
  { key: 'content-length', value: '0' },
  { key: 'Transfer-Encoding', value: 'chunked' },
  { key: 'connection', value: 'close' },
  { key: 'host', value: 'elsewhere' },
  { key: ':path', value: '/admin' },
  { key: 'a b', value: 'c' },
  { key: '', value: 'c' },
]

test('headers of an allowed request: for the request and for the response, without those that are not its own', async () => {
  const { exchange, result } = await policyOf(
    {},
    {
      ...WITHIN,
      requestHeadersToAdd: [...HEADERS, ...HOSTILE, { key: 'x-split', value: 'a\r\nb: c' }],
      responseHeadersToAdd: [...HEADERS, ...HOSTILE],
    },
  ).send({ 'x-caller': 'ann', 'x-plan': 'forged', 'x-split': 'forged' })
  expect(result).toBe('proceed')
  expect(linesOf(exchange.request)).toEqual(['x-caller: ann', 'x-plan: gold', 'x-bytes: raw'])
  expect(exchange.request.authority).toBe('example.com')
  expect(exchange.queuedHeaders).toEqual([
    ['x-plan', 'gold'],
    ['x-bytes', 'raw'],
  ])
})

test('a refusal has the headers and the body of the service', async () => {
  const { outcome, exchange } = await policyOf(
    {},
    {
      ...OVER,
      rawBody: Buffer.from('{"error":"slow down"}'),
      responseHeadersToAdd: [{ key: 'content-type', value: 'application/json' }, ...HEADERS],
      requestHeadersToAdd: HEADERS,
    },
  ).send()
  expect(outcome).toMatchObject({
    code: 'rate-limited',
    bytes: new TextEncoder().encode('{"error":"slow down"}'),
    contentType: 'application/json',
  })
  expect(exchange.queuedHeaders).toEqual([
    ['x-plan', 'gold'],
    ['x-bytes', 'raw'],
  ])
  expect(linesOf(exchange.request)).toEqual(['x-caller: ann'])
})

test('x-ratelimit headers describe the limit with the fewest hits left; descriptors without a limit do not count', async () => {
  const statuses = [
    { code: 1 },
    { code: 1, currentLimit: { requestsPerUnit: 100 }, limitRemaining: 40, durationUntilReset: { seconds: 30 } },
    { code: 1, currentLimit: { requestsPerUnit: 10 }, limitRemaining: 4, durationUntilReset: { seconds: 3 } },
  ]
  const { exchange } = await policyOf({}, { ...WITHIN, statuses }).send()
  expect(exchange.queuedHeaders).toEqual([
    ['x-ratelimit-limit', '10'],
    ['x-ratelimit-remaining', '4'],
    ['x-ratelimit-reset', '3'],
  ])
  const none = await policyOf({}, { ...WITHIN, statuses: [{ code: 1 }] }).send()
  expect(none.exchange.queuedHeaders).toBeUndefined()
})

test('the decision record names the service, its verdict and its time', async () => {
  const { exchange } = await policyOf({}, OVER).send()
  expect(exchange.callouts).toEqual([
    {
      policy: 'rateLimit',
      backend: 'default/limits',
      verdict: 'denied',
      cached: false,
      startMs: expect.any(Number),
      durationMs: expect.any(Number),
      status: 'OK',
      detail: undefined,
    },
  ])
})

test('explain shows the question, and assumes that the service agrees', async () => {
  const shown: unknown[] = []
  const service = serviceWith(new CallError('not-made'))
  const run = rateLimit.compile([sourceOf(specFrom(trafficRateLimit, { global: LIMIT }))], contextWith())!
  const exchange = exchangeWith({ headers: { 'x-caller': 'ann' } })
  exchange.context = runContext({ call: service.call })
  exchange.trace = {
    isCalling: false,
    step: () => {},
    limit: () => {},
    note: () => {},
    credential: () => {},
    copy: () => {},
    callout: (one) => shown.push(one),
  }
  expect(await run.request!(exchange)).toBeUndefined()
  expect(shown).toEqual([
    {
      policy: 'rateLimit',
      backend: 'default/limits',
      question: {
        protocol: 'grpc',
        path: '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
        message: { domain: 'shop', descriptors: [{ entries: [{ key: 'caller', value: 'ann' }] }] },
        bytes: 23,
        secrets: [],
      },
    },
  ])
  expect(exchange.callouts).toBeUndefined()
})

// Tokens

const TOKENS = { ...CALLER, unit: 'Tokens' }

/** A completed LLM request. */
function complete(exchange: Exchange, streaming: boolean): void {
  exchange.llm = { ...NO_LLM, streaming, inputTokens: 30, outputTokens: 12, totalTokens: 42 }
  exchange.response = exchangeWith({ status: 200 }).response
}

verifies(
  [
    'traffic.rateLimit.global.descriptors/cost-default-tokens',
    'traffic.rateLimit.global.descriptors/cost-tokens-after-completion',
  ],
  'before the request: whether tokens are left; after it, the total is charged, and the answer decides nothing',
  async () => {
    const policy = policyOf({ descriptors: [CALLER, TOKENS] })
    const { exchange, result } = await policy.send()
    expect(result).toBe('proceed')
    expect(policy.asked.map(({ descriptors }) => descriptors)).toEqual([['caller=ann', 'caller=ann 0']])
    exchange.request.set('x-caller', 'changed')
    complete(exchange, true)
    chargeTokens(exchange, 42)
    expect(policy.asked.slice(1).map(({ domain, descriptors }) => [domain, descriptors])).toEqual([
      ['shop', ['caller=ann 42']],
    ])
  },
)

const tokenCosts: [cost: string, streaming: boolean, charged: string | undefined][] = [
  ['llm.inputTokens + 10u * llm.outputTokens', true, '150'],
  ['response.code', false, '200'],
  ['response.code', true, '42'],
  ['has(response.code) ? 1 : 2', false, '1'],
  ['has(response.code) ? 1 : 2', true, '2'],
  ['request.method == "GET" ? 5 : 6', true, '5'],
  ['0', true, undefined],
  ['-1', true, '42'],
  ['"2"', true, '42'],
]
for (const [cost, streaming, charged] of tokenCosts) {
  verifies(
    [
      'traffic.rateLimit.global.descriptors/cost-tokens-variables',
      'traffic.rateLimit.global.descriptors/cost-tokens-streaming',
    ],
    `cost ${cost} of tokens, ${streaming ? 'streamed' : 'not streamed'}: ${charged ?? 'nothing is charged'}`,
    async () => {
      const policy = policyOf({ descriptors: [{ ...TOKENS, cost }] })
      const { exchange } = await policy.send()
      complete(exchange, streaming)
      chargeTokens(exchange, 42)
      expect(policy.asked.slice(1).flatMap(({ descriptors }) => descriptors)).toEqual(
        charged === undefined ? [] : [`caller=ann ${charged}`],
      )
      expect(exchange.failedCosts).toBe(charged === '42' ? 1 : 0)
    },
  )
}

test('a report that the service cannot have received is sent again, twice', async () => {
  using time = new VirtualTime()
  for (const [failure, reports] of [
    ['connection-refused', 3],
    ['timeout', 1],
  ] as const) {
    const policy = policyOf({ failureMode: 'FailOpen', descriptors: [TOKENS] }, new CallError(failure))
    const { exchange } = await policy.send()
    complete(exchange, true)
    chargeTokens(exchange, 42)
    await time.pass(10_000)
    expect(policy.asked.slice(1).map(({ descriptors }) => descriptors)).toEqual(
      Array.from({ length: reports }, () => ['caller=ann 42']),
    )
  }
})

test('tokens that arrive later are charged in addition, also where a cost sees all of them', async () => {
  const costly = { ...TOKENS, cost: 'llm.totalTokens * 2u' }
  const policy = policyOf({ descriptors: [TOKENS, costly] }, WITHIN, { tokens: 100, unit: 'Hours' })
  const { exchange } = await policy.send()
  for (const totalTokens of [30, 30, 45]) {
    exchange.llm = { ...NO_LLM, totalTokens }
    chargeTokens(exchange, totalTokens)
  }
  expect(policy.asked.slice(1).map(({ descriptors }) => descriptors)).toEqual([
    ['caller=ann 30', 'caller=ann 60'],
    ['caller=ann 15', 'caller=ann 30'],
  ])
  const { exchange: next } = await policy.send()
  expect(next.queuedHeaders).toContainEqual(['x-ratelimit-remaining', '55'])
})

verifies(
  'traffic.rateLimit.global.descriptors/cost-tokens-variables',
  'the cost in dollars: a limit in millionths of a dollar',
  async () => {
    const policy = policyOf({ descriptors: [{ ...TOKENS, cost: 'llm.cost.total * 1000000.0' }] })
    const { exchange } = await policy.send()
    complete(exchange, true)
    const total = 1_234_100
    const costOf = () => ({ input: total, output: 0, cacheRead: undefined, cacheWrite: undefined, total })
    exchange.context = { ...exchange.context, prices: { ...NO_PRICES, costOf } }
    chargeTokens(exchange, 42)
    expect(policy.asked.slice(1).flatMap(({ descriptors }) => descriptors)).toEqual(['caller=ann 1235'])
  },
)

test('local and global limits of tokens are both charged', async () => {
  const policy = policyOf({ descriptors: [TOKENS] }, WITHIN, { tokens: 100, unit: 'Hours' })
  const { exchange } = await policy.send()
  complete(exchange, false)
  chargeTokens(exchange, 42)
  expect(policy.asked).toHaveLength(2)
  const { exchange: next } = await policy.send()
  expect(next.queuedHeaders).toContainEqual(['x-ratelimit-remaining', '58'])
})

test('a request body that an entry or the cost of a request reads is buffered', () => {
  const reads = (descriptor: object) => policyOf({ descriptors: [descriptor] }).run.readsRequestBody
  const ofBody = { entries: [{ name: 'user', expression: 'json(request.body).user' }] }
  expect(reads(CALLER)).toBe(false)
  expect(reads(ofBody)).toBe(true)
  expect(reads({ ...ofBody, unit: 'Tokens' })).toBe(true)
  expect(reads({ ...CALLER, cost: 'size(request.body)' })).toBe(true)
})

test('descriptors of requests and of tokens whose entries fail are left out, and counted', async () => {
  const failing = { entries: [{ name: 'plan', expression: 'request.headers["x-plan"]' }] }
  const descriptors = [failing, { ...failing, unit: 'Tokens' }]
  const nothing = policyOf({ descriptors })
  expect((await nothing.send()).exchange.unsentDescriptors).toBe(2)
  expect(nothing.asked).toEqual([])
  const rest = policyOf({ descriptors: [...descriptors, CALLER, { ...CALLER, unit: 'Tokens' }] })
  expect((await rest.send()).exchange.unsentDescriptors).toBe(2)
  expect(rest.asked.map((asked) => asked.descriptors)).toEqual([['caller=ann', 'caller=ann 0']])
})

test('the cost of tokens can read the usage, the cost of requests cannot', () => {
  const codes = (unit: string) =>
    policyOf({ descriptors: [{ ...CALLER, unit, cost: 'llm.totalTokens' }] }).problems.map(({ code }) => code)
  expect(codes('Requests')).toContain('cel-unavailable')
  expect(codes('Tokens')).not.toContain('cel-unavailable')
})

test.each([
  ['FailClosed', 'rate-limit-failed'],
  ['FailOpen', undefined],
])('a service that the policy may not use is not asked; %s decides', async (failureMode, code) => {
  const service = serviceWith(OVER)
  const context = Object.assign(contextWith(), { calledBackend: () => undefined })
  const global = { ...LIMIT, failureMode, descriptors: [CALLER, { ...CALLER, unit: 'Tokens' }] }
  const run = rateLimit.compile([sourceOf(specFrom(trafficRateLimit, { global }))], context)!
  const exchange = exchangeWith({ headers: { 'x-caller': 'ann' } })
  exchange.context = runContext({ call: service.call, callLater: service.call })
  const outcome = await run.request!(exchange)
  const detail =
    'ProxyPolicy default/test, spec.traffic.field.global: the service failed: no-endpoint: the reference to the service is not permitted'
  if (code === undefined) expect(outcome).toBeUndefined()
  else expect(outcome).toMatchObject({ code, detail })
  chargeTokens(exchange, 5)
  expect(service.asked).toEqual([])
})
