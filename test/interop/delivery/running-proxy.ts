import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'

const PROGRAM = join(import.meta.dirname, '..', '..', '..', 'bin', 'gatewright')

/** `gatewright proxy` in a process of its own. */
export class RunningProxy implements AsyncDisposable {
  /** What it logged. */
  log = ''
  readonly #readiness: number
  /** Its state is in a folder below it. */
  readonly #folder = mkdtempSync(join(tmpdir(), 'gatewright-proxy-'))
  readonly #child

  private constructor(words: readonly string[], readiness: number) {
    const free = '127.0.0.1:0'
    const addresses = { GATEWRIGHT_ADMIN_ADDR: free, GATEWRIGHT_STATS_ADDR: free }
    const env = { ...process.env, ...addresses, GATEWRIGHT_READINESS_ADDR: `127.0.0.1:${readiness}`, POD_NAME: 'pod-1' }
    this.#readiness = readiness
    this.#child = spawn(PROGRAM, words, { cwd: this.#folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
    this.#child.stderr.on('data', (piece: Buffer) => {
      this.log += piece
    })
  }

  static async start(controller: string, ...words: readonly string[]): Promise<RunningProxy> {
    return new RunningProxy(['proxy', '--controller', controller, '--workers', '1', ...words], await freePort())
  }

  /** Status and text of its readiness. */
  async readiness(): Promise<string> {
    const answer = await fetch(`http://127.0.0.1:${this.#readiness}/healthz/ready`)
    return `${answer.status} ${await answer.text()}`
  }

  ready(): Promise<unknown> {
    return eventually('the proxy is ready', async () => (await this.readiness()).startsWith('200'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) {
      const exit = once(this.#child, 'exit')
      this.#child.kill('SIGKILL')
      await exit
    }
    rmSync(this.#folder, { recursive: true })
  }
}
