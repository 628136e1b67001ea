import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The addresses in the note of a running gateway, `gateway.json` in its state folder. */
export interface RunningGateway {
  readonly admin: string
  readonly metricsPort: number
}

/**
 * Waits until a gateway has noted in its state folder that it runs. The readiness port would not do: a gateway that already ran
 * may own it.
 *
 * @returns undefined when the gateway ended, or took too long
 */
export async function waitForNote(
  folder: string,
  gone: AbortSignal,
  withinMs: number,
): Promise<RunningGateway | undefined> {
  const deadline = performance.now() + withinMs
  while (!gone.aborted && performance.now() < deadline) {
    const note = await readFile(join(folder, 'gateway.json'), 'utf8').catch(() => '')
    if (note.endsWith('}\n')) return JSON.parse(note)
    await sleep(100)
  }
  return undefined
}
