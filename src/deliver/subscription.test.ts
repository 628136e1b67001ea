import { expect, test } from 'vitest'
import { seededRandom } from '#test/support/seeded-random.ts'
import type { DiscoveryResponse } from './discovery-messages.ts'
import { GatewayPlan, type PlanWatcher } from './gateway-plans.ts'
import {
  ENDPOINTS_TYPE,
  HeldVersions,
  ITEM_TYPE,
  type PlanResource,
  readResource,
  resourceOf,
  SNAPSHOT,
} from './plan-resource.ts'
import { Subscription } from './subscription.ts'
import { secretItem } from './testing.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e']

/** @param version of the content */
function resource(name: string, version: number): PlanResource {
  return resourceOf(secretItem(name, { version: `${version}` }))
}

/** What a proxy has, checked as it arrives. */
class ToldProxy {
  readonly held = new HeldVersions()

  take({ resources = [], removed = [] }: DiscoveryResponse): void {
    for (const name of removed) {
      expect(this.held.versions.has(name)).toBe(true)
      this.held.delete(name)
    }
    for (const each of resources) {
      if (each.name !== SNAPSHOT) this.held.set(each.name!, each.version!)
      else expect(readResource(ITEM_TYPE, each)).toEqual({ snapshot: this.held.snapshot })
    }
  }
}

function subscribe(plan: GatewayPlan, proxy: ToldProxy) {
  const subscription = new Subscription(ITEM_TYPE, plan, new Map(proxy.held.versions))
  const watcher: PlanWatcher = (changed) => {
    for (const each of changed) subscription.changed(each)
  }
  plan.watchers.add(watcher)
  return { subscription, watcher }
}

test('whatever changes while responses are on their way, and on new streams: proxies get all that changed, once', () => {
  const { below, pick } = seededRandom(1)
  for (let run = 0; run < 200; run++) {
    const used = new Map(NAMES.slice(0, below(6)).map((name) => [name, resource(name, 0)]))
    const plan = new GatewayPlan([...used.values()], () => 1)
    const proxy = new ToldProxy()
    let { subscription, watcher } = subscribe(plan, proxy)
    let nonce = 0
    const step = (keepsRemoved: boolean) => {
      const response = subscription.next(`${nonce + 1}`, keepsRemoved)
      if (response === undefined) return false
      nonce++
      proxy.take(response)
      return true
    }
    for (let round = 0; round < 30; round++) {
      const name = pick(NAMES)
      if (below(3) === 0) used.delete(name)
      else used.set(name, resource(name, below(3)))
      const isUpdate = plan.find(`Secret/default/${name}`) !== undefined && used.has(name)
      if (isUpdate) plan.update([used.get(name)!])
      else plan.replace([...used.values()])
      if (below(2) === 0) step(below(2) === 0)
      if (below(2) === 0) subscription.answered(`${nonce}`)
      if (below(20) > 0) continue
      plan.watchers.delete(watcher)
      ;({ subscription, watcher } = subscribe(plan, proxy))
    }
    for (subscription.answered(`${nonce}`); step(false); subscription.answered(`${nonce}`));
    expect(subscription.isCurrent).toBe(true)
    expect(Object.fromEntries(proxy.held.versions)).toEqual(
      Object.fromEntries([...used.values()].map(({ name, version }) => [name, version])),
    )
  }
})

test('what has changed back in the meantime is not sent', () => {
  const plan = new GatewayPlan([resource('a', 0)], () => 1)
  const proxy = new ToldProxy()
  const { subscription } = subscribe(plan, proxy)
  proxy.take(subscription.next('1', false)!)
  plan.update([resource('a', 1)])
  plan.update([resource('a', 0)])
  subscription.answered('1')
  expect(subscription.next('2', false)).toBeUndefined()
  expect(subscription.isCurrent).toBe(true)
  expect(new Subscription(ENDPOINTS_TYPE, plan, new Map()).next('1', false)!.resources).toHaveLength(1)
})
