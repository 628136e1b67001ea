import { parseIpAddress } from '#base/ip-address.ts'
import { duplicateField, invalidField, requiredField, unsupportedField } from '../kinds/field-errors.ts'
import type { Cause, WrittenObject } from '../kinds/served-kind.ts'
import {
  formProblem,
  LABEL_NAME,
  PORT_NAME,
  QUALIFIED_NAME,
  SERVICE_NAME,
  SUBDOMAIN_NAME,
} from '../schemas/name-forms.ts'

interface Port {
  readonly name?: string
  readonly targetPort?: number | string
  readonly appProtocol?: string
}

interface Spec {
  readonly type: string
  readonly ports?: readonly Port[]
  readonly clusterIP?: string
  readonly externalName?: string
  readonly sessionAffinity?: string
}

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']

/** Rules for Services (Kubernetes, `ValidateService`). */
export function checkService({ metadata, spec }: WrittenObject): readonly Cause[] {
  const { type, ports = [], clusterIP, externalName, sessionAffinity } = spec as Spec
  const causes: Cause[] = []
  const problem = formProblem(metadata.name, SERVICE_NAME)
  if (problem !== undefined) causes.push(invalidField('metadata.name', metadata.name, problem))
  if (!TYPES.includes(type)) causes.push(unsupportedField('spec.type', type, TYPES))
  if (ports.length === 0 && type !== 'ExternalName' && clusterIP !== 'None') causes.push(requiredField('spec.ports'))
  if (type === 'ExternalName') checkExternalName(externalName, causes)
  const isAddress = !clusterIP || clusterIP === 'None' || parseIpAddress(clusterIP) !== undefined
  if (!isAddress) causes.push(invalidField('spec.clusterIP', clusterIP, 'must be empty, "None" or a valid IP address'))
  if (sessionAffinity !== undefined && !['ClientIP', 'None'].includes(sessionAffinity))
    causes.push(unsupportedField('spec.sessionAffinity', sessionAffinity, ['ClientIP', 'None']))
  checkPorts(ports, causes)
  return causes
}

function checkExternalName(externalName: string | undefined, causes: Cause[]): void {
  if (!externalName) return void causes.push(requiredField('spec.externalName'))
  const problem = formProblem(externalName.replace(/\.$/, ''), SUBDOMAIN_NAME)
  if (problem !== undefined) causes.push(invalidField('spec.externalName', externalName, problem))
}

function checkPorts(ports: readonly Port[], causes: Cause[]): void {
  const names = new Set<string>()
  ports.forEach(({ name = '', targetPort, appProtocol }, index) => {
    const at = `spec.ports[${index}]`
    const problem = name === '' ? undefined : formProblem(name, LABEL_NAME)
    if (name === '' && ports.length > 1) causes.push(requiredField(`${at}.name`))
    if (problem !== undefined) causes.push(invalidField(`${at}.name`, name, problem))
    else if (name !== '' && names.has(name)) causes.push(duplicateField(`${at}.name`, name))
    names.add(name)
    checkTargetPort(targetPort, `${at}.targetPort`, causes)
    const ofProtocol = appProtocol === undefined ? undefined : formProblem(appProtocol, QUALIFIED_NAME)
    if (ofProtocol !== undefined) causes.push(invalidField(`${at}.appProtocol`, appProtocol, ofProtocol))
  })
}

function checkTargetPort(targetPort: number | string | undefined, path: string, causes: Cause[]): void {
  if (typeof targetPort === 'number' && (targetPort < 1 || targetPort > 65_535))
    causes.push(invalidField(path, targetPort, 'must be between 1 and 65535, inclusive'))
  if (typeof targetPort !== 'string') return
  const problem = formProblem(targetPort, PORT_NAME)
  if (problem !== undefined) causes.push(invalidField(path, targetPort, problem))
}
