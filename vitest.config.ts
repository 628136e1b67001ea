import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { RetriedTests } from './test/support/retried-tests.ts'
import { TEST_LIMIT_MS, WAIT_LIMIT_MS } from './test/support/time-limits.ts'

// Threads and processes that tests start take compiled code from where `bin/gatewright` keeps it.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'gatewright')

// Each worker compiles for itself, and most code is soon left for the next file: full optimization does not pay off
// (docs/decisions/0180-tests.md).
setFlagsFromString('--no-turbofan')

/** How each test file runs, also when a mutant is tried (test/mutation). */
export const TEST_SETTINGS = {
  pool: 'threads',
  // Files share their workers, so that a module is evaluated once per worker and not once per file.
  isolate: false,
  setupFiles: ['test/support/left-behind.ts'],
  restoreMocks: true,
  // Not setImmediate: `base/turn.ts` would wait forever for one that a test never ran.
  fakeTimers: { toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] },
  testTimeout: TEST_LIMIT_MS,
  hookTimeout: TEST_LIMIT_MS,
  // Random tests have fixed seeds, so that only what depends on time can pass at a second try.
  retry: process.env.CI === undefined ? 0 : 1,
  expect: { poll: { timeout: WAIT_LIMIT_MS } },
} satisfies TestProjectInlineConfiguration['test']

/** Tests of the wire, which run with both kinds of transports (docs/decisions/0123-transport-probe.md). */
const WIRE = [
  'src/net/{forwarding,forwarding-connections,independent-peers}.test.ts',
  'src/net/{http1/client-pool,relay/raw-connection}.test.ts',
]

/** Files that wait for sockets, processes and time. */
const WAITING =
  /\/(?:test\/(?:scenarios|faults|mutation)|examples)\/|\/src\/(?:net\/node-http2\/free-in-order|workers\/release-memory)\./

/**
 * First the files of the project `streams`, which has workers of its own. Then files that wait, among files that only compute: while some workers
 * wait, others compute, so that few workers keep all cores busy.
 */
class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isStreams = ({ project }: TestSpecification) => project.name === 'streams'
    const waits = ({ moduleId }: TestSpecification) => WAITING.test(moduleId)
    const others = sorted.filter((file) => !isStreams(file))
    const computing = others.filter((file) => !waits(file))
    return [...sorted.filter(isStreams), ...mix(others.filter(waits), computing)]
  }
}

/** Spreads the files that wait evenly, except that the last sixth of the others comes last: no long wait begins at the end. */
function mix(waiting: readonly TestSpecification[], computing: readonly TestSpecification[]): TestSpecification[] {
  const share = (1.2 * waiting.length) / computing.length
  let taken = 0
  const mixed = computing.flatMap((file, at) => {
    const next = waiting.slice(taken, Math.ceil((at + 1) * share))
    taken += next.length
    return [...next, file]
  })
  return [...mixed, ...waiting.slice(taken)]
}

function project(name: string, include: string[], env: Record<string, string> = {}): TestProjectInlineConfiguration {
  return { test: { name, include, env, ...TEST_SETTINGS } }
}

export default defineConfig({
  test: {
    globalSetup: 'test/support/build-bundle.ts',
    // One more than there are cores, because scenarios wait. Each worker loads and compiles all code (docs/decisions/0180-tests.md).
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: Mixed },
    reporters: ['default', new RetriedTests()],
    projects: [
      project('all', ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts']),
      project('streams', WIRE, { WIRE_TRANSPORTS: 'streams' }),
    ],
  },
})
