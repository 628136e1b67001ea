import type { GatewayObject } from '#api/gateway.ts'
import type { ListenerSetObject } from '#api/listener-set.ts'
import { keyOf } from '#api/object.ts'
import type { StageDefinition, Work } from '#base/incremental/stage.ts'
import { gatewayTarget, listenerSetTarget } from '#plan/target.ts'
import { type OpenContext, reportTo } from '../open-context.ts'
import type { Tables } from '../tables.ts'
import { type Claim, judgeClaims, orderOf } from './claim.ts'
import { gatewayItem } from './gateway-item.ts'
import { isServed, type Listener } from './listener.ts'
import { listenerItem } from './listener-item.ts'
import {
  type AddressOf,
  type PlacedGateway,
  type PlacedListenerSet,
  parentOf,
  placeGateway,
  placeListenerSet,
  reportOrphan,
} from './place-gateways.ts'

/** Which Gateways are ours, with their listeners. */
export function gatewayStage(
  tables: Tables,
  openScope: OpenContext,
  addressOf: AddressOf,
): StageDefinition<GatewayObject> {
  const { gateways, claims, served, parametersUsed, items, findings } = tables
  return {
    name: 'gateways',
    each: [tables.objects.Gateway],
    writes: [gateways, claims, served, parametersUsed, items, findings],
    run([object], work, key) {
      const placed = placeGateway(openScope(work), object!, addressOf)
      if (placed === undefined) return
      work.write(gateways, key, placed)
      work.write(served, 'any', true)
      work.write(items, key, gatewayItem(placed))
      for (const parameters of placed.parameters.objects) work.write(parametersUsed, keyOf(parameters), true)
      writeClaims(tables, work, placed.object, placed)
    },
  }
}

/** The ListenerSets of our Gateways, with their listeners. */
export function listenerSetStage(tables: Tables, openScope: OpenContext): StageDefinition<ListenerSetObject> {
  const { gateways, listenerSets, claims, findings } = tables
  return {
    name: 'listenerSets',
    each: [tables.objects.ListenerSet],
    writes: [listenerSets, claims, findings],
    run([object], work, key) {
      const context = openScope(work)
      const parent = parentOf(object!)
      const [gateway] = parent === undefined ? [] : work.read(gateways, parent)
      if (gateway === undefined) return reportOrphan(context, object!)
      const placed = placeListenerSet(context, object!, gateway)
      work.write(listenerSets, key, placed)
      writeClaims(tables, work, gateway.object, placed)
    },
  }
}

function writeClaims(
  { claims }: Tables,
  work: Work,
  gateway: GatewayObject,
  { object, listeners }: PlacedGateway | PlacedListenerSet,
): void {
  for (const [index, listener] of listeners.entries()) {
    if (listener.faults.accepted !== undefined) continue
    work.write(claims, socketOf(listener), { listener, order: orderOf(gateway, object, index) })
  }
}

function socketOf({ address, spec }: Listener): string {
  return `${address} ${spec.port}`
}

/** Which listeners have to give way at each address and port. */
export function socketStage(tables: Tables): StageDefinition<Claim> {
  const { claims, conflicts, findings } = tables
  return {
    name: 'sockets',
    each: [claims],
    writes: [conflicts, findings],
    run(claimed, work) {
      const reportOn = reportTo(tables, work)
      const lost = judgeClaims(claimed, ({ owner }) => reportOn(owner))
      for (const [listener, complaint] of lost) work.write(conflicts, listener, complaint)
    },
  }
}

/** The listeners of each Gateway and ListenerSet as they are served. */
export function listenerStage(tables: Tables): StageDefinition<PlacedGateway | PlacedListenerSet> {
  const { gateways, listenerSets, conflicts, listeners, listenersAt, socketUsers, outer, wantedMaterial, items } =
    tables
  return {
    name: 'listeners',
    each: [gateways, listenerSets],
    writes: [listeners, listenersAt, socketUsers, outer, wantedMaterial, items],
    run([placed], work, key) {
      const judged = placed!.listeners.map((listener): Listener => {
        const [conflicted] = work.read(conflicts, listener.key)
        return conflicted === undefined ? listener : { ...listener, faults: { ...listener.faults, conflicted } }
      })
      work.write(listeners, key, judged)
      const gateway = 'gateway' in placed! ? placed.gateway : placed!.object
      const around = gatewayTarget(gateway.metadata)
      const whole = 'gateway' in placed! ? listenerSetTarget(placed.object.metadata) : around
      if (whole !== around) work.write(outer, whole, around)
      for (const [index, listener] of judged.entries()) {
        work.write(outer, listener.target, whole)
        for (const place of new Set([listener.target, whole, around])) work.write(listenersAt, place, listener)
        if (!isServed(listener)) continue
        const item = listenerItem(listener)
        work.write(items, item.key, item)
        const { namespace, name } = gateway.metadata
        const order = orderOf(gateway, placed!.object, index)
        work.write(socketUsers, `${item.address}:${item.port}`, { namespace, name, order })
        for (const secret of item.certificates) work.write(wantedMaterial, secret, true)
        for (const authority of item.clientValidation?.authorities ?? []) work.write(wantedMaterial, authority, true)
      }
    },
  }
}
