import type { Exchange } from '#exchange/exchange.ts'
import type { Answer, Refusal } from '#exchange/outcome.ts'
import { afterwards } from '#exchange/step.ts'
import { Head } from '#net/http/head.ts'
import type { ProtocolAttempt } from '../../backend-protocol.ts'
import { refuse } from '../dialects/refuse.ts'
import type { AiPlan, AiProviderPlan } from '../plan/ai-plan.ts'
import { sectionOf } from '../plan/compile-ai.ts'
import { modelPath, modelTargets } from '../settings/route-type.ts'
import type { ListedModel } from './listed-model.ts'
import { isOfMessagesClient } from './messages-client.ts'
import { ProviderModels } from './provider-models.ts'
import { writeChatList, writeChatModel, writeMessagesList, writeMessagesModel } from './write-model-list.ts'

/**
 * Responds to the Models route (decision B07): the pinned models and exact aliases of the providers, then what each provider lists itself,
 * as far as authorization lets the client use it; or one of them, for a path below that of the list. Clients of the messages API, identified by their version header, get its format.
 */
export class ModelLists {
  readonly #configured: readonly ListedModel[]
  readonly #fetched: readonly ProviderModels[]

  /** @param backend key of the backend */
  constructor({ providers }: AiPlan, backend: string) {
    this.#configured = providers.flatMap(configuredModels).toSorted((one, other) => (one.id < other.id ? -1 : 1))
    this.#fetched = providers.flatMap((plan) => {
      const path = plan.path === undefined ? plan.provider.modelsPath : undefined
      return path === undefined ? [] : new ProviderModels(plan, path, `${backend}/${sectionOf(plan.name)}`)
    })
  }

  /** @param routes of the provider that was chosen for the request */
  answer(
    exchange: Exchange,
    provider: AiProviderPlan,
    attempt: ProtocolAttempt,
  ): ModelsOutcome | Promise<ModelsOutcome> {
    const { context } = exchange
    const nowMs = context.monotonic()
    const stale = this.#fetched.filter((list) => list.isStale(nowMs))
    const finish = () => this.#answer(exchange, provider, attempt)
    if (stale.length === 0) return finish()
    return afterwards(exchange, Promise.all(stale.map((list) => list.refresh(context))), finish)
  }

  #answer(exchange: Exchange, { settings }: AiProviderPlan, attempt: ProtocolAttempt): ModelsOutcome {
    const byId = new Map<string, ListedModel>()
    for (const models of [this.#configured, ...this.#fetched.map((list) => list.models)]) {
      for (const model of models) if (!byId.has(model.id)) byId.set(model.id, model)
    }
    const { request, originalTarget } = exchange
    const one = modelPath(settings.routes, originalTarget) ?? modelPath(settings.routes, request.target)
    const targets = modelTargets(settings.routes, one?.list ?? originalTarget)
    const asked = [...byId.values()].filter(({ id }) => one === undefined || id === one.id)
    const models = permitted(asked, exchange, targets, attempt)
    if (one === undefined) return ofJson(writeList(models, exchange))
    const [model] = models
    if (model !== undefined) return ofJson(writeModel(model, exchange))
    return refuse(isOfMessagesClient(request) ? 'Messages' : 'Completions', 'llm-model-unknown', one.id)
  }
}

type ModelsOutcome = Answer | Refusal

function ofJson(body: string): Answer {
  const head = Head.response(200)
  head.set('content-type', 'application/json')
  return { kind: 'answer', head, body }
}

function configuredModels({ provider, pin, settings }: AiProviderPlan): ListedModel[] {
  const names = [...(pin === undefined ? [] : [pin.name]), ...(settings.aliases?.exact.keys() ?? [])]
  return names.map((id) => ({ id, owner: provider.system, name: id, createdMs: undefined }))
}

const encoder = new TextEncoder()

/** The models with which rules about bodies would let through a request to at least one of the targets. */
function permitted(
  models: readonly ListedModel[],
  exchange: Exchange,
  targets: readonly string[],
  attempt: ProtocolAttempt,
): readonly ListedModel[] {
  const rules = targets.map((target) => attempt.askRules(exchange, 'POST', target))
  return models.filter(({ id }) => {
    const body = encoder.encode(JSON.stringify({ model: id, messages: [], input: '' }))
    return rules.some((allows) => allows === undefined || allows(body))
  })
}

function writeList(models: readonly ListedModel[], { request, context }: Exchange): string {
  const nowMs = context.now()
  if (!isOfMessagesClient(request)) return writeChatList(models, nowMs)
  return writeMessagesList(models, request.target.split('?', 2)[1] ?? '', nowMs)
}

function writeModel(model: ListedModel, { request, context }: Exchange): string {
  return isOfMessagesClient(request) ? writeMessagesModel(model, context.now()) : writeChatModel(model, context.now())
}
