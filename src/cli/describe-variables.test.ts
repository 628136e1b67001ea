import { Command } from 'commander'
import { expect, test } from 'vitest'
import { VARIABLES } from '#api/process-variables.ts'
import { describeVariables, variablesHelp } from './describe-variables.ts'

const namesFor = (command: Parameters<typeof describeVariables>[0]) =>
  [...describeVariables(command).matchAll(/^ {2}(\S+)$/gm)].map(([, name]) => name)

test.each([
  ['lint', ['GATEWRIGHT_PRICES']],
  ['explain', ['SESSION_KEY', 'GATEWRIGHT_SESSION_KEY_PREVIOUS']],
  ['render', ['GATEWRIGHT_CONTROLLER_NAME', 'GATEWRIGHT_CLASS_NAME']],
  ['version', ['GATEWRIGHT_TRANSPORT']],
  ['idp setup', ['GATEWRIGHT_IDP_ADMIN_PASSWORD']],
  ['idp serve', ['GATEWRIGHT_IDP_ADMIN_PASSWORD']],
  ['why', ['GATEWRIGHT_ADMIN_ADDR']],
  ['mcp sessions', ['GATEWRIGHT_ADMIN_ADDR']],
] as const)('the variables of %s', (command, names) => {
  expect(namesFor(command)).toEqual(names)
})

const OF_CONTROLLER = [
  'GATEWRIGHT_CONTROLLER_NAME',
  'GATEWRIGHT_CLASS_NAME',
  'GATEWRIGHT_CONTROLLER_SERVICE',
  'GATEWRIGHT_DELIVERY_ADDR',
  'GATEWRIGHT_CONTROLLER_HOSTS',
  'GATEWRIGHT_CONTROLLER_CERTIFICATE_LIFE',
  'GATEWRIGHT_CONTROLLER_CERTIFICATE_SECRET',
  'GATEWRIGHT_NAMESPACES',
  'GATEWRIGHT_PROXY_IMAGE_REGISTRY',
  'GATEWRIGHT_PROXY_IMAGE_REPOSITORY',
  'GATEWRIGHT_PROXY_IMAGE_TAG',
  'POD_NAMESPACE',
  'POD_IP',
]

const OF_PROXY = [
  'GATEWRIGHT_GATEWAY_UID',
  'GATEWRIGHT_KEPT_PLAN_MAX_AGE',
  'CA_ADDRESS',
  'TRUST_DOMAIN',
  'SERVICE_ACCOUNT',
]

test('run describes all variables but those of the identity provider, of proxies and of the controller', () => {
  const others = ['GATEWRIGHT_IDP_ADMIN_PASSWORD', ...OF_PROXY, ...OF_CONTROLLER]
  expect(namesFor('run')).toEqual(Object.keys(VARIABLES).filter((name) => !others.includes(name)))
  expect(namesFor('controller')).toEqual([
    'GATEWRIGHT_LOG_FORMAT',
    'GATEWRIGHT_LOG_LEVEL',
    'GATEWRIGHT_ADMIN_ADDR',
    'GATEWRIGHT_STATS_ADDR',
    'GATEWRIGHT_READINESS_ADDR',
    ...OF_CONTROLLER.toSpliced(-1, 0, 'POD_NAME'),
  ])
})

test.each([60, 100])('meanings wrap at a width of %d', (width) => {
  const command = new Command().configureOutput({ getOutHelpWidth: () => width })
  const text = variablesHelp('run')({ command, error: false })
  expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(width)
  expect(text.replace(/\s+/g, ' ')).toBe(describeVariables('run').replace(/\s+/g, ' '))
})
