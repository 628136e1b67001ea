import { objectKey } from '#api/object.ts'
import { daysLeft } from '#control/references/check-ends.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { itemsOf, type Members, membersOf, textOf } from '../kubeconfig.ts'
import { secretPath } from '../object-path.ts'
import { type Check, failure, ok, unknown, warning } from './check.ts'
import { namespaceOf } from './check-gateways.ts'
import type { ClusterReader } from './cluster-reader.ts'
import type { FoundController } from './find-controllers.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** A Secret with certificates, and who uses them. */
interface Holder {
  readonly key: string
  readonly user: string
}

/** Checks how long the certificates of controllers and of listeners are valid. @param nowMs by the clock of the API server */
export async function checkCertificates(
  reader: ClusterReader,
  {
    controllers,
    gateways,
    nowMs,
  }: {
    readonly controllers: readonly FoundController[]
    readonly gateways: readonly Members[]
    readonly nowMs: number
  },
): Promise<readonly Check[]> {
  const holders = [
    ...controllers.map(({ namespace, service }) => ({
      key: objectKey('Secret', namespace, `${service}-authority`),
      user: `the controller ${namespace}/${service}`,
    })),
    ...gateways.flatMap(holdersOf),
  ]
  const byKey = new Map(holders.map((holder) => [holder.key, holder]))
  return (await Promise.all([...byKey.values()].map((holder) => checkHolder(reader, holder, nowMs)))).flat()
}

function holdersOf(gateway: Members): readonly Holder[] {
  const listeners = itemsOf(membersOf(gateway.spec).listeners).map(membersOf)
  const references = listeners.flatMap(({ tls }) => itemsOf(membersOf(tls).certificateRefs).map(membersOf))
  return references
    .filter(({ kind = 'Secret' }) => kind === 'Secret')
    .map((reference) => ({
      key: objectKey('Secret', textOf(reference.namespace) ?? namespaceOf(gateway), textOf(reference.name) ?? ''),
      user: `Gateway ${namespaceOf(gateway)}/${textOf(membersOf(gateway.metadata).name)}`,
    }))
}

async function checkHolder(reader: ClusterReader, { key, user }: Holder, nowMs: number): Promise<readonly Check[]> {
  const title = `Secret ${key.split('/').slice(1).join('/')} of ${user}`
  const reading = await reader.object(secretPath(key))
  if ('why' in reading) return [unknown('certificates', title, reading.why)]
  if (reading.value === undefined)
    return [failure('certificates', `${title} does not exist`, 'create it, or correct the reference')]
  const entries = Object.entries(membersOf(reading.value.data))
  const certificates = entries.flatMap(([entry, value]) => {
    const text = Buffer.from(textOf(value) ?? '', 'base64').toString()
    // A chain is as good as its first certificate; of authorities, each counts.
    const found = text.match(CERTIFICATE) ?? []
    return (entry.startsWith('ca') ? found : found.slice(0, 1)).map((pem) => ({ entry, pem }))
  })
  if (certificates.length === 0) return [failure('certificates', `${title} has no certificate`, 'put one into it')]
  return certificates.map(({ entry, pem }) => checkCertificate(`${title}, ${entry}`, pem, nowMs))
}

function checkCertificate(title: string, pem: string, nowMs: number): Check {
  const validity = TLS_MATERIAL.validity(pem)
  if (validity === undefined) return failure('certificates', `${title} cannot be read`, 'replace it')
  const [from, until] = [validity.fromMs, validity.untilMs].map((ms) => new Date(ms).toISOString().slice(0, 10))
  if (nowMs >= validity.untilMs) return failure('certificates', `${title} expired on ${until}`, 'renew it')
  if (nowMs < validity.fromMs) return failure('certificates', `${title} is valid only from ${from}`, 'check the clocks')
  const days = daysLeft(validity, (ms) => nowMs >= ms)
  const detail = `${title} is valid until ${until}`
  return days === undefined ? ok('certificates', detail) : warning('certificates', detail, 'renew it')
}
