import { existsSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { pathToFileURL } from 'node:url'

const ROOT = pathToFileURL(findPackageJSON(import.meta.url)!)

/** @param path from the root of the project; the code that runs may be the source or the bundle */
export function projectFile(path: string): URL {
  return new URL(path, ROOT)
}

/** How users call this program, for commands that they are told to run: from a checkout, from an installed package, or from an image. */
export const PROGRAM = existsSync(projectFile('src/main.ts'))
  ? 'bin/gatewright'
  : ROOT.pathname.includes('/node_modules/')
    ? 'npx gatewright'
    : 'gatewright'
