import { isDeepStrictEqual } from 'node:util'
import { parseIpAddress } from '#base/ip-address.ts'
import type { Resource } from '#store/resources/resource.ts'
import { duplicateField, forbiddenField, invalidField, requiredField, unsupportedField } from '../kinds/field-errors.ts'
import type { Cause, WrittenObject } from '../kinds/served-kind.ts'
import { formProblem, LABEL_NAME, type NameForm, PORT_NAME } from '../schemas/name-forms.ts'

interface Port {
  readonly name?: string
  readonly containerPort?: number
  readonly hostPort?: number
  readonly protocol?: string
}

interface Container {
  readonly name?: string
  readonly image?: string
  readonly imagePullPolicy?: string
  readonly terminationMessagePolicy?: string
  readonly ports?: readonly Port[]
  readonly env?: readonly { readonly name?: string }[]
  readonly volumeMounts?: readonly { readonly name?: string; readonly mountPath?: string }[]
}

interface Spec {
  readonly containers?: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly volumes?: readonly { readonly name?: string }[]
  readonly restartPolicy?: string
  readonly dnsPolicy?: string
  readonly activeDeadlineSeconds?: number
  readonly tolerations?: unknown
  readonly terminationGracePeriodSeconds?: number
}

interface Status {
  readonly phase?: string
  readonly podIP?: string
  readonly podIPs?: readonly { readonly ip?: string }[]
}

const RESTART_POLICIES = ['Always', 'Never', 'OnFailure']
const DNS_POLICIES = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never']
const MESSAGE_POLICIES = ['FallbackToLogsOnError', 'File']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']
const PHASES = ['Failed', 'Pending', 'Running', 'Succeeded', 'Unknown']
const MAX_PORT = 65_535

/** Rules for Pods (Kubernetes, `ValidatePodCreate`, `ValidatePodUpdate`), without those of fields that only a node understands. */
export function checkPod({ spec, status }: WrittenObject, before: Resource | undefined): readonly Cause[] {
  const causes: Cause[] = []
  checkSpec((spec ?? {}) as Spec, causes)
  checkStatus((status ?? {}) as Status, causes)
  if (before !== undefined && !isDeepStrictEqual(fixedPart(spec as Spec), fixedPart(before.spec as Spec))) {
    const detail =
      'pod updates may not change fields other than images of containers, activeDeadlineSeconds, tolerations and terminationGracePeriodSeconds'
    causes.push(forbiddenField('spec', detail))
  }
  return causes
}

/** What an update must not change. */
function fixedPart(spec: Spec = {}): object {
  const { activeDeadlineSeconds: _, tolerations: __, terminationGracePeriodSeconds: ___, ...fixed } = spec
  const withoutImages = (containers: readonly Container[] | undefined) =>
    containers?.map(({ image: ____, ...container }) => container)
  const { containers, initContainers } = spec
  return { ...fixed, containers: withoutImages(containers), initContainers: withoutImages(initContainers) }
}

function checkSpec(spec: Spec, causes: Cause[]): void {
  const { containers = [], initContainers = [], volumes = [], restartPolicy, dnsPolicy } = spec
  if (containers.length === 0) causes.push(requiredField('spec.containers'))
  checkWord('spec.restartPolicy', restartPolicy, RESTART_POLICIES, causes)
  checkWord('spec.dnsPolicy', dnsPolicy, DNS_POLICIES, causes)
  const mountable = new Set<string>()
  for (const [index, { name }] of volumes.entries())
    checkName(`spec.volumes[${index}].name`, name, LABEL_NAME, mountable, causes)
  const names = new Set<string>()
  const lists = [
    ['spec.initContainers', initContainers],
    ['spec.containers', containers],
  ] as const
  for (const [path, list] of lists) {
    list.forEach((container, index) => {
      const at = `${path}[${index}]`
      checkName(`${at}.name`, container.name, LABEL_NAME, names, causes)
      checkContainer(container, at, mountable, causes)
    })
  }
}

function checkContainer(container: Container, at: string, mountable: ReadonlySet<string>, causes: Cause[]): void {
  const { image, imagePullPolicy, terminationMessagePolicy, ports = [], env = [], volumeMounts = [] } = container
  if (!image) causes.push(requiredField(`${at}.image`))
  checkWord(`${at}.imagePullPolicy`, imagePullPolicy, PULL_POLICIES, causes)
  checkWord(`${at}.terminationMessagePolicy`, terminationMessagePolicy, MESSAGE_POLICIES, causes)
  const portNames = new Set<string>()
  for (const [index, port] of ports.entries()) checkPort(port, `${at}.ports[${index}]`, portNames, causes)
  env.forEach(({ name }, index) => {
    if (!name) causes.push(requiredField(`${at}.env[${index}].name`))
  })
  const paths = new Set<string>()
  volumeMounts.forEach(({ name, mountPath }, index) => {
    const mount = `${at}.volumeMounts[${index}]`
    if (!name) causes.push(requiredField(`${mount}.name`))
    else if (!mountable.has(name)) {
      causes.push({
        reason: 'FieldValueNotFound',
        field: `${mount}.name`,
        message: `Not found: ${JSON.stringify(name)}`,
      })
    }
    if (!mountPath) causes.push(requiredField(`${mount}.mountPath`))
    else if (paths.has(mountPath)) causes.push(invalidField(`${mount}.mountPath`, mountPath, 'must be unique'))
    else paths.add(mountPath)
  })
}

function checkPort(port: Port, at: string, names: Set<string>, causes: Cause[]): void {
  const { name, containerPort, hostPort, protocol } = port
  if (name) checkName(`${at}.name`, name, PORT_NAME, names, causes)
  if (!containerPort) causes.push(requiredField(`${at}.containerPort`))
  else checkNumber(`${at}.containerPort`, containerPort, causes)
  if (hostPort) checkNumber(`${at}.hostPort`, hostPort, causes)
  checkWord(`${at}.protocol`, protocol, PROTOCOLS, causes)
}

function checkNumber(path: string, port: number, causes: Cause[]): void {
  if (port < 1 || port > MAX_PORT) causes.push(invalidField(path, port, `must be between 1 and ${MAX_PORT}, inclusive`))
}

function checkWord(path: string, value: string | undefined, words: readonly string[], causes: Cause[]): void {
  if (value && !words.includes(value)) causes.push(unsupportedField(path, value, words))
}

/** @param taken names of the same list, to which this one is added */
function checkName(path: string, name: string | undefined, form: NameForm, taken: Set<string>, causes: Cause[]): void {
  if (!name) return void causes.push(requiredField(path))
  const problem = formProblem(name, form)
  if (problem !== undefined) causes.push(invalidField(path, name, problem))
  else if (taken.has(name)) causes.push(duplicateField(path, name))
  taken.add(name)
}

function checkStatus({ phase, podIP, podIPs = [] }: Status, causes: Cause[]): void {
  checkWord('status.phase', phase, PHASES, causes)
  const addresses = [['status.podIP', podIP], ...podIPs.map(({ ip }, index) => [`status.podIPs[${index}].ip`, ip])]
  for (const [path = '', address] of addresses) {
    if (address && parseIpAddress(address) === undefined)
      causes.push(invalidField(path, address, 'must be a valid IP address'))
  }
}
