import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const BRIDGE = 'pods'
/** Of the bridge, through which pods are reached. */
const NETWORK = '10.88.0.1/16'
/** Waits until the namespace has its interface. The blank line says that the namespace exists. */
const SCRIPT =
  'echo && read -r _ && ip link set lo up && ip address add "$1/16" dev eth0 && ip link set eth0 up && exec "$0" 2>&1'

const run = promisify(execFile)
const ip = async (words: string) => void (await run('ip', words.split(' ')))

/** Makes the network of pods in the network namespace of this process, which must be one for tests. */
export async function makePodNetwork(): Promise<void> {
  await ip('link set lo up')
  await ip(`link add ${BRIDGE} type bridge`)
  await ip(`address add ${NETWORK} dev ${BRIDGE}`)
  await ip(`link set ${BRIDGE} up`)
}

/** A program in a network namespace of its own, so that several listen on the same port. */
export class PodProcess {
  readonly address: string
  readonly #child: ChildProcess
  readonly #lines: { readonly atMs: number; readonly text: string }[] = []

  /** @param number unique, from 1 to 64,000 */
  private constructor(number: number, program: string, env: Readonly<Record<string, string>>) {
    this.address = `10.88.${1 + Math.floor(number / 250)}.${1 + (number % 250)}`
    const environment = { PATH: process.env.PATH, ...env }
    this.#child = spawn('unshare', ['--net', 'sh', '-c', SCRIPT, program, this.address], { env: environment })
  }

  /** Starts a program. Resolves when it has printed its first line. @throws Error if it ends before */
  static async start(number: number, program: string, env: Readonly<Record<string, string>>): Promise<PodProcess> {
    const pod = new PodProcess(number, program, env)
    await pod.#start(`pod${number}`)
    return pod
  }

  async #start(link: string): Promise<void> {
    const { stdin, stdout, stderr, pid } = this.#child
    const exit = once(this.#child, 'exit').then(() => {
      throw new Error(`a pod ended at once: ${this.#lines.at(-1)?.text}`)
    })
    const lines = createInterface({ input: stdout! })
    const line = () => Promise.race([once(lines, 'line'), exit])
    createInterface({ input: stderr! }).on('line', (text) => this.#lines.push({ atMs: Date.now(), text }))
    await line()
    lines.on('line', (text) => this.#lines.push({ atMs: Date.now(), text }))
    await ip(`link add ${link} type veth peer name eth0 netns ${pid}`)
    await ip(`link set ${link} master ${BRIDGE} up`)
    stdin!.write('\n')
    await line()
    exit.catch(() => {})
  }

  /** What it printed since a time. */
  log(sinceMs: number): string {
    return this.#lines
      .filter(({ atMs }) => atMs >= sinceMs)
      .map(({ text }) => `${text}\n`)
      .join('')
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}
