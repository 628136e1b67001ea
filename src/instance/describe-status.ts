import type { FindingReport, StatusReport } from '#admin/status-report.ts'
import { keyOf } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import type { ListenerItem } from '#plan/item.ts'
import { socketKey } from '#plan/socket.ts'
import { formatProblem, placeOf } from '#store/file-problem.ts'
import { placeFindings } from '#store/place-findings.ts'
import type { PriceFile } from '#store/price-file.ts'
import type { ObjectStore } from '#store/store.ts'
import type { PlanPublisher } from './plan-publisher.ts'
import { VERSION } from './version.ts'

/** What the data plane says of itself, or a controller of its proxies. */
export type DataPlaneReport = Pick<
  StatusReport,
  'planVersion' | 'workers' | 'failingOutputs' | 'keySets' | 'credentials' | 'configuration' | 'mesh' | 'proxies'
>

/** Objects and files, as far as a status shows them. */
export type StatusStore = Pick<ObjectStore, 'list' | 'statusOf' | 'problems' | 'stale' | 'locate'>

interface Parts {
  readonly store: StatusStore
  readonly prices: PriceFile | undefined
  readonly findings: readonly Finding[]
  /** Undefined: a controller has no sockets and no endpoints. */
  readonly publisher?: PlanPublisher
  readonly ofDataPlane: DataPlaneReport
  readonly notReady: readonly string[]
}

/** The state of the instance, for `/status`. */
export function describeStatus({
  store,
  prices,
  findings: all,
  publisher,
  ofDataPlane,
  notReady,
}: Parts): StatusReport {
  const objects = new Set(store.list().map(({ origin }) => originKey(origin)))
  const findings = Map.groupBy(all, ({ origin }: Finding) => originKey(origin))
  // A refused policy is no object of the store.
  const refused = all.filter(({ origin, severity }) => severity !== 'advice' && !objects.has(originKey(origin)))
  return {
    version: VERSION,
    ...ofDataPlane,
    notReady,
    objects: store.list().map((object) => ({
      origin: object.origin,
      status: store.statusOf(keyOf(object)),
      findings: (findings.get(originKey(object.origin)) ?? [])
        .filter(({ severity }) => severity !== 'advice')
        .map((finding) => reportFinding(store, finding)),
    })),
    listeners: (publisher?.listeners ?? []).map((item) => {
      const refused = publisher?.refused.get(socketKey(item))
      const message = refused ?? certificateProblem(item)
      return {
        listener: `${item.gateway.namespace}/${item.gateway.name}/${item.name}`,
        address: item.address,
        port: item.port,
        bound: refused === undefined,
        ...(message === undefined ? {} : { message }),
      }
    }),
    problems: [...store.problems(), ...(prices?.problems ?? []), ...placeFindings(store, refused)].map(formatProblem),
    staleFiles: [...store.stale(), ...(prices?.stale ?? [])].map(({ file, since, objects, problems }) => ({
      file,
      since: new Date(since).toISOString(),
      objects,
      problems: problems.map(formatProblem),
    })),
    endpoints: (publisher?.endpoints ?? []).map(({ evictedUntilMs, ...endpoint }) => ({
      ...endpoint,
      ...(evictedUntilMs === undefined ? {} : { evictedUntil: new Date(evictedUntilMs).toISOString() }),
    })),
    openCircuits: (publisher?.circuits ?? [])
      .filter(({ isOpen }) => isOpen)
      .map(({ guard, kind, backend }) => ({ guard, kind, backend })),
  }
}

function reportFinding(store: Pick<ObjectStore, 'locate'>, { origin, ...finding }: Finding): FindingReport {
  const position = store.locate(origin, finding.path)
  return position === undefined ? finding : { ...finding, at: placeOf({ ...finding, ...position })! }
}

/** Such a listener accepts connections, but serves none. */
export function certificateProblem({ tlsMode, certificates }: ListenerItem): string | undefined {
  if (tlsMode !== 'Terminate' || certificates.length > 0) return undefined
  return 'it has no usable certificate, so every TLS handshake is refused (certificate-missing)'
}

function originKey({ kind, namespace, name }: { kind: string; namespace: string; name: string }): string {
  return `${kind}/${namespace}/${name}`
}
