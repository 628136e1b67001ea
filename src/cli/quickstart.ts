import { existsSync } from 'node:fs'
import { projectFile } from '#instance/project-file.ts'
import { UsageError } from './usage-error.ts'

/** What `examples/start.ts` exports. */
interface Quickstart {
  startQuickstart(paths: readonly string[]): Promise<number>
  runOne(kind: string, port: number, name?: string): Promise<void>
}

const MAX_PORT = 65_535

/**
 * Runs the example servers with a gateway before them.
 *
 * @param paths of objects; none: those of the quick start
 * @returns the exit code
 */
export async function quickstart(paths: readonly string[]): Promise<number> {
  return (await load()).startQuickstart(paths)
}

/**
 * Runs one example server until a signal ends it.
 *
 * @param kind such as `echo`
 * @param port 0: any free one
 * @param name default: the kind
 * @throws UsageError when there is no such server, or the port cannot be used
 */
export async function exampleServer(kind: string, port: string, name?: string): Promise<void> {
  const number = /^\d{1,5}$/.test(port) ? Number(port) : Number.NaN
  if (!(number <= MAX_PORT)) throw new UsageError(`--port ${port} is not a port number`)
  const { runOne } = await load()
  await runOne(kind, number, name).catch((error: Error) => {
    throw new UsageError(error.message)
  })
}

/** The servers are no part of the gateway: a package has them as a module of their own. */
async function load(): Promise<Quickstart> {
  const source = projectFile('examples/start.ts')
  const { href } = existsSync(source) ? source : projectFile('dist/quickstart.js')
  return (await import(href)) as Quickstart
}
