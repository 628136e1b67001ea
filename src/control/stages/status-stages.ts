import { keyOf } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import { sameData } from '#base/incremental/same-data.ts'
import type { StageDefinition, Stages, Work } from '#base/incremental/stage.ts'
import type { Source } from '#base/incremental/table.ts'
import { socketKey } from '#plan/socket.ts'
import { conditionsOf } from '../context/condition.ts'
import { socketOf } from '../gateways/listener.ts'
import { backendStatus } from '../status/backend-status.ts'
import { gatewayStatus, listenerSetStatus, type Traffic } from '../status/gateway-status.ts'
import { joinProblems } from '../status/join-problems.ts'
import type { OwnStatus } from '../status/own-status.ts'
import { policyStatus } from '../status/policy-status.ts'
import { routeStatus } from '../status/route-status.ts'
import { socketState } from '../status/socket-state.ts'
import { supportedFeatures } from '../status/supported-features.ts'
import { supportedVersion } from '../status/supported-version.ts'
import { tlsPolicyStatus } from '../status/tls-policy-status.ts'
import type { Tables } from './tables.ts'

/** Combines the problems of each object that were found during translation and compilation. */
export function findingStage({ findings, problems, proxyProblems, allFindings }: Tables): StageDefinition<Finding> {
  return {
    name: 'findings',
    each: [findings, problems, proxyProblems],
    writes: [allFindings],
    run(_, work, key) {
      const ofProxies = work.read(proxyProblems, key)
      for (const finding of joinProblems(work.read(findings, key), work.read(problems, key), ofProxies)) {
        work.write(allFindings, key, finding)
      }
    },
  }
}

interface StatusOptions {
  /** `controllerName` of our entries. */
  readonly controller: string
  /** Proxies are deployed for Gateways. */
  readonly isDeployed: boolean
}

/** Adds the stages that write the statuses, one for each kind of object. */
export function addStatusStages(stages: Stages, tables: Tables, { controller, isDeployed }: StatusOptions): void {
  const { objects, gateways, listenerSets, routes, backends, policyFacts, tlsPolicies } = tables
  const features = supportedFeatures(isDeployed)
  stages.add(
    statusStage(tables, 'classStatuses', objects.GatewayClass, (object, work, key) => {
      if (object.spec.controllerName !== controller) return undefined
      const [fault] = work.read(tables.classFaults, key)
      const condition = conditionsOf(object)
      const accepted =
        fault === undefined
          ? condition('Accepted', 'True', 'Accepted', 'Class accepted')
          : condition('Accepted', 'False', fault.reason, fault.message)
      const versions = work.read(tables.definitions, 'all').map((found) => supportedVersion(object, found))
      return { object, status: { conditions: [accepted, ...versions], supportedFeatures: features } }
    }),
  )
  stages.add(
    statusStage(tables, 'gatewayStatuses', gateways, (gateway, work, key) => {
      const sets = work.count(tables.acceptedSets, key)
      const errors = errorsOf(tables, work, key)
      return { object: gateway.object, status: gatewayStatus(gateway, trafficAt(tables, work, key), { sets, errors }) }
    }),
  )
  stages.add(
    statusStage(tables, 'listenerSetStatuses', listenerSets, (set, work, key) => {
      return { object: set.object, status: listenerSetStatus(set, trafficAt(tables, work, key)) }
    }),
  )
  stages.add(
    statusStage(tables, 'routeStatuses', routes, (route, work, key) => {
      const hasNoEndpoints = (backend: string) => work.count(tables.endpointless, backend) > 0
      const errors = errorsOf(tables, work, key)
      return { object: route.route.object, status: routeStatus(route, { controller, hasNoEndpoints, errors }) }
    }),
  )
  stages.add(
    statusStage(tables, 'backendStatuses', backends, (backend, work, key) => {
      return { object: backend.object, status: backendStatus(backend, work.read(tables.allFindings, key)) }
    }),
  )
  stages.add(
    statusStage(tables, 'policyStatuses', policyFacts, (policy, work, key) => {
      const gatewaysOf = (target: string) => work.read(tables.gatewaysOf, target)[0] ?? []
      const errors = errorsOf(tables, work, key)
      const status = policyStatus(policy, { controller, isAlone: !isDeployed, gatewaysOf, errors })
      return status && { object: policy.object, status }
    }),
  )
  stages.add(
    statusStage(tables, 'tlsPolicyStatuses', tlsPolicies, (policy, work, key) => {
      const gatewaysOf = (target: string) => work.read(tables.gatewaysOf, target)[0] ?? []
      const overlaps = work.read(tables.overlaps, key)
      return { object: policy.object, status: tlsPolicyStatus(policy, { controller, gatewaysOf, overlaps }) }
    }),
  )
}

function statusStage<Row>(
  { statuses }: Tables,
  name: string,
  each: Source<Row>,
  write: (row: Row, work: Work, key: string) => OwnStatus | undefined,
): StageDefinition<Row> {
  // Of thousands of routes nearly all have the same status, which is in memory once.
  let last: OwnStatus['status'] = {}
  return {
    name,
    each: [each],
    writes: [statuses],
    run([row], work, key) {
      const written = write(row!, work, key)
      if (written === undefined) return
      if (!sameData(written.status, last)) last = written.status
      work.write(statuses, key, { object: written.object, status: last })
    },
  }
}

function trafficAt(tables: Tables, work: Work, owner: string): Traffic {
  const { attachedRoutes, bindings } = tables
  const [listeners = []] = work.read(tables.listeners, owner)
  const gateway = listeners[0] && keyOf(listeners[0].gateway)
  return {
    listeners,
    attachedRoutes: (listener) => work.count(attachedRoutes, listener),
    bindingOf: (listener) => socketState(work.read(bindings, socketKey(socketOf(listener)))),
    // A proxy says nothing about other Gateways.
    refusals: errorsOf(tables, work, owner).filter((error) => error.gateway !== undefined && error.gateway === gateway),
  }
}

function errorsOf({ allFindings }: Tables, work: Work, key: string): readonly Finding[] {
  return work.read(allFindings, key).filter(({ severity }) => severity === 'error')
}
