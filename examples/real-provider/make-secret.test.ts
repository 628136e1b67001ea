import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { writeProviderSecret } from './make-secret.ts'

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatewright-secret-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8)
}

for (const key of ['sk-plain', 'with "quotes": and # marks', 'line\nbreak', '- dash']) {
  test(`the key ${JSON.stringify(key)} stands in the Secret as it is`, async () => {
    const file = await writeProviderSecret(key, join(await emptyFolder(), 'secrets'))
    expect(parse(await readFile(file, 'utf8'))).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'provider-key' },
      stringData: { Authorization: key },
    })
  })
}

test('file and folder are for their owner only, also when they were there before with wider rights', async () => {
  const folder = join(await emptyFolder(), 'secrets')
  await mkdir(folder)
  await writeFile(join(folder, 'provider.yaml'), 'old')
  await chmod(folder, 0o755)
  await chmod(join(folder, 'provider.yaml'), 0o644)

  const file = await writeProviderSecret('sk-new', folder)
  expect([await modeOf(folder), await modeOf(file)]).toEqual(['700', '600'])
  expect(await readFile(file, 'utf8')).toContain('sk-new')
  expect(await readdir(folder)).toEqual(['provider.yaml'])
})
