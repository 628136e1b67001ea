import { readFileSync } from 'node:fs'

/** PEM text of the certificates and keys beside this file. */
export const CERTIFICATES = {
  ca: read('ca.pem'),
  server: { cert: read('server.pem'), key: read('server.key') },
  client: { cert: read('client.pem'), key: read('client.key') },
  workload: { cert: read('workload.pem'), key: read('workload.key') },
}

function read(name: string): string {
  return readFileSync(new URL(`certificates/${name}`, import.meta.url), 'utf8')
}
