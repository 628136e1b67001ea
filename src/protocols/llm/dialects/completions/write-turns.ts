import type {
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
  ChatCompletionToolMessageParam,
} from 'openai/resources/chat/completions'
import type { Conversation, Part, ResultPart, TextPart, Turn } from '../../chat/conversation.ts'
import type { Loops } from '../../chat/loops.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import type { TurnsTarget } from './target-model.ts'
import { writeAssistant } from './write-assistant.ts'
import { isEmptyText, writeContent, writePart, writeText } from './write-parts.ts'

/**
 * The turns as the API accepts them. The results of calls follow the turn that made the calls, whatever else the client put between, and
 * turns of the assistant are one turn if nothing is between them.
 */
export function writeMessages({ turns }: Conversation, to: TurnsTarget): ChatCompletionMessageParam[] {
  const { loops } = to
  const results = collectResults(turns, loops)
  const messages: ChatCompletionMessageParam[] = []
  /** The last turns, if they are of the assistant. */
  let said: Part[] | undefined
  const writeSaid = (parts: Part[] | undefined) => {
    if (parts === undefined) return
    writeAssistant(parts, to, messages)
    loops.after(() => writeResults(parts, results, to, messages))
  }
  loops.each(turns, ({ role, parts }) => {
    if (role === 'assistant') {
      said ??= []
      const all = said
      loops.each(parts, (part) => all.push(part))
      return
    }
    writeSaid(said)
    said = undefined
    loops.after(() => writeOther(role, parts, to, messages))
  })
  loops.after(() => writeSaid(said))
  return messages
}

function collectResults(turns: readonly Turn[], loops: Loops): Map<string, ResultPart[]> {
  const results = new Map<string, ResultPart[]>()
  loops.each(turns, ({ parts }) => {
    loops.each(parts, (part) => {
      if (part.kind !== 'result') return
      const known = results.get(part.callId)
      if (known === undefined) results.set(part.callId, [part])
      else known.push(part)
    })
  })
  return results
}

/** The results of the calls of a turn. What has no place in them follows as a turn of the user. */
function writeResults(
  said: readonly Part[],
  results: Map<string, ResultPart[]>,
  to: TurnsTarget,
  messages: ChatCompletionMessageParam[],
): void {
  const others: ChatCompletionContentPart[] = []
  to.loops.each(said, (part) => {
    if (part.kind !== 'call') return
    // An id may be used again later in the conversation.
    const result = results.get(part.id)?.shift()
    if (result !== undefined) messages.push(writeResult(result, to, others))
  })
  to.loops.after(() => {
    if (others.length > 0) messages.push({ role: 'user', content: others })
  })
}

function writeResult(
  result: ResultPart,
  to: TurnsTarget,
  others: ChatCompletionContentPart[],
): ChatCompletionToolMessageParam {
  const texts = markLast(
    result.parts.filter((part) => part.kind === 'text'),
    result.cached,
  )
  const media = result.parts.filter((part) => part.kind !== 'text')
  const id = to.names.resultId(result.callId)
  if (result.isError) to.losses.drop(result.origin, 'tool results have no error flag')
  if (media.length > 0) others.push({ type: 'text', text: `From the result of the call ${id}:` })
  to.loops.each(media, (part) => others.push(writePart(part, to)))
  const content = texts.length === 0 && media.length > 0 ? 'See the next message.' : writeContent(texts, to, writeText)
  return { role: 'tool', tool_call_id: id, content }
}

/** A mark of the result, which has no mark of its own here. */
function markLast(texts: readonly TextPart[], cached: boolean | undefined): readonly TextPart[] {
  const last = texts.at(-1)
  return cached === true && last !== undefined ? texts.with(-1, { ...last, cached }) : texts
}

function writeOther(
  role: 'system' | 'user',
  parts: readonly Part[],
  to: TurnsTarget,
  messages: ChatCompletionMessageParam[],
): void {
  const said: Part[] = []
  to.loops.each(parts, (part) => {
    if (part.kind !== 'result' && !isEmptyText(part)) said.push(part)
  })
  to.loops.after(() => {
    if (said.length === 0) return
    if (role === 'user') messages.push({ role, content: writeContent(said, to, writePart) })
    else messages.push({ role, content: writeContent(said, to, (part) => writeText(expectText(part), to)) })
  })
}

function expectText(part: Part) {
  if (part.kind !== 'text') throw new Untranslatable(part.origin, 'a system text can only be text')
  return part
}
