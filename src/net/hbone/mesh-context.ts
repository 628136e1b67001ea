import { X509Certificate } from 'node:crypto'
import tls from 'node:tls'
import type { MeshMaterial } from './mesh-material.ts'

/** The material as TLS uses it. */
export interface MeshContext {
  readonly secureContext: tls.SecureContext
  /** When the certificate of this gateway expires, in milliseconds since 1970. */
  readonly expiresMs: number
}

/** Null: OpenSSL refuses the material. */
const contexts = new WeakMap<MeshMaterial, MeshContext | null>()

/** @returns null if the material cannot be used */
export function meshContext(material: MeshMaterial): MeshContext | null {
  let context = contexts.get(material)
  if (context === undefined) {
    context = createContext(material)
    contexts.set(material, context)
  }
  return context
}

/** Members of a mesh use TLS 1.3 with each other. */
function createContext({ certificate, key, roots }: MeshMaterial): MeshContext | null {
  try {
    const secureContext = tls.createSecureContext({ cert: certificate, key, ca: roots, minVersion: 'TLSv1.3' })
    return { secureContext, expiresMs: new X509Certificate(certificate).validToDate.getTime() }
  } catch {
    return null
  }
}
