import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/**
 * Writes one module for each entry, with what it imports, and modules for what entries share. A worker thread starts from the module of its
 * entry beside the one that starts it (`src/workers/worker-pool.ts`), so `entries` names it, too.
 * Names are readable and do not change between builds, so a running gateway still finds its modules.
 *
 * @param {Record<string, string>} entries paths from the root of the project, by the names of the modules
 * @param {string} folder from the root of the project
 */
export async function bundle(entries, folder) {
  const { rolldown } = await import('rolldown')
  const absolute = Object.entries(entries).map(([name, path]) => [name, join(ROOT, path)])
  await using built = await rolldown({ input: Object.fromEntries(absolute), platform: 'node', cwd: ROOT })
  const dir = join(ROOT, folder)
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name].js' }
  const { output } = await built.write({ dir, format: 'esm', ...names })
  const written = new Set(output.map(({ fileName }) => fileName))
  for (const file of readdirSync(dir)) if (!written.has(file)) rmSync(join(dir, file))
}
