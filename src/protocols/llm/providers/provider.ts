import { trimSpace } from '#base/byte-text.ts'
import type { Head } from '#net/http/head.ts'
import { pathFault } from '#net/http/path-form.ts'
import type { ImpliedCloud } from '#policies/backend/auth/implied-auth.ts'
import type { ClientFormat } from '../route-type.ts'

/** One provider with its settings, built from the table in `providers.ts`. */
export interface Provider {
  /** Name in logs, metrics and `llm.provider`. */
  readonly system: string
  readonly host: string
  readonly port: number
  /** Model that replaces the model of every request. */
  readonly pin: string | undefined
  /** The path for requests of a client format with the given model. */
  readonly convert: (format: ClientFormat, model: string) => Conversion
  /** `max_tokens` of chat requests is moved to its new name for models that refuse the old name (decision B27). */
  readonly movesMaxTokens: boolean
  /** The cloud that the provider belongs to. */
  readonly cloud?: ImpliedCloud
  /** What signatures of requests must be valid for; unset: the provider takes no signatures. */
  readonly signing?: { readonly service: string; readonly region: string }
  /** Headers that the provider requires besides the credential; runs after backend authentication. */
  readonly headers: (request: Head, credential: Credential | undefined, path: string) => HeaderEdits
}

/** Whether a provider supports a client format. */
export type Conversion =
  /** The provider supports the format natively; `path` may have a query. */
  | { readonly kind: 'native'; readonly path: string }
  /** There is no meaningful conversion (docs/behaviour/llm.md, "Formats"). */
  | { readonly kind: 'unsupported' }
  /** A conversion that this version does not implement yet. */
  | { readonly kind: 'not-implemented' }
  /** The model cannot be part of the path, but the provider requires it there. */
  | { readonly kind: 'model-unfit' }

export const UNSUPPORTED: Conversion = { kind: 'unsupported' }
export const MODEL_UNFIT: Conversion = { kind: 'model-unfit' }
export const NOT_IMPLEMENTED: Conversion = { kind: 'not-implemented' }

/** The credential that the auth policy of a provider has set; undefined without such a policy. */
export interface Credential {
  /** `key`: `auth.key` or `auth.secretRef`; `token`: anything else (cloud tokens, passthrough). */
  readonly source: 'key' | 'token'
  /** `auth.location` is set: the credential stays there. */
  readonly explicitLocation: boolean
}

export interface HeaderEdits {
  readonly set: readonly (readonly [lowerName: string, value: string])[]
  readonly remove: readonly string[]
}

export const NO_EDITS: HeaderEdits = { set: [], remove: [] }

/**
 * A model name as one path segment; undefined for names that change the path (RFC 3986, 5.2.4), also if a server decodes the path before it
 * splits it (decision A-51).
 */
export function toSegment(model: string): string | undefined {
  if (model === '' || !model.isWellFormed()) return undefined
  const segment = encodeURIComponent(model)
  return pathFault(`/${segment}/`) === undefined ? segment : undefined
}

/** The token of `Authorization: Bearer <token>` (RFC 6750, 2.1). Undefined for a repeated header, because it is ambiguous. */
export function bearerToken(request: Head): string | undefined {
  const [value, another] = request.getAll('authorization')
  if (value === undefined || another !== undefined) return undefined
  return value.length >= 8 && value.slice(0, 7).toLowerCase() === 'bearer ' ? trimSpace(value.slice(7)) : undefined
}

/** Paths that do not depend on the model, by client format; all other formats are `other`. */
export function fixedPaths(
  paths: Partial<Record<ClientFormat, string>>,
  unsupported: readonly ClientFormat[],
): (format: ClientFormat) => Conversion {
  const table = new Map<ClientFormat, Conversion>()
  for (const [format, path] of Object.entries(paths)) table.set(format as ClientFormat, { kind: 'native', path })
  for (const format of unsupported) table.set(format, UNSUPPORTED)
  return (format) => table.get(format) ?? NOT_IMPLEMENTED
}
