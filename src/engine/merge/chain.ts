import { type BodyUse, strongestUse } from '#exchange/body-use.ts'
import type { DecidedBy, Stage } from '#exchange/decided-by.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { joinLlmReads, type LlmReads } from '#exchange/llm-reads.ts'
import { type Outcome, type Refusal, reject } from '#exchange/outcome.ts'
import { afterwards, type ResponseStep, type Step } from '#exchange/step.ts'
import { foldName } from '#net/http/same-name.ts'
import type { PolicyFields, PolicyRun } from '#policies/policy.ts'
import type { SignIn } from '#policies/shared/sign-in/sign-in.ts'
import type { MergedField } from './merge.ts'
import type { Reader } from './readers.ts'

/** One compiled policy field of a chain. */
export interface ChainLink {
  readonly merged: MergedField
  readonly run: PolicyRun
}

/** The compiled policies of one phase for one listener, rule or endpoint, in execution order. */
export interface Chain {
  readonly stage: Stage
  readonly links: readonly ChainLink[]
  /** Where each link is from, for decision records: they outlive the plan. */
  readonly policies: readonly DecidedBy[]
  readonly steps: readonly Step[]
  /** The times of a request that no link has processed yet (`Progress.timesMs`). */
  readonly noTimes: readonly number[]
  /** Response steps, in response order. `after`: the index of their link. */
  readonly responses: readonly { readonly run: ResponseStep; readonly after: number }[]
  /** Runs last, on the request as it will be sent. */
  readonly signature: PolicyRun['signature']
  /** How MCP clients sign in; its endpoints are served ahead of the steps. */
  readonly signIn: SignIn | undefined
  /** It answers every preflight, or refuses it. */
  readonly answersPreflights: boolean
  /** Steps that process the response of a backend together with its body, after all response steps. */
  readonly processors: readonly { readonly run: Step; readonly after: number }[]
  readonly readsRequestBody: BodyUse
  readonly readsResponseBody: BodyUse
  readonly llmReads: LlmReads
  /** Query parameters that may hold credentials. */
  readonly credentialParameters: readonly string[]
  /** Expressions that decide about requests. */
  readonly readers: readonly Reader[]
  /** Header fields that the policies read or write other than by expressions, folded (`foldName`). */
  readonly fields: Readonly<Record<keyof PolicyFields, ReadonlySet<string>>>
}

const nothing: Step = () => undefined

export function buildChain(
  stage: Chain['stage'],
  links: readonly ChainLink[],
  responseOrder: readonly string[],
  readers: readonly Reader[] = [],
): Chain {
  const rank = ({ merged }: ChainLink) => responseOrder.indexOf(merged.field)
  return {
    stage,
    links,
    policies: links.map(({ merged: { field, sources } }) => ({
      stage,
      field,
      sources: sources.map(({ origin, path }) => ({ origin, path })),
    })),
    steps: links.map((link) => link.run.request ?? nothing),
    noTimes: [NaN, ...links.map(() => NaN)],
    responses: links
      .map((link, after) => ({ link, after }))
      .toSorted((a, b) => rank(a.link) - rank(b.link))
      .flatMap(({ link, after }) => (link.run.response === undefined ? [] : [{ run: link.run.response, after }])),
    signature: links.find(({ run }) => run.signature !== undefined)?.run.signature,
    signIn: links.find(({ run }) => run.signIn !== undefined)?.run.signIn,
    answersPreflights: links.some(({ run }) => run.answersPreflights === true),
    processors: links.flatMap(({ run }, after) =>
      run.processResponse === undefined ? [] : [{ run: run.processResponse, after }],
    ),
    readsRequestBody: strongestUse(links.map(({ run }) => run.readsRequestBody)),
    readsResponseBody: strongestUse(links.map(({ run }) => run.readsResponseBody)),
    llmReads: joinLlmReads(links.flatMap(({ run }) => run.llmReads ?? [])),
    credentialParameters: links.flatMap(({ run }) => run.credentialParameters ?? []),
    readers,
    fields: { request: fieldsOf(links, 'request'), response: fieldsOf(links, 'response') },
  }
}

function fieldsOf(links: readonly ChainLink[], message: keyof PolicyFields): ReadonlySet<string> {
  return new Set(links.flatMap(({ run }) => run.fields?.[message] ?? []).map(foldName))
}

const NO_TIMES: readonly number[] = Object.freeze([])

/** How far a request came in a chain. It determines which response steps run, and decision records show it. */
export class Progress {
  /** Those of the chain; undefined: no link ran. */
  policies: Chain['policies'] | undefined = undefined
  /** Index of the last link that ran; -1: none. */
  reached = -1
  #timesMs: number[] | undefined

  /** When the chain began, then when each link ended, in milliseconds on the monotonic clock. NaN: it has not ended. */
  get timesMs(): readonly number[] {
    return this.#timesMs ?? NO_TIMES
  }

  begin({ policies, noTimes }: Chain, nowMs: number): void {
    this.policies = policies
    // A copy has exactly the size that it needs; a list that grows would have room for 16 more.
    this.#timesMs = noTimes.slice()
    this.#timesMs[0] = nowMs
  }

  /** A link has ended; without effect if another attempt has begun. */
  ended(link: number, nowMs: number): void {
    if (this.#timesMs !== undefined) this.#timesMs[link + 1] = nowMs
  }

  /** Another attempt begins. */
  restart(): void {
    this.policies = undefined
    this.reached = -1
    this.#timesMs = undefined
  }
}

/** Runs the request steps until one refuses or answers. Synchronous if all steps are. */
export function runChain(chain: Chain, exchange: Exchange, progress: Progress, from = 0): Outcome | Promise<Outcome> {
  const { steps } = chain
  if (steps.length === 0) return undefined
  if (progress.policies === undefined) progress.begin(chain, exchange.context.monotonic())
  for (let i = from; i < steps.length; i++) {
    progress.reached = i
    let outcome = steps[i]!(exchange)
    if (outcome instanceof Promise) return finishLater(chain, exchange, progress, i, outcome)
    if (exchange.exceeded !== undefined) outcome = refuseExceeded(exchange, 'expression-exceeded-request')
    progress.ended(i, exchange.context.monotonic())
    if (exchange.trace !== undefined) traceLink(chain, i, exchange, outcome)
    if (outcome === undefined) continue
    exchange.decidedBy = chain.policies[i]
    return outcome
  }
  return undefined
}

function finishLater(
  chain: Chain,
  exchange: Exchange,
  progress: Progress,
  index: number,
  pending: Promise<Outcome>,
): Promise<Outcome> {
  return afterwards(exchange, pending, (settled) => {
    const outcome = refuseExceeded(exchange, 'expression-exceeded-request') ?? settled
    progress.ended(index, exchange.context.monotonic())
    if (exchange.trace !== undefined) traceLink(chain, index, exchange, outcome)
    if (outcome === undefined) return runChain(chain, exchange, progress, index + 1)
    exchange.decidedBy = chain.policies[index]
    return outcome
  })
}

/** Refuses the request if a limit ended an expression of the last step: the decision of that step is then unknown (decision A-137). */
export function refuseExceeded(
  exchange: Exchange,
  code: 'expression-exceeded-request' | 'expression-exceeded-response',
): Refusal | undefined {
  const { exceeded } = exchange
  if (exceeded === undefined) return undefined
  exchange.exceeded = undefined
  return reject(code, { detail: exceeded })
}

/**
 * Runs the response steps of all links that the request reached; of a refusal, those of the whole phase, so that it carries what every response
 * must carry (docs/behaviour/http.md, "Response policies"). A step may replace the response.
 */
export function runResponses(chain: Chain, exchange: Exchange, reached: number): Outcome {
  let replaced: Outcome
  for (const { run, after } of chain.responses) {
    if (after > reached && !exchange.responseIsRefusal) continue
    const settled = run(exchange)
    const outcome = refuseExceeded(exchange, 'expression-exceeded-response') ?? settled
    if (exchange.trace !== undefined) traceLink(chain, after, exchange, outcome, 'response')
    if (outcome === undefined) continue
    replaced = outcome
    // A response that refuses the whole request is never replaced.
    if (!exchange.responseIsRefusal) exchange.decidedBy = decider(chain, after)
  }
  return replaced
}

/** Runs the steps that process a response with its body. A step may replace the response, and ends the processing. */
export function runProcessors(chain: Chain, exchange: Exchange, reached: number, from = 0): Outcome | Promise<Outcome> {
  const { processors } = chain
  for (let i = from; i < processors.length; i++) {
    const { run, after } = processors[i]!
    if (after > reached) continue
    const outcome = run(exchange)
    if (outcome instanceof Promise) {
      return afterwards(exchange, outcome, (late) => {
        if (late === undefined) return runProcessors(chain, exchange, reached, i + 1)
        exchange.decidedBy = decider(chain, after)
        return late
      })
    }
    if (outcome === undefined) continue
    exchange.decidedBy = decider(chain, after)
    return outcome
  }
  return undefined
}

function traceLink(chain: Chain, index: number, exchange: Exchange, outcome: Outcome, stage = chain.stage): void {
  const { field, sources } = chain.policies[index]!
  exchange.trace?.step({
    stage,
    name: field,
    verdict: outcome === undefined ? 'proceed' : outcome.kind === 'refusal' ? 'refuse' : 'answer',
    detail: outcome?.kind === 'refusal' ? (outcome.detail ?? outcome.code) : undefined,
    origins: sources,
  })
}

/** The policies of a link whose response step decided. */
function decider(chain: Chain, index: number): DecidedBy {
  return { ...chain.policies[index]!, stage: 'response' }
}
