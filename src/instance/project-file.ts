import { findPackageJSON } from 'node:module'
import { pathToFileURL } from 'node:url'

const ROOT = pathToFileURL(findPackageJSON(import.meta.url)!)

/** @param path from the root of the project; the code that runs may be the source or the bundle */
export function projectFile(path: string): URL {
  return new URL(path, ROOT)
}
