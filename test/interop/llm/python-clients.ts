import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { installedPythonPackages } from '../counterparts.ts'
import { GUARD_TEXTS } from './guards.ts'
import { VENDOR_PACKAGES } from './python-packages.ts'
import { DOT, ERROR_MESSAGE, PROMPT, REFUSED, RETRY_AFTER, SCHEMA, TEXTS, TOOL, USAGE, WEATHER } from './replies.ts'
import type { Cell } from './table.ts'
import { ALIAS, UPSTREAMS, unsigned, withoutThoughts } from './upstreams.ts'
import { VECTOR } from './vendor/embeddings.ts'

const PACKAGES = [...VENDOR_PACKAGES, 'langchain-openai==1.7.3', 'google-genai==3.4.0'] as const

export type PythonCell = readonly [client: string, upstream: string, scenario: string, cell: Cell]

/** Drives the clients in Python. @returns the cells of the table. @param vendors URL of the mocks */
export async function runPythonClients(gateway: string, vendors: string): Promise<readonly PythonCell[]> {
  const python = installedPythonPackages('python-llm', ...PACKAGES)
  const upstreams = UPSTREAMS.map((upstream) => ({
    ...upstream,
    unsigned: unsigned(upstream) ?? null,
    withoutThoughts: withoutThoughts(upstream) ?? null,
  }))
  const texts = {
    prompt: PROMPT,
    texts: TEXTS,
    usage: USAGE,
    schema: SCHEMA,
    weather: WEATHER,
    dot: DOT,
    tool: TOOL,
    refused: REFUSED,
    error: ERROR_MESSAGE,
    retryAfter: RETRY_AFTER,
    alias: ALIAS,
    vector: VECTOR,
    guard: GUARD_TEXTS,
  }
  const script = join(import.meta.dirname, 'python', 'run.py')
  const child = spawn(python, ['-B', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify({ gateway, vendors, upstreams, texts }))
  return (await json(child.stdout)) as readonly PythonCell[]
}
