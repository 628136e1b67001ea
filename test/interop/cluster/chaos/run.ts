import { parseArgs } from 'node:util'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { Transcript } from '../../transcript.ts'
import { startLoad } from '../traffic/wrk-load.ts'
import { FAULTS, type Fault } from './faults.ts'
import { type Rig, RUNNING, startRig, untilControlled } from './rig.ts'
import { areStatusesCurrent, statusesNow, withoutStatuses } from './statuses.ts'

/**
 * Faults in random order while requests arrive, each at least once: no request fails that had a ready proxy, the statuses are those of a fresh
 * controller, and nothing is left behind.
 *
 *     npm run chaos:cluster -- [--minutes 20] [--seed N] [--only WORD]
 *
 * `--only` takes the faults whose names contain the word. The same seed gives the same order. Exit code 1: a check failed.
 */
const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
})
const minutes = Number(values.minutes ?? 20)
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6))
const chosen = Object.entries(FAULTS).filter(([name]) => name.includes(values.only ?? ''))

const transcript = new Transcript()
transcript.part = `seed ${seed}`
const deadlineMs = performance.now() + minutes * 60_000
await using stops = new AsyncDisposableStack()
const rig = await startRig(seededRandom(seed), stops)
while (true) {
  for (const [name, fault] of shuffled(rig.random, chosen)) await checkFault(rig, name, fault)
  if (performance.now() >= deadlineMs) break
}
await checkStatuses(rig)
await checkRest(rig)
console.log(`${transcript.checks} checks, ${transcript.failures} failed; the same order again: --seed ${seed}`)
process.exitCode = transcript.failures > 0 ? 1 : 0

async function checkFault(rig: Rig, name: string, fault: Fault): Promise<void> {
  const loads = [{}, { isClosing: true }].map((options) => startLoad(rig.cluster, rig.url, options))
  try {
    await fault(rig)
    transcript.check(`${name}: an edit arrives`, await rig.editArrives(), true)
  } catch (error) {
    transcript.fail(`${name}: ${error instanceof Error ? error.message : error}`)
  }
  for (const { requests, failures } of await Promise.all(loads.map((load) => load.end()))) {
    transcript.check(`${name}: no request of ${requests} fails`, [requests > 0, failures], [true, []])
  }
}

/** What the controller wrote during the faults is what one writes that finds no statuses. */
async function checkStatuses({ system, team }: Rig): Promise<void> {
  await untilControlled({ system, team })
  await team.until('statuses of the newest objects', () => areStatusesCurrent(team))
  const written = await statusesNow(team)
  await withoutStatuses(system, team)
  let differing: readonly string[] = []
  await team.until(
    'the same statuses',
    async () => {
      const fresh = await statusesNow(team)
      differing = Object.keys(written).filter((name) => JSON.stringify(written[name]) !== JSON.stringify(fresh[name]))
      return differing.length === 0
    },
    3,
  )
  transcript.check('the statuses are those of a fresh controller', differing, [])
}

async function checkRest({ team }: Rig): Promise<void> {
  const kinds = 'configmaps,services,serviceaccounts,deployments,poddisruptionbudgets,secrets'
  const owned = await team.list(kinds, '-l', 'gateway.networking.k8s.io/gateway-name')
  const left = owned
    .map(({ metadata }) => metadata.name)
    .filter((name) => !RUNNING.some((gateway) => name.startsWith(gateway)))
  transcript.check('nothing is left of Gateways that are gone', left, [])
}

function shuffled<T>(random: SeededRandom, all: readonly T[]): readonly T[] {
  const rest = [...all]
  return all.map(() => rest.splice(random.below(rest.length), 1)[0]!)
}
