import type { GatewayObject } from '#api/gateway.ts'
import { objectKey } from '#api/object.ts'
import type { ProxyParametersObject } from '#api/proxy-parameters.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import { describeOrigin } from '#base/origin.ts'
import type { ControllerNames } from '../context/controller.ts'
import type { Report } from '../context/reporting.ts'
import { clusterSettings, settingsProblems, unknownModules } from '../gateways/process-settings.ts'
import { refusedText } from '../references/not-found.ts'
import { reportTo } from './open-context.ts'
import type { Tables } from './tables.ts'

/** Reports parameters that have no effect. */
/** @param isDeployed proxies are deployed for Gateways, so that all fields have an effect */
export function parametersStage(tables: Tables, isDeployed: boolean): StageDefinition<ProxyParametersObject> {
  return {
    name: 'parameters',
    each: [tables.objects.ProxyParameters],
    writes: [tables.findings],
    run([parameters], work, key) {
      const report = reportTo(tables, work)(parameters!)
      const problems = settingsProblems(parameters!.spec)
      for (const found of problems) report({ ...found, code: 'parameters-invalid' })
      if (!isDeployed) reportClusterSettings(parameters!, report)
      for (const found of unknownModules(parameters!.spec)) report(found)
      // Gateways that refer to unusable parameters say so.
      if (problems.length === 0 && work.read(tables.parametersUsed, key).length === 0) reportUnreferenced(report)
    },
  }
}

/** Fields that have an effect outside Kubernetes as well (decision A-118). */
const EVERYWHERE: ReadonlySet<string> = new Set(['logging', 'rawConfig', 'env', 'shutdown'])

function reportClusterSettings({ spec }: ProxyParametersObject, report: Report): void {
  for (const [path, message] of clusterSettings(spec)) {
    report({ path, code: 'parameters-only-on-kubernetes', message, severity: 'warning' })
  }
  for (const field of Object.keys(spec)) {
    if (EVERYWHERE.has(field)) continue
    const message = `${field} takes effect only on Kubernetes`
    report({ path: `spec.${field}`, code: 'parameters-only-on-kubernetes', message, severity: 'warning' })
  }
}

function reportUnreferenced(report: Report): void {
  const message =
    'these parameters have no effect: no Gateway refers to them, neither directly nor through its GatewayClass'
  report({ path: 'spec', code: 'no-effect', message, severity: 'warning' })
}

/** Reports that no port is open. The finding belongs to the default GatewayClass, which need not exist as an object. */
export function noGatewayStage(tables: Tables, { controller, gatewayClass }: ControllerNames): StageDefinition<true> {
  return {
    name: 'noGateway',
    each: [tables.always],
    writes: [tables.findings],
    run(_, work) {
      if (work.count(tables.served, 'any') > 0) return
      const origin = { kind: 'GatewayClass', namespace: '', name: gatewayClass }
      const report = reportTo(tables, work)({ origin })
      const gateways = work.read(tables.ofKind, 'Gateway') as readonly GatewayObject[]
      const usedClasses = gateways.map(({ spec }) => objectKey('GatewayClass', '', spec.gatewayClassName))
      const refusedClasses = work.read(tables.refusedObjects, 'GatewayClass').filter((key) => usedClasses.includes(key))
      const [refused] = [...work.read(tables.refusedObjects, 'Gateway'), ...refusedClasses]
      if (refused !== undefined) {
        const [kind, namespace, name] = refused.split('/') as [string, string, string]
        const message = `no port is open: ${refusedText(describeOrigin({ kind, namespace, name }))}`
        return report({ path: '', code: 'object-refused', message, severity: 'warning' })
      }
      const classes = [...new Set(gateways.map(({ spec }) => spec.gatewayClassName))].join(', ')
      const message =
        gateways.length === 0
          ? `there is no Gateway, so no port is open; create one with gatewayClassName ${gatewayClass}`
          : `no port is open: no Gateway has a GatewayClass of ${controller}, such as ${gatewayClass}; the Gateways have ${classes}`
      report({ path: '', code: 'no-gateway', message, severity: 'warning' })
    },
  }
}
