import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { clock } from '#base/clock.ts'

interface WatchOptions {
  /** How long nothing must happen before a change is reported. */
  readonly quietMs: number
  /** How often to look where the platform cannot watch. */
  readonly pollMs: number
}

type Timer = ReturnType<typeof clock.after>

export interface Watch {
  close(): void
}

/**
 * Reports that something under the paths may have changed. A single file is watched through its directory, because editors
 * replace files by renaming. What cannot be watched (a path that is not there yet, a file system without events) is reported
 * at regular times instead.
 */
export function watchPaths(paths: readonly string[], onChange: () => void, { quietMs, pollMs }: WatchOptions): Watch {
  const watchers: FSWatcher[] = []
  let quiet: Timer | undefined
  let poll: Timer | undefined

  const touched = () => {
    quiet?.cancel()
    quiet = clock.after(quietMs, onChange)
  }
  const look = () => {
    poll = clock.after(pollMs, look)
    onChange()
  }
  const lookRegularly = () => {
    poll ??= clock.after(pollMs, look)
  }
  for (const path of paths) {
    try {
      const isDirectory = statSync(path).isDirectory()
      const watcher = watch(isDirectory ? path : dirname(path), { recursive: isDirectory, persistent: false }, touched)
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
