import { spawn } from 'node:child_process'
import { startPrintingServer } from '../counterparts.ts'
import { type Outcomes, type PairAgent, type PairClient, SCENARIOS } from './scenarios.ts'

/** A program that is an agent and a client, see README.md. */
export interface PairProgram {
  /** Of agent and client, in the table. */
  readonly name: string
  readonly program: string
  readonly words: readonly string[]
  readonly interfaces: readonly string[]
}

const CLIENT_LIMIT_MS = 300_000

/** Starts the program as an agent, and prepares it as a client. */
export async function loadProgram(
  { name, program, words, interfaces }: PairProgram,
  stops: AsyncDisposableStack,
): Promise<{ readonly agent: PairAgent; readonly client: PairClient }> {
  const { port } = stops.use(await startPrintingServer(program, { words: [...words, 'server'] }))
  const grpc = await (await fetch(`http://127.0.0.1:${port}/grpc`)).text()
  return {
    agent: { name, port, grpcPort: Number(grpc.split(':')[1]), interfaces },
    client: {
      name,
      interfaces,
      run: ({ url, binding, grpc = '' }) => runProgram(program, [...words, 'client', url, binding, grpc]),
    },
  }
}

async function runProgram(program: string, words: readonly string[]): Promise<Outcomes> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], timeout: CLIENT_LIMIT_MS })
  const [said, complained] = await Promise.all([child.stdout.toArray(), child.stderr.toArray()])
  try {
    return JSON.parse(Buffer.concat(said as Buffer[]).toString()) as Outcomes
  } catch {
    const why = Buffer.concat(complained as Buffer[])
      .toString()
      .trim()
      .split('\n')
      .at(-1)
    return Object.fromEntries(SCENARIOS.map((scenario) => [scenario, `the client broke: ${why}`])) as Outcomes
  }
}
