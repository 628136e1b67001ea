import { objectKey } from '#api/object.ts'
import type { ProxyPolicyObject } from '#api/proxy-policy.ts'
import type { StageDefinition, Work } from '#base/incremental/stage.ts'
import type { PolicyItem } from '#plan/item.ts'
import { type OpenContext, reportTo } from '../open-context.ts'
import { gatewaysAround, targetsAround } from '../reach.ts'
import type { Tables } from '../tables.ts'
import { reportOverlaps } from './describe-overlaps.ts'
import { findPartial, findTies, type Overlap, placeKey } from './find-overlaps.ts'
import { findSharedSockets, isSocketSetting, type SocketUser } from './find-shared-sockets.ts'
import { type AttachedPolicy, placePolicy } from './place-policy.ts'
import { policyFactsOf } from './policy-facts.ts'
import { reportNoEffect } from './report-no-effect.ts'
import { translatePolicy } from './translate-policy.ts'
import { writeFields } from './write-policies.ts'

/** Attaches each policy to its places and translates its fields. */
export function policyStage(tables: Tables, openScope: OpenContext): StageDefinition<ProxyPolicyObject> {
  const { policies, reached, socketSettings } = tables
  return {
    name: 'policies',
    each: [tables.objects.ProxyPolicy],
    writes: [policies, reached, socketSettings, ...fieldTables(tables)],
    run([object], work, key) {
      const context = openScope(work)
      const report = context.reportOn(object!)
      const placed = placePolicy(
        {
          inventory: context.inventory,
          listenersOf: (owner) => work.read(tables.listeners, owner)[0],
          sectionsOf: (backend) => work.read(tables.backends, backend)[0]?.sections ?? [],
        },
        object!,
      )
      work.write(policies, key, placed)
      for (const { target } of placed.places) work.write(reached, target, true)
      const listenersAt = (place: string) => work.read(tables.listenersAt, place)
      reportNoEffect({ inventory: context.inventory, listenersAt }, placed, report)
      const fields = translatePolicy(context, placed, report)
      writeFields(tables, work, fields)
      for (const item of fields.items) if (isSocketSetting(item)) work.write(socketSettings, item.target, item)
    },
  }
}

/** What `writeFields` writes. */
export function fieldTables(tables: Tables) {
  const { items, findings, callers, wantedBackends, wantedMaterial, policiesAt, partial, workloadReaders } = tables
  return [items, findings, callers, wantedBackends, wantedMaterial, policiesAt, partial, workloadReaders]
}

/** Policies that set the same field at the same place. */
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

/** Policies that replace a field although they set only a part of it. Those that lost a tie are out of the game. */
export function partialStage(tables: Tables): StageDefinition<PolicyItem> {
  const { partial, policiesAt, tied } = tables
  return {
    name: 'partial',
    each: [partial],
    writes: [tables.overlaps, tables.reached],
    run([winner], work) {
      const isTied = ({ key }: PolicyItem) => work.read(tied, key).length > 0
      if (isTied(winner!)) return
      const others = [winner!.target, ...targetsAround(tables, work, winner!.target)]
        .flatMap((place) => work.read(policiesAt, placeKey(winner!, place)))
        .filter((item) => !isTied(item))
      for (const overlap of findPartial(winner!, others)) writeOverlap(tables, work, overlap)
    },
  }
}

/** Settings of connections at ports that belong to an older Gateway as well. */
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

/** Tells the author of each overridden field by whom it is overridden. */
export function overlapStage(tables: Tables): StageDefinition<Overlap> {
  return {
    name: 'overlaps',
    each: [tables.overlaps],
    writes: [tables.findings],
    run: (overlaps, work) => reportOverlaps(overlaps, reportTo(tables, work)),
  }
}

/** The Gateways whose traffic comes to each place that somebody asks about. */
export function reachStage(tables: Tables): StageDefinition<true> {
  return {
    name: 'reach',
    each: [tables.reached],
    writes: [tables.gatewaysOf],
    run(_, work, place) {
      const gateways = gatewaysAround(tables, work, place)
      if (gateways.length > 0) work.write(tables.gatewaysOf, place, gateways)
    },
  }
}

/** What became of each policy. */
export function policyFactsStage(tables: Tables): StageDefinition<AttachedPolicy> {
  const { policies, overlaps, gatewaysOf, policyFacts, findings } = tables
  return {
    name: 'settled',
    each: [policies],
    writes: [policyFacts, findings],
    run([placed], work, key) {
      const facts = {
        overlaps: work.read(overlaps, key),
        gatewaysOf: (place: string) => work.read(gatewaysOf, place)[0] ?? [],
      }
      work.write(policyFacts, key, policyFactsOf(placed!, facts, reportTo(tables, work)(placed!.object)))
    },
  }
}
