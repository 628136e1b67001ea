import v8 from 'node:v8'
import vm from 'node:vm'

type CollectGarbage = (how: {
  readonly type: 'major'
  readonly execution: 'sync'
  readonly flavor: 'last-resort'
}) => void

/**
 * Gives the memory back that the garbage of a big piece of work took: the engine keeps it for more work of that size, which
 * may never come. Stops the thread for about a millisecond per megabyte in use.
 */
export function releaseMemory(): void {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as CollectGarbage
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
