import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readSourceTree } from '../architecture/source-tree.ts'
import { ACCEPTED, type Accepted, findAccepted, lineOf } from './accepted.ts'
import { CORE, isIn } from './areas.ts'
import { coveringTests, fieldTests } from './covering-tests.ts'
import { Examiner, type Sound } from './examiner.ts'
import { applyMutant, type Mutant, mutantsOf } from './mutate.ts'
import { sample } from './sample.ts'
import { scenarioTests } from './scenarios.ts'
import { readSelection } from './selection.ts'
import { Trials } from './trials.ts'

const SOURCES = join(import.meta.dirname, '..', '..', 'src')

/** What the nearest tests do not notice is shown to so many times as many. */
const FARTHER = 5

const USAGE = 2

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', default: '8' },
    scenarios: { type: 'string', default: '8' },
    from: { type: 'string' },
    processes: { type: 'string', default: String(availableParallelism()) },
    killers: { type: 'boolean', default: false },
  },
})

/** A file, its text, and those of its mutants that are tried. */
interface Work {
  readonly path: string
  readonly source: string
  readonly mutants: readonly Mutant[]
}

const files = readSourceTree(SOURCES)
// Scenarios import little of what they run: scenarios.ts names theirs.
const beside = readSourceTree(join(SOURCES, '..', 'test'), '../test/').filter(
  ({ path }) => !path.includes('/scenarios/'),
)
const allFiles = [...files, ...beside]
const counts = { killed: 0, accepted: 0, survived: 0, uncovered: 0, broken: 0 }
const sound: Sound = new Map()
const started = performance.now()
const sources = files.filter(({ forTests }) => !forTests)
const paths = sources.map(({ path }) => path)
const wanted = readSelection(positionals, paths)
const from = readSelection(values.from === undefined ? [] : [values.from], paths)
const unknown = [...wanted.unknown, ...from.unknown]
if (unknown.length > 0) {
  console.error(`no source file matches ${unknown.join(', ')}: give core, elsewhere, or paths below src/`)
  process.exit(USAGE)
}
const queue = chooseWork(wanted.selected)
console.log(`${queue.reduce((sum, { mutants }) => sum + mutants.length, 0)} mutants in ${queue.length} files`)
await Promise.all(Array.from({ length: Number(values.processes) }, tryMutants))
console.log(
  `${counts.killed} killed, ${counts.survived} survived, ${counts.accepted} accepted, ${counts.uncovered} in files without tests; ` +
    `${Math.round((performance.now() - started) / 1000)} s`,
)
const outdated = ACCEPTED.filter((entry) => !isMutant(entry))
for (const { file, line } of outdated) console.log(`accepted.ts: no such mutant any more: src/${file} | ${line}`)
process.exitCode = counts.survived + counts.uncovered + counts.broken + outdated.length > 0 ? 1 : 0

function isMutant(entry: Accepted): boolean {
  if (!files.some(({ path }) => path === entry.file)) return false
  const { source, mutants } = readWork(entry.file)
  return mutants.some((mutant) => findAccepted([entry], entry.file, source, mutant) !== undefined)
}

/** A sample is taken of all but the core. */
function chooseWork(selected: readonly string[]): Work[] {
  const all = paths.map(readWork)
  const core = selected.includes('core') ? all.filter(({ path }) => isIn(CORE, path)) : []
  const isWanted = (path: string, { line }: Mutant) =>
    isIn(selected, path) ||
    selected.includes(`${path}:${line}`) ||
    (selected.includes('elsewhere') && !isIn(CORE, path))
  const others = all.flatMap(({ path, mutants }) => mutants.filter((mutant) => isWanted(path, mutant)))
  const chosen = new Set(sample(others, Number(values.sample), Number(values.seed)))
  const sampled = all.map((work) => ({ ...work, mutants: work.mutants.filter((mutant) => chosen.has(mutant)) }))
  return startingAt([...core, ...sampled].filter(({ mutants }) => mutants.length > 0))
}

/** The work from `--from` on. The sample is the same with and without it. */
function startingAt(all: Work[]): Work[] {
  if (values.from === undefined) return all
  const start = all.findIndex(({ path }) => isIn(from.selected, path))
  if (start < 0) throw new Error(`no mutant is chosen in ${values.from}`)
  return all.slice(start)
}

function readWork(path: string): Work {
  const source = readFileSync(join(SOURCES, path), 'utf8')
  return { path, source, mutants: mutantsOf(source) }
}

/** Takes files from the queue until it is empty. */
async function tryMutants(): Promise<void> {
  using examiner = new Examiner(new Trials(), sound, (test, failure) => {
    counts.broken++
    console.log(`${test} fails without a mutant, and is left out: ${failure}`)
  })
  for (let work = queue.shift(); work !== undefined; work = queue.shift()) await tryFile(examiner, work)
}

async function tryFile(examiner: Examiner, { path, source, mutants }: Work): Promise<void> {
  const covering = coveringTests(allFiles, path, FARTHER * Number(values.tests))
  const nearest = covering.slice(0, Number(values.tests)).map(absolute)
  const others = new Set([...fieldTests(allFiles, path), ...covering].map(absolute))
  const examined = {
    file: absolute(path),
    text: source,
    nearest,
    farther: [...others.difference(new Set(nearest))],
    scenarios: scenarioTests(path, Number(values.scenarios)).map(absolute),
  }
  if (nearest.length + examined.scenarios.length === 0) {
    counts.uncovered += mutants.length
    return console.log(`${path}: no test imports it`)
  }
  const found = { killed: 0, accepted: 0, survived: 0 }
  for (const mutant of mutants) {
    const killer = await examiner.examine(examined, applyMutant(source, mutant))
    if (values.killers && killer !== undefined) console.log(`${describe(path, source, mutant)}   | ${killer}`)
    const verdict = killer !== undefined ? 'killed' : judgeSurvivor(path, source, mutant)
    counts[verdict]++
    found[verdict]++
  }
  console.log(`${path}: ${mutants.length} tried, ${found.killed} killed, ${found.accepted} accepted`)
}

function absolute(path: string): string {
  return join(SOURCES, path)
}

function judgeSurvivor(path: string, source: string, mutant: Mutant): 'accepted' | 'survived' {
  if (findAccepted(ACCEPTED, path, source, mutant) !== undefined) return 'accepted'
  console.log(describe(path, source, mutant))
  return 'survived'
}

function describe(path: string, source: string, mutant: Mutant): string {
  return `src/${path}:${mutant.line}: ${mutant.original} -> ${mutant.replacement}   | ${lineOf(source, mutant)}`
}
