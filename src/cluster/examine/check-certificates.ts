import { objectKey } from '#api/object.ts'
import { endNote } from '#control/references/check-ends.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { endsIn } from '#plan/material-ends.ts'
import { itemsOf, type Members, membersOf, textOf } from '../kubeconfig.ts'
import { secretPath } from '../object-path.ts'
import { type Check, failure, ok, unknown, warning } from './check.ts'
import { namespaceOf } from './check-gateways.ts'
import type { ClusterReader } from './cluster-reader.ts'
import type { FoundController } from './find-controllers.ts'

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
    ...controllers.map(({ namespace, service, secret }) => ({
      key: objectKey('Secret', namespace, secret),
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
  const entries = Object.entries(membersOf(reading.value.data)).map(
    ([entry, value]) => [entry, Buffer.from(textOf(value) ?? '', 'base64').toString()] as const,
  )
  const isPast = (ms: number) => nowMs > ms
  const ends = endsIn(Object.fromEntries(entries), TLS_MATERIAL.validity, isPast)
  const certificates = ends.filter(({ kind }) => kind === 'certificate')
  if (certificates.length === 0) return [failure('certificates', `${title} has no certificate`, 'put one into it')]
  return certificates.map((end) => {
    const note = endNote(end, isPast)
    const subject = `${title}, ${end.entry}`
    if (note?.state === 'invalid')
      return failure('certificates', `${subject} ${note.text}`, 'renew it, or check the clocks')
    const detail = `${subject} is valid until ${new Date(end.untilMs).toISOString().slice(0, 10)}`
    return note === undefined ? ok('certificates', detail) : warning('certificates', detail, 'renew it')
  })
}
