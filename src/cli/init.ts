import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suggest } from '#base/suggest.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { print } from './output.ts'
import { UsageError } from './usage-error.ts'

const FILE = 'gateway.yaml'

interface Topic {
  /** What to do before the first start, if anything. */
  readonly before?: string
  /** Path of the request, for `explain`. */
  readonly path: string
  /** A request for the terminal. */
  readonly request: string
}

const JSON_HEADER = "-H 'content-type: application/json'"
const CHAT = '{"messages":[{"role":"user","content":"good morning"}]}'
const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}'
const BASE = 'http://localhost:8080'

/** What `init` writes; each topic has a file in `init/`. */
const TOPICS: Readonly<Record<string, Topic>> = {
  http: { path: '/hello', request: `curl ${BASE}/hello` },
  llm: {
    before: '# set the key of the provider in gateway.yaml',
    path: '/v1/chat/completions',
    request: `curl ${BASE}/v1/chat/completions ${JSON_HEADER} -d '${CHAT}'`,
  },
  mcp: {
    path: '/mcp',
    request: `curl ${BASE}/mcp ${JSON_HEADER} -H 'accept: application/json, text/event-stream' -d '${INITIALIZE}'`,
  },
  a2a: { path: '/.well-known/agent-card.json', request: `curl ${BASE}/.well-known/agent-card.json` },
}

/** Writes a small configuration to a folder, and says how to run it. Existing files are never changed. */
export function init(name: string, folder = `${name}-gateway`): ExitCode {
  const topic = Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined
  if (topic === undefined) throw new UsageError(unknownTopic(name))
  const text = readFileSync(new URL(`./init/${name}.yaml`, import.meta.url), 'utf8')
  const file = join(folder, FILE)
  writeNew(folder, file, text)
  for (const line of nextSteps(folder, file, topic)) print(line)
  return EXIT.ok
}

function unknownTopic(name: string): string {
  const names = Object.keys(TOPICS)
  const nearest = suggest(name, names)
  const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`
  return `init writes a gateway for ${names.slice(0, -1).join(', ')} or ${names.at(-1)}, not for ${name}${hint}`
}

function writeNew(folder: string, file: string, text: string): void {
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, text, { flag: 'wx' })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new UsageError(`${file} exists; init does not overwrite files`)
    throw new UsageError(`${file} cannot be written: ${message}`)
  }
}

function nextSteps(folder: string, file: string, { before, path, request }: Topic): readonly string[] {
  const place = quoted(folder)
  return [
    `wrote ${file}`,
    '',
    'Run the gateway:',
    '',
    ...(before === undefined ? [] : [`  ${before}`]),
    `  bin/gatewright run ${place}`,
    '',
    `Or with example servers behind it: npm start -- ${place}`,
    '',
    'Then, in another terminal:',
    '',
    `  ${request}`,
    `  bin/gatewright lint ${place}`,
    `  bin/gatewright explain -f ${place} ${BASE}${path}`,
  ]
}

/** For a shell. */
function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
