import { setTimeout as sleep } from 'node:timers/promises'
import { type Candidate, startCandidate } from '../candidate.ts'
import { load } from '../load.ts'
import { residentMb } from '../process-cost.ts'
import { scratchFolder } from '../scratch-folder.ts'
import { SUITES } from '../suite.ts'
import { findObstacle } from '../tools.ts'
import { startUpstreams } from '../upstreams.ts'
import { waitForAnswer } from '../wait-for-answer.ts'
import { KeptConnections } from './keep-connections.ts'
import { measureStart } from './start.ts'

const CONNECTIONS = 10_000
const ROUNDS = 4
const REQUESTS = 1_000_000
const SECONDS_AT_ONCE = 10
/** Memory limit per idle connection for a gateway with one worker (bench/README.md). */
const MOST_KB_PER_CONNECTION = 30
/** Time until freed memory is returned to the system. */
const SETTLE_MS = 8000

const SMALL = SUITES.find(({ name }) => name === 'small')!

async function main(): Promise<number> {
  const obstacle = findObstacle()
  if (obstacle !== undefined) {
    console.error(`bench: ${obstacle}`)
    return 2
  }
  const scratch = scratchFolder()
  await measureStart(scratch)
  startUpstreams(scratch)
  const gateway = startCandidate('gatewright', scratch)
  await waitForAnswer(gateway, SMALL)
  await load(SMALL, gateway.address(SMALL), 2)
  const perConnection = await holdConnections(gateway)
  await sendMany(gateway)
  return perConnection <= MOST_KB_PER_CONNECTION ? 0 : 1
}

/** @returns kilobytes per idle connection, in the first round */
async function holdConnections(gateway: Candidate): Promise<number> {
  const before = await settled(gateway)
  print('start', before)
  let perConnection = 0
  for (let round = 1; round <= ROUNDS; round++) {
    const kept = await KeptConnections.open(gateway.address(SMALL).port, CONNECTIONS)
    const open = await settled(gateway)
    if (round === 1) perConnection = ((open - before) * 1024) / CONNECTIONS
    await kept.close()
    print(`${CONNECTIONS} connections, opened and closed, round ${round}`, await settled(gateway))
  }
  console.log(`a waiting connection: ${perConnection.toFixed(1)} KB (at most ${MOST_KB_PER_CONNECTION})`)
  return perConnection
}

async function sendMany(gateway: Candidate): Promise<void> {
  for (let sent = 0; sent < REQUESTS; ) {
    const { count, errors } = await load(SMALL, gateway.address(SMALL), SECONDS_AT_ONCE)
    if (errors > 0) throw new Error(`${errors} of ${count} requests failed`)
    sent += count
    print(`${sent} requests`, residentMb(gateway.process!.pid))
  }
}

async function settled({ process }: Candidate): Promise<number> {
  await sleep(SETTLE_MS)
  return residentMb(process!.pid)
}

function print(after: string, megabytes: number): void {
  console.log(`${after}: ${megabytes.toFixed(0)} MB`)
}

process.exit(await main())
