import { coreEvent, event } from './event.ts'
import type { KindInfo } from './kinds.ts'
import { lease } from './lease.ts'
import { serviceAccount } from './service-account.ts'

/** Kinds that the API stores for its clients. The gateway itself does not read them, so files cannot have them. */
export type StoredKindName = 'Event' | 'Lease' | 'ServiceAccount'

type StoredKindInfo = Omit<KindInfo, 'kind'> & { readonly kind: StoredKindName }

const COMMON = {
  shortNames: [],
  categories: [],
  versions: ['v1'],
  namespaced: true,
  own: false,
  statusIsOurs: false,
} as const

/** Every kind that is only stored, in the order of listings. */
export const STORED_KINDS: readonly StoredKindInfo[] = [
  {
    ...COMMON,
    group: '',
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    schema: coreEvent,
    description: 'What happened to an object.',
  },
  {
    ...COMMON,
    group: 'events.k8s.io',
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    schema: event,
    description: 'What happened to an object.',
  },
  {
    ...COMMON,
    group: 'coordination.k8s.io',
    kind: 'Lease',
    plural: 'leases',
    schema: lease,
    description: 'A right that one of several programs holds for a time.',
  },
  {
    ...COMMON,
    group: '',
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    shortNames: ['sa'],
    schema: serviceAccount,
    description: 'An identity of programs.',
  },
]
