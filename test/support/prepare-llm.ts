import { Exchange } from '#exchange/exchange.ts'
import { EvaluationFailure, type Expression } from '#exchange/expression.ts'
import { type LlmReads, READS_NOTHING } from '#exchange/llm-reads.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { sourceOf, specFrom, TestContext } from '#policies/shared/testing.ts'
import type { BackendSettings } from '#protocols/backend-protocol.ts'
import { aiBackend } from '#protocols/llm/backend-schema.ts'
import { compileAi } from '#protocols/llm/compile-ai.ts'
import type { BackendAiSpec } from '#protocols/llm/policy-schema.ts'
import { type PreparedLlmRequest, prepareLlmRequest } from '#protocols/llm/prepare-request.ts'
import type { Credential } from '#protocols/llm/providers/provider.ts'

/** For tests: what a request meets. Unset members have the values of a plain chat request to provider one. */
export interface Setup {
  /** As users write them. */
  readonly provider?: object
  /** What the auth policy of the provider brings. */
  readonly credential?: Credential
  readonly ai?: BackendAiSpec
  readonly method?: string
  readonly target?: string
  /** As the client sent it, before rewrites. */
  readonly originalTarget?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly reads?: Partial<LlmReads>
  /** What expressions give, by their source; any other fails. */
  readonly results?: Readonly<Record<string, string | number>>
}

const BACKEND = { ...sourceOf({}, { path: '', target: 'ProxyBackend/default/llm' }), namespace: 'default', name: 'llm' }

/** Compiles a backend with one set of settings for all providers; problems come as `path: code`. */
export function compile(spec: object, setup: Setup = {}) {
  const context = new LlmContext(setup)
  const settings = setup.ai === undefined ? [] : [sourceOf(setup.ai, { path: '' })]
  const credentials = setup.credential === undefined ? [] : [sourceOf(authOf(setup.credential))]
  const of: BackendSettings['of'] = ({ field }) =>
    (field === 'ai' ? settings : field === 'auth' ? credentials : []) as never
  const plan = compileAi({ ...BACKEND, spec: specFrom(aiBackend, spec) }, { of, everyOf: of }, context)
  return { plan, problems: context.problems.map(({ path, code }) => `${path}: ${code}`) }
}

function authOf({ source, explicitLocation }: Credential): object {
  return {
    ...(source === 'key' ? { key: 'k' } : { passthrough: {} }),
    ...(explicitLocation && { location: { header: { name: 'x-key' } } }),
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

/** Runs one request through `prepareLlmRequest`. */
export function prepare(body: string | undefined, setup: Setup = {}) {
  const { plan } = compile({ provider: setup.provider ?? { providerOne: {} } }, setup)
  const head = Head.request(setup.method ?? 'POST', setup.target ?? '/v1/chat/completions')
  for (const [name, value] of Object.entries(setup.headers ?? {})) head.set(name, value)
  const exchange = new Exchange(head, {
    remoteAddress: '127.0.0.1',
    remotePort: 1,
    rawAddress: '127.0.0.1',
    rawPort: 1,
    localAddress: '127.0.0.1',
    localPort: 2,
    secure: false,
    serverName: undefined,
    certificate: undefined,
  })
  exchange.originalTarget = setup.originalTarget ?? head.target
  const bytes = body === undefined ? undefined : new TextEncoder().encode(body)
  const prepared = prepareLlmRequest(plan, 0, exchange, {
    body: bytes,
    reads: { ...READS_NOTHING, ...setup.reads },
    maxKept: 1000,
  })
  return { prepared, bytes }
}

/** What is sent upstream, the body also as text; throws when it is refused. */
export function sent(body: string | undefined, setup?: Setup): PreparedLlmRequest & { text: string | undefined } {
  const { prepared } = prepare(body, setup)
  if (prepared.kind !== 'send') throw new Error(`not sent: ${JSON.stringify(prepared)}`)
  return { ...prepared, text: prepared.body && new TextDecoder().decode(prepared.body) }
}

/** The refusal; throws when there is none. */
export function refused(body: string | undefined, setup?: Setup): Refusal {
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
    canFail: undefined,
    evasion: () => undefined,
    isTrue: () => false,
    test: () => false,
    text: () => undefined,
    json: () => result,
    writeAttributes: () => {},
    body: () => new EvaluationFailure('test'),
    whyFailed: () => undefined,
  }
}
