import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { clusterSettings, settingsOf, settingsProblems, unknownModules } from './process-settings.ts'

test('logging, rawConfig and env are variables of the process', () => {
  const rawConfig = {
    workers: 3,
    accessLog: '/var/log/access.log',
    adminAddress: '127.0.0.1:1',
    metricsAddress: '0.0.0.0:2',
    readinessAddress: '0.0.0.0:3',
    bodyMemory: '64Mi',
    transport: 'streams',
  }
  expect(settingsProblems({ rawConfig })).toEqual([])
  expect(
    settingsOf([{ rawConfig, logging: { level: 'warn', format: 'json' }, env: [{ name: 'POD_NAME', value: 'p' }] }]),
  ).toEqual({
    workers: 3,
    variables: {
      GATEWRIGHT_LOG_FORMAT: 'json',
      GATEWRIGHT_LOG_LEVEL: 'warn',
      GATEWRIGHT_ACCESS_LOG: '/var/log/access.log',
      GATEWRIGHT_ADMIN_ADDR: '127.0.0.1:1',
      GATEWRIGHT_STATS_ADDR: '0.0.0.0:2',
      GATEWRIGHT_READINESS_ADDR: '0.0.0.0:3',
      GATEWRIGHT_BODY_MEMORY: '64Mi',
      GATEWRIGHT_TRANSPORT: 'streams',
      POD_NAME: 'p',
    },
  })
})

const LEVEL = 'GATEWRIGHT_LOG_LEVEL'
const FORMAT = 'GATEWRIGHT_LOG_FORMAT'

verifies(
  ['parameters.rawConfig/merged', 'parameters.rawConfig/typed-fields-win'],
  'a typed field takes precedence over rawConfig, which sets the rest',
  () => {
    const { variables } = settingsOf([
      { rawConfig: { logging: { level: 'debug', format: 'json' } }, logging: { level: 'error' } },
    ])
    expect(variables).toEqual({ [LEVEL]: 'error', [FORMAT]: 'json' })
  },
)

test('the Gateway takes precedence over its class: variables by name, logging by field, rawConfig as a whole', () => {
  const ofClass = {
    logging: { level: 'debug', format: 'json' as const },
    env: [
      { name: 'GATEWAY', value: 'class' },
      { name: 'POD_NAME', value: 'class' },
    ],
    rawConfig: { workers: 2, transport: 'streams' },
  }
  const own = { logging: { level: 'error' }, env: [{ name: 'POD_NAME', value: 'own' }], rawConfig: { workers: 4 } }
  expect(settingsOf([ofClass, own])).toEqual({
    workers: 4,
    variables: { [LEVEL]: 'error', [FORMAT]: 'json', GATEWAY: 'class', POD_NAME: 'own' },
  })
})

test('env takes precedence over logging; variables that the gateway does not read are left out', () => {
  const env = [
    { name: LEVEL, value: 'debug' },
    { name: 'NODE_OPTIONS', value: '--inspect' },
    { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'TRUST_DOMAIN', value: 'a.test' },
  ]
  expect(settingsOf([{ logging: { level: 'error' }, env }]).variables).toEqual({ [LEVEL]: 'debug' })
  expect([...clusterSettings({ env })]).toEqual([
    ['spec.env[1]', 'NODE_OPTIONS takes effect only on Kubernetes: the gateway itself does not read this variable'],
    ['spec.env[2].valueFrom', 'valueFrom of POD_NAME takes effect only on Kubernetes'],
    ['spec.env[3]', 'TRUST_DOMAIN takes effect only on Kubernetes: the gateway itself does not read this variable'],
  ])
})

verifies(
  ['parameters.env/expansion', 'parameters.env/expansion-escape'],
  'a value may refer to an earlier variable',
  () => {
    const env = [
      { name: 'ZONE', value: 'b' },
      { name: 'POD_NAME', value: 'gw-$(ZONE)-$$(ZONE)-$(LATER)-$' },
      { name: 'LATER', value: 'x' },
    ]
    expect(settingsOf([{ env }]).variables).toEqual({ POD_NAME: 'gw-b-$(ZONE)-$(LATER)-$' })
  },
)

test('levels by module are passed on; an unknown module has no effect, which is reported', () => {
  expect(settingsOf([{ logging: { level: 'debug' } }]).variables).toEqual({ [LEVEL]: 'debug' })
  const modules = { logging: { level: 'proxy=debug, warn' } }
  expect(settingsProblems(modules)).toEqual([])
  expect(unknownModules(modules)).toEqual([])
  expect(settingsOf([modules]).variables).toEqual({ [LEVEL]: 'warn,proxy=debug' })
  const unknown = { logging: { level: 'warn,hyper=debug' } }
  expect(settingsProblems(unknown)).toEqual([])
  expect(settingsOf([unknown]).variables).toEqual({ [LEVEL]: 'warn' })
  expect(unknownModules(unknown)).toEqual([
    {
      path: 'spec.logging.level',
      code: 'unknown-value',
      severity: 'warning',
      message:
        '"hyper" is not a module of the log; modules are store, control, instance, workers, proxy, observe, apiserver, deliver and mesh',
    },
  ])
})

test.each([
  [
    { logging: { level: 'loud' } },
    'spec.logging.level',
    '"loud" is not a level; levels are error, warn, info and debug',
  ],
  [
    { logging: { level: 'info,proxy=loud' } },
    'spec.logging.level',
    '"loud" is not a level; levels are error, warn, info and debug',
  ],
  [
    { rawConfig: { logging: { level: 'all' } } },
    'spec.rawConfig.logging.level',
    '"all" is not a level; levels are error, warn, info and debug',
  ],
  [{ rawConfig: { listeners: [] } }, 'spec.rawConfig.listeners', 'unknown field "listeners"'],
  [{ rawConfig: { workers: 0 } }, 'spec.rawConfig.workers', 'must be between 1 and 256'],
  [{ mesh: { caAddress: 'istiod' } }, 'spec.mesh.caAddress', 'must be host:port or https://host:port'],
])('%j is a problem', (spec, path, message) => {
  expect(settingsProblems(spec).map(({ path, message }) => [path, message])).toEqual([
    [path, expect.stringContaining(message)],
  ])
})

test.each([
  ['SESSION_KEY', 'secret', '64 hexadecimal digits'],
  ['GATEWRIGHT_SESSION_KEY_PREVIOUS', 'secret', '64 hexadecimal digits'],
  ['GATEWRIGHT_ADMIN_ADDR', 'localhost:15000', 'an IP address and a port, such as 127.0.0.1:15000'],
  ['GATEWRIGHT_STATS_ADDR', '127.0.0.1:99999', 'an IP address and a port, such as 127.0.0.1:15000'],
  ['GATEWRIGHT_READINESS_ADDR', '127.0.0.1', 'an IP address and a port, such as 127.0.0.1:15000'],
  ['GATEWRIGHT_BODY_MEMORY', 'much', 'a size, such as 512Mi'],
  ['GATEWRIGHT_TRANSPORT', 'fast', 'auto or streams'],
  ['GATEWRIGHT_LOG_FORMAT', 'xml', 'text or json'],
  ['CONNECTION_MIN_TERMINATION_DEADLINE', '10', 'a duration, such as 10s'],
  ['TERMINATION_GRACE_PERIOD_SECONDS', '1m', 'a number of seconds, such as 60'],
  ['CA_ADDRESS', 'http://ca.test:1', 'host:port or https://host:port; http only to this machine'],
  ['TRUST_DOMAIN', 'A', 'a SPIFFE trust domain, such as cluster.local'],
])('env that the process cannot use: %s is %s', (name, value, form) => {
  const env = [
    { name: 'POD_NAME', value: 'p' },
    { name, value },
  ]
  expect(settingsProblems({ env })).toEqual([
    { path: 'spec.env[1].value', code: 'unknown-value', message: `of ${name} must be ${form}`, severity: 'error' },
  ])
  expect(settingsProblems({ env: [{ name, value: '' }] })).toEqual([])
})

test.each([
  ['adminAddress', '[::1]:0', 'here', 'an IP address and a port, such as 127.0.0.1:15000'],
  ['metricsAddress', '0.0.0.0:1', ':1', 'an IP address and a port, such as 127.0.0.1:15000'],
  ['bodyMemory', '64Mi', 'x', 'a size, such as 512Mi'],
])('rawConfig that the process cannot use: %s', (member, good, bad, form) => {
  expect(settingsProblems({ rawConfig: { [member]: good } })).toEqual([])
  expect(settingsProblems({ rawConfig: { [member]: bad } })).toEqual([
    { path: `spec.rawConfig.${member}`, code: 'unknown-value', message: `must be ${form}`, severity: 'error' },
  ])
})
