import type { GatewayObject, ListenerSpec } from '#api/gateway.ts'
import { keyOf, objectKey } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import { itemPath } from '#schema/index.ts'
import { ANNOTATION } from '../context/annotations.ts'
import type { ConditionFault } from '../context/condition.ts'
import { normaliseHostname } from '../context/hostname.ts'
import type { Inventory } from '../context/inventory.ts'
import { tlsModeOf } from './listener.ts'

/** For the listeners of a Gateway itself, not those of its ListenerSets (docs/guides/certificates.md). */
const NAME = ANNOTATION.acme
export const ACME_PATH = itemPath('metadata.annotations', NAME)

/** Directories by their short names. */
const DIRECTORIES: Readonly<Record<string, string>> = {
  letsencrypt: 'https://acme-v02.api.letsencrypt.org/directory',
  'letsencrypt-staging': 'https://acme-staging-v02.api.letsencrypt.org/directory',
}

/** Which server a Gateway gets its certificates from. */
export interface AcmeSetting {
  /** URL of its directory (RFC 8555, 7.1.1). */
  readonly directory: string
  /** `mailto:` URLs, for messages of the server. */
  readonly contacts: readonly string[]
}

/** A certificate to get. */
export interface WantedCertificate extends AcmeSetting {
  readonly secret: { readonly namespace: string; readonly name: string }
  /** Sorted. */
  readonly hostnames: readonly string[]
  /** Gateways whose listeners use it. */
  readonly gateways: readonly GatewayObject[]
}

interface Read {
  readonly setting?: AcmeSetting
  readonly invalid?: string
}

function read({ metadata: { annotations = {} } }: GatewayObject): Read {
  const text = annotations[NAME]
  if (text === undefined) return {}
  const [first = '', ...contacts] = text.split(',').map((part) => part.trim())
  const directory = DIRECTORIES[first] ?? first
  if (!isDirectory(directory)) return { invalid: first }
  const invalid = contacts.find((contact) => !/^mailto:[^\s@,]+@[^\s@,]+$/.test(contact))
  return invalid === undefined ? { setting: { directory, contacts } } : { invalid }
}

/** ACME needs HTTPS (RFC 8555, 6.1); on this machine, tests do not. */
function isDirectory(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && url.hostname === '127.0.0.1')
}

export function acmeSetting(gateway: GatewayObject): AcmeSetting | undefined {
  return read(gateway).setting
}

/** What is wrong with the annotation of a Gateway, as finding and as condition. */
export function acmeFault(gateway: GatewayObject): (ConditionFault & Omit<Finding, 'origin'>) | undefined {
  const { invalid } = read(gateway)
  if (invalid === undefined) return undefined
  const known = Object.keys(DIRECTORIES).join(', ')
  const message = `${JSON.stringify(invalid)} is not an ACME server or a contact; write ${known} or the https URL of a directory, and after a comma contacts such as mailto:ops@example.com; no certificate is asked for`
  return { path: ACME_PATH, code: 'annotation-value', message, severity: 'error', reason: 'InvalidAnnotation' }
}

/** Why no certificate can be asked for a listener; undefined: it can be. @param namespace of the Secret */
export function whyNoCertificate(
  gateway: GatewayObject,
  listener: ListenerSpec,
  namespace: string,
): string | undefined {
  const hostname = normaliseHostname(listener.hostname)
  if (hostname === '') return 'the listener has no hostname'
  if (hostname.startsWith('*.')) return `http-01 proves no wildcard such as ${hostname}`
  if (namespace !== gateway.metadata.namespace) return 'the Secret is in another namespace'
  const takes = gateway.spec.listeners.some(
    (one) => one.protocol === 'HTTP' && covers(normaliseHostname(one.hostname), hostname),
  )
  return takes ? undefined : `no HTTP listener of this Gateway takes ${hostname}, so nothing would answer the challenge`
}

function covers(pattern: string, hostname: string): boolean {
  if (pattern === '' || pattern === hostname) return true
  return pattern.startsWith('*.') && hostname.endsWith(pattern.slice(1))
}

/** The certificates that these Gateways ask for. Listeners with the same Secret share one. */
export function wantedCertificates(gateways: readonly GatewayObject[], inventory: Inventory): WantedCertificate[] {
  const wanted = new Map<string, WantedCertificate>()
  for (const gateway of gateways) {
    const setting = acmeSetting(gateway)
    if (setting === undefined) continue
    const own = gateway.metadata.namespace
    for (const listener of gateway.spec.listeners) {
      if (tlsModeOf(listener) !== 'Terminate') continue
      for (const { group, kind, name, namespace = own } of listener.tls?.certificateRefs ?? []) {
        if (kind !== 'Secret' || group !== '' || whyNoCertificate(gateway, listener, namespace) !== undefined) continue
        if (inventory.find('Secret', namespace, name) !== undefined) continue
        const key = objectKey('Secret', namespace, name)
        const before = wanted.get(key) ?? { ...setting, secret: { namespace, name }, hostnames: [], gateways: [] }
        const hostnames = [...new Set([...before.hostnames, normaliseHostname(listener.hostname)])].sort()
        const users = before.gateways.some((user) => keyOf(user) === keyOf(gateway))
        wanted.set(key, {
          ...before,
          hostnames,
          gateways: users ? before.gateways : [...before.gateways, gateway],
        })
      }
    }
  }
  return [...wanted.values()]
}
