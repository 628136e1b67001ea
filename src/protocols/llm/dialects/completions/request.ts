import { BodyEdits } from '../../json/edit-members.ts'
import { exactNames, findCaseVariant } from '../../json/exact-names.ts'
import { type Insertion, insertElements } from '../../json/insert-elements.ts'
import { findMember, type Members, scanElements, scanMembers, valueAt, valueIs } from '../../json/scan-members.ts'
import { encode } from '../../json/splice.ts'
import type { PromptMessageSpec } from '../../settings/policy-schema.ts'
import { countLeadingSystem, isSystemRole, type PromptEnrichment, rangeOf } from '../../settings/prompt-enrichment.ts'
import type { NativeNeeds } from '../format.ts'
import { refusesOldLimit } from './target-model.ts'

const INCLUDE_USAGE = encode('{"include_usage":true}')
const USAGE_OPTION = exactNames(['include_usage'])
const TRUE = encode('true')
const NEW_LIMIT = encode('max_completion_tokens')

/**
 * Requests usage for a streamed request (decision B35). Without `stream_options` it always does. If the client has disabled usage, it does
 * so only if the configuration counts tokens.
 * @param needed a token limit or an expression reads tokens
 * @returns whether it changed the request: the client did not request the usage chunk and must not see it
 */
function requestUsage(members: Members, needed: boolean, edits: BodyEdits): boolean {
  const index = findMember(members, 'stream_options')
  if (index < 0 || valueIs(members, index, 'null')) {
    edits.set('stream_options', index, INCLUDE_USAGE)
    return true
  }
  if (!needed) return false
  const options = scanMembers(valueAt(members, index))
  if ('fault' in options || findCaseVariant(options, USAGE_OPTION) >= 0) {
    // The effect of such a value on a provider is unknown, but limits must hold.
    edits.set('stream_options', index, INCLUDE_USAGE)
    return true
  }
  const include = findMember(options, 'include_usage')
  if (include >= 0 && valueIs(options, include, 'true')) return false
  const changed = new BodyEdits(options)
  changed.set('include_usage', include, TRUE)
  edits.set('stream_options', index, changed.apply())
  return true
}

/** Requests usage of a stream, and moves the limit of tokens. @returns whether only the gateway requested usage */
export function adaptRequest(members: Members, needs: NativeNeeds, edits: BodyEdits): boolean {
  if (needs.movesMaxTokens) moveMaxTokens(members, needs.model, edits)
  return needs.streaming && requestUsage(members, needs.countsTokens, edits)
}

/** Moves `max_tokens` to the name that newer models require; an existing value of that name takes precedence (decision B27). */
function moveMaxTokens(members: Members, model: string, edits: BodyEdits): void {
  if (!refusesOldLimit(model)) return
  const old = findMember(members, 'max_tokens')
  if (old < 0) return
  if (findMember(members, 'max_completion_tokens') >= 0) edits.remove(old)
  else edits.rename(old, NEW_LIMIT)
}

/**
 * Adds the configured messages: system text at the front, other prepended messages after the leading system text of the conversation,
 * appended messages at the end (decision B103).
 * @returns false if the request has no list of messages
 */
export function enrichMessages(members: Members, prompt: PromptEnrichment, edits: BodyEdits): boolean {
  return enrichList(members, 'messages', prompt, edits)
}

/** The same for the list in member `key`. */
export function enrichList(members: Members, key: string, prompt: PromptEnrichment, edits: BodyEdits): boolean {
  const range = rangeOf(members, key)
  if (range === undefined || members.bytes[range.start] !== 0x5b) return false
  const list = members.bytes.subarray(range.start, range.end)
  const elements = scanElements(list)
  const turns = prompt.prepend.filter(({ role }) => !isSystemRole(role)).map(toMessage)
  const insertions: Insertion[] = [
    [0, prompt.prepend.filter(({ role }) => isSystemRole(role)).map(toMessage)],
    [turns.length === 0 ? 0 : countLeadingSystem(list, elements), turns],
    [Number.POSITIVE_INFINITY, prompt.append.map(toMessage)],
  ]
  edits.splice(insertElements(members.bytes, range, insertions, elements))
  return true
}

export function toMessage({ role, content }: PromptMessageSpec): string {
  return JSON.stringify({ role, content })
}
