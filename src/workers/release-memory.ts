import v8 from 'node:v8'
import vm from 'node:vm'

type CollectGarbage = (how: {
  readonly type: 'major'
  readonly execution: 'sync'
  readonly flavor: 'last-resort'
}) => void

/**
 * Returns the memory of the garbage that a big task left: V8 keeps it for later tasks of that size, which may never come. Blocks the thread
 * for about a millisecond per megabyte of live memory.
 */
export function releaseMemory(): void {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as CollectGarbage
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
