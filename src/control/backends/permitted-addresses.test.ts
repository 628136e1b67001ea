import { expect, test } from 'vitest'
import type { EndpointSliceObject } from '#api/endpoint-slice.ts'
import type { ServiceObject } from '#api/service.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { permittedAddresses } from './permitted-addresses.ts'

const PORT = { port: 80, protocol: 'TCP' } as const

function service(externalName?: string): ServiceObject {
  const spec = externalName === undefined ? { ports: [PORT] } : { type: 'ExternalName', externalName }
  return admitObject({ kind: 'Service', metadata: { name: 's' }, spec }) as ServiceObject
}

function slice(addressType: string, ...addresses: readonly string[]): EndpointSliceObject {
  return admitObject({
    kind: 'EndpointSlice',
    metadata: { name: 's', labels: { 'kubernetes.io/service-name': 's' } },
    addressType,
    endpoints: addresses.map((address) => ({ addresses: [address] })),
    ports: [{ port: 80 }],
  }) as EndpointSliceObject
}

interface Given {
  readonly name?: string
  readonly slices?: readonly EndpointSliceObject[]
  readonly isOfFile?: boolean
  readonly allowsNames?: boolean
}

function judge({ name, slices = [], isOfFile = false, allowsNames = false }: Given) {
  const found: ConfigProblem[] = []
  const placed = <T extends ServiceObject | EndpointSliceObject>(object: T): T =>
    isOfFile ? { ...object, origin: { ...object.origin, file: 'a.yaml' } } : object
  const rules = { allowsNames, reportOn: () => (problem: ConfigProblem) => void found.push(problem) }
  const { addresses, isReduced } = permittedAddresses(placed(service(name)), PORT, slices.map(placed), rules)
  return {
    hosts: addresses.map(({ host }) => host),
    isReduced,
    found: found.map(({ code, severity, path }) => `${severity} ${code} ${path}`),
  }
}

const named = [slice('FQDN', 'a.test')]
const NAME = 'spec.externalName'
const FIRST = 'endpoints[0].addresses[0]'

test.each<[what: string, given: Given, hosts: readonly string[], found: readonly string[]]>([
  ['an address', { slices: [slice('IPv4', '10.0.0.1')] }, ['10.0.0.1'], []],
  ['an address of this machine', { slices: [slice('IPv4', '127.0.0.1')] }, ['127.0.0.1'], []],
  ['a name of the API', { name: 'a.test' }, [], [`error external-name ${NAME}`]],
  ['an address as such a name', { name: '10.0.0.1' }, [], [`error external-name ${NAME}`]],
  ['a name of a file', { name: 'a.test', isOfFile: true }, ['a.test'], [`warning external-name ${NAME}`]],
  ['a name that is allowed', { name: 'a.test', allowsNames: true }, ['a.test'], []],
  ['an endpoint with a name, of the API', { slices: named }, [], [`error external-name ${FIRST}`]],
  ['one of a file', { slices: named, isOfFile: true }, ['a.test'], [`warning external-name ${FIRST}`]],
  ['one that is allowed', { slices: named, allowsNames: true }, ['a.test'], []],
  ['a name among addresses', { slices: [slice('IPv4', 'localhost')] }, [], [`error external-name ${FIRST}`]],
  [
    'a link-local address among others',
    { slices: [slice('IPv4', '10.0.0.1', '169.254.169.254')], isOfFile: true, allowsNames: true },
    ['10.0.0.1'],
    ['error endpoint-link-local endpoints[1].addresses[0]'],
  ],
  ...['fe80::1', 'FEBF::1', '::ffff:169.254.0.1'].map((host): [string, Given, string[], string[]] => [
    `the link-local address ${host}`,
    { slices: [slice('IPv6', host)], isOfFile: true },
    [],
    [`error endpoint-link-local ${FIRST}`],
  ]),
  [
    'a link-local address as a name that is allowed',
    { name: '169.254.169.254', allowsNames: true },
    [],
    [`error endpoint-link-local ${NAME}`],
  ],
])('%s', (_, given, hosts, found) => {
  const isReduced = found.some((line) => line.startsWith('error'))
  expect(judge(given)).toEqual({ hosts, isReduced, found })
})
