import type { PromptMessage } from '../ai-settings.ts'
import { decodeText } from '../json/decode-text.ts'
import { editMembers } from '../json/edit-members.ts'
import { insertElements } from '../json/insert-elements.ts'
import { findMember, type Members, scanMembers, valueAt, valueIs } from '../json/scan-members.ts'
import { applySplices, encode, type Splice } from '../json/splice.ts'
import { countLeadingSystem, isSystemRole, type PromptEnrichment, rangeOf } from '../prompt-enrichment.ts'

const INCLUDE_USAGE = '{"include_usage":true}'

/**
 * Makes a streamed request ask for usage (decision B35). Without `stream_options` it always does; where the client decided
 * against usage only if something in force counts tokens.
 * @param needed a token limit or an expression reads tokens
 * @returns new JSON text of `stream_options`; undefined when the client's request stays as it is. With a new text the client has
 *   not asked for the usage chunk and must not see it.
 */
export function requestUsage(members: Members, needed: boolean): string | undefined {
  const index = findMember(members, 'stream_options')
  if (index < 0 || valueIs(members, index, 'null')) return INCLUDE_USAGE
  const options = scanMembers(valueAt(members, index))
  if ('fault' in options || !needed) return undefined
  const include = findMember(options, 'include_usage')
  if (include >= 0 && valueIs(options, include, 'true')) return undefined
  const changed = applySplices(options.bytes, editMembers(options, new Map([['include_usage', 'true']])))
  return decodeText(changed, 0, changed.length)
}

/** Models that refuse `max_tokens`. */
const NEW_LIMIT_NAME = /^(?:gpt-|o\d)/

/**
 * Moves `max_tokens` to the name that newer models want; one that is there already wins (decision B27). A removal is added to
 * `edits`.
 * @returns the change of the key, if there is one
 */
export function moveMaxTokens(members: Members, model: string, edits: Map<string, string | undefined>): Splice[] {
  if (!NEW_LIMIT_NAME.test(model)) return []
  const old = findMember(members, 'max_tokens')
  if (old < 0) return []
  if (findMember(members, 'max_completion_tokens') >= 0) {
    edits.set('max_tokens', undefined)
    return []
  }
  const start = members.offsets[4 * old]!
  return [{ start, end: members.offsets[4 * old + 1]!, text: encode('max_completion_tokens') }]
}

/**
 * Adds the configured messages: system text in front of everything, other prepended messages after the system text that leads
 * the conversation, appended ones at the end (decision B103).
 * @returns undefined when the request has no list of messages
 */
export function enrichMessages(members: Members, prompt: PromptEnrichment): Splice[] | undefined {
  return enrichList(members, 'messages', prompt)
}

/** The same for the list in member `key`. */
export function enrichList(members: Members, key: string, prompt: PromptEnrichment): Splice[] | undefined {
  const range = rangeOf(members, key)
  if (range === undefined || members.bytes[range.start] !== 0x5b) return undefined
  const leading = countLeadingSystem(members.bytes.subarray(range.start, range.end))
  return insertElements(members.bytes, range.start, range.end, [
    [0, prompt.prepend.filter(({ role }) => isSystemRole(role)).map(toMessage)],
    [leading, prompt.prepend.filter(({ role }) => !isSystemRole(role)).map(toMessage)],
    [Number.POSITIVE_INFINITY, prompt.append.map(toMessage)],
  ])
}

export function toMessage({ role, content }: PromptMessage): string {
  return JSON.stringify({ role, content })
}
