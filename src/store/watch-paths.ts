import { type FSWatcher, realpathSync, statSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { clock } from '#base/clock.ts'
import { wayTo } from './path-links.ts'

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
  /** Replaces the files outside of the paths that others depend on or lead to. @param users the dependent files, reported instead, by path */
  follow(users: ReadonlyMap<string, readonly string[]>): void
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
  /** A watch stays with the folder that a link led to when it began, so it begins anew when the way to the path has changed. */
  const watchGiven = (path: string): (() => void) => {
    let watchers: FSWatcher[] = []
    let real: string | undefined
    const close = () => {
      for (const watcher of watchers) watcher.close()
      watchers = []
    }
    const open = () => {
      close()
      real = realPathOf(path)
      try {
        const isDirectory = statSync(path).isDirectory()
        const folder = isDirectory ? path : dirname(path)
        watchers.push(
          watch(folder, { recursive: isDirectory, persistent: false }, (_, name) =>
            touch(name === null ? undefined : join(folder, name)),
          ),
        )
        for (const links of wayTo(path).links) watchers.push(watch(links, { persistent: false }, lookAtWay))
      } catch {
        lookRegularly()
      }
      for (const watcher of watchers) watcher.on('error', lookRegularly)
    }
    const lookAtWay = () => {
      if (realPathOf(path) === real) return
      open()
      touch(undefined)
    }
    open()
    return close
  }
  const given = paths.map(watchGiven)
  const followed = new Map<string, Followed>()
  const followFolder = (folder: string): Followed => {
    const entry: Followed = { watcher: undefined, users: new Set() }
    try {
      // Whatever changes in the folder: a name can be a link, or a part of the way to which one leads.
      entry.watcher = watch(folder, { persistent: false }, () => {
        for (const user of entry.users) touch(user)
      })
      entry.watcher.on('error', lookRegularly)
    } catch {
      lookRegularly()
    }
    return entry
  }
  return {
    follow: (users) => {
      const wanted = new Map<string, Set<string>>()
      for (const [file, names] of users) {
        for (const folder of foldersOf(file)) wanted.set(folder, new Set([...(wanted.get(folder) ?? []), ...names]))
      }
      for (const [folder, { watcher }] of followed) {
        if (wanted.has(folder)) continue
        watcher?.close()
        followed.delete(folder)
      }
      for (const [folder, names] of wanted) {
        const known = followed.get(folder)
        const entry = known ?? followFolder(folder)
        entry.users = names
        if (known !== undefined) continue
        followed.set(folder, entry)
        // Changes between the first reading and now.
        for (const name of names) touch(name)
      }
    },
    close: () => {
      quiet?.cancel()
      poll?.cancel()
      for (const closeGiven of given) closeGiven()
      for (const { watcher } of followed.values()) watcher?.close()
    },
  }
}

/** A watched folder, and the files to report when something in it changes. */
interface Followed {
  watcher: FSWatcher | undefined
  users: ReadonlySet<string>
}

/** The folders in which a change can be one of the file: that of the file, and those of the links on the way to it. */
function foldersOf(file: string): ReadonlySet<string> {
  const { links, folder = dirname(file) } = wayTo(file)
  return new Set([...links, folder])
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
