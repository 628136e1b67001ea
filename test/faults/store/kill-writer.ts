import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { applied, draw, type Intent, type State } from './writes.ts'

const WRITER = fileURLToPath(new URL('writer.ts', import.meta.url))

/** What is known of the database: its state if the last announced commit did not happen, or did. */
interface Known {
  readonly acknowledged: State
  readonly inFlight: Intent | undefined
  readonly revision: number
}

export interface KillReport {
  readonly kills: number
  readonly acknowledged: number
  /** Commits that were announced but not acknowledged when the process was killed: stored as a whole, or not at all. */
  readonly storedInFlight: number
  readonly lostInFlight: number
}

type Line =
  | { readonly found: State; readonly revision: number }
  | { readonly intent: Intent }
  | { readonly acknowledged: number }

/**
 * Starts a process that writes to a database as fast as it can, kills it in the middle of a write, and starts it again, many times. Each
 * start must find each acknowledged change, no part of a change, and no revision that was given before.
 * @throws Error with what is wrong
 */
export async function killWriter(file: string, kills: number, seed: number): Promise<KillReport> {
  const random = draw(seed)
  let known: Known = { acknowledged: {}, inFlight: undefined, revision: 0 }
  const counts = { acknowledged: 0, storedInFlight: 0, lostInFlight: 0 }
  for (let kill = 0; kill <= kills; kill += 1) {
    // The last start only looks.
    const writes = kill === kills ? 0 : 1 + random(120)
    const run = await runUntilKilled(file, `${seed * 1000 + kill}`, { writes, delayMs: random(4) })
    const outcome = check(known, run.found, run.foundRevision)
    if (outcome !== undefined) counts[outcome] += 1
    counts.acknowledged += run.acknowledged
    known = run.known
  }
  return { kills, ...counts }
}

/** @returns what became of the commit that was in flight */
function check(known: Known, found: State, revision: number): 'storedInFlight' | 'lostInFlight' | undefined {
  if (revision < known.revision) throw new Error(`the revision went back from ${known.revision} to ${revision}`)
  const { acknowledged, inFlight } = known
  if (isDeepStrictEqual(found, acknowledged)) return inFlight === undefined ? undefined : 'lostInFlight'
  if (inFlight !== undefined && isDeepStrictEqual(found, applied(acknowledged, inFlight))) return 'storedInFlight'
  const wrong = [...new Set([...Object.keys(found), ...Object.keys(acknowledged)])].filter(
    (name) => found[name] !== acknowledged[name],
  )
  throw new Error(`lost or half written: ${wrong.join(', ')}; in flight: ${JSON.stringify(inFlight)}`)
}

interface Run {
  readonly found: State
  readonly foundRevision: number
  readonly known: Known
  readonly acknowledged: number
}

async function runUntilKilled(
  file: string,
  seed: string,
  { writes, delayMs }: { readonly writes: number; readonly delayMs: number },
): Promise<Run> {
  const child = spawn(process.execPath, [WRITER, file, seed], { stdio: ['ignore', 'pipe', 'pipe'] })
  const errors: Buffer[] = []
  child.stderr.on('data', (piece: Buffer) => errors.push(piece))
  const exited = new Promise((resolve) => child.once('close', resolve))
  let start: { readonly found: State; readonly revision: number } | undefined
  let state: State = {}
  let inFlight: Intent | undefined
  let revision = 0
  let acknowledged = 0
  // A line that was cut off by the end of the process is no line.
  for await (const text of createInterface({ input: child.stdout })) {
    const line = parseLine(text)
    if (line === undefined) continue
    if ('found' in line) {
      start = line
      state = line.found
      revision = line.revision
    } else if ('intent' in line) inFlight = line.intent
    else {
      state = applied(state, inFlight!)
      inFlight = undefined
      revision = line.acknowledged
      acknowledged += 1
    }
    if (acknowledged === writes) setTimeout(() => child.kill('SIGKILL'), delayMs)
  }
  await exited
  if (start === undefined) throw new Error(`the writer did not start: ${Buffer.concat(errors)}`)
  return {
    found: start.found,
    foundRevision: start.revision,
    known: { acknowledged: state, inFlight, revision },
    acknowledged,
  }
}

function parseLine(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line
  } catch {
    return undefined
  }
}
