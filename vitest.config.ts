import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    pool: 'threads',
    // Files share their workers, so that a module is evaluated once per worker and not once per file.
    isolate: false,
    setupFiles: ['test/support/left-behind.ts'],
    restoreMocks: true,
    // One more than there are cores: scenarios wait for sockets and processes most of their time.
    maxWorkers: availableParallelism() + 1,
    // Not setImmediate: `base/turn.ts` would wait forever for one that a test never ran.
    fakeTimers: { toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
