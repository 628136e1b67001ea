import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { clock } from '#base/clock.ts'

interface WatchOptions {
  /** How long the files must be unchanged before a change is reported. */
  readonly quietMs: number
  /** Polling interval where the platform cannot watch. */
  readonly pollMs: number
}

/** Maximum delay of a change while further changes arrive. */
const MAX_WAIT_MS = 1000

/** With more names at once, some may be missing: the event queue of the platform is finite. */
const MAX_NAMES = 1000

/** The reported paths of files and folders; undefined: anything may have changed. */
export type Touched = ReadonlySet<string> | undefined

type Timer = ReturnType<typeof clock.after>

export interface Watch {
  close(): void
}

/**
 * Reports that files under the paths may have changed. A single file is watched through its directory, because editors replace files by
 * renaming. For paths that cannot be watched (missing, or on a file system without events), a change is assumed at regular intervals.
 */
export function watchPaths(
  paths: readonly string[],
  onChange: (touched: Touched) => void,
  { quietMs, pollMs }: WatchOptions,
): Watch {
  const watchers: FSWatcher[] = []
  let quiet: Timer | undefined
  let poll: Timer | undefined
  let waitingSince = 0
  let names = new Set<string>()
  let isAnything = false

  const report = () => {
    const touched = isAnything || names.size > MAX_NAMES ? undefined : names
    quiet = undefined
    names = new Set()
    isAnything = false
    onChange(touched)
  }
  const touch = (name: string | undefined) => {
    if (name === undefined) isAnything = true
    else names.add(name)
    const now = clock.monotonic()
    if (quiet === undefined) waitingSince = now
    quiet?.cancel()
    quiet = clock.after(Math.max(0, Math.min(quietMs, waitingSince + MAX_WAIT_MS - now)), report)
  }
  const reportAll = () => {
    poll = clock.after(pollMs, reportAll)
    onChange(undefined)
  }
  const lookRegularly = () => {
    poll ??= clock.after(pollMs, reportAll)
  }
  for (const path of paths) {
    try {
      const isDirectory = statSync(path).isDirectory()
      const folder = isDirectory ? path : dirname(path)
      const watcher = watch(folder, { recursive: isDirectory, persistent: false }, (_, name) =>
        touch(name === null ? undefined : join(folder, name)),
      )
      watcher.on('error', lookRegularly)
      watchers.push(watcher)
    } catch {
      lookRegularly()
    }
  }
  return {
    close: () => {
      quiet?.cancel()
      poll?.cancel()
      for (const watcher of watchers) watcher.close()
    },
  }
}
