import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { findProvider } from '@pydantic/genai-prices'
import { expect, test } from 'vitest'
import { packPrices } from '#models/package-prices.ts'
import { isCurrent } from '../bin/main.js'
import { bundle, escapeBeyondAscii } from '../build/bundle.mjs'
import { temporaryFolder } from './support/temporary-folder.ts'

test.each<[change: string, make: (sources: string) => void]>([
  ['a file was changed', (sources) => writeFileSync(join(sources, 'room', 'a.ts'), 'changed')],
  ['a file was added', (sources) => writeFileSync(join(sources, 'room', 'b.ts'), '')],
  ['a file was removed', (sources) => rmSync(join(sources, 'room', 'a.ts'))],
  ['a folder was removed', (sources) => rmSync(join(sources, 'room'), { recursive: true })],
])('the source runs when %s since the bundle was made', (_, make) => {
  const folder = temporaryFolder()
  const [bundle, sources] = [join(folder, 'main.js'), join(folder, 'src')]
  mkdirSync(join(sources, 'room'), { recursive: true })
  writeFileSync(join(sources, 'room', 'a.ts'), '')
  expect(isCurrent(bundle, sources)).toBe(false)
  writeFileSync(bundle, '')
  const [before, made] = [new Date(1000), new Date(2000)]
  for (const path of [join(sources, 'room', 'a.ts'), join(sources, 'room'), sources]) utimesSync(path, before, before)
  utimesSync(bundle, made, made)
  expect(isCurrent(bundle, sources)).toBe(true)
  make(sources)
  expect(isCurrent(bundle, sources)).toBe(false)
})

test('characters beyond ASCII are escaped in the bundle, which does not change texts', () => {
  const escaped = escapeBeyondAscii('"café → 😀"')
  expect(escaped).toBe('"caf\\u00e9 \\u2192 \\ud83d\\ude00"')
  expect(JSON.parse(escaped)).toBe('café → 😀')
})

test('the bundle contains the prices instead of the price package', async () => {
  const folder = temporaryFolder()
  await bundle({ prices: 'src/models/packaged-prices.ts' }, relative(join(import.meta.dirname, '..'), folder))
  const path = join(folder, 'prices.js')
  expect(readFileSync(path, 'utf8')).not.toContain('pricing_urls')
  const { PACKAGED_PRICES } = await import(path)
  expect(PACKAGED_PRICES).toEqual(packPrices(findProvider))
})
