import { afterEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import type { ServedProxy } from '#deliver/proxy-stream.ts'
import type { Binding } from '#plan/binding.ts'
import type { ReportedState } from '#plan/plan-link.ts'
import { ServedProxies } from './served-proxies.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const GATEWAY = 'Gateway/default/main'
const FACT = { backend: 'Service/default/a/80', code: 'backend-not-http2', at: '10.0.0.1:80' } as const
const TAKEN = { state: 'failed', reason: 'PortUnavailable', message: 'in use' } as const

/** A proxy with two sockets, of which one failed, that runs this version of the plan. */
function proxy(more: Partial<ServedProxy> = {}): ServedProxy {
  return {
    gateway: GATEWAY,
    identity: 'default/a',
    address: '10.0.0.1',
    isCurrent: true,
    inForce: 3,
    refusals: [],
    isForwarded: false,
    report: {
      inForce: 'hash',
      trusts: 'old',
      bindings: new Map<string, Binding>([
        ['[::]:80', { state: 'bound' }],
        ['0.0.0.0:81', TAKEN],
      ]),
      facts: [FACT],
      problems: [],
      unreadable: [],
    },
    ...more,
  }
}

const NEW = { inForce: 0, report: undefined }

function served() {
  const reported: [name: string, state: ReportedState | undefined][] = []
  const facts: unknown[] = []
  const refused: string[] = []
  const timers: (() => void)[] = []
  const waits: number[] = []
  vi.spyOn(clock, 'after').mockImplementation((ms, run) => {
    waits.push(ms)
    timers.push(run)
    return { cancel: () => void timers.splice(timers.indexOf(run), 1) }
  })
  const it = new ServedProxies({
    reports: {
      reported: ({ gateway, name }, state) => reported.push([`${gateway} ${name}`, state]),
      observed: (...fact) => facts.push(fact),
    },
    version: () => 3,
    refused: ({ identity }, { key, message }) => refused.push(`${identity} ${key}: ${message}`),
  })
  return { it, reported, facts, refused, timers, waits }
}

test('a report goes up with the sockets of the Gateway, and facts with the version that they are about', () => {
  const { it, reported, facts } = served()
  it.changed(proxy())
  const bindings = new Map<string, Binding>([
    [`${GATEWAY}:80`, { state: 'bound' }],
    [`${GATEWAY}:81`, TAKEN],
  ])
  expect(reported).toEqual([[`${GATEWAY} default/a`, { version: 3, bindings, problems: [], refusals: [] }]])
  expect(facts).toEqual([[3, FACT]])
})

test('what a proxy refuses is told once, and again after it was mended', () => {
  const { it, refused, reported } = served()
  const origin = { kind: 'HTTPRoute', namespace: 'default', name: 'r' }
  const problem = { origin, path: 'spec', code: 'x', message: 'bad' }
  const report = {
    ...proxy().report!,
    problems: [
      { ...problem, severity: 'error' },
      { ...problem, severity: 'warning' },
    ] as const,
    unreadable: [{ key: 'Policy/1', message: 'too new' }],
  }
  const refusing = proxy({
    report,
    refusals: [
      { key: '', message: 'a bug' },
      { key: 'HTTPRoute/default/r', message: 'spec: bad' },
    ],
  })
  it.changed(refusing)
  it.changed(refusing)
  expect(refused).toEqual([
    'default/a Policy/1: too new',
    'default/a : a bug',
    'default/a HTTPRoute/default/r: spec: bad',
    'default/a 0.0.0.0:81: in use',
  ])
  expect(reported.at(-1)![1]).toMatchObject({
    problems: report.problems,
    refusals: [
      { key: 'Policy/1', message: 'too new' },
      { key: '', message: 'a bug' },
    ],
  })
  expect(it.counts()).toEqual([{ gateway: GATEWAY, current: 1, behind: 0, waiting: 0, refusals: 4 }])
  it.changed(proxy())
  it.changed(refusing)
  expect(refused).toHaveLength(7)
})

test('a lost connection leaves what is bound for ten seconds, and what was refused goes at once', () => {
  const { it, reported, timers, waits } = served()
  it.changed(proxy())
  it.left(proxy())
  expect(timers, 'another stream of the same pod').toHaveLength(0)
  const last = proxy()
  it.changed(last)
  it.left(last)
  expect(reported.at(-1)).toEqual([
    `${GATEWAY} default/a`,
    { version: 3, bindings: new Map([[`${GATEWAY}:80`, { state: 'bound' }]]), problems: [], refusals: [] },
  ])
  expect(it.counts()).toEqual([])
  expect(waits).toEqual([10_000])
  timers[0]!()
  expect(reported.at(-1)).toEqual([`${GATEWAY} default/a`, undefined])
})

test('a proxy that connects again in time has never been away', () => {
  const { it, reported, timers } = served()
  const first = proxy()
  const bindings = new Map([[`${GATEWAY}:80`, { state: 'bound' }]])
  it.changed(first)
  it.left(first)
  const next = proxy(NEW)
  it.changed(next)
  expect(reported.at(-1)![1]).toMatchObject({ version: 3, bindings })
  expect(it.counts()).toEqual([{ gateway: GATEWAY, current: 0, behind: 0, waiting: 1, refusals: 0 }])
  it.left(next)
  expect(timers).toHaveLength(1)
  expect(reported.at(-1)![1]).toMatchObject({ version: 3, bindings })
  it.changed(proxy())
  expect(timers).toHaveLength(0)
})

test('a proxy that has lost its plan does not count for longer than one that is gone', () => {
  const { it, reported, timers } = served()
  const first = proxy()
  it.changed(first)
  it.left(first)
  it.changed(proxy(NEW))
  timers[0]!()
  expect(reported.at(-1)![1]).toEqual({ version: 0, bindings: new Map(), problems: [], refusals: [] })
  expect(it.counts()).toMatchObject([{ waiting: 1 }])
})

test('a closed one waits for nothing', () => {
  const { it, timers } = served()
  const first = proxy()
  it.changed(first)
  it.left(first)
  it.close()
  expect(timers).toHaveLength(0)
})

test('the proxies of an earlier controller have 20 seconds to connect', () => {
  const { it, reported, timers, waits } = served()
  it.expect(GATEWAY, [80])
  const bindings = new Map([[`${GATEWAY}:80`, { state: 'bound' }]])
  expect(reported).toEqual([[`${GATEWAY} ${GATEWAY}`, { version: 3, bindings, problems: [], refusals: [] }]])
  expect(it.counts()).toEqual([])
  expect(waits).toEqual([20_000])
  it.changed(proxy())
  timers[0]!()
  expect(reported.at(-1)).toEqual([`${GATEWAY} ${GATEWAY}`, undefined])
  expect(it.counts()).toHaveLength(1)
})

test('proxies are counted by Gateway and state', () => {
  const { it } = served()
  it.changed(proxy())
  it.changed(proxy({ identity: 'default/b', inForce: 2 }))
  it.changed(proxy({ identity: 'default/c', ...NEW }))
  it.changed(proxy({ identity: 'default/d', gateway: 'Gateway/default/other' }))
  expect(it.counts()).toEqual([
    { gateway: GATEWAY, current: 1, behind: 1, waiting: 1, refusals: 2 },
    { gateway: 'Gateway/default/other', current: 1, behind: 0, waiting: 0, refusals: 1 },
  ])
})

test('a proxy of another replica is reported and listed, but that replica counts it and tells what it refuses', () => {
  const { it, reported, refused } = served()
  it.changed(proxy({ isForwarded: true, refusals: [{ key: '', message: 'a bug' }] }))
  expect(reported.map(([name]) => name)).toEqual([`${GATEWAY} default/a`])
  expect(it.list()).toMatchObject([{ proxy: 'default/a', isCurrent: true }])
  expect([it.counts(), refused]).toEqual([[], []])
  // It connects to this one.
  it.changed(proxy())
  expect(it.counts()).toMatchObject([{ gateway: GATEWAY, current: 1 }])
})

test('connected proxies that trust other authorities are named, also those that have reported nothing', () => {
  const { it } = served()
  it.changed(proxy())
  it.changed(proxy({ identity: 'default/new', ...NEW }))
  const gone = proxy({ identity: 'default/gone' })
  it.changed(gone)
  it.left(gone)
  expect(it.distrusting('old')).toEqual(['default/new'])
  expect(it.distrusting('next')).toEqual(['default/a', 'default/new'])
})
