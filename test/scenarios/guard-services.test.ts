import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { startAnsweringProvider } from '#test/support/answering-provider.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { answerJson, type JsonServer, startJsonServer } from '#test/support/json-server.ts'
import {
  backendRef,
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { type ProxyServer, startProxyServer } from '#test/support/proxy-server.ts'
import { authoritiesYaml } from '#test/support/tls-objects.ts'
import { startTokenEndpoint } from '#test/support/token-endpoint.ts'
import { ACCOUNT, ACCOUNT_ENVIRONMENT, accountYaml, callersYaml } from '#test/support/vendor-keys.ts'
import { verifies } from '#test/support/verifies.ts'
import { type ServerKeys, startVerifyingServer, type VerifyingServer } from '#test/support/verifying-server.ts'

/**
 * Guard services of vendors, at servers that have the certificates of their hosts. The hosts are reached through a proxy server, because no
 * other place can be configured.
 */

const BEARER = 'of-the-caller'
const KEYS: ServerKeys = {
  ...ACCOUNT,
  service: 'bedrock',
  region: 'us-east-1',
  bearer: BEARER,
}
const HOSTS = {
  moderation: 'api.openai.com',
  one: 'bedrock-runtime.us-east-1.amazonaws.com',
  two: 'modelarmor.us-central1.rep.googleapis.com',
}
/** What nobody but the services and the provider may see. */
const PROMPT = 'my-guarded-prompt'
const MODERATION_KEY = 'sk-moderation-key'
const AMBIENT_TOKEN = 'ya29.ambient-token'

const WAY = { tunnel: { backendRef: backendRef('proxy') }, tls: { caCertificateRefs: [{ name: 'vendors' }] } }
const one = (policies: object = WAY, more: object = {}) => ({
  guardrailsServiceOne: { identifier: 'gr1', version: 'DRAFT', region: 'us-east-1', policies, ...more },
})
const two = (policies: object = WAY) => ({
  guardrailsServiceTwo: { templateId: 't1', projectId: 'p1', policies },
})
const moderation = (policies: object = {}, more: object = {}) => ({
  moderationEndpoint: { policies: { ...WAY, ...policies }, ...more },
})
const ROUTES = { '*': 'Completions', '/responses': 'Responses', '/messages': 'Messages' }

/** Backends with guards of their own. */
const GUARDS: Readonly<Record<string, object>> = {
  moderated: { request: [moderation({ auth: { key: MODERATION_KEY } })] },
  'moderated-by-secret': {
    request: [moderation({ auth: { secretRef: { name: 'moderation' } } }, { model: 'text-moderation-stable' })],
  },
  keyless: { request: [moderation()] },
  one: { request: [one()], response: [one()] },
  'one-by-secret': { request: [one({ ...WAY, auth: { cloudOne: { secretRef: { name: 'keys' } } } })] },
  'one-by-caller': { request: [one({ ...WAY, auth: { passthrough: {} } })] },
  'one-by-arn': { request: [one(WAY, { identifier: 'arn:aws:bedrock:us-east-1:123456789012:guardrail/gr1' })] },
  two: { request: [two()], response: [two()] },
  untrusted: { request: [two({ tunnel: WAY.tunnel })] },
  judges: {
    request: [
      { ...two(), response: { message: 'two says no' } },
      { ...moderation({ auth: { key: MODERATION_KEY } }), response: { message: 'moderation says no' } },
    ],
  },
  both: { request: [two(), one(), moderation({ auth: { key: MODERATION_KEY } })] },
}

const provider = await startAnsweringProvider()
const backendOf = (name: string, policies?: object) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({ ai: { provider: { providerOne: {}, host: '127.0.0.1', port: provider.port } }, policies })}
`
const objectsOf = (guards: typeof GUARDS = GUARDS, policies: readonly string[] = []) =>
  joinYaml(
    gatewayYaml(port),
    backendYaml('proxy', proxy.port),
    authoritiesYaml('vendors', CERTIFICATES.guards.cert),
    accountYaml,
    callersYaml(BEARER),
    `
apiVersion: v1
kind: Secret
metadata: { name: moderation }
stringData: { Authorization: sk-of-secret }
`,
    ...Object.entries(guards).map(([name, promptGuard]) => backendOf(name, { ai: { promptGuard, routes: ROUTES } })),
    backendOf('by-policy'),
    ...policies,
    ...[...Object.keys(guards), 'by-policy'].map((name) => routeYaml(name, `/${name}`, name)),
    policyYaml('callers', 'HTTPRoute', 'one-by-caller', {
      traffic: { apiKeyAuthentication: { secretRef: { name: 'callers' } } },
    }),
  )

const stops = new AsyncDisposableStack()
let objects: ObjectsFolder
let gateway: TestGateway
let port: number
let moderator: JsonServer
let armor: JsonServer
let guardrail: VerifyingServer
let proxy: ProxyServer

beforeAll(async () => {
  stops.use(provider)
  moderator = stops.use(await startJsonServer(CERTIFICATES.guards))
  armor = stops.use(await startJsonServer(CERTIFICATES.guards))
  guardrail = stops.use(await startVerifyingServer(KEYS, { secure: CERTIFICATES.guards }))
  const names = { [HOSTS.moderation]: moderator.port, [HOSTS.one]: guardrail.port, [HOSTS.two]: armor.port }
  proxy = stops.use(await startProxyServer({ names }))
  const metadata = stops.use(
    await startTokenEndpoint({ json: { access_token: AMBIENT_TOKEN, expires_in: 3600, token_type: 'Bearer' } }),
  )
  port = await freePort()
  objects = await createObjectsFolder({ 'all.yaml': objectsOf() })
  stops.defer(objects.remove)
  // The libraries that look for keys read the variables of the process.
  for (const [name, value] of Object.entries({
    ...ACCOUNT_ENVIRONMENT,
    AWS_EC2_METADATA_DISABLED: 'true',
    METADATA_SERVER_DETECTION: 'assume-present',
    GCE_METADATA_HOST: `127.0.0.1:${metadata.port}`,
  }))
    vi.stubEnv(name, value)
  stops.defer(() => void vi.unstubAllEnvs())
  gateway = stops.use(await startGateway({ files: [objects.path], workers: 1 }))
})
afterAll(() => stops.disposeAsync())

const says = (content: string) => ({
  body: {
    id: 'c',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  },
})
const NOTHING_FOUND = {
  sanitizationResult: { filterMatchState: 'NO_MATCH_FOUND', invocationResult: 'SUCCESS', filterResults: {} },
}
let sentToProvider: () => unknown

beforeEach(() => {
  provider.answer = says('fine')
  provider.got = { path: undefined, body: {} }
  sentToProvider = () => provider.got.body.messages
  moderator.answer = ({ body }, response) =>
    answerJson(response, { id: 'm', results: (body as { input: [] }).input.map(() => ({ flagged: false })) })
  armor.answer = (_, response) => answerJson(response, NOTHING_FOUND)
  guardrail.answer = (response) => answerJson(response, { action: 'NONE', outputs: [], assessments: [], usage: {} })
  for (const { seen } of [moderator, armor, guardrail, proxy]) seen.length = 0
})

const ask = (name: string, content: string = PROMPT, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url(port)}/${name}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${BEARER}`, ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
  })
const outcomeOf = async (response: Response) => [response.status, await response.text()]
const FAILED = { error: { message: 'prompt guard failed' } }

verifies(
  [
    'backend.ai.promptGuard.moderationEndpoint/called',
    'backend.ai.promptGuard.moderationEndpoint/model',
    'backend.ai.promptGuard.moderationEndpoint/policies',
    'backend.ai.promptGuard/reject-message-request',
  ],
  'the moderation endpoint is asked with the key of the guard, over TLS, by its name',
  async () => {
    expect((await ask('moderated')).status).toBe(200)
    expect(moderator.seen).toMatchObject([
      {
        path: '/v1/moderations',
        serverName: HOSTS.moderation,
        headers: { host: HOSTS.moderation, authorization: `Bearer ${MODERATION_KEY}` },
        body: { input: [PROMPT], model: 'omni-moderation-latest' },
      },
    ])
    expect(proxy.seen).toMatchObject([{ method: 'CONNECT', target: `${HOSTS.moderation}:443` }])
    await ask('moderated-by-secret')
    expect(moderator.seen[1]!.headers.authorization).toBe('Bearer sk-of-secret')
    expect(moderator.seen[1]!.body).toEqual({ input: [PROMPT], model: 'text-moderation-stable' })
    moderator.answer = (_, response) => answerJson(response, { results: [{ flagged: true }] })
    expect(await outcomeOf(await ask('moderated'))).toEqual([
      403,
      'The request was rejected due to inappropriate content',
    ])
  },
)

test('without a key, the moderation endpoint is not asked, and nothing passes', async () => {
  const response = await ask('keyless')
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject(FAILED)
  expect([moderator.seen, sentToProvider()]).toEqual([[], undefined])
})

test.each([
  ['keys of the environment', 'one', 'gr1'],
  ['keys of a Secret', 'one-by-secret', 'gr1'],
  ['an ARN', 'one-by-arn', 'arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aguardrail%2Fgr1'],
])('guardrails service one is asked with signed requests: %s', async (_, name, identifier) => {
  expect((await ask(name)).status).toBe(200)
  expect(guardrail.seen[0]).toMatchObject({ fault: undefined, target: `/guardrail/${identifier}/version/DRAFT/apply` })
  expect(JSON.parse(guardrail.seen[0]!.body)).toEqual({ source: 'INPUT', content: [{ text: { text: PROMPT } }] })
  expect(guardrail.seen[0]!.headers.authorization).not.toContain(BEARER)
})

verifies(
  ['backend.ai.promptGuard.guardrailsServiceOne/policies'],
  'the credential of the caller is only sent if the guard passes it through',
  async () => {
    expect((await ask('one-by-caller')).status).toBe(200)
    expect(guardrail.seen[0]!.headers.authorization).toBe(`Bearer ${BEARER}`)
    for (const name of ['one', 'two', 'moderated']) await ask(name)
    const others = [...guardrail.seen.slice(1), ...armor.seen, ...moderator.seen]
    expect(others).toHaveLength(5)
    expect(JSON.stringify(others)).not.toContain(BEARER)
  },
)

verifies(
  ['backend.ai.promptGuard.guardrailsServiceOne/called'],
  'guardrails service one masks both directions',
  async () => {
    const masks = { sensitiveInformationPolicy: { piiEntities: [{ type: 'EMAIL', action: 'ANONYMIZED' }] } }
    guardrail.answer = (response, body) => {
      const { content } = JSON.parse(body.toString()) as { content: { text: { text: string } }[] }
      const outputs = content.map(({ text }) => ({ text: text.text.replaceAll('a@b.example', '{EMAIL}') }))
      answerJson(response, { action: 'GUARDRAIL_INTERVENED', outputs, assessments: [masks], usage: {} })
    }
    provider.answer = says('write to a@b.example too')
    const response = await ask('one', 'write to a@b.example')
    expect(sentToProvider()).toEqual([{ role: 'user', content: 'write to {EMAIL}' }])
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'write to {EMAIL} too' } }] })
    expect(guardrail.seen.map(({ body }) => JSON.parse(body).source)).toEqual(['INPUT', 'OUTPUT'])
    const target = '/guardrail/gr1/version/DRAFT/apply'
    expect(guardrail.seen).toMatchObject([
      { fault: undefined, target },
      { fault: undefined, target },
    ])
    expect(guardrail.seen[0]!.headers[':authority'] ?? guardrail.seen[0]!.headers.host).toBe(HOSTS.one)
  },
)

verifies(
  [
    'backend.ai.promptGuard.guardrailsServiceTwo/called',
    'backend.ai.promptGuard.guardrailsServiceTwo/location-default',
    'backend.ai.promptGuard.guardrailsServiceTwo/policies',
    'backend.ai.promptGuard/reject-message-response',
  ],
  'guardrails service two is asked with a token of the environment',
  async () => {
    expect((await ask('two')).status).toBe(200)
    const path = '/v1/projects/p1/locations/us-central1/templates/t1'
    expect(armor.seen).toMatchObject([
      { path: `${path}:sanitizeUserPrompt`, serverName: HOSTS.two, body: { userPromptData: { text: PROMPT } } },
      { path: `${path}:sanitizeModelResponse`, body: { modelResponseData: { text: 'fine' } } },
    ])
    expect(armor.seen[0]!.headers).toMatchObject({ host: HOSTS.two, authorization: `Bearer ${AMBIENT_TOKEN}` })
    armor.answer = ({ path: asked }, response) => {
      const matched = asked.endsWith('Response') ? { filterMatchState: 'MATCH_FOUND' } : {}
      answerJson(response, { sanitizationResult: { ...NOTHING_FOUND.sanitizationResult, ...matched } })
    }
    expect(await outcomeOf(await ask('two'))).toEqual([403, 'The response was rejected due to inappropriate content'])
  },
)

test('neighbours that only judge are asked at the same time; the first in the list decides', async () => {
  const flags = { results: [{ flagged: true }] }
  const match = { sanitizationResult: { ...NOTHING_FOUND.sanitizationResult, filterMatchState: 'MATCH_FOUND' } }
  let begin = Promise.withResolvers<void>()
  moderator.answer = (_, response) => {
    answerJson(response, flags)
    begin.resolve()
  }
  armor.answer = (_, response) => void begin.promise.then(() => answerJson(response, match))
  expect(await outcomeOf(await ask('judges'))).toEqual([403, 'two says no'])

  begin = Promise.withResolvers()
  armor.answer = (_, response) => void begin.promise.then(() => answerJson(response, NOTHING_FOUND))
  expect(await outcomeOf(await ask('judges'))).toEqual([403, 'moderation says no'])

  // A rejection does not wait for those after it.
  const asked = Promise.withResolvers<() => void>()
  moderator.answer = (_, response) => asked.resolve(() => answerJson(response, flags))
  armor.answer = (_, response) => answerJson(response, match)
  expect(await outcomeOf(await ask('judges'))).toEqual([403, 'two says no'])
  const answer = await asked.promise
  answer()
})

test('an unknown certificate is a failure of the guard', async () => {
  const response = await ask('untrusted')
  expect(response.status).toBe(503)
  expect([armor.seen, sentToProvider()]).toEqual([[], undefined])
})

test.each<[what: string, status: number, body: unknown]>([
  ['errors with status 200', 200, { error: { code: 403, status: 'PERMISSION_DENIED' } }],
  ['errors', 403, { error: { code: 403 } }],
  ['redirects', 302, {}],
])('%s of a service are failures', async (_, status, body) => {
  armor.answer = (_, response) => {
    response.setHeader('location', 'https://elsewhere.example/')
    answerJson(response, body, status)
  }
  const response = await ask('two')
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject(FAILED)
  expect([armor.seen.length, sentToProvider()]).toEqual([1, undefined])
})

const readMetrics = async () => (await fetch(`${gateway.url(15020)}/metrics`)).text()
const adminPage = async (path: string) => (await fetch(`${gateway.url(15000)}${path}`)).text()

test('metrics name services by the guard, and nothing that was guarded is anywhere', async () => {
  armor.answer = (_, response) => {
    response.setHeader('x-request-id', `echo of ${PROMPT}`)
    answerJson(response, { error: { message: `bad text: ${PROMPT}` } }, 400)
  }
  await ask('two')
  await ask('both')
  const metrics = await eventually('the calls are counted', async () => {
    const text = await readMetrics()
    return text.includes('default/both.promptGuard.request[0]') ? text : undefined
  })
  expect(metrics).toMatch(
    /call_duration_seconds_count\{[^}]*"guard"[^}]*backend="default\/two\.promptGuard\.request\[0\]"/,
  )
  expect(metrics).toMatch(/guardrail_checks_total\{phase="request",kind="guardrailsServiceTwo",action="Fail"\} [1-9]/)
  const pages = ['/status', '/config_dump', '/decisions', '/']
  const outputs = [metrics, gateway.output.stdout, gateway.output.stderr, ...(await Promise.all(pages.map(adminPage)))]
  expect(outputs.length).toBe(7)
  const secrets = [PROMPT, MODERATION_KEY, 'sk-of-secret', AMBIENT_TOKEN, KEYS.secretAccessKey, BEARER]
  for (const output of outputs) for (const secret of secrets) expect(output).not.toContain(secret)
})

interface Status {
  readonly objects: readonly {
    readonly origin: { readonly name: string }
    readonly findings: readonly { readonly code: string; readonly path: string }[]
  }[]
}
const findingsOf = async (name: string) => {
  const { objects } = JSON.parse(await adminPage('/status')) as Status
  return objects
    .filter(({ origin }) => origin.name === name)
    .flatMap(({ findings }) => findings.map(({ code, path }) => `${code} ${path}`))
}

test('status tells of guards that cannot run', async () => {
  expect(await findingsOf('keyless')).toContain(
    'guard-not-runnable spec.policies.ai.promptGuard.request[0].moderationEndpoint',
  )
  for (const name of Object.keys(GUARDS).filter((name) => name !== 'keyless')) {
    expect((await findingsOf(name)).filter((finding) => finding.includes('promptGuard'))).toEqual([])
  }
})

test('explain shows which services a request would go to, and asks none', async () => {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: PROMPT }] })
  const url = `http://127.0.0.1:${port}/judges/v1/chat/completions`
  const { stdout } = await gatewright(['explain', '-f', objects.path, '-d', body, url])
  expect(stdout).toContain(
    'guardrailsServiceTwo default/judges.promptGuard.request[0] would be asked about 1 text of the request, 17 characters',
  )
  expect(stdout).toContain('moderationEndpoint default/judges.promptGuard.request[1] would be asked')
  expect(stdout).toContain('request to the backend')
  expect([moderator.seen, armor.seen]).toEqual([[], []])
})

test('guards of a policy begin, change and end with it', async () => {
  const policy = (promptGuard: object) =>
    policyYaml('guards', 'ProxyBackend', 'by-policy', { backend: { ai: { promptGuard } } })
  const until = async (what: string, promptGuard: object | undefined, is: () => boolean) => {
    await objects.write('all.yaml', objectsOf(GUARDS, promptGuard === undefined ? [] : [policy(promptGuard)]))
    await eventually(what, async () => {
      for (const { seen } of [moderator, armor, guardrail]) seen.length = 0
      await (await ask('by-policy')).text()
      return is() || undefined
    })
  }
  await until('service two is asked', { request: [two()] }, () => armor.seen.length === 1)
  await until(
    'service one is asked',
    { request: [one()] },
    () => guardrail.seen.length === 1 && armor.seen.length === 0,
  )
  const keyed = moderation({ auth: { key: MODERATION_KEY } })
  await until('both are asked', { request: [one(), keyed] }, () => guardrail.seen.length + moderator.seen.length === 2)
  expect(await adminPage('/config_dump')).toContain('ProxyPolicy:guards:spec.backend.ai.promptGuard.request[1]')
  await until('the other key is used', { request: [moderation({ auth: { key: 'sk-2' } })] }, () => {
    return moderator.seen[0]?.headers.authorization === 'Bearer sk-2'
  })
  await until('nobody is asked', undefined, () => moderator.seen.length === 0)
  expect(await adminPage('/config_dump')).not.toContain('ProxyPolicy:guards')
})

test('a missing Secret is told once, and nothing passes', async () => {
  const policies = (promptGuard: object) => [
    policyYaml('guards', 'ProxyBackend', 'by-policy', { backend: { ai: { promptGuard } } }),
  ]
  const auth = { cloudOne: { secretRef: { name: 'absent' } } }
  await objects.write('all.yaml', objectsOf(GUARDS, policies({ request: [one({ ...WAY, auth })] })))
  const findings = await eventually('the finding', async () => {
    const found = await findingsOf('guards')
    return found.length === 0 ? undefined : found
  })
  expect(findings.filter((finding) => finding.startsWith('secret-not-found'))).toEqual([
    'secret-not-found spec.backend.ai.promptGuard.request[0].guardrailsServiceOne.policies.auth.cloudOne.secretRef',
  ])
  const response = await eventually('the guard is there', async () => {
    const answered = await ask('by-policy')
    return answered.status === 200 ? undefined : answered
  })
  expect([response.status, guardrail.seen]).toEqual([503, []])
})
