import { Exchange } from '#exchange/exchange.ts'
import { EvaluationFailure, type Expression } from '#exchange/expression.ts'
import { LARGE_BODY } from '#exchange/known-body.ts'
import { type LlmReads, READS_NOTHING } from '#exchange/llm-reads.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { sourceOf, specFrom, TestContext } from '#policies/shared/testing.ts'
import type { BackendSettings } from '#protocols/backend-protocol.ts'
import { compileAi } from '#protocols/llm/plan/compile-ai.ts'
import type { Credential } from '#protocols/llm/providers/provider.ts'
import { prepareLlmRequest } from '#protocols/llm/route/prepare-request.ts'
import type { PreparedLlmRequest } from '#protocols/llm/route/prepared-request.ts'
import { aiBackend } from '#protocols/llm/settings/backend-schema.ts'
import type { BackendAiSpec } from '#protocols/llm/settings/policy-schema.ts'
import { inOneTurn } from './in-one-turn.ts'
import { LOCAL_PEER } from './local-peer.ts'

/** The environment of a test request. The defaults are those of a simple chat request to provider one. */
export interface Setup {
  /** Provider settings as in the API. */
  readonly provider?: object
  /** The credential from the auth policy of the provider. */
  readonly credential?: Credential
  readonly ai?: BackendAiSpec
  readonly method?: string
  readonly target?: string
  /** The request target as received. */
  readonly originalTarget?: string
  /** A body has the content type JSON, unless it is given here; empty: without this field. */
  readonly headers?: Readonly<Record<string, string>>
  /** The protocol of a requested upgrade. */
  readonly upgrade?: string
  /** The user whom a policy has authenticated. */
  readonly username?: string
  readonly reads?: Partial<LlmReads>
  /** The limit of bodies. */
  readonly maxKept?: number
  /** Results of expressions, by source text; all other expressions fail. */
  readonly results?: Readonly<Record<string, string | number>>
}

const BACKEND = { ...sourceOf({}, { path: '', target: 'ProxyBackend/default/llm' }), namespace: 'default', name: 'llm' }

/** Compiles a backend with the same settings for all providers; problems have the form `path: code`. */
export function compile(spec: object, setup: Setup = {}) {
  const context = new LlmContext(setup)
  const settings = setup.ai === undefined ? [] : [sourceOf(setup.ai, { path: '' })]
  const credentials = setup.credential === undefined ? [] : [sourceOf(authOf(setup.credential))]
  const of: BackendSettings['of'] = ({ field }) =>
    (field === 'ai' ? settings : field === 'auth' ? credentials : []) as never
  const plan = compileAi({ ...BACKEND, spec: specFrom(aiBackend, spec) }, { of, everyOf: of }, context)
  return {
    plan,
    problems: context.problems.map(({ path, code }) => `${path}: ${code}`),
    messages: context.problems.map(({ path, message }) => `${path} ${message}`),
  }
}

const LOCATIONS = { authorization: 'Authorization', elsewhere: 'x-key' }

function authOf({ source, location }: Credential): object {
  return {
    ...(source === 'key' ? { key: 'k' } : { passthrough: {} }),
    ...(location !== 'usual' && { location: { header: { name: LOCATIONS[location] } } }),
  }
}

class LlmContext extends TestContext {
  readonly #setup: Setup

  constructor(setup: Setup) {
    super({})
    this.#setup = setup
  }

  override expression(_source: unknown, _path: string, text: string): Expression {
    return expressionOf(text, this.#setup.results?.[text])
  }
}

const plans = new WeakMap<Setup, ReturnType<typeof compile>['plan']>()

/** The backend of a setup, compiled once for all requests with it. */
function planOf(setup: Setup): ReturnType<typeof compile>['plan'] {
  const plan = plans.get(setup) ?? compile({ provider: setup.provider ?? { providerOne: {} } }, setup).plan
  plans.set(setup, plan)
  return plan
}

/** Runs one request through `prepareLlmRequest`. @param body null: it exceeds the limit */
export function prepare(body: string | Uint8Array | null | undefined, setup: Setup = {}) {
  const head = Head.request(setup.method ?? 'POST', setup.target ?? '/v1/chat/completions')
  head.upgrade = setup.upgrade ?? ''
  const headers = { ...(body != null && { 'content-type': 'application/json' }), ...setup.headers }
  for (const [name, value] of Object.entries(headers)) if (value !== '') head.set(name, value)
  const exchange = new Exchange(head, LOCAL_PEER)
  exchange.originalTarget = setup.originalTarget ?? head.target
  if (setup.username !== undefined) exchange.identity.basicAuth = { username: setup.username, credential: 'x' }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  if (body === null) exchange.requestBody = LARGE_BODY
  const input = {
    body: bytes ?? undefined,
    reads: { ...READS_NOTHING, ...setup.reads },
    maxKept: setup.maxKept ?? 1000,
  }
  const prepared = inOneTurn(() => prepareLlmRequest(planOf(setup), 0, exchange, input))
  // Only guards take time.
  if (prepared instanceof Promise) throw new Error('the request is not prepared in one turn')
  return { prepared, bytes, exchange }
}

/** The upstream request, with the body also as text; throws if it is refused. */
export function sent(
  body: string | null | undefined,
  setup?: Setup,
): PreparedLlmRequest & { text: string | undefined } {
  const { prepared } = prepare(body, setup)
  if (prepared.kind !== 'send') throw new Error(`not sent: ${JSON.stringify(prepared)}`)
  return { ...prepared, text: prepared.body && new TextDecoder().decode(prepared.body) }
}

/** The refusal; throws if there is none. */
export function refused(body: string | Uint8Array | null | undefined, setup?: Setup): Refusal {
  const { prepared } = prepare(body, setup)
  if (prepared.kind !== 'refusal') throw new Error(`not refused: ${prepared.kind}`)
  return prepared
}

function expressionOf(source: string, result: string | number | undefined): Expression {
  return {
    source,
    where: 'test',
    requestFields: new Set(),
    references: new Set(),
    broken: false,
    constantText: undefined,
    canFail: undefined,
    safePart: () => undefined,
    comparedFields: [],
    evasion: () => undefined,
    readsPath: () => false,
    writtenNames: () => new Set(),
    comparedTexts: () => [],
    verdict: () => undefined,
    possibleResults: () => ({ true: false, false: true, absent: false }),
    isTrue: () => false,
    test: () => false,
    text: () => undefined,
    keyText: () => undefined,
    scalarKey: () => undefined,
    expiryMs: () => undefined,
    json: () => result,
    writeAttributes: () => {},
    body: () => new EvaluationFailure('test'),
    whyFailed: () => undefined,
  }
}
