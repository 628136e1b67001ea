import type { Exchange } from '#exchange/exchange.ts'
import { ExchangeSlot } from '#exchange/exchange-slot.ts'
import { type Outcome, proceed, reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource, ProcessingRun } from '../../policy.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { choose, compileChoices, conditionsOf, warnWithoutFallback } from '../../shared/choose.ts'
import { judgeContent } from '../../shared/judge-content.ts'
import { Conversation, type Processor } from './conversation.ts'
import { asksNothing, modesOf } from './modes.ts'
import type { ExtProcSection, ExtProcSpec } from './schema.ts'

/** A condition that does not compile refuses (decision A-31), because it is unknown whether its item applies. */
const REFUSE_UNKNOWN = reject('ext-proc-failed', { detail: 'a condition of extProc does not compile' })

/** The step for the response continues the conversation that the step for the request has begun. */
export function compileExtProc(
  sources: readonly PolicySource<ExtProcSection>[],
  context: CompileContext,
): ProcessingRun {
  const source = sources[0]!
  const choices = compileChoices<ExtProcSpec, Processor>(source, context, (spec, path) =>
    compileProcessor(source, path, spec, context),
  )
  warnWithoutFallback(source, choices, context, 'requests pass without external processing')
  const conditions = conditionsOf(choices)
  if (conditions.some(({ broken }) => broken)) return { request: () => REFUSE_UNKNOWN }
  const use = readsRequestBody(conditions)
  const conversations = new ExchangeSlot<Conversation | undefined>(undefined)
  return {
    request: (exchange) =>
      judgeContent(
        exchange,
        use !== false,
        () => choose(choices, exchange),
        (processor) => (processor === undefined ? proceed : begin(processor, exchange, conversations)),
      ),
    processResponse: (exchange) => exchange.slots.get(conversations)?.processResponse(),
    readsRequestBody: use,
  }
}

function begin(
  processor: Processor,
  exchange: Exchange,
  conversations: ExchangeSlot<Conversation | undefined>,
): Outcome | Promise<Outcome> {
  const conversation = new Conversation(processor, exchange)
  exchange.slots.set(conversations, conversation)
  return conversation.processRequest()
}

function compileProcessor(
  source: PolicySource<unknown>,
  path: string,
  spec: ExtProcSpec,
  context: CompileContext,
): Processor {
  const modes = modesOf(spec)
  if (asksNothing(modes)) {
    const message =
      'has no effect, because the server is never asked: all headers and trailers are Skip, and all bodies None; use requestHeaderMode: Send if it decides about requests'
    context.report(source, `${path}.processingOptions`, { severity: 'warning', code: 'no-effect', message })
  }
  const { headers, trailers } = modes.request
  if (headers) context.reads(source, path, { path: true, allFields: true, trailers })
  return {
    backend: context.calledBackend(source, spec.backendRef) ?? '',
    modes,
    allowModeOverride: spec.processingOptions?.allowModeOverride === true,
  }
}
