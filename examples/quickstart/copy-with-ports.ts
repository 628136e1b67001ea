import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A copy of the objects of a folder in a folder of its own. */
export interface Copy {
  readonly folder: string
  remove(): Promise<void>
}

/**
 * Copies the YAML files of a folder with other ports, so that the same objects can run beside whatever listens on the
 * usual ones. `ports` gives the new port for each port the objects name.
 *
 * @throws Error naming a port that `ports` does not know.
 */
export async function copyWithPorts(source: string, ports: ReadonlyMap<number, number>): Promise<Copy> {
  const folder = await mkdtemp(join(tmpdir(), 'gatewright-objects-'))
  const remove = () => rm(folder, { recursive: true })
  try {
    for (const file of await readdir(source)) {
      if (!file.endsWith('.yaml')) continue
      const text = await readFile(join(source, file), 'utf8')
      await writeFile(join(folder, file), replacePorts(text, ports))
    }
    return { folder, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

function replacePorts(text: string, ports: ReadonlyMap<number, number>): string {
  return text.replaceAll(/\bport: (\d+)/g, (_, digits: string) => {
    const port = ports.get(Number(digits))
    if (port === undefined) throw new Error(`no new port for ${digits}`)
    return `port: ${port}`
  })
}
