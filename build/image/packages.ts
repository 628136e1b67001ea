import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface PackageFile {
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Folders of packages and of everything that they depend on, relative to the root of the project, as Node resolves them. */
export function packageFolders(root: string, names: readonly string[]): readonly string[] {
  const found = new Set<string>()
  const visit = (name: string, from: string): void => {
    const folder = resolvePackage(root, name, from)
    if (found.has(folder)) return
    found.add(folder)
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as PackageFile
    for (const dependency of Object.keys(dependencies)) visit(dependency, folder)
  }
  for (const name of names) visit(name, '')
  return [...found].toSorted()
}

/** @param from folder of the package that depends on it; empty: the root */
function resolvePackage(root: string, name: string, from: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (existsSync(join(root, path, 'package.json'))) return path
    if (folder === '') throw new Error(`the package ${name} is not installed; run npm ci`)
  }
}
