import type { ClientDialect, Dialect, ProviderDialect, WireDialect } from './dialect.ts'
import { formatError, readError } from './messages/errors.ts'
import { readAnswer } from './messages/read-answer.ts'
import { readRequest } from './messages/read-request.ts'
import { readStream } from './messages/read-stream.ts'
import { writeAnswer } from './messages/write-answer.ts'
import { writeRequest } from './messages/write-request.ts'
import { writeStream } from './messages/write-stream.ts'
import type { ClientFormat } from './route-type.ts'

/** The dialects that clients speak. */
export const CLIENT_DIALECTS: { readonly [Name in Dialect]?: ClientDialect } = {
  messages: { readRequest, writeAnswer, writeStream, keepsStream: false, formatError },
}

/** The dialects that providers speak. */
export const PROVIDER_DIALECTS: { readonly [Name in Dialect]?: ProviderDialect } = {
  messages: { writeRequest, readAnswer, readStream, readError },
}

/** The dialect of a client format. A provider that wants it gets the client's own bytes. */
export const NATIVE_DIALECTS: Readonly<Record<ClientFormat, WireDialect>> = {
  Completions: 'completions',
  Messages: 'messages',
  Responses: 'responses',
  Embeddings: 'embeddings',
  MessagesTokenCount: 'count',
}

/** The dialects of a translation. `undefined`: there is none. */
export interface DialectPair {
  readonly from: Dialect
  readonly to: Dialect
  readonly client: ClientDialect
  readonly provider: ProviderDialect
}

export function findPair(format: ClientFormat, dialect: WireDialect): DialectPair | undefined {
  const native = NATIVE_DIALECTS[format]
  if (!isChat(native) || !isChat(dialect)) return undefined
  const [client, provider] = [CLIENT_DIALECTS[native], PROVIDER_DIALECTS[dialect]]
  return client && provider && { from: native, to: dialect, client, provider }
}

function isChat(dialect: WireDialect): dialect is Dialect {
  return dialect !== 'embeddings' && dialect !== 'count'
}
