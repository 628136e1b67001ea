import { MissingCounterpart } from '../../counterparts.ts'
import type { Part } from '../../run-parts.ts'
import { loadGo, loadJava, loadPython, loadRust } from './languages.ts'
import { checkMeetings } from './meetings.ts'
import type { LoadSdk, PairClient, PairServer } from './pair.ts'
import { loadPrograms } from './programs.ts'
import { loadTypescript } from './typescript/pair.ts'

const SDKS: Readonly<Record<string, LoadSdk>> = {
  typescript: loadTypescript,
  python: loadPython,
  go: loadGo,
  rust: loadRust,
  java: loadJava,
}

/** Lets the clients of all official SDKs meet the servers of all of them. */
export const checkPairs: Part = async (transcript, stops) => {
  const servers: PairServer[] = []
  const clients: PairClient[] = []
  const missing: string[] = []
  for (const [name, load] of Object.entries(SDKS)) {
    try {
      const loaded = await load(stops)
      servers.push(...loaded.servers)
      clients.push(...loaded.clients)
    } catch (error) {
      if (!(error instanceof MissingCounterpart)) throw error
      missing.push(`${name}, which did not run: ${error.message}`)
    }
  }
  await checkMeetings(servers, clients, transcript, stops)
  if (missing.length > 0) throw new MissingCounterpart(missing.join('\n     '))
}

/** Lets programs that people use meet the servers of the SDKs for TypeScript. */
export const checkPrograms: Part = async (transcript, stops) => {
  const { servers } = await loadTypescript(stops)
  await checkMeetings(servers, loadPrograms(), transcript, stops)
}
