import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { clock } from '#base/clock.ts'
import { parseJson } from '#base/parse-json.ts'
import { createCertificate, type ServerCertificate } from './certificates.ts'

/** What the API server needs to serve clients, and what these need to use it. */
export interface ApiCredentials extends ServerCertificate {
  readonly token: string
}

/** Files of a state folder. */
export interface CredentialFiles {
  /** @returns undefined: there is no such file, or `parse` threw */
  read<T>(name: string, parse: (text: string) => T): T | undefined
  write(name: string, text: string): void
}

const FILE = 'api-credentials.json'
const TOKEN_BYTES = 32
const NAMES = { dns: ['localhost'], ips: ['127.0.0.1', '::1'] }
const RENEW_BEFORE_MS = 30 * 24 * 60 * 60_000

/** The credentials of a state folder: those of the last start, or new ones. A certificate that expires soon is renewed, with a new authority. */
export async function loadCredentials(files: CredentialFiles, host: string): Promise<ApiCredentials> {
  const known = files.read(FILE, readCredentials)
  const usable = known !== undefined && isUsable(known, host)
  if (usable) return known
  const token = known?.token ?? randomBytes(TOKEN_BYTES).toString('base64url')
  const ips = NAMES.ips.includes(host) ? NAMES.ips : [...NAMES.ips, host]
  const created = { ...(await createCertificate({ ...NAMES, ips })), token }
  files.write(FILE, JSON.stringify(created))
  return created
}

/** @throws Error if the text is damaged */
function readCredentials(text: string): ApiCredentials {
  const value = parseJson(text) as Record<keyof ApiCredentials, unknown>
  for (const name of ['ca', 'certificate', 'key', 'token'] as const) {
    if (typeof value[name] !== 'string') throw new Error(`${name} is missing`)
  }
  const read = value as unknown as ApiCredentials
  const certificate = new X509Certificate(read.certificate)
  if (!certificate.checkPrivateKey(createPrivateKey(read.key))) throw new Error('the key does not fit the certificate')
  return read
}

function isUsable({ certificate }: ApiCredentials, host: string): boolean {
  const { validToDate, ...read } = inspect(certificate)
  return validToDate.getTime() - clock.now() > RENEW_BEFORE_MS && read.isFor(host)
}

function inspect(pem: string) {
  const certificate = new X509Certificate(pem)
  return {
    validToDate: new Date(certificate.validTo),
    isFor: (host: string) => certificate.checkIP(host) !== undefined || certificate.checkHost(host) !== undefined,
  }
}
