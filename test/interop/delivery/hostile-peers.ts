import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ITEM_TYPE } from '#deliver/plan-resource.ts'
import { eventually } from '../../support/eventually.ts'
import { builtGoProgram } from '../counterparts.ts'
import type { Part } from '../run-parts.ts'
import { GoDeltaClient, namesOf } from './go-delta-client.ts'
import { frameObjects, largeRoute, route } from './plan.ts'
import { ServedObjects, TOKEN } from './served-objects.ts'

/** Between edits: each costs one of the 50 requests that a client may send per second. */
const EDIT_MS = 50

/** What a server did with an attack. */
interface AttackReport {
  readonly closed: boolean
  readonly statuses?: Readonly<Record<string, number>>
}

const ATTACKS = [
  'rapid-reset',
  'continuation',
  'huge-header',
  'settings',
  'pings',
  'empty-data',
  'no-window',
  'silent',
  'half-head',
  'half-message',
  'streams',
  'cancels',
]

/** Clients that attack the port of a server, each from an address of its own, all at once. */
export const checkHostilePeers: Part = async (transcript, stops) => {
  const objects = [...frameObjects(80, 81), ...Array.from({ length: 500 }, (_, i) => largeRoute(`r${i}`))]
  const refused = new Set<string>()
  const served = await ServedObjects.start(stops, objects, {
    refused: (_, why) => refused.add(why),
  })
  const client = new GoDeltaClient(stops, served.port)
  await client.takeAll()
  const program = builtGoProgram(join(import.meta.dirname, 'go'), 'hostile-peer')
  let isOver = false
  const attacks = Promise.all(
    ATTACKS.map(async (attack, i) => {
      const words = [`-attack=${attack}`, `-address=127.0.0.1:${served.port}`, `-local=127.0.0.${i + 2}`]
      const { stdout } = await promisify(execFile)(program, [...words, `-token=${TOKEN}`, `-type=${ITEM_TYPE}`])
      return [attack, JSON.parse(stdout) as AttackReport] as const
    }),
  ).finally(() => {
    isOver = true
  })
  let edits = 0
  let peak = 0
  while (!isOver) {
    served.put(route('edited', `/${edits}`))
    client.acknowledge(await client.next('an edit'))
    edits++
    // More would be refused.
    await sleep(EDIT_MS)
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  transcript.check('every edit arrives meanwhile', edits > 0, true)
  transcript.check('memory stays below 1 GiB', peak < 2 ** 30, true)
  for (const [attack, { closed, statuses }] of await attacks) {
    if (statuses === undefined) transcript.check(`${attack}: the server ends it`, closed, true)
    else if (attack === 'streams') transcript.check(attack, statuses, { DeadlineExceeded: 128, ResourceExhausted: 512 })
    else transcript.check(`${attack}: every stream ends`, sumOf(statuses), 8000)
  }
  await eventually('the streams of the attacks end', () => served.proxies.length === 1)
  served.put(route('edited', '/last'))
  transcript.check(
    'the next edit arrives',
    namesOf(await client.next('an edit')).includes('HTTPRoute/default/edited/0'),
    true,
  )
  const why = ['http2-flood', 'http2-protocol-error', 'too many connections', 'too many streams from this address']
  transcript.check('the server says what it refused', [...refused].sort(), why)
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
