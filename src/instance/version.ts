import { readFileSync } from 'node:fs'
import { parseJson } from '#base/parse-json.ts'
import { projectFile } from './project-file.ts'

/** Version of the package. */
export const VERSION: string = readVersion()

function readVersion(): string {
  const text = readFileSync(projectFile('package.json'), 'utf8')
  return (parseJson(text) as { version: string }).version
}
