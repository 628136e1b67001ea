import { object, optional, type Parsed } from '#schema/index.ts'
import { backendAuth } from '../../backend/auth/schema.ts'
import { backendHttp } from '../../backend/http/schema.ts'
import { backendTcp } from '../../backend/tcp/schema.ts'
import { backendTls } from '../../backend/tls/schema.ts'
import { backendTunnel } from '../../backend/tunnel/schema.ts'

/** The connection settings of every kind of destination (specification 2, 2.3, `BackendSimple`). */
export const backendSimpleFields = {
  tcp: optional(backendTcp),
  tls: optional(backendTls),
  http: optional(backendHttp),
  tunnel: optional(backendTunnel),
  auth: optional(backendAuth),
}

export const backendSimple = object(backendSimpleFields)

export type BackendSimpleSpec = Parsed<typeof backendSimple>
