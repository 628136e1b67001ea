import { trimSpace } from '#base/byte-text.ts'
import type { Head } from '#net/http/head.ts'
import { pathFault } from '#net/http/path-form.ts'
import type { ClientFormat } from '../route-type.ts'

/** One provider with its settings, as the table in `providers.ts` builds it. */
export interface Provider {
  /** Name in logs, metrics and `llm.provider`. */
  readonly system: string
  readonly host: string
  readonly port: number
  /** Model that replaces the one of every request. */
  readonly pin: string | undefined
  /** Where requests of a client format go when the model is `model`. */
  readonly convert: (format: ClientFormat, model: string) => Conversion
  /** `max_tokens` of chat requests is moved to its new name for models that refuse the old one (decision B27). */
  readonly movesMaxTokens: boolean
  /** What the provider requires besides the credential; runs after backend authentication. */
  readonly headers: (request: Head, credential: Credential | undefined, path: string) => HeaderEdits
}

/** What becomes of a client format at a provider. */
export type Conversion =
  /** The provider speaks the format itself; `path` may have a query. */
  | { readonly kind: 'native'; readonly path: string }
  /** There is no such translation and cannot be one (docs/behaviour/llm.md, "Formats"). */
  | { readonly kind: 'unsupported' }
  /** A translation that this version does not have yet. */
  | { readonly kind: 'not-implemented' }
  /** The model would be part of the path, and cannot be. */
  | { readonly kind: 'model-unfit' }

export const UNSUPPORTED: Conversion = { kind: 'unsupported' }
export const MODEL_UNFIT: Conversion = { kind: 'model-unfit' }
export const NOT_IMPLEMENTED: Conversion = { kind: 'not-implemented' }

/** What the auth policy of a provider has put into the request; undefined without such a policy. */
export interface Credential {
  /** `key`: `auth.key` or `auth.secretRef`; `token`: anything else (cloud tokens, passthrough). */
  readonly source: 'key' | 'token'
  /** `auth.location` is set: it stays where it was put. */
  readonly explicitLocation: boolean
}

export interface HeaderEdits {
  readonly set: readonly (readonly [lowerName: string, value: string])[]
  readonly remove: readonly string[]
}

export const NO_EDITS: HeaderEdits = { set: [], remove: [] }

/**
 * A model name as one segment of a path; undefined for names that would lead elsewhere (RFC 3986, 5.2.4), also where a server decodes
 * it before it looks for segments (decision A-51).
 */
export function toSegment(model: string): string | undefined {
  if (model === '' || !model.isWellFormed()) return undefined
  const segment = encodeURIComponent(model)
  return pathFault(`/${segment}/`) === undefined ? segment : undefined
}

/** The token of `Authorization: Bearer <token>` (RFC 6750, 2.1). A field that is sent twice has none: nobody knows which one counts. */
export function bearerToken(request: Head): string | undefined {
  const [value, another] = request.getAll('authorization')
  if (value === undefined || another !== undefined) return undefined
  return value.length >= 8 && value.slice(0, 7).toLowerCase() === 'bearer ' ? trimSpace(value.slice(7)) : undefined
}

/** Paths that do not depend on the model, by client format; everything else is `other`. */
export function fixedPaths(
  paths: Partial<Record<ClientFormat, string>>,
  unsupported: readonly ClientFormat[],
): (format: ClientFormat) => Conversion {
  const table = new Map<ClientFormat, Conversion>()
  for (const [format, path] of Object.entries(paths)) table.set(format as ClientFormat, { kind: 'native', path })
  for (const format of unsupported) table.set(format, UNSUPPORTED)
  return (format) => table.get(format) ?? NOT_IMPLEMENTED
}
