import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { installedNpmPackages } from '../../counterparts.ts'
import type { PairClient, Wire } from './pair.ts'
import { type Endpoint, type Outcomes, runScenarios, SCENARIOS } from './scenarios.ts'
import { answering, sessionOf } from './typescript/client-2.ts'

/** `mcp-remote`, which brings a remote server to clients of the stdio transport, and the Inspector's command line. */
export function loadPrograms(): readonly PairClient[] {
  const packages = installedNpmPackages('mcp-programs', 'mcp-remote@0.15.1', '@modelcontextprotocol/inspector@2.12.0')
  const modules = join(packages, 'node_modules')
  const remote = join(modules, 'mcp-remote', 'dist', 'proxy.js')
  const launcher = join(modules, '@modelcontextprotocol', 'inspector', 'clients', 'launcher', 'build', 'index.js')
  return [
    remoteClient('mcp-remote', remote, 'http', packages),
    remoteClient('mcp-remote sse', remote, 'sse', packages),
    inspectorClient('inspector legacy', launcher, 'legacy', packages),
    inspectorClient('inspector auto', launcher, 'auto', packages),
  ]
}

function remoteClient(name: string, program: string, wire: Wire, folder: string): PairClient {
  const connect = async (url: string) => {
    const args = [program, url, '--allow-http', '--transport', `${wire}-only`, '--silent']
    const env = { ...process.env, MCP_REMOTE_CONFIG_DIR: join(folder, 'mcp-remote') } as Record<string, string>
    const client = answering(
      new Client({ name, version: '1.0.0' }, { capabilities: { elicitation: {}, sampling: {} } }),
    )
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }))
    return sessionOf(client)
  }
  const cannot = wire === 'sse' ? { resume: '- HTTP with SSE has no resumption' } : {}
  return { name, wire, run: (endpoint) => runScenarios(() => connect(endpoint.url), endpoint, cannot) }
}

const COMMAND_LIMIT_MS = 20_000

/** The Inspector's command line asks one thing a run, and answers nothing that a server asks. */
function inspectorClient(name: string, launcher: string, era: string, folder: string): PairClient {
  const ask = async (url: string, ...words: readonly string[]): Promise<unknown> => {
    const options = {
      timeout: COMMAND_LIMIT_MS,
      env: { ...process.env, MCP_CATALOG_PATH: join(folder, 'catalog.json') },
    }
    const connection = ['--cli', '--quiet', '--format', 'json', '--server-url', url, '--transport', 'http']
    const all = [launcher, ...connection, '--protocol-era', era, ...words]
    const { stdout } = await promisify(execFile)(process.execPath, all, options)
    return (JSON.parse(stdout) as { readonly result: unknown }).result
  }
  const run = async ({ url, target }: Endpoint): Promise<Outcomes> => {
    const named = (item: string) => (target === undefined ? item : `${target}_${item}`)
    const located = (uri: string) => (target === undefined ? uri : `${target}+${uri}`)
    const list = async () => {
      const { tools } = (await ask(url, '--method', 'tools/list')) as { readonly tools: readonly { name: string }[] }
      expect(
        tools.some((tool) => tool.name === named('add')),
        true,
      )
      const read = await ask(url, '--method', 'resources/read', '--uri', located('note://one'))
      expect((read as { readonly contents: readonly { text: string }[] }).contents[0]?.text, 'one')
      const prompt = await ask(url, '--method', 'prompts/get', '--prompt-name', named('greet'))
      const { messages } = prompt as { readonly messages: readonly { content: unknown }[] }
      expect(messages[0]?.content, { type: 'text', text: 'Hello' })
    }
    const call = async () => {
      const result = await ask(url, '--method', 'tools/call', '--tool-name', named('add'), '--tool-arg', 'a=2', 'b=3')
      expect((result as { readonly content: unknown }).content, [{ type: 'text', text: '5' }])
    }
    const outcomes = SCENARIOS.map((one) => [one, '- the command line asks one thing and leaves'])
    return { ...Object.fromEntries(outcomes), list: await outcomeOf(list), call: await outcomeOf(call) }
  }
  return { name, wire: 'http', run }
}

async function outcomeOf(check: () => Promise<void>): Promise<string> {
  try {
    await check()
    return 'ok'
  } catch (error) {
    const said = (error as { readonly stderr?: string }).stderr?.trim()
    return (said || (error as Error).message).split('\n')[0]!
  }
}

function expect(seen: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(seen, expected))
    throw new Error(`${JSON.stringify(seen)} instead of ${JSON.stringify(expected)}`)
}
