import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { expect, test, vi } from 'vitest'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { countOpenFiles, gatherSamples, sampleCgroup } from './gather-samples.ts'
import { VERSION } from './version.ts'

const workers = { busySeconds: [['w3', 1.5]] as const, members: [{ name: 'w3', planVersion: 6 }] }
const HEALTHY = { health: 1, consecutiveFailures: 0, evictedUntilMs: undefined }

const NOTHING = {
  endpoints: [],
  circuits: [],
  findings: [],
  planVersion: 1,
  ends: [],
  workers: { busySeconds: [], members: [] },
}

function samplesOf(...endpoints: Parameters<typeof gatherSamples>[0]['endpoints']) {
  return gatherSamples({
    ...NOTHING,
    endpoints,
    planVersion: 7,
    workers: { ...workers, busySeconds: [...workers.busySeconds] },
  })
}

test('endpoints: how many, and the health of each', () => {
  const samples = samplesOf(
    { backend: 'Service/default/web/80', endpoint: '127.0.0.1:9000', ...HEALTHY },
    { backend: 'ProxyBackend/default/models', endpoint: 'first', ...HEALTHY, health: 0.7, evictedUntilMs: 1 },
  )
  expect(samples.filter(({ metric }) => metric.startsWith('endpoint'))).toEqual([
    { metric: 'endpoints', value: 1, values: ['serving'] },
    { metric: 'endpoints', value: 1, values: ['evicted'] },
    { metric: 'endpointHealth', value: 0.7, values: ['default/models', 'first'] },
    { metric: 'endpointEvicted', value: 1, values: ['default/models', 'first'] },
    { metric: 'endpointHealth', value: 1, values: ['default/web', '127.0.0.1:9000'] },
    { metric: 'endpointEvicted', value: 0, values: ['default/web', '127.0.0.1:9000'] },
  ])
})

test('certificates, those that expire first before others, and the age of the plan of a controller', () => {
  const ends = [
    { kind: 'certificate', object: 'Secret/default/late', entry: 'tls.crt', untilMs: 9000 },
    { kind: 'certificate', object: 'ConfigMap/default/soon', entry: 'ca.crt', untilMs: 2000 },
    { kind: 'token', object: 'Secret/default/key', entry: 'token', untilMs: 5000 },
  ] as const
  const samples = gatherSamples({ ...NOTHING, ends, planConfirmedMs: Date.now() + 60_000 })
  expect(samples.filter(({ metric }) => /Expiry|planAge/.test(metric))).toEqual([
    { metric: 'planAge', value: 0, values: [] },
    { metric: 'certificateExpiry', value: 2, values: ['ConfigMap/default/soon', 'ca.crt'] },
    { metric: 'tokenExpiry', value: 5, values: ['Secret/default/key', 'token'] },
    { metric: 'certificateExpiry', value: 9, values: ['Secret/default/late', 'tls.crt'] },
  ])
})

test('findings by severity and code', () => {
  const findings = [
    { severity: 'error', code: 'target-not-found' },
    { severity: 'warning', code: 'no-effect' },
    { severity: 'error', code: 'target-not-found' },
    { severity: 'error', code: 'no-effect' },
  ] as const
  const samples = gatherSamples({ ...NOTHING, findings })
  expect(samples.filter(({ metric }) => metric === 'configFindings')).toEqual([
    { metric: 'configFindings', value: 2, values: ['error', 'target-not-found'] },
    { metric: 'configFindings', value: 1, values: ['warning', 'no-effect'] },
    { metric: 'configFindings', value: 1, values: ['error', 'no-effect'] },
  ])
})

test('of more than 1000 endpoints the evicted and the least healthy ones are shown', () => {
  const backend = 'Service/default/web/80'
  const many = Array.from({ length: 1100 }, (_, i) => ({ backend, endpoint: `10.0.0.1:${i}`, ...HEALTHY }))
  many.push({ backend, endpoint: 'weak', ...HEALTHY, health: 0.5 })
  const samples = samplesOf(...many, { backend, endpoint: 'out', ...HEALTHY, health: 0.7, evictedUntilMs: 1 })
  expect(samples).toContainEqual({ metric: 'endpoints', value: 1101, values: ['serving'] })
  const shown = samples.filter(({ metric }) => metric === 'endpointHealth').map(({ values }) => values[1])
  expect(shown).toHaveLength(1000)
  expect(shown.slice(0, 3)).toEqual(['out', 'weak', '10.0.0.1:0'])
})

const circuit = (backend: string, isOpen: boolean, more: object = {}) => ({
  ...{ phase: 'request', kind: 'webhook', guard: 'ProxyPolicy/default/g spec.x', backend, isOpen },
  ...more,
})
const openCircuits = (...circuits: ReturnType<typeof circuit>[]) =>
  gatherSamples({ ...NOTHING, circuits }).filter(({ metric }) => metric === 'guardOpenCircuits')

test('guards whose service is spared, by the service; 0 if it answers', () => {
  const samples = openCircuits(
    circuit('Service/default/fine/80', false),
    circuit('Service/default/judge/80', true),
    circuit('Service/default/judge/81', true),
    circuit('Service/default/judge/80', false),
    circuit('Service/default/judge/80', true, { phase: 'response' }),
    circuit('ProxyBackend/default/ProxyPolicy:guards:spec.backend.ai.promptGuard.request[0].moderationEndpoint', false),
  )
  expect(samples).toEqual([
    { metric: 'guardOpenCircuits', value: 2, values: ['request', 'webhook', 'default/judge'] },
    { metric: 'guardOpenCircuits', value: 1, values: ['response', 'webhook', 'default/judge'] },
    { metric: 'guardOpenCircuits', value: 0, values: ['request', 'webhook', 'default/fine'] },
    { metric: 'guardOpenCircuits', value: 0, values: ['request', 'webhook', 'default/guards.promptGuard.request[0]'] },
  ])
})

test('of more than 1000 services those that are spared are shown', () => {
  const many = Array.from({ length: 1100 }, (_, i) => circuit(`Service/default/s${i}/80`, i === 1099))
  const samples = openCircuits(...many)
  expect(samples).toHaveLength(1000)
  expect(samples[0]).toMatchObject({ value: 1, values: ['request', 'webhook', 'default/s1099'] })
})

test('the process and its threads', () => {
  vi.spyOn(performance, 'eventLoopUtilization').mockReturnValue({ idle: 0, active: 2500, utilization: 1 })
  vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 1_500_000, system: 250_000 })
  const values = new Map(samplesOf().map(({ metric, values, value }) => [[metric, ...values].join(' '), value]))
  expect(values.get(`buildInfo ${VERSION} ${process.versions.node}`)).toBe(1)
  expect([values.get('eventLoopBusy main'), values.get('eventLoopBusy w3')]).toEqual([2.5, 1.5])
  expect([values.get('planVersion'), values.get('workerPlanVersion w3')]).toEqual([7, 6])
  if (process.platform === 'linux') {
    expect(values.get('processOpenFiles')).toBeGreaterThan(0)
    expect(values.get('processMaxFiles')).toBeGreaterThan(values.get('processOpenFiles')!)
    expect(values.get('processMemoryByKind anonymous')).toBeGreaterThan(1_000_000)
  }
  expect(values.get('processMemory')).toBeGreaterThan(1_000_000)
  expect(values.get('processCpu')).toBe(1.75)
  expect(Math.abs(values.get('processStart')! + process.uptime() - Date.now() / 1000)).toBeLessThan(5)
})

test('open files are counted without the list that is read, where the system has one', () => {
  const folder = temporaryFolder()
  for (const descriptor of ['0', '1', '2']) writeFileSync(join(folder, descriptor), '')
  expect(countOpenFiles(folder)).toBe(2)
  expect(countOpenFiles(join(folder, 'none'))).toBeUndefined()
})

test('the control group, as far as it is known', () => {
  const folder = temporaryFolder()
  expect(sampleCgroup(folder)).toEqual([])
  writeFileSync(join(folder, 'memory.current'), '7\n')
  writeFileSync(join(folder, 'memory.max'), '9\n')
  writeFileSync(join(folder, 'cpu.max'), '50000 100000\n')
  writeFileSync(join(folder, 'cpu.stat'), 'throttled_usec 250000\n')
  expect(sampleCgroup(folder)).toEqual([
    { metric: 'cgroupMemory', value: 7, values: [] },
    { metric: 'cgroupMemoryLimit', value: 9, values: [] },
    { metric: 'cgroupCpuLimit', value: 0.5, values: [] },
    { metric: 'cgroupThrottled', value: 0.25, values: [] },
  ])
})
