import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { TEST_LIMIT_MS } from './test/support/time-limits.ts'

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
} satisfies TestProjectInlineConfiguration['test']

/** Tests of the wire, which run with both kinds of transports (docs/decisions/0123-transport-probe.md). */
const WIRE = [
  'src/net/{forwarding,forwarding-connections,independent-peers}.test.ts',
  'src/net/{http1/client-pool,relay/raw-connection}.test.ts',
]

/**
 * The first files: those of the project `streams`, which has workers of its own, then files that wait for sockets, processes and time. At the
 * end short files that only compute keep all cores busy.
 */
const WAITING =
  /\/(?:test\/(?:scenarios|faults|mutation)|examples)\/|\/src\/(?:net\/http2\/free-in-order|workers\/release-memory)\./

class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.name === 'streams' ? 0 : WAITING.test(moduleId) ? 1 : 2
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

function project(name: string, include: string[], env: Record<string, string> = {}): TestProjectInlineConfiguration {
  return { test: { name, include, env, ...TEST_SETTINGS } }
}

export default defineConfig({
  test: {
    globalSetup: 'test/support/build-bundle.ts',
    // Three more than there are cores, because scenarios wait. Each worker loads and compiles all code (docs/decisions/0180-tests.md).
    maxWorkers: availableParallelism() + 3,
    sequence: { sequencer: WaitingFirst },
    projects: [
      project('all', ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts']),
      project('streams', WIRE, { WIRE_TRANSPORTS: 'streams' }),
    ],
  },
})
