import { expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { Exchange } from '#exchange/exchange.ts'
import { NO_MCP } from '#exchange/mcp-facts.ts'
import { Head } from '#net/http/head.ts'
import { LocalTable } from '#state/shared-table.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { KnownTools } from '../tools/known-tools.ts'
import { notePin } from '../tools/tool-pins.ts'
import { SessionActivities } from './session-activity.ts'
import { endSession, NO_SESSION, type Session } from './session-state.ts'

const NOW = Date.UTC(2026, 0, 1)
const TARGET = {
  name: 'a',
  destination: 'ProxyBackend/default/b/a',
  path: '/',
  protocol: 'SSE',
  hasReplicas: false,
  takesCredentials: false,
  unusable: undefined,
} as const
const PLAN = { backend: 'ProxyBackend/default/b', targets: [TARGET] }

function session(key: string): Session {
  return { ...NO_SESSION, key, createdMs: NOW }
}

/** A request of a session. @returns ends it */
function begin(activities: SessionActivities, of: Session, more: Partial<Exchange['mcp']> = {}): () => void {
  const exchange = new Exchange(Head.request('POST', '/mcp'), { remoteAddress: '127.0.0.1', remotePort: 1 } as never)
  exchange.mcp = { ...NO_MCP, method: 'tools/call', target: 'a', name: 'x', ...more }
  let end = () => {}
  const whenOver = (over: () => void) => {
    end = over
  }
  activities.begin({ plan: PLAN, exchange, deps: { whenOver } }, of, of.key === '' ? '' : `id of ${of.key}`)
  return () => end()
}

test('the sessions that were used last are kept', () => {
  const activities = new SessionActivities()
  const first = session('first')
  begin(activities, first)()
  begin(activities, session('second'))()
  begin(activities, first)()
  for (let count = 0; count < 9_999; count++) begin(activities, session(`s${count}`))()
  const keys = activities.report(new LocalTable(), NOW, new KnownTools()).length
  expect(keys).toBe(10_000)
  const table = new LocalTable()
  endSession(first, table)
  expect(activities.report(table, NOW, new KnownTools())).toHaveLength(9_999)
  endSession(session('second'), table)
  expect(activities.report(table, NOW, new KnownTools())).toHaveLength(9_999)
})

test('the last five errors are kept, with texts that are cut', () => {
  const activities = new SessionActivities()
  for (let code = 1; code <= 7; code++) {
    begin(activities, session('one'), { errorCode: code, errorMessage: 'm'.repeat(300) })()
  }
  const [report] = activities.report(new LocalTable(), NOW, new KnownTools())
  expect(report?.errors.map(({ code }) => code)).toEqual(['7', '6', '5', '4', '3'])
  expect(report?.errors[0]?.message).toBe(`${'m'.repeat(199)}…`)
  expect(report?.calls).toEqual([])
})

test('a request is in flight until it ends; a target that has not been initialised is absent', () => {
  const activities = new SessionActivities()
  const end = begin(activities, session('one'))
  const [report] = activities.report(new LocalTable(), NOW, new KnownTools())
  expect(report?.calls).toMatchObject([{ method: 'tools/call', target: 'a', item: 'x' }])
  expect(report?.targets).toEqual([
    { target: 'a', state: 'absent', transport: 'SSE', era: undefined, revision: undefined, changedTools: [] },
  ])
  end()
  expect(activities.report(new LocalTable(), NOW, new KnownTools())[0]?.calls).toEqual([])
})

test('a session that is too old is not reported', () => {
  const activities = new SessionActivities()
  begin(activities, session('one'))()
  expect(activities.report(new LocalTable(), NOW + 25 * 3_600_000, new KnownTools())).toEqual([])
})

test('requests without a session are reported together for each backend, until 30 minutes after the last one', async () => {
  using time = new VirtualTime(NOW)
  const activities = new SessionActivities()
  const report = () => activities.report(new LocalTable(), clock.now(), new KnownTools())
  const end = begin(activities, NO_SESSION)
  begin(activities, NO_SESSION, { errorCode: -32_602 })()
  expect(report()).toMatchObject([
    { session: '', backend: PLAN.backend, targets: [], calls: [{ item: 'x' }], errors: [{ code: '-32602' }] },
  ])
  await time.pass(31 * 60_000)
  expect(report()).toHaveLength(1)
  end()
  await time.pass(30 * 60_000)
  expect(report()).toMatchObject([{ calls: [] }])
  await time.pass(1)
  expect(report()).toEqual([])
})

test('tools that have changed are shown with their digest, at most 20 of a target', () => {
  const activities = new SessionActivities()
  begin(activities, session('one'))()
  const table = new LocalTable()
  const tools = new KnownTools()
  const pin = (name: string, digit: string) => notePin(table, TARGET, { name, digest: digit.repeat(32) })
  for (let tool = 0; tool < 25; tool++) {
    tools.note(TARGET.destination, `tool-${tool}`, { name: `tool-${tool}` }, 0)
    pin(`tool-${tool}`, 'a')
  }
  const changed = () => activities.report(table, NOW, tools)[0]!.targets[0]!.changedTools
  expect(changed()).toEqual([])
  pin('tool-7', 'b')
  expect(changed()).toEqual([`tool-7=${'b'.repeat(32)}`])
  for (let tool = 0; tool < 25; tool++) pin(`tool-${tool}`, 'c')
  expect(changed()).toHaveLength(20)
})
