import type { Head } from '#net/http/head.ts'
import { BETA_FIELD, wantedBetas } from '../dialects/messages/version-fields.ts'
import { type HeaderEdits, NO_EDITS, type Sending } from '../providers/provider.ts'

/**
 * The body is JSON in UTF-8, as the gateway has read it. The client may have sent another type, because typed routes do not check it,
 * or none. Some servers would decode a body with `charset=utf-7` differently than the guards.
 */
export function ofJson(edits: HeaderEdits, request: Head): HeaderEdits {
  const type = request.joined('content-type')
  if (type === JSON_TYPE || (type !== undefined && UTF8_JSON.test(type))) return edits
  return { set: [...edits.set, ['content-type', JSON_TYPE]], remove: edits.remove }
}

/** A platform refuses beta features that it does not know. */
export function withBetas(edits: HeaderEdits, { betas }: Sending, request: Head): HeaderEdits {
  if (betas === undefined || !request.has(BETA_FIELD)) return edits
  const known = wantedBetas(request, betas)
  if (known.length === 0) return { set: edits.set, remove: [...edits.remove, BETA_FIELD] }
  return { set: [...edits.set, [BETA_FIELD, known.join(',')]], remove: edits.remove }
}

const JSON_TYPE = 'application/json'
const UTF8_JSON = /^application\/json(?: *; *charset=(?:utf-8|"utf-8"))?$/i

/** The gateway reads the response, so it must not be compressed. */
const UNCOMPRESSED: HeaderEdits = { ...NO_EDITS, remove: ['accept-encoding'] }

export function withoutEncoding(edits: HeaderEdits, removed: readonly string[] = []): HeaderEdits {
  if (edits === NO_EDITS && removed.length === 0) return UNCOMPRESSED
  return { set: edits.set, remove: [...edits.remove, ...removed, 'accept-encoding'] }
}
