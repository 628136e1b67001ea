import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The addresses in the note of a running gateway, `gateway.json` in its state folder. */
export interface RunningGateway {
  readonly admin: string
  /** Missing when it is switched off. */
  readonly api?: string
  readonly metricsPort: number
  readonly readinessPort: number
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

/** Waits until a running gateway accepts traffic. @returns why it does not; undefined: it is ready, or it has ended */
export async function waitForReadiness(
  { readinessPort }: Pick<RunningGateway, 'readinessPort'>,
  gone: AbortSignal,
  withinMs: number,
): Promise<string | undefined> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const reason = await askReadiness(readinessPort)
    if (reason === undefined || gone.aborted) return undefined
    if (performance.now() >= deadline) return reason
    await sleep(100)
  }
}

async function askReadiness(port: number): Promise<string | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/healthz/ready`)
    const text = await response.text()
    return response.ok ? undefined : text.trim()
  } catch (error) {
    return `port ${port} for readiness does not answer: ${error instanceof Error ? error.message : error}`
  }
}
