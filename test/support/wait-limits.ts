import { vi } from 'vitest'
import { WAIT_LIMIT_MS } from './time-limits.ts'

// By default Vitest waits for a second, which a busy machine may need for a turn of the event loop.
const { waitFor } = vi
vi.waitFor = (look, options = {}) =>
  waitFor(look, typeof options === 'number' ? options : { timeout: WAIT_LIMIT_MS, ...options })
