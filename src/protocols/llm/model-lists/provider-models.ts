import { CallError, type CallResponse } from '#exchange/call.ts'
import type { RunContext } from '#exchange/run-context.ts'
import { SingleFlight } from '#exchange/single-flight.ts'
import type { AiProviderPlan } from '../plan/ai-plan.ts'
import type { ListedModel } from './listed-model.ts'
import { readModelList } from './read-model-list.ts'

/** How long a list is used, and how long none is fetched after a failure. */
const FRESH_MS = 60_000
const PAUSE_MS = 10_000
/** For the whole call. */
const DEADLINE_MS = 5000
const MAX_BYTES = 1024 * 1024

/** The models that a provider says it has. After a failure, those that it said last. */
export class ProviderModels {
  readonly #provider: AiProviderPlan
  readonly #path: string
  readonly #destination: string
  readonly #flight = new SingleFlight<void>()
  #models: readonly ListedModel[] = []
  #fetchAtMs = 0

  /** @param destination key of the section of the provider */
  constructor(provider: AiProviderPlan, path: string, destination: string) {
    this.#provider = provider
    this.#path = path
    this.#destination = destination
  }

  get models(): readonly ListedModel[] {
    return this.#models
  }

  isStale(monotonicMs: number): boolean {
    return monotonicMs >= this.#fetchAtMs
  }

  /** Fetches the list, once for all requests that wait for it. */
  refresh(context: RunContext): Promise<void> {
    return this.#flight.run('', (signal) => this.#refresh(context, signal), context.signal)
  }

  async #refresh(context: RunContext, signal: AbortSignal): Promise<void> {
    const models = await this.#fetch(context, signal)
    if (signal.aborted) return
    this.#models = models ?? this.#models
    this.#fetchAtMs = context.monotonic() + (models === undefined ? PAUSE_MS : FRESH_MS)
  }

  /** The request is that of the gateway itself, because other clients see the response. */
  async #fetch({ callSections }: RunContext, signal: AbortSignal): Promise<readonly ListedModel[] | undefined> {
    const { provider, credential } = this.#provider
    try {
      const response = await callSections(this.#destination, {
        purpose: 'models',
        method: 'GET',
        path: this.#path,
        headers: [['accept', 'application/json']],
        body: undefined,
        timeoutMs: 0,
        deadlineMs: DEADLINE_MS,
        signal,
        leavesHealth: true,
        finish: (request) => {
          const { set, remove } = provider.headers(request, credential, this.#path)
          for (const name of remove) request.remove(name)
          for (const [name, value] of set) request.set(name, value)
        },
      })
      const text = await readText(response)
      return text === undefined ? undefined : readModelList(text, provider.system)
    } catch (error) {
      if (error instanceof CallError) return undefined
      throw error
    }
  }
}

/** The body of a usable response. */
async function readText({ status, body }: CallResponse): Promise<string | undefined> {
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (status !== 200 || length > MAX_BYTES) return undefined
    text += decoder.decode(piece, { stream: true })
  }
  return status === 200 ? text + decoder.decode() : undefined
}
