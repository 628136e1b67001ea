import { readFileSync } from 'node:fs'
import { projectFile } from './project-file.ts'

/** Version of the package. */
export const VERSION: string = readVersion()

function readVersion(): string {
  const text = readFileSync(projectFile('package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
