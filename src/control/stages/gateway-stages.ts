import type { GatewayObject } from '#api/gateway.ts'
import type { GatewayClassObject } from '#api/gateway-class.ts'
import type { ListenerSetObject } from '#api/listener-set.ts'
import { keyOf } from '#api/object.ts'
import type { StageDefinition, Work } from '#base/incremental/stage.ts'
import { socketKey } from '#plan/socket.ts'
import { gatewayTarget, listenerSetTarget } from '#plan/target.ts'
import type { GatewayAddresses } from '../gateways/check-addresses.ts'
import { type Claim, orderOf } from '../gateways/claim.ts'
import { findConflicts } from '../gateways/find-conflicts.ts'
import { gatewayItem } from '../gateways/gateway-item.ts'
import { isServed, type Listener, socketOf, whyUnusable } from '../gateways/listener.ts'
import { listenerItem } from '../gateways/listener-item.ts'
import {
  parentOf,
  type ResolvedGateway,
  type ResolvedListenerSet,
  reportOrphan,
  resolveGateway,
  resolveListenerSet,
} from '../gateways/resolve-gateways.ts'
import { classFault } from '../gateways/resolve-parameters.ts'
import { type OpenContext, reportTo } from './open-context.ts'
import type { Tables } from './tables.ts'

/** Checks the GatewayClasses of this controller. */
export function classStage(tables: Tables, openContext: OpenContext): StageDefinition<GatewayClassObject> {
  return {
    name: 'classes',
    each: [tables.objects.GatewayClass],
    writes: [tables.classFaults, tables.findings],
    run([object], work, key) {
      const { inventory, names, reportOn } = openContext(work)
      if (object!.spec.controllerName !== names.controller) return
      const fault = classFault(inventory, object!, reportOn(object!))
      if (fault !== undefined) work.write(tables.classFaults, key, fault)
    },
  }
}

/** Finds the Gateways of this controller, with their listeners. */
export function gatewayStage(
  tables: Tables,
  openContext: OpenContext,
  addresses: GatewayAddresses,
): StageDefinition<GatewayObject> {
  const { gateways, claims, served, meshed, parametersUsed, items, wantedMaterial, findings } = tables
  return {
    name: 'gateways',
    each: [tables.objects.Gateway],
    writes: [gateways, claims, served, meshed, parametersUsed, items, wantedMaterial, findings, tables.deadlines],
    run([object], work, key) {
      const gateway = resolveGateway(openContext(work), object!, addresses)
      if (gateway === undefined) return
      if (gateway.address === undefined) work.read(tables.addressesFreed, 'any')
      work.write(gateways, key, gateway)
      work.write(served, 'any', true)
      const item = gatewayItem(gateway)
      work.write(items, key, item)
      if (item.mesh !== undefined) work.write(meshed, 'any', true)
      if (gateway.backendCertificate !== undefined) {
        const { item, secret } = gateway.backendCertificate
        work.write(items, item.key, item)
        if (secret !== undefined) work.write(wantedMaterial, secret, true)
      }
      for (const parameters of gateway.parameters.objects) work.write(parametersUsed, keyOf(parameters), true)
      writeClaims(tables, work, gateway.object, gateway)
    },
  }
}

/** Finds the ListenerSets of these Gateways, with their listeners. */
export function listenerSetStage(tables: Tables, openContext: OpenContext): StageDefinition<ListenerSetObject> {
  const { gateways, listenerSets, claims, findings } = tables
  return {
    name: 'listenerSets',
    each: [tables.objects.ListenerSet],
    writes: [listenerSets, claims, findings, tables.deadlines],
    run([object], work, key) {
      const context = openContext(work)
      const parent = parentOf(object!)
      const [gateway] = parent === undefined ? [] : work.read(gateways, parent)
      if (gateway === undefined) return reportOrphan(context, object!)
      const set = resolveListenerSet(context, object!, gateway)
      work.write(listenerSets, key, set)
      writeClaims(tables, work, gateway.object, set)
    },
  }
}

function writeClaims(
  { claims }: Tables,
  work: Work,
  gateway: GatewayObject,
  { object, listeners }: ResolvedGateway | ResolvedListenerSet,
): void {
  for (const [index, listener] of listeners.entries()) {
    if (listener.faults.accepted !== undefined) continue
    work.write(claims, socketKey(socketOf(listener)), { listener, order: orderOf(gateway, object, index) })
  }
}

/** Finds the conflicts between listeners at each address and port. */
export function socketStage(tables: Tables): StageDefinition<Claim> {
  const { claims, conflicts, findings } = tables
  return {
    name: 'sockets',
    each: [claims],
    writes: [conflicts, findings],
    run(claimsAt, work) {
      const reportOn = reportTo(tables, work)
      const found = findConflicts(claimsAt, ({ owner }) => reportOn(owner))
      for (const [listener, fault] of found) work.write(conflicts, listener, fault)
    },
  }
}

/** Adds the conflicts to the listeners of each Gateway and ListenerSet, and writes the items of served listeners. */
export function listenerStage(
  tables: Tables,
  acmeThumbprint: (() => string | undefined) | undefined,
): StageDefinition<ResolvedGateway | ResolvedListenerSet> {
  const { gateways, listenerSets, conflicts, listeners, listenersAt, acceptedSets, socketUsers, enclosing } = tables
  const { wantedMaterial, items } = tables
  return {
    name: 'listeners',
    each: [gateways, listenerSets],
    writes: [listeners, listenersAt, acceptedSets, socketUsers, enclosing, wantedMaterial, items],
    run([owner], work, key) {
      const checked = owner!.listeners.map((listener): Listener => {
        const [conflicted] = work.read(conflicts, listener.key)
        return conflicted === undefined ? listener : { ...listener, faults: { ...listener.faults, conflicted } }
      })
      work.write(listeners, key, checked)
      const gateway = 'gateway' in owner! ? owner.gateway : owner!.object
      const ofGateway = gatewayTarget(gateway.metadata)
      const ofOwner = 'gateway' in owner! ? listenerSetTarget(owner.object.metadata) : ofGateway
      if (ofOwner !== ofGateway) {
        work.write(enclosing, ofOwner, ofGateway)
        const isAccepted = checked.some((listener) => whyUnusable(listener) === undefined)
        if (isAccepted) work.write(acceptedSets, keyOf(gateway), true)
      }
      for (const [index, listener] of checked.entries()) {
        work.write(enclosing, listener.target, ofOwner)
        for (const target of new Set([listener.target, ofOwner, ofGateway])) work.write(listenersAt, target, listener)
        if (!isServed(listener)) continue
        const item = listenerItem(listener, acmeThumbprint)
        work.write(items, item.key, item)
        const { namespace, name } = gateway.metadata
        const order = orderOf(gateway, owner!.object, index)
        work.write(socketUsers, socketKey(item), { namespace, name, order })
        for (const secret of item.certificates) work.write(wantedMaterial, secret, true)
        for (const authority of item.clientValidation?.authorities ?? []) work.write(wantedMaterial, authority, true)
      }
    },
  }
}
