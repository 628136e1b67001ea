import { GATEWAY_GROUP, OWN_GROUP } from '#api/groups.ts'
import { compareText } from '#base/compare-text.ts'
import { itemsOf, type Members, membersOf, textOf } from '../kubeconfig.ts'
import { type Check, ok, unknown } from './check.ts'
import type { ClusterReader } from './cluster-reader.ts'

const KINDS = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations']
const GROUPS: readonly unknown[] = [GATEWAY_GROUP, OWN_GROUP, '*']

/** Names the webhooks that decide about our objects, too. The gateway has none of its own. */
export async function checkWebhooks(reader: ClusterReader): Promise<Check> {
  const lists = await Promise.all(KINDS.map((kind) => reader.list(`/apis/admissionregistration.k8s.io/v1/${kind}`)))
  const refused = lists.find((list) => 'why' in list)
  if (refused !== undefined && 'why' in refused) return unknown('server', 'webhooks', refused.why)
  const all = lists.flatMap((list) => ('value' in list ? (list.value ?? []) : []))
  const names = all.flatMap(({ webhooks }) => itemsOf(webhooks).map(membersOf).filter(concernsUs)).map(describe)
  if (names.length === 0) return ok('server', 'no webhook decides about objects of the gateway')
  return ok('server', `webhooks that decide about objects of the gateway, too: ${names.sort(compareText).join(', ')}`)
}

function concernsUs({ rules }: Members): boolean {
  return itemsOf(rules)
    .map(membersOf)
    .some(({ apiGroups }) => itemsOf(apiGroups).some((group) => GROUPS.includes(group)))
}

function describe({ name, failurePolicy }: Members): string {
  return `${textOf(name)}${failurePolicy === 'Ignore' ? '' : ' (without its answer, changes are refused)'}`
}
