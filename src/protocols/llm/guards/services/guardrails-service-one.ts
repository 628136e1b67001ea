import { ask, failed } from './ask.ts'
import { anywhere, list, member, textsFor } from './json-shape.ts'
import type { GuardService, GuardSurroundings, ServiceVerdict } from './service.ts'
import { splitText } from './split-text.ts'

/** Most text of one call: the service counts text units of 1,000 characters, and accepts 25 by default. */
const MAX_LENGTH = 25_000

export interface GuardrailSettings {
  /** Key of the backend. */
  readonly destination: string
  /** An id or an ARN. */
  readonly identifier: string
  readonly version: string
}

/** A part of a message. */
interface Part {
  readonly message: number
  readonly text: string
}

/** Guardrails service one: it passes, masks or rejects (decision B55). */
export function guardrailsServiceOne({ destination, identifier, version }: GuardrailSettings): GuardService {
  const path = `/guardrail/${encodeURIComponent(identifier)}/version/${encodeURIComponent(version)}/apply`
  const apply = (source: 'INPUT' | 'OUTPUT', parts: readonly Part[], around: GuardSurroundings) => {
    const body = { source, content: parts.map(({ text }) => ({ text: { text } })) }
    return ask({ destination, path, body }, around, (json) => read(json, parts.length))
  }
  return {
    kind: 'guardrailsServiceOne',
    destination,
    masks: true,
    async judge({ phase, messages }, around): Promise<ServiceVerdict> {
      const masked = messages.map(() => '')
      let result: ServiceVerdict = { kind: 'pass' }
      for (const parts of batches(messages.map(({ content }) => content))) {
        const verdict = await apply(phase === 'request' ? 'INPUT' : 'OUTPUT', parts, around)
        if (verdict.kind === 'reject' || verdict.kind === 'failed') return verdict
        const texts = verdict.kind === 'mask' ? verdict.contents : parts.map(({ text }) => text)
        for (const [index, { message }] of parts.entries()) masked[message] += texts[index]!
        if (verdict.kind === 'mask') result = { ...verdict, contents: masked }
        else if (result.kind === 'pass') result = verdict
      }
      return result
    },
  }
}

/** The texts in calls that the service accepts. Empty texts are not sent. */
function* batches(contents: readonly string[]): Generator<readonly Part[]> {
  let batch: Part[] = []
  let length = 0
  for (const [message, content] of contents.entries()) {
    for (const text of content === '' ? [] : splitText(content, MAX_LENGTH)) {
      if (length + text.length > MAX_LENGTH) {
        yield batch
        batch = []
        length = 0
      }
      batch.push({ message, text })
      length += text.length
    }
  }
  if (batch.length > 0) yield batch
}

/** Only a masked text for each text that was sent is a mask; any other intervention rejects. */
function read(json: unknown, count: number): ServiceVerdict {
  const action = member(json, 'action')
  if (action !== 'NONE' && action !== 'GUARDRAIL_INTERVENED') return failed('the answer of the service has no verdict')
  const assessments = member(json, 'assessments')
  const isMasked = anywhere(assessments, 'action', (found) => found === 'ANONYMIZED')
  const isBlocked = anywhere(assessments, 'action', (found) => found !== 'NONE' && found !== 'ANONYMIZED')
  if (isBlocked || (action === 'GUARDRAIL_INTERVENED') !== isMasked) return { kind: 'reject' }
  if (!isComplete(json)) return failed('the service has not checked all of the text')
  if (!isMasked) return { kind: 'pass' }
  const outputs = list(member(json, 'outputs'))?.map((output) => member(output, 'text'))
  const contents = textsFor(outputs, count)
  return contents === undefined ? { kind: 'reject' } : { kind: 'mask', contents }
}

/** An answer may say how many characters were checked, and how many there are. */
function isComplete(json: unknown): boolean {
  const characters = member(member(json, 'guardrailCoverage'), 'textCharacters')
  return member(characters, 'guarded') === member(characters, 'total')
}
