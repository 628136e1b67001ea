import { existsSync } from 'node:fs'
import { projectFile } from '#instance/project-file.ts'

/** What `examples/start.ts` exports. */
interface Quickstart {
  startQuickstart(paths: readonly string[]): Promise<number>
}

/**
 * Runs the example servers with a gateway before them. They are no part of the gateway: a package has them as a module of their own.
 *
 * @param paths of objects; none: those of the quick start
 * @returns the exit code
 */
export async function quickstart(paths: readonly string[]): Promise<number> {
  const source = projectFile('examples/start.ts')
  const { href } = existsSync(source) ? source : projectFile('dist/quickstart.js')
  const { startQuickstart } = (await import(href)) as Quickstart
  return startQuickstart(paths)
}
