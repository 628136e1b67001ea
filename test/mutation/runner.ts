import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createVitest, type TestSequencer } from 'vitest/node'
import { TEST_SETTINGS } from '../../vitest.config.ts'

/** A text for a file, and the tests that should fail with it. Paths are absolute. */
export interface Trial {
  /** Of processor time, in this process. */
  readonly limitMs: number
  readonly file: string
  readonly text: string
  readonly tests: readonly string[]
}

export interface Failure {
  readonly text: string
  /** The file of the test; undefined: the process or the time ended. */
  readonly test?: string
}

export interface Verdict {
  /** The first failure; undefined: all tests pass. */
  readonly failure: Failure | undefined
  /** The processor time of the tests. */
  readonly ms: number
}

// A process that runs trials, one after the other. It is ended when a mutant never does. No file is written: Vitest gets the text in place of what
// the disk holds, and so do the gateways that scenarios start.

let trial: Trial | undefined

/** The nearest test first, whatever took longest before. */
class GivenOrder implements TestSequencer {
  shard<T>(files: T): T {
    return files
  }
  sort<T>(files: T): T {
    return files
  }
}

const vitest = await createVitest(
  {
    root: join(import.meta.dirname, '..', '..'),
    // Of a configuration with projects, Vitest gives the plugin below to none of them.
    config: false,
    ...TEST_SETTINGS,
    watch: false,
    reporters: [{}],
    bail: 1,
    maxWorkers: 1,
    // It knows modules by what the disk holds.
    fsModuleCache: false,
    sequence: { sequencer: GivenOrder },
  },
  {
    plugins: [
      {
        name: 'mutant',
        enforce: 'pre',
        transform: (_, id) => (id === trial?.file ? { code: trial.text, map: null } : undefined),
      },
    ],
  },
)
await vitest.standalone()

process.on('message', (message: Trial) => {
  const { limitMs } = message
  const before = process.cpuUsage()
  const usedMs = () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  const answer = (failure: Failure | undefined) => {
    clearInterval(watch)
    process.send?.({ failure, ms: usedMs() } satisfies Verdict)
  }
  // Tests run in another thread. Other work on the machine does not count.
  const watch = setInterval(() => {
    if (usedMs() > limitMs) answer({ text: `no end within ${Math.round(limitMs / 1000)} s` })
  }, 500)
  void run(message).then(answer)
})
// With the gateways of a scenario that did not end: they are of the same group.
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'))

async function run(next: Trial): Promise<Failure | undefined> {
  if (trial !== undefined) vitest.invalidateFile(trial.file)
  trial = next
  vitest.invalidateFile(next.file)
  const project = vitest.getRootProject()
  project.config.env = {
    NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, 'substitute.ts'))}`,
    MUTANT_URL: pathToFileURL(next.file).href,
    MUTANT_TEXT: next.text,
  }
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
    next.tests.map((test) => project.createSpecification(test)),
  )
  for (const module of testModules) {
    // Vitest also returns the modules of earlier runs.
    if (!next.tests.includes(module.moduleId)) continue
    const [failed] = module.children.allTests('failed')
    const { moduleId: test, relativeModuleId } = module
    if (failed !== undefined) return { text: `${relativeModuleId}: ${failed.fullName}`, test }
    if (module.state() === 'failed') return { text: relativeModuleId, test }
  }
  return unhandledErrors.length > 0 ? { text: String(unhandledErrors[0]) } : undefined
}
