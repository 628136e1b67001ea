import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { type ProviderResponse, startAnsweringProvider } from '#test/support/answering-provider.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { answerJson, type JsonServer, startJsonServer } from '#test/support/json-server.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { startProxyServer } from '#test/support/proxy-server.ts'
import { authoritiesYaml } from '#test/support/tls-objects.ts'

/** What operators learn about guards, and what nobody does: the guarded text. */

/** In every guarded text, mask and answer of a service. */
const CANARY = 'CANARY-4711'

const stops = new AsyncDisposableStack()
const WAY = {
  tunnel: { backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'proxy' } },
  tls: { caCertificateRefs: [{ name: 'vendors' }] },
}
const WEBHOOK = { webhook: { backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'judge' } } }
const ONE = { guardrailsServiceOne: { identifier: 'gr1', version: 'DRAFT', region: 'us-east-1', policies: WAY } }
const TWO = {
  guardrailsServiceTwo: { templateId: 't1', projectId: 'p1', policies: { ...WAY, auth: { passthrough: {} } } },
}
const MODERATION = { moderationEndpoint: { policies: { ...WAY, auth: { key: 'sk-moderation' } } } }
const MASKS = { regex: { matches: ['CANARY-\\d+'] } }
const REJECTS = { regex: { action: 'Reject', matches: ['never', 'CANARY-\\d+'] } }
const GUARDS: Readonly<Record<string, object>> = {
  masks: { request: [MASKS], response: [MASKS] },
  rejects: { request: [{ regex: { matches: ['never'] } }, REJECTS] },
  webhook: { request: [WEBHOOK], response: [WEBHOOK] },
  answers: { response: [{ regex: { matches: ['never'] } }, WEBHOOK] },
  moderation: { request: [MODERATION] },
  one: { request: [ONE], response: [ONE] },
  two: { request: [TWO], response: [TWO] },
}

const provider = stops.use(await startAnsweringProvider())
const judge = stops.use(await startJsonServer())
const vendor: JsonServer = stops.use(await startJsonServer(CERTIFICATES.guards))
const proxy = stops.use(
  await startProxyServer({
    names: {
      'api.openai.com': vendor.port,
      'bedrock-runtime.us-east-1.amazonaws.com': vendor.port,
      'modelarmor.us-central1.rep.googleapis.com': vendor.port,
    },
  }),
)

const gateways: { text: TestGateway; json: TestGateway } = {} as never
const ports = { text: await freePort(), json: await freePort() }
let folder: string

beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'key')
  const backends = Object.entries(GUARDS).map(
    ([name, promptGuard]) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({
      ai: { provider: { providerOne: {}, host: '127.0.0.1', port: provider.port } },
      policies: { ai: { promptGuard, routes: { '*': 'Completions' } } },
    })}
`,
  )
  for (const format of ['text', 'json'] as const) {
    const objects = await createObjectsFolder({
      'all.yaml': joinYaml(
        gatewayYaml(ports[format]),
        backendYaml('proxy', proxy.port),
        backendYaml('judge', judge.port),
        authoritiesYaml('vendors', CERTIFICATES.guards.cert),
        ...backends,
        ...Object.keys(GUARDS).map((name) => routeYaml(name, `/${name}`, name)),
      ),
    })
    stops.defer(objects.remove)
    folder = objects.path
    gateways[format] = stops.use(
      await startGateway({
        files: [objects.path],
        workers: 1,
        arguments: ['--log-format', format, '--log-level', 'debug'],
      }),
    )
  }
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await stops.disposeAsync()
})

const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

/** A whole answer, or a stream whose text leaves in several windows. */
function providerSays(text: string, streams: boolean): void {
  const message = { role: 'assistant', content: text }
  provider.answer = {
    body: streams
      ? `${chunk('good '.repeat(300))}${chunk(text)}data: [DONE]\n\n`
      : { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] },
  }
}

beforeEach(() => {
  judge.answer = (_, response) => answerJson(response, { action: {} })
  providerSays('fine', false)
})

async function ask(format: 'text' | 'json', name: string, content: string, stream = false): Promise<string> {
  const response = await fetch(`${gateways[format].url(ports[format])}/${name}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer caller' },
    body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content }] }),
  })
  return `${response.status} ${await response.text()}`
}

/** The access log's lines about one route. */
const linesAbout = (format: 'text' | 'json', name: string) =>
  gateways[format].output.stdout.split('\n').filter((line) => line.includes(`/${name}/v1`))

async function recordsOf(format: 'text' | 'json', name: string) {
  const response = await fetch(`${gateways[format].url(15_000)}/decisions`)
  // biome-ignore lint/suspicious/noExplicitAny: tests read JSON
  const records = (await response.json()) as any
  // biome-ignore lint/suspicious/noExplicitAny: tests read JSON
  return records.filter(({ target }: any) => target.includes(`/${name}/`))
}

/** As a record names it. */
const guardAt = (name: string, path: string) => ({
  stage: 'backend',
  field: 'ai.promptGuard',
  sources: [{ kind: 'ProxyBackend', namespace: 'default', name, path: `spec.policies.ai.promptGuard.${path}` }],
})

test('a rejection names its guard in both formats of the log, and in its record', async () => {
  for (const format of ['text', 'json'] as const) {
    expect(await ask(format, 'rejects', CANARY)).toMatch(/^403 /)
    await eventually('the line is written', async () => linesAbout(format, 'rejects')[0])
  }
  expect(linesAbout('text', 'rejects')[0]).toContain(
    'guardrail.phase=request guardrail.kind=regex guardrail.index=1 error="',
  )
  expect(linesAbout('text', 'rejects')[0]).toContain('reason=Guardrail')
  expect(JSON.parse(linesAbout('json', 'rejects')[0]!)).toMatchObject({
    'http.status': 403,
    'guardrail.phase': 'request',
    'guardrail.kind': 'regex',
    'guardrail.index': 1,
    reason: 'Guardrail',
    code: 'prompt-guard-rejected',
  })
  expect(await recordsOf('json', 'rejects')).toMatchObject([
    {
      detail: 'promptGuard.request[1]: regex matches[1]',
      decidedBy: guardAt('rejects', 'request[1]'),
      guardChecks: [
        { phase: 'request', kind: 'regex', index: 0, verdict: 'Allow', length: CANARY.length },
        { phase: 'request', kind: 'regex', index: 1, verdict: 'Reject', rule: 'matches[1]', count: 1 },
      ],
    },
  ])
  const page = await (await fetch(`${gateways.json.url(15_000)}/`)).text()
  expect(page).toContain('promptGuard.request[1] regex Reject matches[1], 1 guard check allowed')
})

test('a stream that a guard ends after its head names the guard', async () => {
  for (const [verdict, code, error] of [
    ['Reject', 'prompt-guard-rejected', 'rejected by a prompt guard: promptGuard.response[1]: webhook rejected'],
    [
      'Fail',
      'prompt-guard-failed',
      'prompt guard failed: promptGuard.response[1]: webhook default/judge: the service answered 500',
    ],
  ] as const) {
    judge.answer = ({ body }, response) => {
      if (!JSON.stringify(body).includes('bad words')) return answerJson(response, { action: {} })
      if (verdict === 'Fail') return answerJson(response, {}, 500)
      return answerJson(response, { action: { body: 'no', status_code: 403 } })
    }
    providerSays('bad words', true)
    const before = linesAbout('json', 'answers').length
    expect(await ask('json', 'answers', 'hello', true)).toContain('guardrail_intervention')
    const line = await eventually('the line is written', async () => linesAbout('json', 'answers')[before])
    const [record] = await recordsOf('json', 'answers')
    expect(JSON.parse(line)).toMatchObject({
      'http.status': 200,
      'guardrail.phase': 'response',
      'guardrail.kind': 'webhook',
      'guardrail.index': 1,
      reason: 'Guardrail',
      code,
      error,
      decision: record.id,
    })
    expect(record).toMatchObject({ code, status: 200 })
    expect(record.guardChecks.at(-2)).toMatchObject({ kind: 'webhook', index: 1, verdict })
    expect(record.decidedBy).toMatchObject(guardAt('answers', 'response[1]'))
  }
})

test('the line of a request that passes names the guards that have masked something', async () => {
  const before = linesAbout('json', 'masks').length
  await ask('json', 'masks', CANARY)
  const line = await eventually('the line is written', async () => linesAbout('json', 'masks')[before])
  expect(JSON.parse(line)['guardrail.masked']).toBe('request[0] matches[0]')
  expect(line).not.toContain('guardrail.index')
  expect((await recordsOf('json', 'masks'))[0]).not.toHaveProperty('decidedBy')
  expect((await recordsOf('json', 'masks'))[0].guardChecks).toMatchObject([
    { phase: 'request', verdict: 'Mask', rule: 'matches[0]' },
    { phase: 'response', verdict: 'Allow' },
  ])
})

test('gauges show the held text and the windows of a stream, and return to zero', async () => {
  const gauges = async () => {
    const text = await (await fetch(`${gateways.json.url(15_020)}/metrics`)).text()
    return ['held_bytes', 'windows_in_flight'].map((name) =>
      Number(new RegExp(`^gatewright_guardrail_${name} (\\d+)$`, 'm').exec(text)?.[1]),
    )
  }
  expect(await gauges()).toEqual([0, 0])
  let release: () => void = () => {}
  const waits = new Promise<void>((resolve) => {
    release = resolve
  })
  judge.answer = ({ path }, response) => {
    if (path === '/request') return answerJson(response, { action: {} })
    void waits.then(() => answerJson(response, { action: {} }))
  }
  providerSays('the end', true)
  const answer = ask('json', 'webhook', 'hello', true)
  await eventually('a window is judged', async () => ((await gauges())[1] === 1 ? true : undefined))
  expect((await gauges())[0]).toBeGreaterThan(1500)
  release()
  expect(await answer).toContain('the end')
  await eventually('the gauges are zero', async () =>
    (await gauges()).every((value) => value === 0) ? true : undefined,
  )
})

/** What services answer, each with the guarded text wherever they can say something. */
const SERVICE_ANSWERS: Readonly<Record<string, object>> = {
  'status 500': { error: { message: CANARY } },
  'an echo': { error: { message: CANARY }, [CANARY]: CANARY },
  'webhook mask of a request': { action: { body: { messages: [{ role: 'user', content: CANARY }] }, reason: CANARY } },
  'webhook mask of an answer': {
    action: { body: { choices: [{ message: { role: 'assistant', content: CANARY } }] }, reason: CANARY },
  },
  'too many masks': {
    action: {
      body: { messages: [CANARY, CANARY].map((content) => ({ role: 'user', content })), choices: [] },
      reason: CANARY,
    },
  },
  'webhook rejection': { action: { body: 'no', status_code: 403, reason: CANARY } },
  'moderation hit': { id: CANARY, results: [{ flagged: true, categories: { [CANARY]: true } }] },
  'service one mask': {
    action: 'GUARDRAIL_INTERVENED',
    outputs: [{ text: CANARY }],
    assessments: [
      {
        sensitiveInformationPolicy: {
          piiEntities: [{ type: CANARY, match: CANARY, action: 'ANONYMIZED' }],
          regexes: [],
        },
      },
    ],
  },
  'service two hit': {
    sanitizationResult: {
      filterMatchState: 'MATCH_FOUND',
      invocationResult: 'SUCCESS',
      filterResults: { sdp: { findings: [{ quote: CANARY }] } },
    },
  },
}

/** All services answer so in one direction, and let pass what they are asked about the other. */
function servicesSay(answer: object, bad: 'request' | 'response' | undefined, status = 200): void {
  judge.answer = vendor.answer = ({ path, body }, response) => {
    const isAnswer = /response|Response|"OUTPUT"/.test(path + JSON.stringify(body))
    if (bad === (isAnswer ? 'response' : 'request')) {
      response.setHeader('x-request-id', `id of ${CANARY}`)
      return answerJson(response, answer, status)
    }
    const { input = [] } = body as { readonly input?: readonly unknown[] }
    answerJson(response, {
      action: path.startsWith('/guardrail') ? 'NONE' : {},
      outputs: [],
      results: input.map(() => ({ flagged: false })),
      sanitizationResult: { filterMatchState: 'NO_MATCH_FOUND', invocationResult: 'SUCCESS', filterResults: {} },
    })
  }
}

const FAILED = { error: { message: 'm', type: CANARY, code: CANARY } }
const NAMED = { id: `id ${CANARY}`, model: `model ${CANARY}` }

/** The guarded text in the places of names, which are no texts of the answer. */
const NAMES_OF_PROVIDER: readonly ProviderResponse[] = [
  { body: FAILED },
  { status: 400, body: FAILED },
  { body: `${chunk('good')}data: ${JSON.stringify(FAILED)}\n\n` },
  { body: { ...NAMED, choices: [{ index: 0, message: { content: 'a' }, finish_reason: `for ${CANARY}` }] } },
  {
    body: `data: ${JSON.stringify({ ...NAMED, choices: [{ index: 0, delta: {}, finish_reason: `for ${CANARY}` }] })}\n\n`,
  },
]

/** What the run below sees. */
const OUTCOMES = {
  regex: ['Allow', 'Mask', 'Reject'],
  webhook: ['Allow', 'Mask', 'Reject', 'Fail'],
  moderationEndpoint: ['Allow', 'Reject', 'Fail'],
  guardrailsServiceOne: ['Allow', 'Mask', 'Fail'],
  guardrailsServiceTwo: ['Allow', 'Reject', 'Fail'],
}

describe('the guarded text', () => {
  test('is in no line, record, metric, status, dump, page or refusal, whatever the guards find and the services say', async () => {
    let refusals = 0
    for (const [name, answer] of Object.entries(SERVICE_ANSWERS)) {
      for (const bad of ['request', 'response'] as const) {
        for (const route of Object.keys(GUARDS)) {
          for (const streams of [false, true]) {
            providerSays(`so ${CANARY} it is`, streams)
            for (const format of name === 'an echo' ? (['text', 'json'] as const) : (['json'] as const)) {
              servicesSay(answer, bad, name === 'status 500' ? 500 : 200)
              const got = await ask(format, route, `my ${CANARY} text`, streams)
              if (/^[45]|guardrail_intervention/.test(got)) {
                refusals++
                expect(got, `${route}: ${name}`).not.toContain(CANARY)
              }
              // A guard that fails five times in a row asks no more.
              servicesSay({}, undefined)
              await ask(format, route, `my ${CANARY} text`, streams)
            }
          }
        }
      }
    }
    expect(refusals).toBeGreaterThan(100)
    for (const answer of NAMES_OF_PROVIDER) {
      provider.answer = answer
      for (const route of ['masks', 'webhook']) {
        for (const streams of [false, true]) await ask('json', route, 'hello', streams)
      }
    }
    const metrics = await (await fetch(`${gateways.json.url(15_020)}/metrics`)).text()
    for (const phase of ['request', 'response']) {
      for (const [kind, actions] of Object.entries(OUTCOMES)) {
        if (kind === 'moderationEndpoint' && phase === 'response') continue
        for (const action of kind === 'regex' && phase === 'response' ? ['Allow', 'Mask'] : actions) {
          expect(metrics).toContain(`guardrail_checks_total{phase="${phase}",kind="${kind}",action="${action}"}`)
        }
      }
    }
    for (const format of ['text', 'json'] as const) {
      const gateway = gateways[format]
      const pages = [
        [15_000, '/'],
        [15_000, '/status'],
        [15_000, '/config_dump'],
        [15_000, '/decisions'],
        [15_020, '/metrics'],
      ] as const
      for (const [port, path] of pages) {
        const response = await fetch(`${gateway.url(port)}${path}`)
        const text = await response.text()
        expect([response.status, text.length > 100]).toEqual([200, true])
        expect(text, `${path} (${format})`).not.toContain(CANARY)
      }
      await eventually('the lines are written', async () => linesAbout(format, 'two').length > 3 || undefined)
      expect(gateway.output.stdout).not.toContain(CANARY)
      expect(gateway.output.stderr).not.toContain(CANARY)
    }
  }, 60_000)

  test('is in no finding of lint', async () => {
    const { stdout, stderr } = await gatewright(['lint', '-v', folder])
    expect(stdout + stderr).not.toContain(CANARY)
  })
})
