import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import { KnownSecrets } from '#base/known-secrets.ts'
import { MODULES } from '#base/log-levels.ts'
import type { Instance } from '#instance/instance.ts'
import { ApplicationLog } from '#observe/log/application-log.ts'
import type { FileStore } from '#store/files.ts'
import type { StaleFile } from '#store/loaded-file.ts'
import { InstanceLog } from './instance-log.ts'

const TIME = '2027-01-15T08:00:00.000Z'

beforeEach(() => {
  vi.spyOn(clock, 'now').mockReturnValue(1_800_000_000_000)
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** An instance log, and what one step adds to it: text without its time, JSON without its time and scope. */
function logs(level: 'info' | 'debug' = 'info') {
  const written = { text: '', json: '' }
  const text = new InstanceLog(
    new ApplicationLog({ format: 'text', levels: { others: level } }, (line) => {
      written.text += line
      return true
    }),
  )
  const json = new InstanceLog(
    new ApplicationLog({ format: 'json', levels: { others: level } }, (line) => {
      written.json += line
      return true
    }),
  )
  const saying = (step: (log: InstanceLog) => void): string[] => {
    written.text = ''
    step(text)
    return written.text
      .split('\n')
      .slice(0, -1)
      .map((line) => line.replace(`${TIME}\t`, '').replace('\t', ' '))
  }
  const jsonOf = (step: (log: InstanceLog) => void): unknown[] => {
    written.json = ''
    step(json)
    const lines = written.json
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    return lines.map(({ time, scope, module, ...rest }) => {
      expect([time, scope, MODULES]).toEqual([
        TIME,
        'gateway',
        expect.objectContaining({ [`${module}`]: expect.any(String) }),
      ])
      return rest
    })
  }
  return { saying, jsonOf }
}

const STORE = { problems: () => [], locate: () => ({ file: 'a.yaml', line: 3, column: 5 }) } as unknown as FileStore

const finding: Finding = {
  origin: { kind: 'ProxyPolicy', namespace: 'default', name: 'p' },
  path: 'spec.traffic.csrf',
  code: 'no-effect',
  severity: 'warning',
  message: 'is odd',
}

const translation = (...findings: readonly Finding[]) => findings

const instance = (...whyNotReady: readonly string[]) =>
  ({ adminUrl: 'http://[::1]:1', ports: { metrics: 2, readiness: 3 }, whyNotReady }) as unknown as Instance

const at = (url: string, problem?: string) => ({ name: 'default/main/http', url, problem })

test('a problem is logged once, again when it changes, and when it is resolved', () => {
  const { saying, jsonOf } = logs()
  const warning = (log: InstanceLog) => log.translated(translation(finding), STORE)
  expect(saying(warning)).toEqual([
    'warn the objects have problems; everything else is in force errors=0 warnings=1',
    'warn problem at=a.yaml:3:5 path=spec.traffic.csrf code=no-effect problem="ProxyPolicy default/p: is odd"',
  ])
  expect(jsonOf(warning)).toEqual([
    { level: 'warn', message: 'the objects have problems; everything else is in force', errors: 0, warnings: 1 },
    {
      level: 'warn',
      message: 'problem',
      at: 'a.yaml:3:5',
      path: 'spec.traffic.csrf',
      code: 'no-effect',
      problem: 'ProxyPolicy default/p: is odd',
    },
  ])
  expect(saying(warning)).toEqual([])
  const worse = { ...finding, severity: 'error' as const }
  expect(saying((log) => log.translated(translation(worse), STORE))).toEqual([
    'error the objects have problems; everything else is in force errors=1 warnings=0',
    expect.stringMatching(/^error problem at=/),
    expect.stringMatching(/^info problem resolved at=/),
  ])
  const resolved = (log: InstanceLog) => log.translated(translation(), STORE)
  expect(saying(resolved)).toEqual(['info all problems of the objects are resolved'])
  expect(jsonOf(resolved)).toEqual([{ level: 'info', message: 'all problems of the objects are resolved' }])
  expect(saying(resolved)).toEqual([])
})

test('of several problems, those that are new or resolved are logged', () => {
  const { saying } = logs()
  const problem = (message: string) => ({ ...finding, message })
  const [a, b, c] = ['a', 'b', 'c'].map(problem) as [Finding, Finding, Finding]
  const at = 'at=a.yaml:3:5 path=spec.traffic.csrf code=no-effect'
  saying((log) => log.translated(translation(a, b), STORE))
  expect(saying((log) => log.translated(translation(b, c), STORE))).toEqual([
    'warn the objects have problems; everything else is in force errors=0 warnings=2',
    `warn problem ${at} problem="ProxyPolicy default/p: c"`,
    `info problem resolved ${at} problem="ProxyPolicy default/p: a"`,
  ])
  const below = { ...STORE, locate: () => ({ file: 'a.yaml', line: 9, column: 5 }) } as unknown as FileStore
  expect(saying((log) => log.translated(translation(c, b), below))).toEqual([])
  expect(saying((log) => log.translated(translation(b), below)).slice(1)).toEqual([
    `info problem resolved ${at.replace('3:5', '9:5')} problem="ProxyPolicy default/p: c"`,
  ])
})

test('an expression and the caret under it stand under the line', () => {
  const { saying } = logs()
  const message = 'no such name\n  foo.bar\n  ^'
  expect(saying((log) => log.translated(translation({ ...finding, message }), STORE)).slice(1)).toEqual([
    'warn problem at=a.yaml:3:5 path=spec.traffic.csrf code=no-effect',
    '    ProxyPolicy default/p: no such name',
    '      foo.bar',
    '      ^',
  ])
})

test('nothing wrong from the start: nothing is logged', () => {
  expect(logs().saying((log) => log.translated(translation(), STORE))).toEqual([])
})

test('a listener is logged when it is new, fails, or serves again', () => {
  const { saying, jsonOf } = logs()
  const serves = (log: InstanceLog) => log.applied(1, [at('http://a:1')])
  const fails = (log: InstanceLog) => log.applied(3, [at('http://a:1', 'in use')])
  expect(saying(serves)).toEqual(['info listening url=http://a:1 listener=default/main/http'])
  expect(saying(serves)).toEqual([])
  expect(saying(fails)).toEqual([
    'error a listener cannot accept connections url=http://a:1 listener=default/main/http cause="in use"',
  ])
  expect(saying(fails)).toEqual([])
  expect(saying(serves)).toHaveLength(1)
  saying((log) => log.applied(6, []))
  expect(saying(serves)).toHaveLength(1)
  const place = { url: 'http://a:1', listener: 'default/main/http' }
  expect(jsonOf(serves)).toEqual([{ level: 'info', message: 'listening', ...place }])
  expect(jsonOf(fails)).toEqual([
    { level: 'error', message: 'a listener cannot accept connections', ...place, cause: 'in use' },
  ])
})

test('after the start every plan is logged; before, only the listeners', () => {
  const { saying, jsonOf } = logs()
  const first = (log: InstanceLog) => log.applied(1, [])
  const applied = (log: InstanceLog) => log.applied(2, [])
  const started = (log: InstanceLog) => log.started(instance())
  expect(saying(first)).toEqual([])
  expect(saying(started)).toEqual(['info ready admin=http://[::1]:1 metrics.port=2 readiness.port=3'])
  expect(saying(applied)).toEqual(['info plan in force version=2'])
  expect(jsonOf(started)).toEqual([
    { level: 'info', message: 'ready', admin: 'http://[::1]:1', 'metrics.port': 2, 'readiness.port': 3 },
  ])
  expect(jsonOf(applied)).toEqual([{ level: 'info', message: 'plan in force', version: 2 }])
  expect(logs('debug').saying(applied)).toEqual(['debug plan in force version=2'])
})

test('a plan is logged once, however often the workers tell of it', () => {
  const { saying } = logs()
  const applied = (version: number) => saying((log) => log.applied(version, []))
  saying((log) => log.started(instance()))
  expect(applied(2)).toEqual(['info plan in force version=2'])
  expect(applied(2)).toEqual([])
  expect(applied(3)).toEqual(['info plan in force version=3'])
})

test('a gateway that serves nothing is not called ready, and every change is logged', () => {
  const { saying } = logs()
  expect(saying((log) => log.started(instance('no Gateway exists')))).toEqual([
    'warn running, but not ready admin=http://[::1]:1 metrics.port=2 readiness.port=3 cause="no Gateway exists"',
  ])
  expect(saying((log) => log.readiness(['no Gateway exists']))).toEqual([])
  expect(saying((log) => log.readiness([]))).toEqual(['info ready'])
  expect(saying((log) => log.readiness([]))).toEqual([])
  expect(saying((log) => log.readiness(['a', 'b']))).toEqual(['warn not ready cause="a; b"'])
})

test('problems of files are logged whenever they change, with the objects that stay in force', () => {
  const { saying, jsonOf } = logs()
  const problem = {
    file: 'a.yaml',
    line: 1,
    column: 2,
    path: '',
    code: 'invalid-yaml',
    severity: 'error',
    message: 'm',
  } as const
  const stale = (...objects: readonly string[]): StaleFile[] => [
    { file: 'a.yaml', since: 0, objects, problems: [problem] },
  ]
  const broken = (log: InstanceLog) => log.objectsChanged([problem], stale('Gateway/default/main'), [])
  const fine = (log: InstanceLog) => log.objectsChanged([], [], [])
  expect(saying(broken)).toEqual([
    'error the configuration has errors; objects with errors keep their last valid version, if they have one errors=1 warnings=0',
    'error problem at=a.yaml:1:2 code=invalid-yaml problem=m',
    'warn a file has errors; its last good objects stay in force file=a.yaml objects=Gateway/default/main',
  ])
  expect(saying(broken)).toEqual([])
  expect(
    saying((log) => log.objectsChanged([{ ...problem, line: 2 }], stale('Gateway/default/main'), [])).slice(1),
  ).toEqual([
    'error problem at=a.yaml:2:2 code=invalid-yaml problem=m',
    'info problem resolved at=a.yaml:1:2 code=invalid-yaml problem=m',
  ])
  expect(saying((log) => log.objectsChanged([{ ...problem, line: 2 }], stale(...'abcdefg'), []))).toEqual([
    'warn a file has errors; its last good objects stay in force file=a.yaml objects="a, b, c, d, e and 2 more"',
  ])
  expect(saying(fine)).toEqual([
    'info all problems of the files are resolved',
    'info a file is in use again file=a.yaml',
  ])
  expect(jsonOf(broken).slice(0, 3)).toEqual([
    {
      level: 'error',
      message: 'the configuration has errors; objects with errors keep their last valid version, if they have one',
      errors: 1,
      warnings: 0,
    },
    { level: 'error', message: 'problem', at: 'a.yaml:1:2', code: 'invalid-yaml', problem: 'm' },
    {
      level: 'warn',
      message: 'a file has errors; its last good objects stay in force',
      file: 'a.yaml',
      objects: 'Gateway/default/main',
    },
  ])
  expect(jsonOf(fine)).toEqual([
    { level: 'info', message: 'all problems of the files are resolved' },
    { level: 'info', message: 'a file is in use again', file: 'a.yaml' },
  ])
})

test('problems of a cluster are logged when they change', () => {
  const { saying } = logs()
  const problem = { file: '', path: '', code: 'kind-not-served', severity: 'warning', message: 'no TCPRoute' } as const
  expect(saying((log) => log.clusterChanged([problem]))).toEqual([
    'warn the objects of the cluster are not complete, or some have errors errors=0 warnings=1',
    'warn problem code=kind-not-served problem="no TCPRoute"',
  ])
  expect(saying((log) => log.clusterChanged([problem]))).toEqual([])
  expect(saying((log) => log.clusterChanged([]))).toEqual([
    'info the objects of the cluster are complete, and none has errors',
  ])
})

test('objects that a file with problems no longer contains are logged once, and the file is in use again when it has no errors', () => {
  const { saying } = logs()
  const at = { file: 'a.yaml', line: 1, column: 1 }
  const problem = { ...at, path: 'kind', code: 'unknown-kind', severity: 'error', message: 'm' } as const
  const object = 'ProxyPolicy/default/keys'
  const removed = (log: InstanceLog) => log.objectsChanged([problem], [], [{ file: 'a.yaml', object }])
  saying((log) =>
    log.objectsChanged([problem], [{ file: 'a.yaml', since: 0, objects: [object], problems: [problem] }], []),
  )
  expect(saying(removed)).toEqual(['warn an object was removed object=ProxyPolicy/default/keys file=a.yaml'])
  expect(saying(removed)).toEqual([])
  expect(saying((log) => log.objectsChanged([], [], []))).toEqual([
    'info all problems of the files are resolved',
    'info a file is in use again file=a.yaml',
  ])
  expect(saying(removed)).toEqual([
    'error the configuration has errors, and there is no earlier version to fall back on errors=1 warnings=0',
    'error problem at=a.yaml:1:1 path=kind code=unknown-kind problem=m',
    'warn an object was removed object=ProxyPolicy/default/keys file=a.yaml',
  ])
})

test('an access log that cannot be written is logged once for all workers, and when it is written again', () => {
  const { saying, jsonOf } = logs()
  const failing = (worker: string) => (log: InstanceLog) => log.accessLog(worker, { kind: 'failing', cause: 'ENOSPC' })
  const resumed = (worker: string, lines: number) => (log: InstanceLog) =>
    log.accessLog(worker, { kind: 'resumed', lines })
  const ended = (worker: string, lines: number) => (log: InstanceLog) => log.accessLog(worker, { kind: 'ended', lines })
  const told =
    'error the access log cannot be written; lines are queued in memory, and dropped when the queue is full cause=ENOSPC'
  expect(saying(failing('w1'))).toEqual([told])
  expect(saying(failing('w2'))).toEqual([])
  expect(saying(resumed('w1', 3))).toEqual([])
  expect(saying(resumed('w2', 4))).toEqual(['info the access log can be written again lost=7'])
  expect(saying(failing('w3'))).toEqual([told])
  expect(saying((log) => log.workerReplaced('w3', 'died', 'x'))).toEqual([
    'error a worker died and is replaced worker=w3 cause=x',
    'info the access log can be written again lost=0',
  ])
  saying(failing('w3'))
  saying(failing('w4'))
  expect(saying(ended('w3', 1))).toEqual([])
  expect(saying(ended('w4', 0))).toEqual(['error the access log is incomplete lost=1'])
  const message = 'the access log cannot be written; lines are queued in memory, and dropped when the queue is full'
  expect(jsonOf(failing('w1'))).toEqual([{ level: 'error', message, cause: 'ENOSPC' }])
  expect(jsonOf(resumed('w1', 3))).toEqual([{ level: 'info', message: 'the access log can be written again', lost: 3 }])
  jsonOf(failing('w1'))
  expect(jsonOf(ended('w1', 2))).toEqual([{ level: 'error', message: 'the access log is incomplete', lost: 2 }])
})

test('an access log without a reader is logged once: its lines are not queued', () => {
  const { saying } = logs()
  const failing = (worker: string) => (log: InstanceLog) => log.accessLog(worker, { kind: 'failing', cause: 'EPIPE' })
  expect(saying(failing('w1'))).toEqual([
    'error the access log has no reader any more; its lines are dropped cause=EPIPE',
  ])
  expect(saying(failing('w2'))).toEqual([])
})

test('no line shows a secret', () => {
  const { saying, jsonOf } = logs()
  const bug = (log: InstanceLog) => {
    log.secrets(new KnownSecrets(['hunter22']))
    log.bug('7', 'Error: GET https://h/?token=abc failed for hunter22')
  }
  expect(saying(bug)).toEqual([
    'error a bug in the gateway decision=7 stack="Error: GET https://h/?token=<redacted> failed for <redacted>"',
  ])
  expect(jsonOf(bug)).toMatchObject([{ stack: 'Error: GET https://h/?token=<redacted> failed for <redacted>' }])
  expect(saying((log) => log.translated(translation({ ...finding, message: 'is hunter22' }), STORE))[1]).toContain(
    'is <redacted>',
  )
  expect(saying((log) => log.message('proxy', 'warn', 'from a worker', { cause: 'hunter22\nand hunter22' }))).toEqual([
    'warn from a worker',
    '    <redacted>',
    '    and <redacted>',
  ])
})

/** Everything else, as text and as JSON. */
const EVENTS: readonly (readonly [(log: InstanceLog) => void, text: readonly string[], json: object])[] = [
  [
    (log) => log.workerReplaced('w1', 'died', 'out of memory'),
    ['error a worker died and is replaced worker=w1 cause="out of memory"'],
    { level: 'error', message: 'a worker died and is replaced', worker: 'w1', cause: 'out of memory' },
  ],
  [
    (log) => log.workerReplaced('w2', 'stuck', 'its event loop has been blocked for 10 s'),
    ['error a worker is stuck and is replaced worker=w2 cause="its event loop has been blocked for 10 s"'],
    {
      level: 'error',
      message: 'a worker is stuck and is replaced',
      worker: 'w2',
      cause: 'its event loop has been blocked for 10 s',
    },
  ],
  [
    (log) => log.bug('w1-7', 'Error: x\n  at y'),
    ['error a bug in the gateway decision=w1-7', '    Error: x', '      at y'],
    { level: 'error', message: 'a bug in the gateway', decision: 'w1-7', stack: 'Error: x\n  at y' },
  ],
  [
    (log) => log.labelFolded('user', ['g', 'l', 'r', 'first']),
    [
      'warn a metric label has 200 values; further ones are counted as other label=user gateway=g listener=l route=r route_rule=first',
    ],
    {
      level: 'warn',
      message: 'a metric label has 200 values; further ones are counted as other',
      label: 'user',
      gateway: 'g',
      listener: 'l',
      route: 'r',
      route_rule: 'first',
    },
  ],
  [
    (log) => log.failed('port 1 is in use'),
    ['error the gateway cannot start cause="port 1 is in use"'],
    { level: 'error', message: 'the gateway cannot start', cause: 'port 1 is in use' },
  ],
  [
    (log) => log.reloaded(),
    ['info reloading the files and reopening the access log'],
    { level: 'info', message: 'reloading the files and reopening the access log' },
  ],
  [
    (log) => log.settingOfOther({ gateway: 'default/b', setting: 'workers' }),
    ['warn one process serves all Gateways; a setting of this one is not in force gateway=default/b setting=workers'],
    {
      level: 'warn',
      message: 'one process serves all Gateways; a setting of this one is not in force',
      gateway: 'default/b',
      setting: 'workers',
    },
  ],
  [
    (log) => log.stopping({ minMs: 10_000, maxMs: 55_000 }),
    ['info shutting down; requests in flight may finish accept.seconds=10 finish.seconds=55'],
    {
      level: 'info',
      message: 'shutting down; requests in flight may finish',
      'accept.seconds': 10,
      'finish.seconds': 55,
    },
  ],
  [(log) => log.stopped(), ['info stopped'], { level: 'info', message: 'stopped' }],
  [
    (log) => log.message('workers', 'warn', 'runtime warning', { worker: 'w1', code: undefined, cause: 'x' }),
    ['warn runtime warning worker=w1 cause=x'],
    { level: 'warn', message: 'runtime warning', worker: 'w1', cause: 'x' },
  ],
]

test.each(EVENTS)('an event as text and as JSON', (step, text, json) => {
  const { saying, jsonOf } = logs()
  expect(saying(step)).toEqual(text)
  expect(jsonOf(step)).toEqual([json])
})

const MESSAGES_IN = [
  'src/observe/log/application-log.ts',
  'src/observe/otlp/metrics-exporter.ts',
  'src/instance/failing-outputs.ts',
  'src/deliver/plan-client.ts',
  'src/instance/controller.ts',
  'src/instance/controller-certificate.ts',
  'src/instance/data-plane.ts',
  'src/instance/instance.ts',
  'src/instance/plan-file.ts',
  'src/instance/proxy-delivery.ts',
  'src/instance/record-folder.ts',
  'src/instance/state-folder.ts',
  'src/cli/instance-log.ts',
  'src/cli/open-store.ts',
  'src/cli/run.ts',
  'src/cli/replace/replace-socket.ts',
  'src/workers/proxy-worker.ts',
  'src/workers/run-proxy-worker.ts',
  'src/workers/report-circuit.ts',
  'src/workers/report-eviction.ts',
  'src/workers/report-exhaustion.ts',
  'src/workers/worker-pool.ts',
  'src/apiserver/api-service.ts',
  'src/acme/certificate-keeper.ts',
  'src/mesh/mesh-identity.ts',
  'src/cli/notify-service.ts',
]

test('docs/behaviour/control.md lists the messages', () => {
  const folder = join(import.meta.dirname, '..', '..')
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')
  const [, section = ''] = read('docs/behaviour/control.md').split('\n## Log\n')
  const rows = section.slice(0, section.indexOf('\n## ')).matchAll(/^\| (`.*?`) \|/gm)
  const listed = [...rows].flatMap(([, cell]) => cell!.split(/`(?:, `)?/).filter((message) => message !== ''))
  const sources = MESSAGES_IN.map(read).join('')
  const written = [
    ...sources.matchAll(
      /(?:log|message|report)\((?:'\w+', )?[^'(]*'(?:error|warn|info|debug)', '([^']+)'|warn\('([^']+)'/g,
    ),
  ]
  expect(listed.filter((message) => !sources.includes(`'${message}'`))).toEqual([])
  expect(written.map(([, message, warning]) => message ?? warning).filter((one) => !listed.includes(one!))).toEqual([])
  expect(listed.length).toBeGreaterThan(25)
  expect(written.length).toBeGreaterThan(10)
})
