/** Of a test or hook. Nothing waits for it: it ends what hangs, also on a machine that is many times slower than usual. */
export const TEST_LIMIT_MS = 240_000

/** Of a wait within a test, which then tells what it waits for. */
export const WAIT_LIMIT_MS = 200_000
