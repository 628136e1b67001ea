import { lstatSync, readlinkSync } from 'node:fs'
import { join, parse, resolve, sep } from 'node:path'

/** As the kernel: a longer chain is a cycle. */
const MAX_LINKS = 40

/** Where the way to a path can change. All folders are real paths, because a watch stays with the folder that a link led to. */
export interface PathWay {
  /** The folders of the symbolic links on the way. */
  readonly links: ReadonlySet<string>
  /** The folder of the file in the end; undefined if it does not exist. */
  readonly folder: string | undefined
}

/** Finds the symbolic links on the way to a path: in its folders, at its end, and in what each of them leads to. */
export function wayTo(path: string): PathWay {
  const links = new Set<string>()
  let followed = 0
  const { root } = parse(resolve(path))
  let at = root
  let ahead = partsOf(resolve(path))
  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
    const next = join(at, part)
    const leadsTo = linkAt(next)
    if (leadsTo === undefined) return { links, folder: ahead.length === 0 ? at : undefined }
    if (leadsTo === '') {
      if (ahead.length === 0) return { links, folder: at }
      at = next
      continue
    }
    links.add(at)
    if (++followed > MAX_LINKS) break
    ahead = [...partsOf(resolve(at, leadsTo)), ...ahead]
    at = root
  }
  return { links, folder: undefined }
}

function partsOf(path: string): string[] {
  return path.split(sep).slice(1).filter(Boolean)
}

/** What a link leads to; empty: no link; undefined: nothing is there. */
function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : ''
  } catch {
    return undefined
  }
}
