import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { installedPythonPackages, startPrintingServer } from '../../counterparts.ts'
import { ALL_INTERFACES, type Outcomes, type PairAgent, type PairClient, SCENARIOS } from '../scenarios.ts'

const PROGRAM = join(import.meta.dirname, 'pair.py')
const CLIENT_LIMIT_MS = 300_000

/** The agent and the client made with the official SDK for Python. */
export async function loadPython(
  stops: AsyncDisposableStack,
): Promise<{ readonly agent: PairAgent; readonly client: PairClient }> {
  const python = installedPythonPackages('a2a-python-1.3.0', 'a2a-sdk[all]==1.3.0', 'uvicorn==0.54.0')
  const { port } = stops.use(await startPrintingServer(python, { words: [PROGRAM, 'server'] }))
  const grpc = await (await fetch(`http://127.0.0.1:${port}/grpc`)).text()
  return {
    agent: { name: 'python', port, grpcPort: Number(grpc.split(':')[1]), interfaces: ALL_INTERFACES },
    client: {
      name: 'python',
      interfaces: ALL_INTERFACES,
      run: ({ url, binding, grpc = '' }) => runProgram(python, [PROGRAM, 'client', url, binding, grpc]),
    },
  }
}

async function runProgram(python: string, words: readonly string[]): Promise<Outcomes> {
  const child = spawn(python, words, { stdio: ['ignore', 'pipe', 'pipe'], timeout: CLIENT_LIMIT_MS })
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
