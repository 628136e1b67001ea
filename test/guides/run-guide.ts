import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/free-port.ts'
import { portsIn } from '../support/gateway-options.ts'
import { WAIT_LIMIT_MS } from '../support/time-limits.ts'
import { type GuideCommand, type GuidePage, isAsShown } from './guide-page.ts'

const GATEWRIGHT = join(import.meta.dirname, '..', '..', 'bin', 'gatewright')
const POLL_MS = 50
const READ_MS = 5
/** Longer than a gateway waits for its clients, which are gone. */
const STOP_LIMIT_MS = 20_000

/** Ports of a gateway by default, and the variables that set them. */
const OWN_PORTS = {
  GATEWRIGHT_ADMIN_ADDR: 15_000,
  GATEWRIGHT_API_ADDR: 15_010,
  GATEWRIGHT_STATS_ADDR: 15_020,
  GATEWRIGHT_READINESS_ADDR: 15_021,
}

/** Where a page names a port: in an address, a field or an option. */
const PORT = /(?<=[\w\]]:|\b(?:\w+_)?port(?:"?: |[ =]))\d{2,5}\b(?!\.?\d)/gi

/** What a command printed, when it is not what the page shows. */
export interface Difference {
  readonly command: GuideCommand
  /** With the ports and texts of the page. */
  readonly printed: string
}

/**
 * Does what a page says, in a folder of its own: writes its files and runs its commands in one shell, with other ports than the page names. What
 * the commands started is stopped at the end.
 * @param programs paths of programs that the commands may use, by name
 * @param waitLimitMs how long a command is waited for that has to print something
 * @throws Error when something in the background ends or does not print what the page shows
 */
export async function runGuide(
  page: GuidePage,
  programs: Readonly<Record<string, string>> = {},
  waitLimitMs = WAIT_LIMIT_MS,
): Promise<readonly Difference[]> {
  const root = mkdtempSync(join(tmpdir(), 'gatewright-guide-'))
  await using stops = new AsyncDisposableStack()
  stops.defer(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['bin', 'home', 'work', 'logs']) mkdirSync(join(root, folder))
  for (const [name, path] of Object.entries({ gatewright: GATEWRIGHT, ...programs }))
    symlinkSync(path, join(root, 'bin', name))
  const names = new ReplacedNames(page.replacements, await portsOf(page))
  const shell = stops.use(new Shell(root, names, waitLimitMs))
  const differences: Difference[] = []
  for (const step of page.steps) {
    if (step.kind === 'file') {
      const path = join(root, 'work', step.name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, names.tested(step.text))
      continue
    }
    const printed = await shell.run(step)
    if (!isAsShown(step.output, printed)) differences.push({ command: step, printed })
  }
  return differences
}

/** A free port for each port on the page. */
async function portsOf({ steps }: GuidePage): Promise<Map<number, number>> {
  const texts = steps.map(({ text }) => text.match(PORT) ?? [])
  const shown = new Set([...Object.values(OWN_PORTS), ...texts.flat().map(Number)])
  const ports = new Map<number, number>()
  for (const port of shown) ports.set(port, await freePort())
  return ports
}

/** Names on the page, and those that the test uses instead. */
class ReplacedNames {
  readonly #texts: GuidePage['replacements']
  readonly #ports: ReadonlyMap<number, number>

  constructor(texts: GuidePage['replacements'], ports: ReadonlyMap<number, number>) {
    this.#texts = texts
    this.#ports = ports
  }

  tested(text: string): string {
    const replaced = this.#texts.reduce((result, [shown, tested]) => result.replaceAll(shown, tested), text)
    return replaced.replaceAll(PORT, (port) => String(this.#ports.get(Number(port)) ?? port))
  }

  shown(text: string): string {
    const shown = new Map([...this.#ports].map(([port, tested]) => [String(tested), String(port)]))
    const ported = text.replaceAll(/\b\d{5}\b/g, (port) => shown.get(port) ?? port)
    return this.#texts.reduce((result, [shown, tested]) => result.replaceAll(tested, shown), ported)
  }
}

/** A shell that runs one command after another. */
class Shell implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly #logs: string
  readonly #names: ReplacedNames
  readonly #waitLimitMs: number
  #output = ''
  #started = 0

  constructor(root: string, names: ReplacedNames, waitLimitMs: number) {
    this.#waitLimitMs = waitLimitMs
    this.#logs = join(root, 'logs')
    this.#names = names
    const addresses = Object.entries(OWN_PORTS).map(([name, port]) => [name, names.tested(`127.0.0.1:${port}`)])
    // A group of its own, so that its end includes what it started.
    this.#process = spawn('bash', [], {
      cwd: join(root, 'work'),
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: [join(root, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
        HOME: join(root, 'home'),
        LANG: 'C.UTF-8',
        TERM: 'dumb',
        TZ: 'UTC',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        TERMINATION_GRACE_PERIOD_SECONDS: '0',
        ...Object.fromEntries(addresses),
      },
    })
    this.#process.stdout!.on('data', (bytes: Buffer) => {
      this.#output += bytes
    })
    // The shell merges the errors of commands into their output; this pipe has what it says itself.
    this.#process.stderr!.on('data', (bytes: Buffer) => {
      this.#output += bytes
    })
  }

  /** @returns what the command printed, with the names of the page */
  async run(command: GuideCommand): Promise<string> {
    const text = this.#names.tested(command.text)
    if (/[^&]&$/.test(text)) return this.#runInBackground(command, text)
    const until = Date.now() + this.#waitLimitMs
    for (;;) {
      const printed = this.#names.shown(await this.#ask(text))
      if (!command.isAwaited || isAsShown(command.output, printed) || Date.now() > until) return printed
      await sleep(POLL_MS)
    }
  }

  /** Waits until it has printed what the page shows, and a gateway until it is ready. */
  async #runInBackground(command: GuideCommand, text: string): Promise<string> {
    const log = join(this.#logs, String(this.#started++))
    writeFileSync(log, '')
    const id = (await this.#ask(`${text.slice(0, -1)} > ${log} 2>&1 & echo $!`)).trim()
    const isGateway = /\bgatewright (?:run|quickstart)\b/.test(text)
    const until = Date.now() + this.#waitLimitMs
    for (;;) {
      const printed = this.#names.shown(readFileSync(log, 'utf8'))
      const isReady = !isGateway || portsIn(printed) !== undefined
      if (isReady && (command.output === '' || isAsShown(command.output, printed))) return command.output
      const ended = (await this.#ask(`kill -0 ${id} 2>/dev/null || echo ended`)) !== ''
      if (ended || Date.now() > until)
        throw new Error(`${command.text} ${ended ? 'ended' : 'is not ready'}:\n${printed}`)
      await sleep(POLL_MS)
    }
  }

  async #ask(text: string): Promise<string> {
    const end = `end of command ${Math.random()}`
    this.#output = ''
    this.#process.stdin!.write(`{ ${text}\n} 2>&1 < /dev/null\necho '${end}'\n`)
    const until = Date.now() + WAIT_LIMIT_MS
    while (!this.#output.endsWith(`${end}\n`)) {
      if (Date.now() > until) throw new Error(`${text} does not end:\n${this.#output}`)
      if (this.#process.exitCode !== null) throw new Error(`${text} ended the shell:\n${this.#output}`)
      await sleep(READ_MS)
    }
    return this.#output.slice(0, -end.length - 1)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const group = -this.#process.pid!
    const until = Date.now() + STOP_LIMIT_MS
    const closed = once(this.#process, 'close')
    for (let signal: NodeJS.Signals = 'SIGTERM'; isThere(group); await sleep(POLL_MS)) {
      process.kill(group, Date.now() > until ? 'SIGKILL' : signal)
      // A second SIGTERM would only be impatient.
      signal = 'SIGCONT'
    }
    await closed
  }
}

function isThere(group: number): boolean {
  try {
    return process.kill(group, 0)
  } catch {
    return false
  }
}
