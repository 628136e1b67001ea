import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suggest } from '#base/suggest.ts'
import { PROGRAM, projectFile } from '#instance/project-file.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { print } from './output.ts'
import { UsageError } from './usage-error.ts'

const FILE = 'gateway.yaml'

interface Topic {
  /** Environment variable with the key of the vendor behind it; undefined: an example server can be behind it. */
  readonly key?: string
  /** The request to try. */
  readonly path: string
  readonly headers?: readonly string[]
  /** JSON; the request is a POST. */
  readonly body?: string
}

const JSON_TYPE = 'content-type: application/json'
const CHAT = '{"messages":[{"role":"user","content":"good morning"}]}'
const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}'
const BASE = 'http://localhost:8080'

/** What `init` writes; each topic has a file in `init/`. */
const TOPICS: Readonly<Record<string, Topic>> = {
  http: { path: '/hello' },
  llm: {
    key: 'OPENAI_API_KEY',
    path: '/v1/chat/completions',
    headers: [JSON_TYPE],
    body: CHAT,
  },
  mcp: { path: '/mcp', headers: [JSON_TYPE, 'accept: application/json, text/event-stream'], body: INITIALIZE },
  a2a: { path: '/.well-known/agent-card.json' },
}

/** Writes a small configuration to a folder, and says how to run it. Existing files are never changed. */
export function init(name: string, folder = `${name}-gateway`): ExitCode {
  const topic = Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined
  if (topic === undefined) throw new UsageError(unknownTopic(name))
  const text = readFileSync(projectFile(`src/cli/init/${name}.yaml`), 'utf8')
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

function nextSteps(folder: string, file: string, { key, path, headers = [], body }: Topic): readonly string[] {
  const place = quoted(folder)
  const request = [`${BASE}${path}`, ...headers.map((header) => `-H ${quoted(header)}`)].join(' ')
  const data = body === undefined ? '' : ` -d ${quoted(body)}`
  return [
    `wrote ${file}`,
    '',
    'Check it, ask what it would do with a request, and run it:',
    '',
    ...(key === undefined ? [] : [`  export ${key}=...`]),
    `  ${PROGRAM} lint ${place}`,
    `  ${PROGRAM} explain -f ${place} ${request}${data}`,
    `  ${PROGRAM} run ${place}`,
    '',
    ...(key === undefined
      ? ['Or run it with example servers behind it:', '', `  ${PROGRAM} quickstart ${place}`, '']
      : []),
    'Then, in another terminal:',
    '',
    `  curl ${request}${data}`,
    `  ${PROGRAM} status`,
  ]
}

/** For a shell. */
function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
