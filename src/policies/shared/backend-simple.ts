import { object, optional, type Parsed } from '#schema/index.ts'
import { backendAuth } from '../backend/auth/schema.ts'
import { backendHttp } from '../backend/http/schema.ts'
import { backendTcp } from '../backend/tcp/schema.ts'
import { backendTls } from '../backend/tls/schema.ts'
import { backendTunnel } from '../backend/tunnel/schema.ts'

/** The settings that every connection to a destination knows (specification 2, 2.3, `BackendSimple`). */
export const backendSimpleFields = {
  tcp: optional(backendTcp, 'TCP connections.'),
  tls: optional(backendTls, 'TLS; when set, connections use it.'),
  http: optional(backendHttp, 'HTTP.'),
  tunnel: optional(backendTunnel, 'A proxy server to go through.'),
  auth: optional(backendAuth, 'Credentials sent with requests.'),
}

export const backendSimple = object(backendSimpleFields)

export type BackendSimpleSpec = Parsed<typeof backendSimple>
