import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    pool: 'threads',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
