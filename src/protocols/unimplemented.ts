import { reject } from '#exchange/outcome.ts'
import type { BackendProtocol } from './backend-protocol.ts'

/** A type of backend that this version cannot reach: every request to it is refused. */
export function unimplemented<const Schema>(type: string, schema: Schema) {
  return {
    name: 'http',
    schema,
    responseTimeoutMs: 0,
    rewritesHost: true,
    addresses: () => reject('backend-invalid', { detail: `${type} is not implemented yet` }),
  } as const satisfies BackendProtocol<unknown> & { readonly schema: Schema }
}
