import { integer, openObject, optional, text } from '#schema/index.ts'
import { platformKind } from './object.ts'

const leaseSpec = openObject({
  holderIdentity: optional(text(), 'Who holds the lease.'),
  leaseDurationSeconds: optional(integer(), 'Seconds that the lease is valid after its renewal.'),
  acquireTime: optional(text(), 'Time at which the holder took the lease.'),
  renewTime: optional(text(), 'Time of the last renewal.'),
  leaseTransitions: optional(integer(), 'Number of changes of the holder.'),
  strategy: optional(text(), 'How the holder is chosen.'),
  preferredHolder: optional(text(), 'Who should take the lease next.'),
})

/** A right that one of several programs holds for a time, such as that of a leader (Kubernetes, coordination.k8s.io/v1). */
export const lease = platformKind('Lease', { spec: optional(leaseSpec, 'State of the lease.') })
