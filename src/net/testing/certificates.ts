import { readFileSync } from 'node:fs'

/** PEM text of the certificates and keys in this folder. */
export const CERTIFICATES = {
  ca: read('ca.pem'),
  server: { cert: read('server.pem'), key: read('server.key') },
  /** Self-signed. */
  serverRsa: { cert: read('server-rsa.pem'), key: read('server-rsa.key') },
  /** Self-signed, for expired.test and 127.0.0.1. */
  expired: { cert: read('expired.pem'), key: read('expired.key') },
  client: { cert: read('client.pem'), key: read('client.key') },
  /** Self-signed. */
  runtime: { cert: read('runtime.pem'), key: read('runtime.key') },
  /** Self-signed. */
  guards: { cert: read('guards.pem'), key: read('guards.key') },
  workload: { cert: read('workload.pem'), key: read('workload.key') },
  meshCa: read('mesh-ca.pem'),
  mesh: { cert: read('mesh.pem'), key: read('mesh.key') },
}

function read(name: string): string {
  return readFileSync(new URL(`certificates/${name}`, import.meta.url), 'utf8')
}
