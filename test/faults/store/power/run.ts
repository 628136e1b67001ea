import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { openTable } from '#store/database/testing.ts'
import { applied, draw, type Intent, readState, type State } from '../writes.ts'
import { Disk } from './disk.ts'
import { buildRecorder, recordWriter, type Step } from './recorded.ts'

const LOSSES = Number(process.argv[2] ?? 300)
const SEED = Number(process.argv[3] ?? Date.now() % 100_000)
const WRITES_FOR_MS = 4000

type Line =
  | { readonly found: State; readonly revision: number }
  | { readonly intent: Intent }
  | { readonly acknowledged: number }

/** What the writer has said until a step. */
class Said {
  acknowledged: State = {}
  inFlight: Intent | undefined
  revision = 0
  commits = 0
  #rest = ''

  take(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n')
    this.#rest = lines.pop()!
    for (const line of lines) this.#takeLine(JSON.parse(line) as Line)
  }

  #takeLine(line: Line): void {
    if ('intent' in line) this.inFlight = line.intent
    else if ('acknowledged' in line) {
      this.acknowledged = applied(this.acknowledged, this.inFlight!)
      this.inFlight = undefined
      this.revision = line.acknowledged
      this.commits += 1
    }
  }
}

/** @returns what is wrong with the database that a start after the loss of power finds */
function wrongAfter(disk: Disk, said: Said, folder: string, random: (bound: number) => number): string | undefined {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [path, content] of disk.afterPowerLoss(random)) writeFileSync(join(folder, basename(path)), content)
  try {
    const { table } = openTable(join(folder, 'objects.db'))
    const found = readState(table)
    const { revision } = table
    table.close()
    const { acknowledged, inFlight } = said
    if (revision < said.revision) return `revision ${revision} instead of ${said.revision}`
    if (isDeepStrictEqual(found, acknowledged)) return undefined
    if (inFlight !== undefined && isDeepStrictEqual(found, applied(acknowledged, inFlight))) return undefined
    return 'an acknowledged change is lost, or half of a change is there'
  } catch (error) {
    return (error as Error).message
  }
}

/** @returns what is wrong after each of the losses that left something wrong */
function losePower(steps: readonly Step[], folder: string, isSynced: boolean): string[] {
  const random = draw(SEED)
  const disk = new Disk(folder)
  const said = new Said()
  const wrong: string[] = []
  const cuts = new Set(Array.from({ length: LOSSES }, () => random(steps.length)))
  for (const [at, step] of steps.entries()) {
    if (step.does === 'say') said.take(step.text)
    else if (isSynced || step.does !== 'sync' || step.path === folder) disk.take(step)
    if (!cuts.has(at)) continue
    const fault = wrongAfter(disk, said, `${folder}-after`, random)
    if (fault !== undefined) wrong.push(`after step ${at}: ${fault}`)
  }
  console.log(`${steps.length} steps, ${said.commits} acknowledged commits, power lost after ${cuts.size} steps`)
  return wrong
}

const folder = mkdtempSync(join(tmpdir(), 'power-store-'))
try {
  console.log(`seed ${SEED}`)
  const data = join(folder, 'data')
  mkdirSync(data)
  const recorder = buildRecorder(folder)
  const log = join(folder, 'log')
  const steps = await recordWriter(recorder, join(data, 'objects.db'), log, SEED, WRITES_FOR_MS)
  const wrong = losePower(steps, data, true)
  for (const fault of wrong) console.log(`  ${fault}`)
  console.log(`each acknowledged commit found again as a whole: ${wrong.length === 0 ? 'yes' : 'no'}`)
  const unsynced = losePower(steps, data, false)
  console.log(`on a disk that ignores fsync: ${unsynced.length} losses damage the database or lose changes`)
  if (unsynced.length === 0) throw new Error('this shows nothing: fsync makes no difference')
  process.exitCode = wrong.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true })
}
