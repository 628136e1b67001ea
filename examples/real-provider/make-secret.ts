import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The folder of the project that git ignores and nobody else may read. */
const FOLDER = join(import.meta.dirname, '..', '..', '.gatewright', 'secrets')

/**
 * Writes the Secret `provider-key` with the key of a provider to `<folder>/provider.yaml`, readable by its owner only,
 * and returns the path. The file appears complete or not at all, and never with wider rights.
 */
export async function writeProviderSecret(key: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  const file = join(folder, 'provider.yaml')
  const draft = join(folder, `.provider-${process.pid}.tmp`)
  await writeFile(draft, secretOf(key), { mode: 0o600, flag: 'wx' })
  await rename(draft, file)
  return file
}

function secretOf(key: string): string {
  // A JSON string is a YAML string, whatever the key contains.
  return `apiVersion: v1
kind: Secret
metadata:
  name: provider-key
stringData:
  Authorization: ${JSON.stringify(key)}
`
}

async function makeSecret(variable: string): Promise<void> {
  const key = process.env[variable]?.trim()
  if (key === undefined || key === '') {
    console.error(`the environment variable ${variable} is not set`)
    process.exitCode = 1
    return
  }
  console.log(`wrote ${await writeProviderSecret(key, FOLDER)}`)
}

if (import.meta.main) await makeSecret(process.argv[2] ?? 'OPENAI_API_KEY')
