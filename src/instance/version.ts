import { readFileSync } from 'node:fs'

/** Version of the package. */
export const VERSION: string = readVersion()

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
