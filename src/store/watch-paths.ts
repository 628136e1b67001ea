import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'

interface WatchOptions {
  /** How long nothing must happen before a change is reported. */
  readonly quietMs: number
  /** How often to look where the platform cannot watch. */
  readonly pollMs: number
}

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
  let quiet: NodeJS.Timeout | undefined
  let poll: NodeJS.Timeout | undefined

  const touched = () => {
    clearTimeout(quiet)
    quiet = setTimeout(onChange, quietMs)
    quiet.unref()
  }
  const lookRegularly = () => {
    poll ??= setInterval(onChange, pollMs)
    poll.unref()
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
      clearTimeout(quiet)
      clearInterval(poll)
      for (const watcher of watchers) watcher.close()
    },
  }
}
