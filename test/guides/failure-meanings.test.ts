import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Decision, runResponsePolicies } from '#engine/request/decide.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { NO_MCP } from '#exchange/mcp-facts.ts'
import type { Outcome } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { Ended } from '#observe/ended.ts'
import { AccessLog } from '#observe/log/access-log.ts'
import { JSON_LINE } from '#observe/log/field-line.ts'
import type { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import { RequestMetrics } from '#observe/metrics/request-metrics.ts'
import type { Observed } from '#observe/observer.ts'
import { codeOf, contextWith, type ExchangeInputs, exchangeWith, sourceOf, specFrom } from '#policies/shared/testing.ts'
import { rateLimit } from '#policies/traffic/rate-limit/index.ts'
import { trafficRateLimit } from '#policies/traffic/rate-limit/schema.ts'
import { isAllowed } from '#protocols/mcp/config/authorization.ts'
import { compileTestMcp } from '#test/support/mcp-plan.ts'
import { backendYaml, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { seeRequest } from '#test/support/see-request.ts'

const FAILS = 'request.headers["absent"] == "x"'
const BROKEN = '1 +'
const GUIDE = readFileSync('docs/guides/expressions.md', 'utf8')

const AI = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ai }
spec: { ai: { provider: { providerOne: {} } } }
`
const MCP = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: tools }
spec: { mcp: { targets: [{ name: one, static: { host: 127.0.0.1, port: 1 } }] } }
`
const KEYS = `
apiVersion: v1
kind: Secret
metadata: { name: keys }
stringData: { ann: k }
`

/** What the gateway makes of one request, with a policy that has the expression somewhere. */
interface Seen {
  readonly exchange: Exchange
  readonly decision: Decision
  /** Until it would be sent. */
  readonly outcome: Outcome
  /** Codes of what lint says. */
  readonly findings: readonly string[]
}

interface Case {
  readonly spec: object
  readonly to?: 'web' | 'ai' | 'tools'
  readonly request?: ExchangeInputs
}

async function see({ spec, to = 'web', request = {} }: Case): Promise<Seen> {
  const tested =
    to === 'web' ? policyYaml('tested', 'Gateway', 'main', spec) : policyYaml('tested', 'ProxyBackend', to, spec)
  const objects = [gatewayYaml(8080), backendYaml('web', 1), AI, MCP, KEYS, routeYaml('all', '/', to), tested]
  const { exchange, decision, findings, ...seen } = await seeRequest(joinYaml(...objects), request)
  const outcome = seen.outcome ?? (to === 'tools' ? undefined : await seen.attempt())
  return { exchange, decision, outcome, findings: findings.map(({ code }) => code) }
}

type Action = 'Allow' | 'Require' | 'Deny'

const rules = (action: Action, expression: string) => ({ action, policy: { matchExpressions: [expression] } })

/** The outcome for a request, a connection and an MCP tool, with one rule in each place. */
async function ruled(action: Action, expression: string): Promise<string[]> {
  const authorization = rules(action, expression)
  const request = await see({ spec: { traffic: { authorization } } })
  const connection = await see({
    spec: { frontend: { networkAuthorization: rules(action, forConnection(expression)) } },
  })
  const denial = connection.decision.frontend!.networkAuthorization!.denial(connection.exchange)
  const mcp = await see({ spec: { backend: { mcp: { authorization } } }, to: 'tools' })
  mcp.exchange.mcp = { ...NO_MCP, resourceType: 'tool', name: 'a', target: 'one' }
  const { plan } = compileTestMcp({ targets: [{ name: 'one' }] }, [{ authorization }])
  const isFree = isAllowed(plan.authorization, mcp.exchange)
  const warns = [request, mcp].every(({ findings }) => findings.includes('deny-can-fail')) ? ['lint warns'] : []
  return [codeOf(request.outcome), denial === undefined ? 'admitted' : 'closed', isFree ? 'shown' : 'hidden', ...warns]
}

/** Connections have no headers; their names may be unknown. */
function forConnection(expression: string): string {
  return expression === FAILS ? 'source.spiffeId == "x"' : expression
}

async function conditional(condition: string): Promise<string[]> {
  const item = (status: number, ...rest: object[]) => ({ policy: { status }, ...Object.assign({}, ...rest) })
  const choice = await see({
    spec: { traffic: { directResponse: { conditional: [item(201, { condition }), item(202)] } } },
  })
  const backendRef = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'web' }
  const extAuth = { conditional: [{ condition, policy: { backendRef, http: {}, failureMode: 'FailOpen' } }] }
  const asked = await see({ spec: { traffic: { extAuth } } })
  const { outcome } = choice
  return [outcome?.kind === 'answer' ? String(outcome.head.status) : 'none', codeOf(asked.outcome)]
}

async function transformed(value: string): Promise<unknown[]> {
  const set = [
    { name: 'x-set', value },
    { name: ':method', value },
  ]
  const request = { target: '/', headers: { 'x-set': 'of the caller' } }
  const { exchange } = await see({ spec: { traffic: { transformation: { request: { set } } } }, request })
  return [exchange.request.get('x-set'), exchange.request.method]
}

async function transformedBody(body: string): Promise<string[]> {
  const ofRequest = await see({ spec: { traffic: { transformation: { request: { body } } } } })
  const ofResponse = await see({ spec: { traffic: { transformation: { response: { body } } } } })
  ofResponse.exchange.response = Head.response(200)
  const replaced = runResponsePolicies(ofResponse.exchange, ofResponse.decision)
  return [codeOf(ofRequest.outcome), codeOf(replaced)]
}

async function transformedField(expression: string): Promise<unknown[]> {
  const ai = {
    transformations: [
      { field: 'user', expression },
      { field: 'max_tokens', expression },
    ],
    defaults: [{ field: 'max_tokens', value: 5 }],
  }
  const body = '{"model":"m","messages":[],"user":"u","max_tokens":9}'
  const request = {
    method: 'POST',
    target: '/v1/chat/completions',
    headers: { 'content-type': 'application/json' },
    body,
  }
  const { exchange } = await see({ spec: { backend: { ai } }, to: 'ai', request })
  const { user, max_tokens } = JSON.parse(new TextDecoder().decode(exchange.newRequestBody)) as Record<string, unknown>
  return [user, max_tokens]
}

function ended({ exchange, decision }: Seen): Observed {
  const settings = decision.frontend
  return {
    exchange,
    status: 200,
    endpointLabel: undefined,
    endpointSection: undefined,
    decisionId: 'w-1',
    decisionNumber: 1,
    settings,
  }
}

async function logged(accessLog: object): Promise<string[]> {
  const lines: string[] = []
  new AccessLog(JSON_LINE, (line) => lines.push(line)).log(
    new Ended(ended(await see({ spec: { frontend: { accessLog } } })), 0, 1, undefined),
  )
  return lines
}

async function attribute(expression: string): Promise<boolean[]> {
  const [line = '{}'] = await logged({ attributes: { add: [{ name: 'mine', expression }] } })
  return ['mine' in (JSON.parse(line) as object), 'http.path' in (JSON.parse(line) as object)]
}

async function label(expression: string): Promise<string | undefined> {
  let last: string | undefined
  const series = (_: string, labels: readonly string[]) => {
    last = labels.at(-1)
    return { add() {}, observe() {} }
  }
  const seen = await see({ spec: { frontend: { metrics: { attributes: { add: [{ name: 'mine', expression }] } } } } })
  new RequestMetrics({ series } as unknown as MetricsWriter).record(new Ended(ended(seen), 0, 1, undefined), 1)
  return last
}

async function judged(unhealthyCondition: string): Promise<boolean> {
  const { exchange, decision } = await see({ spec: { backend: { health: { unhealthyCondition } } } })
  exchange.response = Head.response(500)
  return decision.endpoint!.isUnhealthy(exchange, 500)
}

async function keyed(expression: string): Promise<string> {
  const apiKeyAuthentication = { secretRef: { name: 'keys' }, location: { expression } }
  return codeOf((await see({ spec: { traffic: { apiKeyAuthentication } } })).outcome)
}

/** Two requests for which the key fails, and one for which it does not. */
async function limited(expression: string): Promise<string[]> {
  const key = `"x-good" in request.headers ? "good" : string(${expression})`
  const spec = specFrom(trafficRateLimit, { local: [{ requests: 1, unit: 'Hours', key }] })
  const run = rateLimit.compile([sourceOf(spec)], contextWith())!
  const requests: readonly ExchangeInputs[] = [{}, {}, { headers: { 'x-good': 'yes' } }]
  return requests.map((request) => codeOf(run.request!(exchangeWith(request))))
}

/** The rows of the guide, each with its proof: an expression that fails, and one that does not compile. */
const ROWS: readonly {
  readonly row: string
  readonly seen: (expression: string) => Promise<unknown>
  readonly fails: unknown
  readonly broken: unknown
}[] = [
  {
    row: '`authorization`, `networkAuthorization`, `mcp.authorization`: Allow | does not match | never allows; MCP: everything is denied',
    seen: (expression) => ruled('Allow', expression),
    fails: ['authorization-denied', 'closed', 'hidden'],
    broken: ['authorization-denied', 'closed', 'hidden'],
  },
  {
    row: 'the same: Require | does not match, so the request is denied | denies',
    seen: (expression) => ruled('Require', expression),
    fails: ['authorization-denied', 'closed', 'hidden'],
    broken: ['authorization-denied', 'closed', 'hidden'],
  },
  {
    row: 'the same: Deny | does not match, so **the request passes**; lint warns | denies everything',
    seen: (expression) => ruled('Deny', expression),
    fails: ['proceed', 'admitted', 'shown', 'lint warns'],
    broken: ['authorization-denied', 'closed', 'hidden'],
  },
  {
    row: '`condition` of a conditional policy | is not true: the next entry is tried | as if evaluation failed; `extAuth` refuses',
    seen: conditional,
    fails: ['202', 'proceed'],
    broken: ['202', 'ext-auth-denied'],
  },
  {
    row: '`transformation`: a header | the header is removed; pseudo-headers such as `:method` stay unchanged | as if evaluation failed',
    seen: transformed,
    fails: [undefined, 'GET'],
    broken: [undefined, 'GET'],
  },
  {
    row: '`transformation`: the body | the request is refused; a response is replaced by 502 | as if evaluation failed',
    seen: transformedBody,
    fails: ['transformation-request-failed', 'transformation-response-failed'],
    broken: ['transformation-request-failed', 'transformation-response-failed'],
  },
  {
    row: '`ai.transformations` | the field is removed; a default may fill it | as if evaluation failed',
    seen: transformedField,
    fails: [undefined, 5],
    broken: [undefined, 5],
  },
  {
    row: '`accessLog.filter` | the request is not logged | as if evaluation failed',
    seen: (filter) => logged({ filter }),
    fails: [],
    broken: [],
  },
  {
    row: '`accessLog.attributes`, `tracing.attributes` | the attribute is omitted | as if evaluation failed',
    seen: attribute,
    fails: [false, true],
    broken: [false, true],
  },
  {
    row: '`metrics.attributes` | the label is `unknown` | as if evaluation failed',
    seen: label,
    fails: 'unknown',
    broken: 'unknown',
  },
  {
    row: '`health.unhealthyCondition` | the response counts as healthy | as if evaluation failed',
    seen: judged,
    fails: false,
    broken: false,
  },
  {
    row: '`rateLimit.local[].key` | the request shares one limit with others without a value | as if evaluation failed, for all requests',
    seen: limited,
    fails: ['proceed', 'rate-limited', 'proceed'],
    broken: ['proceed', 'rate-limited', 'rate-limited'],
  },
  {
    row: '`location.expression` of a credential | there is no credential | the credential of every request is invalid',
    seen: keyed,
    fails: 'api-key-missing',
    broken: 'api-key-unknown',
  },
]

test.each(ROWS)('$row', async ({ seen, fails, broken }) => {
  expect(await seen(FAILS)).toEqual(fails)
  expect(await seen(BROKEN)).toEqual(broken)
})

test('these are the rows of the guide', () => {
  const start = GUIDE.indexOf('| Place | If evaluation fails')
  const table = GUIDE.slice(start, GUIDE.indexOf('\n\n', start)).split('\n').slice(2)
  expect(table).toEqual(ROWS.map(({ row }) => `| ${row} |`))
})
