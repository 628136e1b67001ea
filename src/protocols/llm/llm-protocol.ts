import type { Exchange } from '#exchange/exchange.ts'
import type { Outcome, Refusal } from '#exchange/outcome.ts'
import { afterwards } from '#exchange/step.ts'
import type { TokenCounter } from '#exchange/token-counter.ts'
import { type Address, hostAddress } from '../address.ts'
import type {
  BackendProtocol,
  BackendSettings,
  BodyNeed,
  EndpointName,
  ProtocolAttempt,
  ProtocolExplanation,
  ProtocolRun,
} from '../backend-protocol.ts'
import { observeError, observeResponse } from './answer/read-response.ts'
import { describeLlm } from './explain-llm.ts'
import { ModelLists } from './model-lists/model-lists.ts'
import type { AiPlan, AiProviderPlan } from './plan/ai-plan.ts'
import { compileAi, sectionOf } from './plan/compile-ai.ts'
import { ai as policy } from './plan/policy.ts'
import { providerDestination } from './providers/providers.ts'
import { GuardedSession } from './realtime/guarded-session.ts'
import { SessionFilter } from './realtime/session-filter.ts'
import { answerCount } from './route/count-tokens.ts'
import { preparedType, prepareLlmRequest, refuseInDialect, routeTypeOf } from './route/prepare-request.ts'
import type { PreparedRequest } from './route/prepared-request.ts'
import { refusedFacts } from './route/refused-facts.ts'
import { type AiBackendSpec, aiBackend } from './settings/backend-schema.ts'
import { otherInterface } from './settings/known-paths.ts'
import type { LlmProviderSpec } from './settings/provider-schema.ts'
import { bodyNeed, compileRouteTypes } from './settings/route-type.ts'

/** LLM providers in groups of priority (specification 1, 2.4). */
export const llm = {
  name: 'llm',
  schema: aiBackend,
  policy,
  // Models can take long.
  responseTimeoutMs: 0,
  rewritesHost: true,
  addresses: ({ spec }) => providerAddresses(spec),
  misread: (spec, settings, path) => {
    const known = otherInterface(path)
    return known !== undefined && lacksRoutes(spec, settings) ? known : undefined
  },
  compile: (backend, settings, context) =>
    new LlmRun(compileAi(backend, settings, context), backend.target, context.tokenCounter),
} as const satisfies BackendProtocol<AiBackendSpec> & { readonly schema: unknown; readonly policy: unknown }

function providerAddresses({ provider, groups = [] }: AiBackendSpec): Address[][] {
  if (provider !== undefined) return [[providerAddress(provider, sectionOf(''))]]
  return groups.map(({ providers }) => providers.map((each) => providerAddress(each, each.name)))
}

/** Whether a provider handles all requests as chat completions. */
function lacksRoutes({ groups = [] }: AiBackendSpec, settings: BackendSettings): boolean {
  const names = groups.flatMap(({ providers }) => providers.map(({ name }) => name))
  return (names.length === 0 ? [''] : names).some(
    (name) => compileRouteTypes(settings.of(policy, sectionOf(name))[0]?.spec.routes).unset,
  )
}

function providerAddress(provider: LlmProviderSpec, section: string): Address {
  const { host, port, tls, signing, ambient } = providerDestination(provider)
  return { ...hostAddress({ host, port }, section, tls), signing, ambient }
}

class LlmRun implements ProtocolRun {
  readonly endsWithClient = true
  readonly readsClientHead: boolean
  readonly isGuarded: boolean
  readonly #plan: AiPlan
  readonly #counter: TokenCounter
  readonly #models: ModelLists

  /** @param backend its key */
  constructor(plan: AiPlan, backend: string, counter: TokenCounter) {
    // Only guard servers of users get headers.
    this.readsClientHead = plan.providers.some(({ settings }) =>
      settings.guards?.request.some(({ kind }) => kind === 'webhook'),
    )
    this.isGuarded = plan.providers.some(({ settings }) => settings.guards !== undefined)
    this.#plan = plan
    this.#counter = counter
    this.#models = new ModelLists(plan, backend)
  }

  /** All providers of a backend have the same route type. */
  bodyNeed(exchange: Exchange): BodyNeed {
    const provider = this.#plan.providers[0]
    return provider === undefined ? 'none' : bodyNeed(routeTypeOf(provider, exchange))
  }

  otherMeaning(exchange: Exchange, reading: string): string | undefined {
    for (const provider of this.#plan.providers) {
      const [type, other] = [routeTypeOf(provider, exchange), routeTypeOf(provider, exchange, reading)]
      if (type !== other) return `of type ${other ?? 'none'}, not ${type ?? 'none'}`
    }
    return undefined
  }

  prepare(exchange: Exchange, { section }: EndpointName, attempt: ProtocolAttempt): Outcome | Promise<Outcome> {
    const provider = this.#plan.providers.findIndex(({ name }) => sectionOf(name) === section)
    // Facts of an earlier attempt are not those of this one.
    exchange.llm = undefined
    const prepared = prepareLlmRequest(this.#plan, provider, exchange, {
      body: exchange.newRequestBody ?? exchange.requestBody.whole,
      reads: attempt.llmReads(exchange),
      maxKept: attempt.maxBufferBytes,
    })
    const apply = (known: PreparedRequest) => this.#apply(known, this.#plan.providers[provider]!, exchange, attempt)
    return prepared instanceof Promise ? afterwards(exchange, prepared, apply) : apply(prepared)
  }

  #apply(
    prepared: PreparedRequest,
    provider: AiProviderPlan,
    exchange: Exchange,
    attempt: ProtocolAttempt,
  ): Outcome | Promise<Outcome> {
    if (prepared.kind === 'refusal') return prepared
    if (prepared.kind === 'count') return answerCount(prepared, exchange, this.#counter)
    if (prepared.kind === 'models') return this.#models.answer(exchange, provider, attempt)
    const { request } = exchange
    request.target = prepared.path
    for (const name of prepared.headers.remove) request.remove(name)
    for (const [name, value] of prepared.headers.set) request.set(name, value)
    exchange.llm = prepared.facts
    if (prepared.kind === 'open') {
      const { facts, maxBytes, estimates, guarded } = prepared
      attempt.selectFilter = (answered, claim, decoding) =>
        observeError('Completions', answered, { claim, decoding }, maxBytes)
      attempt.selectTunnelFilter = (opened, claim, charge) => {
        const session = new SessionFilter({ facts, claim, maxBytes, charge, estimates })
        attempt.settle = () => session.settle()
        if (guarded === undefined) return session
        return new GuardedSession(session, { ...guarded, claim, maxBytes, exchange: opened })
      }
      return undefined
    }
    if (prepared.body !== undefined) exchange.newRequestBody = prepared.body
    attempt.selectFilter = (answered, claim, decoding) =>
      observeResponse(prepared.response, answered, { claim, decoding })
    const { account } = prepared.response
    attempt.settle = account && ((isUnanswered) => account.settle(isUnanswered))
    return undefined
  }

  explain(exchange: Exchange, endpoint: EndpointName | undefined): ProtocolExplanation | undefined {
    const provider = this.#plan.providers.find(({ name }) => sectionOf(name) === endpoint?.section)
    if (provider === undefined) return undefined
    const type = preparedType(provider, exchange)
    const facts = exchange.llm ?? refusedFacts(type, provider, exchange)
    return { lines: describeLlm(type, facts, provider.settings.guards) }
  }

  noteRefused(exchange: Exchange, endpoint: EndpointName | undefined): void {
    const { providers } = this.#plan
    const provider =
      providers.length === 1 ? providers[0] : providers.find(({ name }) => sectionOf(name) === endpoint?.section)
    const type = providers.length === 0 ? undefined : routeTypeOf(providers[0]!, exchange)
    exchange.llm ??= refusedFacts(type, provider, exchange)
  }

  refuse(exchange: Exchange, refusal: Refusal): Refusal {
    return refuseInDialect(this.#plan, exchange, refusal)
  }
}
