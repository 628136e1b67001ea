import type { MeshReport } from '#admin/status-report.ts'
import { MESH_FILES } from '#api/mesh-settings.ts'
import { clock } from '#base/clock.ts'
import { FAILURE_REASONS } from '#mesh/mesh-failure.ts'
import { MeshIdentity, type MeshIdentityOptions } from '#mesh/mesh-identity.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import type { Sample } from '#observe/metrics/metrics-reader.ts'
import { endsIn } from '#plan/material-ends.ts'

/** Where the certificate of a proxy is from. */
export type MeshSource = Pick<MeshIdentityOptions, 'caUrl' | 'trustDomain' | 'workload' | 'rootsFile' | 'tokenFile'>

/** A proxy in a mesh: its identity, as status and metrics show it. */
export class ProxyMesh {
  readonly identity: MeshIdentity
  readonly #rootsObject: string
  readonly #failures = new Map(FAILURE_REASONS.map((reason) => [reason, 0]))

  constructor(options: Omit<MeshIdentityOptions, 'failed'>) {
    this.#rootsObject = `ConfigMap/${options.workload.namespace}/${MESH_FILES.roots.configMap}`
    this.identity = new MeshIdentity({
      ...options,
      failed: (reason) => this.#failures.set(reason, this.#failures.get(reason)! + 1),
    })
  }

  /** For `/status`. */
  get report(): MeshReport {
    const { id, ca, held, nextMs, failed, endedMs } = this.identity.state
    return {
      ...{ id, ca },
      ...(held && {
        issuedAt: timeOf(held.issuedMs),
        expiresAt: timeOf(held.untilMs),
        renewsAt: timeOf(Math.max(nextMs, held.issuedMs)),
      }),
      ...(endedMs !== undefined && { expiredAt: timeOf(endedMs) }),
      ...(failed && { failure: failed.words, failingSince: timeOf(failed.sinceMs) }),
    }
  }

  /** Values of metrics. A certificate that has expired is shown until there is another one. */
  samples(): readonly Sample[] {
    const { id, held, endedMs } = this.identity.state
    const untilMs = held?.untilMs ?? endedMs
    const { name } = MESH_FILES.roots
    const roots = endsIn({ [name]: held?.material.roots ?? '' }, TLS_MATERIAL.validity, (ms) => clock.now() > ms)
    return [
      ...[...this.#failures].map(([reason, value]) => sample('meshCertificateFailures', value, reason)),
      ...(untilMs === undefined ? [] : [sample('certificateExpiry', untilMs / 1000, id, 'certificate')]),
      ...roots.map(({ entry, untilMs }) => sample('certificateExpiry', untilMs / 1000, this.#rootsObject, entry)),
    ]
  }
}

function sample(metric: Sample['metric'], value: number, ...values: readonly string[]): Sample {
  return { metric, value, values }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
