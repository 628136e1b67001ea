import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createVitest, type TestSequencer } from 'vitest/node'
import { TEST_SETTINGS } from '../../vitest.config.ts'

/** A text for a file, and the tests that are to notice. Paths are absolute. */
export interface Trial {
  readonly file: string
  readonly text: string
  readonly tests: readonly string[]
}

export interface Failure {
  readonly text: string
  /** The file of the test; undefined: no test is known to have failed, the process or the time ended. */
  readonly test?: string
}

/** The first failure; undefined when all tests pass. */
export type Verdict = { readonly failure: Failure | undefined }

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

process.on('message', (message) => {
  void run(message as Trial).then((verdict) => process.send?.(verdict))
})
// With the gateways of a scenario that did not end: they are of the same group.
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'))

async function run(next: Trial): Promise<Verdict> {
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
    if (failed !== undefined) return { failure: { text: `${relativeModuleId}: ${failed.fullName}`, test } }
    if (module.state() === 'failed') return { failure: { text: relativeModuleId, test } }
  }
  return { failure: unhandledErrors.length > 0 ? { text: String(unhandledErrors[0]) } : undefined }
}
