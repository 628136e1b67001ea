import { union } from '../fields/field-set.ts'
import { type Owner, type Owners, ownerId, secondsOf } from './owners.ts'

/** Entries of managers that do not apply, at most. */
const MAX_UPDATERS = 10

/** Joins the oldest entries of each version into one, so that an object with many writers does not grow. */
export function limitUpdaters(owners: Owners): Owners {
  const updaters = [...owners].filter(([, { operation }]) => operation === 'Update')
  let excess = updaters.length - MAX_UPDATERS
  if (excess <= 0) return owners
  updaters.sort(([one, a], [other, b]) => secondsOf(a) - secondsOf(b) || (one < other ? -1 : 1))
  const limited: Owners = new Map(owners)
  const firsts = new Map<string, string>()
  for (const [id, owner] of updaters) {
    if (excess <= 0) break
    const { apiVersion } = owner
    const first = firsts.get(apiVersion)
    if (first === undefined) {
      firsts.set(apiVersion, id)
      continue
    }
    joinInto(limited, first, id, owner)
    excess--
  }
  return limited
}

function joinInto(owners: Owners, first: string, id: string, owner: Owner): void {
  const { apiVersion, time } = owner
  const shared = { manager: 'ancient-changes', operation: 'Update', apiVersion } as const
  const sharedId = ownerId(shared)
  const before = owners.get(sharedId) ?? owners.get(first)!
  if (!owners.has(sharedId)) owners.delete(first)
  owners.delete(id)
  const times = time === undefined ? {} : { time }
  owners.set(sharedId, { ...shared, ...times, fields: union(owner.fields, before.fields) })
}
