import type { StopReason } from '../../chat/answer-sink.ts'
import { STOP_REASONS } from '../../chat/stop-reasons.ts'
import type { JsonValue } from '../../json/json-document.ts'

/** How a client expects calls. */
export interface CallForm {
  /** Names of tools that take a text (type `custom`): their calls have that type. */
  readonly textTools: ReadonlySet<string>
  /** The client offers functions, as before there were tools: an answer has one call, as `function_call`. */
  readonly isFunction: boolean
}

const NO_NAMES: ReadonlySet<string> = new Set()
const NO_TOOLS: CallForm = { textTools: NO_NAMES, isFunction: false }
const ONE_FUNCTION: CallForm = { textTools: NO_NAMES, isFunction: true }

export function callForm(request: JsonValue): CallForm {
  const tools = request.get('tools')
  if (tools === undefined) return request.get('functions') === undefined ? NO_TOOLS : ONE_FUNCTION
  const textTools = new Set<string>()
  for (const tool of tools.elements) {
    const name = tool.get('custom')?.get('name')
    if (name?.kind === 'string') textTools.add(name.text)
  }
  return { textTools, isFunction: false }
}

/** The word for the reason to stop. */
export function finishReason(reason: StopReason, form: CallForm | undefined) {
  return form?.isFunction === true && reason === 'calls' ? 'function_call' : STOP_REASONS.completions.written[reason]
}
