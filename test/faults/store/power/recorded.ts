import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a process did with the files of a folder, or said on standard output. */
export type Step =
  | { readonly does: 'create'; readonly path: string }
  | { readonly does: 'sync'; readonly path: string }
  | { readonly does: 'unlink'; readonly path: string }
  | { readonly does: 'write'; readonly path: string; readonly at: number; readonly bytes: Buffer }
  | { readonly does: 'truncate'; readonly path: string; readonly length: number }
  | { readonly does: 'rename'; readonly path: string; readonly to: string }
  | { readonly does: 'say'; readonly text: string }

const WRITER = fileURLToPath(new URL('../writer.ts', import.meta.url))
const SOURCE = fileURLToPath(new URL('record-writes.c', import.meta.url))

/** Compiles the library that records. */
export function buildRecorder(folder: string): string {
  const library = join(folder, 'record-writes.so')
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-o', library, SOURCE])
  return library
}

/** Lets a process write to a database for some time, kills it, and reads what it did. */
export async function recordWriter(
  recorder: string,
  file: string,
  log: string,
  seed: number,
  ms: number,
): Promise<Step[]> {
  const env = { ...process.env, LD_PRELOAD: recorder, RECORD_LOG: log, RECORD_FOLDER: join(file, '..') }
  const child = spawn(process.execPath, [WRITER, file, `${seed}`], { stdio: ['ignore', 'ignore', 'inherit'], env })
  const timer = setTimeout(() => child.kill('SIGKILL'), ms)
  await once(child, 'exit')
  clearTimeout(timer)
  return readSteps(readFileSync(log))
}

const HEAD_BYTES = 17

function readSteps(log: Buffer): Step[] {
  const steps: Step[] = []
  let at = 0
  while (at + HEAD_BYTES <= log.length) {
    const type = String.fromCharCode(log[at]!)
    const pathEnd = at + HEAD_BYTES + log.readUInt32LE(at + 1)
    const end = pathEnd + log.readUInt32LE(at + 5)
    const offset = Number(log.readBigInt64LE(at + 9))
    const path = log.toString('utf8', at + HEAD_BYTES, pathEnd)
    // The process was killed in the middle of a record.
    if (end > log.length) break
    steps.push(stepOf(type, path, offset, log.subarray(pathEnd, end)))
    at = end
  }
  return steps
}

function stepOf(type: string, path: string, offset: number, data: Buffer): Step {
  switch (type) {
    case 'C':
      return { does: 'create', path }
    case 'S':
      return { does: 'sync', path }
    case 'U':
      return { does: 'unlink', path }
    case 'W':
      return { does: 'write', path, at: offset, bytes: data }
    case 'T':
      return { does: 'truncate', path, length: offset }
    case 'R':
      return { does: 'rename', path, to: data.toString() }
    case 'A':
      return { does: 'say', text: data.toString() }
  }
  throw new Error(`no record: ${type}`)
}
