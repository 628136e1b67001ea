import { objectKey } from '#api/object.ts'
import type { ProxyPolicyObject } from '#api/proxy-policy.ts'
import { protectingSettings } from '#api/refused-policy.ts'
import type { StageDefinition, Work } from '#base/incremental/stage.ts'
import type { PolicyItem } from '#plan/item.ts'
import type { Inventory } from '../context/inventory.ts'
import { type AttachedPolicy, type AttachmentContext, attachPolicy } from '../policies/attach-policy.ts'
import { reportOverlaps } from '../policies/describe-overlaps.ts'
import { findPartial, findTies, mergeKey, type Overlap } from '../policies/find-overlaps.ts'
import { findSharedSockets, isSocketSetting, type SocketUser } from '../policies/find-shared-sockets.ts'
import { missedTargets } from '../policies/policy-facts.ts'
import { reportNoEffect } from '../policies/report-no-effect.ts'
import { translatePolicy } from '../policies/translate-policy.ts'
import { type OpenContext, reportTo } from './open-context.ts'
import { enclosingTargets, gatewaysReaching } from './reach.ts'
import type { Tables } from './tables.ts'
import { writeFields } from './write-policies.ts'

/** Attaches each policy to its targets and translates its fields. */
export function policyStage(tables: Tables, openContext: OpenContext): StageDefinition<ProxyPolicyObject> {
  const { policies, reached, socketSettings } = tables
  return {
    name: 'policies',
    each: [tables.objects.ProxyPolicy],
    writes: [policies, reached, socketSettings, ...fieldTables(tables)],
    run([object], work, key) {
      const context = openContext(work)
      const report = context.reportOn(object!)
      const attached = attachPolicy(attachmentContext(tables, work, context.inventory), object!)
      work.write(policies, key, attached)
      for (const { target } of attached.attachments) work.write(reached, target, true)
      const listenersAt = (target: string) => work.read(tables.listenersAt, target)
      reportNoEffect({ inventory: context.inventory, listenersAt }, attached, report)
      const fields = translatePolicy(context, attached, report)
      writeFields(tables, work, fields)
      for (const item of fields.items) if (isSocketSetting(item)) work.write(socketSettings, item.target, item)
    },
  }
}

/** Finds the targets of policies in the tables. */
export function attachmentContext(tables: Tables, work: Work, inventory: Inventory): AttachmentContext {
  return {
    inventory,
    listenersOf: (owner) => work.read(tables.listeners, owner)[0],
    sectionsOf: (backend) => work.read(tables.backends, backend)[0]?.sections ?? [],
  }
}

/** The tables that `writeFields` writes. */
export function fieldTables(tables: Tables) {
  const { items, findings, callers, wantedBackends, wantedMaterial, policiesAt, partial, workloadReaders } = tables
  return [items, findings, callers, wantedBackends, wantedMaterial, policiesAt, partial, workloadReaders]
}

/** Finds policies that set the same field for the same target. */
export function tieStage(tables: Tables): StageDefinition<PolicyItem> {
  return {
    name: 'ties',
    each: [tables.policiesAt],
    writes: [tables.tied, tables.overlaps, tables.reached],
    run(items, work) {
      for (const overlap of findTies(items)) {
        work.write(tables.tied, overlap.loser.key, true)
        writeOverlap(tables, work, overlap)
      }
    },
  }
}

/** Finds policies that replace a field although they set only some of its members. Policies that lost a tie are ignored. */
export function partialStage(tables: Tables): StageDefinition<PolicyItem> {
  const { partial, policiesAt, tied } = tables
  return {
    name: 'partial',
    each: [partial],
    writes: [tables.overlaps, tables.reached],
    run([winner], work) {
      const isTied = ({ key }: PolicyItem) => work.read(tied, key).length > 0
      if (isTied(winner!)) return
      const others = [winner!.target, ...enclosingTargets(tables, work, winner!.target)]
        .flatMap((target) => work.read(policiesAt, mergeKey(winner!, target)))
        .filter((item) => !isTied(item))
      for (const overlap of findPartial(winner!, others)) writeOverlap(tables, work, overlap)
    },
  }
}

/** Finds connection settings for ports that an older Gateway uses too. */
export function sharedSocketStage(tables: Tables): StageDefinition<SocketUser> {
  const { socketUsers, socketSettings } = tables
  return {
    name: 'sharedSockets',
    each: [socketUsers],
    writes: [tables.overlaps, tables.reached],
    run(users, work, socket) {
      const settingsOf = (gateway: string) => work.read(socketSettings, gateway)
      for (const overlap of findSharedSockets(socket, users, settingsOf)) writeOverlap(tables, work, overlap)
    },
  }
}

function writeOverlap({ overlaps, reached }: Tables, work: Work, overlap: Overlap): void {
  const { kind, namespace, name } = overlap.loser.origin
  work.write(overlaps, objectKey(kind, namespace, name), overlap)
  work.write(reached, overlap.at, true)
}

/** Reports each overridden field. */
export function overlapStage(tables: Tables): StageDefinition<Overlap> {
  return {
    name: 'overlaps',
    each: [tables.overlaps],
    writes: [tables.findings],
    run: (overlaps, work) => reportOverlaps(overlaps, reportTo(tables, work)),
  }
}

/** Finds the Gateways whose traffic reaches each target in `reached`. */
export function reachStage(tables: Tables): StageDefinition<true> {
  return {
    name: 'reach',
    each: [tables.reached],
    writes: [tables.gatewaysOf],
    run(_, work, target) {
      const gateways = gatewaysReaching(tables, work, target)
      if (gateways.length > 0) work.write(tables.gatewaysOf, target, gateways)
    },
  }
}

/** Combines the attachments and overlaps of each policy. */
export function policyFactsStage(tables: Tables): StageDefinition<AttachedPolicy> {
  const { policies, overlaps, gatewaysOf, policyFacts, findings } = tables
  return {
    name: 'policyFacts',
    each: [policies],
    writes: [policyFacts, findings],
    run([attached], work, key) {
      const reach = {
        gatewaysOf: (target: string) => work.read(gatewaysOf, target)[0] ?? [],
        protects: protectingSettings(attached!.object.spec).length > 0,
      }
      const unattached = missedTargets(attached!, reach, reportTo(tables, work)(attached!.object))
      work.write(policyFacts, key, { ...attached!, unattached, overlaps: work.read(overlaps, key) })
    },
  }
}
