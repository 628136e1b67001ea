import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PinnedProcess } from './pinned-process.ts'
import { LOAD_CORE, projectFile } from './settings.ts'

/** Starts what stands behind every candidate: nginx for requests, a server of our own for event streams. */
export function startUpstreams(scratch: string): readonly PinnedProcess[] {
  mkdirSync(join(scratch, 'temp'))
  mkdirSync(join(scratch, 'www'))
  writeFileSync(join(scratch, 'www', '10k'), '0123456789abcdef'.repeat(640))
  const files = ['nginx', '-p', scratch, '-c', projectFile('bench/servers/upstream.nginx.conf')]
  const events = [process.execPath, projectFile('bench/sse/event-server.ts')]
  return [
    new PinnedProcess({ name: 'upstream', core: LOAD_CORE, command: files, scratch }),
    new PinnedProcess({ name: 'events', core: LOAD_CORE, command: events, scratch }),
  ]
}
