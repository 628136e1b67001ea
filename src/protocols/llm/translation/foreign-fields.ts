import type { Head } from '#net/http/head.ts'
import type { ClientFormat } from '../request/route-type.ts'
import type { WireDialect } from './dialect.ts'

/** Vendors' clients send these fields for their own vendor: versions and features of its API, its accounts and keys, telemetry. */
interface VendorFields {
  readonly prefixes: readonly string[]
  readonly names: readonly string[]
  /** With a credential. They stay if an auth policy of the provider writes to a location of its own. */
  readonly keys: readonly string[]
}

/** Both vendors' clients tell about themselves in these. */
const TELEMETRY = 'x-stainless-'

const OPENAI: VendorFields = {
  prefixes: ['openai-', 'x-codex-', TELEMETRY],
  names: ['conversation_id', 'session_id'],
  keys: ['api-key'],
}
const ANTHROPIC: VendorFields = {
  prefixes: ['anthropic-', 'x-claude-code-', TELEMETRY],
  names: ['x-app'],
  keys: ['x-api-key'],
}

const FIELDS_OF_CLIENTS: Readonly<Record<ClientFormat, VendorFields>> = {
  Completions: OPENAI,
  Responses: OPENAI,
  Embeddings: OPENAI,
  Messages: ANTHROPIC,
  MessagesTokenCount: ANTHROPIC,
}

/** The API of the vendor, which other vendors have too; all other dialects are of neither. */
const FIELDS_OF_PROVIDERS: { readonly [Name in WireDialect]?: VendorFields } = {
  completions: OPENAI,
  responses: OPENAI,
  embeddings: OPENAI,
  messages: ANTHROPIC,
  count: ANTHROPIC,
}

/**
 * Names of the fields that the client sent for the vendor of its API, if the provider has the API of another one.
 * @param keepsKeys the provider has a credential that may be in any field
 */
export function foreignFields(
  type: ClientFormat,
  dialect: WireDialect,
  head: Head,
  keepsKeys: boolean,
): readonly string[] {
  const fields = FIELDS_OF_CLIENTS[type]
  if (fields === FIELDS_OF_PROVIDERS[dialect]) return []
  const { prefixes, names, keys } = fields
  const found: string[] = []
  head.each((name) => {
    if (prefixes.some((prefix) => name.startsWith(prefix)) || names.includes(name)) found.push(name)
    else if (!keepsKeys && keys.includes(name)) found.push(name)
  })
  return found
}
