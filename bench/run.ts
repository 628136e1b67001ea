import { parseArgs } from 'node:util'
import { CANDIDATE_NAMES, startCandidate } from './candidate.ts'
import { PART_NAMES, runPart } from './parts.ts'
import { runSuite } from './run-suite.ts'
import { scratchFolder } from './scratch-folder.ts'
import { SUITES } from './suite.ts'
import { formatTable } from './table.ts'
import { findObstacle } from './tools.ts'
import { startUpstreams } from './upstreams.ts'

const USAGE = `usage: npm run bench -- [suite|all] [rounds] [seconds] [--only ${CANDIDATE_NAMES.join(',')}]
suites: ${SUITES.map(({ name }) => name).join(', ')}
       npm run bench -- PART [ARGUMENT...]
parts: ${PART_NAMES.join(', ')}`

interface Wishes {
  readonly suites: typeof SUITES
  readonly candidates: readonly string[]
  readonly rounds: number
  readonly seconds: number
}

/** Parses the command line. @returns undefined if it is invalid */
function readWishes(): Wishes | undefined {
  const given = readArguments()
  if (given === undefined) return undefined
  const { positionals, values } = given
  const [suite = 'all', rounds = '5', seconds = '4'] = positionals
  const wishes = {
    suites: suite === 'all' ? SUITES : SUITES.filter(({ name }) => name === suite),
    candidates: values.only === undefined ? CANDIDATE_NAMES : values.only.split(','),
    rounds: Number(rounds),
    seconds: Number(seconds),
  }
  const makesSense =
    wishes.suites.length > 0 &&
    wishes.candidates.every((name) => CANDIDATE_NAMES.includes(name)) &&
    [wishes.rounds, wishes.seconds].every((count) => Number.isInteger(count) && count > 0)
  return makesSense ? wishes : undefined
}

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } })
  } catch {
    return undefined
  }
}

async function main(): Promise<number> {
  const wishes = readWishes()
  if (wishes === undefined) return giveUp(USAGE, 2)
  const obstacle = findObstacle()
  if (obstacle !== undefined) return giveUp(`bench: ${obstacle}`, 2)
  try {
    const scratch = scratchFolder()
    const upstreams = startUpstreams(scratch)
    const candidates = wishes.candidates.map((name) => startCandidate(name, scratch))
    for (const suite of wishes.suites) {
      const { rounds, seconds } = wishes
      const progress = (text: string) => console.error(text)
      const able = candidates.filter(({ name, adapt }) => !suite.without?.includes(name) && adapt(suite) !== undefined)
      const rows = await runSuite({ suite, candidates: able, upstreams, rounds, seconds, progress })
      console.log(`\n${formatTable(suite, rows)}`)
    }
    return 0
  } catch (error) {
    return giveUp(`bench: ${error instanceof Error ? error.message : String(error)}`, 1)
  }
}

function giveUp(why: string, exitCode: number): number {
  console.error(why)
  return exitCode
}

if (!(await runPart())) process.exit(await main())
