/** `cpu`: where time is spent (`.cpuprofile`). `heap`: which code allocated what is still in use (`.heapprofile`). Neither has values of the program. */
export type ProfileKind = 'cpu' | 'heap'

/** Average distance of sampled allocations, in bytes. */
const HEAP_INTERVAL_BYTES = 65_536

/**
 * Profiles this thread for a time.
 * @returns JSON in the format of Chrome's developer tools
 */
export async function recordProfile(kind: ProfileKind, durationMs: number): Promise<string> {
  // It opens no port. Most workers never need it.
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  try {
    if (kind === 'cpu') {
      await session.post('Profiler.enable')
      await session.post('Profiler.start')
      await pass(durationMs)
      const { profile } = await session.post('Profiler.stop')
      return JSON.stringify(profile)
    }
    await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL_BYTES })
    await pass(durationMs)
    const { profile } = await session.post('HeapProfiler.stopSampling')
    return JSON.stringify(profile)
  } finally {
    session.disconnect()
  }
}

/** It does not keep a thread alive that ends. */
function pass(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}
